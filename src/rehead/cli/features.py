"""``rehead layers`` and ``rehead features``: from a network to features on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rehead.cli.arguments import Data, Labels, Net, Trust, Weights
from rehead.cli.program import app, friendly


@app.command()
@friendly
def layers(net: Net, data: Data, weights: Weights = None, trust: Trust = False) -> None:
    """List the layers of a network that features can be taken from, with their widths."""
    from rehead.report import console as show
    from rehead.torch.batches import read_loader
    from rehead.torch.layers import all_layers
    from rehead.torch.taps import unwrap

    network = unwrap(_network(net, weights, trust))
    batch = next(read_loader(_loader(data)))
    show.print_layers(*all_layers(network, batch))


@app.command()
@friendly
def features(
    net: Net,
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the feature store.")],
    weights: Weights = None,
    layers: Annotated[
        str,
        typer.Option(
            help="Names of layers, separated by commas; auto (hidden layers and the input), hidden."
        ),
    ] = "auto",
    pool: Annotated[
        str, typer.Option(help="mean, first, tokens, channels, flatten or grid.")
    ] = "mean",
    labels: Labels = None,
    trust: Trust = False,
) -> None:
    """Extract hidden features to a store on disk. A killed run goes on where it stopped."""
    from rehead.torch import extract_features
    from rehead.torch.features import CHOSEN

    network = _network(net, weights, trust)
    names: Any = layers if layers in CHOSEN else layers.split(",")
    loader = _loader(data, labels)
    found = extract_features(network, loader, names, pool=pool, store=output)  # type: ignore[arg-type]
    widths = ", ".join(f"{name} ({f.shape[1]})" for name, f in found.layers.items())
    typer.echo(f"{len(found)} samples, layers {widths}: {output}")


def _network(net: str, weights: Path | None, trust: bool) -> Any:
    """A network of the user's own, or that of a run."""
    from rehead.experiments.training import is_run, open_run
    from rehead.torch.loading import load_network

    if weights is None and is_run(net):
        return open_run(net).net
    return load_network(net, weights, trust=trust)


def _loader(data: str, labels: str | None = None) -> Any:
    """A loader of the user's own, or samples of a run."""
    from rehead.experiments.training import is_run, open_run
    from rehead.torch.loading import load_loader

    folder, _, part = data.rpartition(":")
    if labels is None and folder and is_run(folder):
        return tuple(open_run(folder).part(part))
    return load_loader(data, labels)
