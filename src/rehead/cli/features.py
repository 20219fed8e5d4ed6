"""``rehead layers`` and ``rehead features``: from a network to features on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
from rehead.cli.networks import chosen_layers, open_inputs, open_network, run_network
from rehead.cli.program import app, friendly


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

    network = unwrap(open_network(net, weights, trust))
    how = Reading(paths=paths, texts=texts, transform=transform, tokenizer=tokenizer, size=size)
    batch = next(read_loader(open_inputs(data, how)))
    show.print_layers(*run_network(lambda: all_layers(network, batch)))


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
    shard: Annotated[
        str | None,
        typer.Option(
            help="A part of the samples, i/n: 1/4, 2/4, ... on several machines, then `rehead "
            "merge`. env: by RANK and WORLD_SIZE of torchrun, to folders part-1, ... of the output."
        ),
    ] = None,
) -> None:
    """Extract hidden features to a store on disk. The same command continues a killed run."""
    need_other_folder(output, net, weights, data, labels, ids, tokenizer)
    from rehead.files.store import FeatureStore
    from rehead.torch.features import Wanted, extract
    from rehead.torch.loading import Reading
    from rehead.torch.parts import ENVIRONMENT, read_part

    part = None if shard is None else read_part(shard)
    if part is not None and shard == ENVIRONMENT:
        output = output / f"part-{part.number}"
    network = open_network(net, weights, trust)
    chosen = chosen_layers(layers)
    loader = open_inputs(data, Reading(labels, ids, paths, texts, transform, tokenizer, size))
    wanted = Wanted(chosen, pool, part=part)  # type: ignore[arg-type]
    run_network(lambda: extract(network, loader, wanted, store=output))
    found = FeatureStore(output)
    widths = ", ".join(f"{name} ({found.rows(name).shape[1]})" for name in found.layers)
    typer.echo(f"{len(found)} samples, layers {widths}: {output}")
