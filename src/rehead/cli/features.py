"""``rehead layers`` and ``rehead features``: from a network to features on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rehead.cli.arguments import (
    Data,
    ImagePaths,
    InputIds,
    InputLabels,
    Net,
    Size,
    TextColumn,
    Tokenizer,
    Transform,
    Trust,
    Weights,
)
from rehead.cli.checks import need_other_folder
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead.torch.loading import Reading

PARTS = ("train", "validation", "test")
"""Of a run."""


@app.command()
@friendly
def layers(
    net: Net,
    data: Data,
    weights: Weights = None,
    paths: ImagePaths = None,
    texts: TextColumn = None,
    transform: Transform = None,
    tokenizer: Tokenizer = None,
    size: Size = None,
    trust: Trust = False,
) -> None:
    """List the layers of a network that features can be taken from, with their widths."""
    from rehead.report import console as show
    from rehead.torch.batches import read_loader
    from rehead.torch.layers import all_layers
    from rehead.torch.loading import Reading
    from rehead.torch.taps import unwrap

    network = unwrap(_network(net, weights, trust))
    how = Reading(paths=paths, texts=texts, transform=transform, tokenizer=tokenizer, size=size)
    batch = next(read_loader(_loader(data, how)))
    show.print_layers(*_run(lambda: all_layers(network, batch)))


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
    labels: InputLabels = None,
    ids: InputIds = None,
    paths: ImagePaths = None,
    texts: TextColumn = None,
    transform: Transform = None,
    tokenizer: Tokenizer = None,
    size: Size = None,
    trust: Trust = False,
) -> None:
    """Extract hidden features to a store on disk. The same command continues a killed run."""
    need_other_folder(output, net, weights, data, labels, ids, tokenizer)
    from rehead.torch import extract_features
    from rehead.torch.features import CHOSEN
    from rehead.torch.loading import Reading

    network = _network(net, weights, trust)
    names = [name.strip() for name in layers.split(",") if name.strip()]
    chosen: Any = layers.strip() if layers.strip() in CHOSEN else names
    loader = _loader(data, Reading(labels, ids, paths, texts, transform, tokenizer, size))
    found = _run(
        lambda: extract_features(network, loader, chosen, pool=pool, store=output)  # type: ignore[arg-type]
    )
    widths = ", ".join(f"{name} ({f.shape[1]})" for name, f in found.layers.items())
    typer.echo(f"{len(found)} samples, layers {widths}: {output}")


def _network(net: str, weights: Path | None, trust: bool) -> Any:
    """A network of the user's own, or that of a run."""
    from rehead.experiments.training import open_run
    from rehead.torch.loading import load_network

    if weights is None and Path(net).is_dir():
        return open_run(net).net
    return load_network(net, weights, trust=trust)


def _loader(data: str, how: Reading) -> Any:
    """Samples of a run, or inputs of the user's own, which are shown."""
    from rehead.experiments.training import is_run, open_run
    from rehead.torch.loading import load_loader

    folder, _, part = data.rpartition(":")
    if folder and Path(folder).is_dir() and (is_run(folder) or part in PARTS):
        if how.beside():
            raise ValueError(f"{how.beside()[0]} goes with inputs of your own; a run has its own.")
        return tuple(open_run(folder).part(part))
    if is_run(data):
        raise ValueError(
            f"{data} is a run. Say which part of its data: "
            f"{', '.join(f'{data}:{name}' for name in PARTS)}."
        )
    inputs = load_loader(data, how)
    if inputs.note:
        typer.echo(inputs.note)
    return inputs.loader


def _run(work: Callable[[], Any]) -> Any:
    """Run the network; that it cannot take the inputs is for the user to mend."""
    try:
        return work()
    except RuntimeError as error:
        raise ValueError(
            f"The network fails on these inputs: {error}. They must be prepared as for its "
            "training: see --transform and --size."
        ) from error
