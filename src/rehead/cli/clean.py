"""``rehead clean``: features, head, audit and report, in one folder that can be continued."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rehead.cli.arguments import (
    DataIfAny,
    Ignore,
    ImagePaths,
    Images,
    InputIds,
    InputLabels,
    Labels,
    ShownTable,
    Size,
    Tokenizer,
    Transform,
    Trust,
    Trusted,
    Uncorrected,
    Weights,
)
from rehead.cli.checks import need_other_folder
from rehead.cli.program import app, friendly


@app.command()
@friendly
def clean(
    net: Annotated[
        str,
        typer.Argument(
            help="The network: package.module:factory, an nn.Module there, or a folder of "
            "`train`. Without --data: features, a store, .npy, .npz, .csv or .parquet."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the results.")],
    data: DataIfAny = None,
    validation: Annotated[
        str | None, typer.Option(help="Held-out inputs (or features), given like --data.")
    ] = None,
    labels: InputLabels = None,
    ids: InputIds = None,
    validation_labels: Labels = None,
    ignore: Ignore = None,
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
    paths: ImagePaths = None,
    texts: Annotated[
        str | None,
        typer.Option(
            "--texts",
            help="The column of a table that holds texts; without --data, texts to show: "
            "FILE:COLUMN.",
        ),
    ] = None,
    transform: Transform = None,
    tokenizer: Tokenizer = None,
    size: Size = None,
    trust: Trust = False,
    images: Images = None,
    table: ShownTable = None,
    estimator: Annotated[str | None, typer.Option(help="auto (default), mcd, sample, ...")] = None,
    preset: Annotated[str | None, typer.Option(help="paper or authors.")] = None,
    labels_from: Annotated[
        str | None, typer.Option(help="machine: another classifier made the labels.")
    ] = None,
    trusted: Trusted = None,
    uncorrected: Uncorrected = None,
    seed: Annotated[int, typer.Option(help="Seed of the random draws.", min=0)] = 0,
) -> None:
    """Find the wrong labels of a data set: features, head, audit and report in one folder.

    The same command continues a run that was killed, and skips what is finished. `review` and
    `apply` take the folder.
    """
    need_other_folder(output, net, data, validation, labels, ids, weights, trusted, uncorrected)
    from rehead.cli.cleaning import Asked, run_cleaning

    inputs = {"paths": paths, "transform": transform, "tokenizer": tokenizer, "size": size}
    asked = Asked(
        net=net,
        data=data,
        validation=validation,
        labels=labels,
        ids=ids,
        validation_labels=validation_labels,
        ignore=tuple(ignore or ()),
        network={"weights": weights, "layers": layers, "pool": pool, "trust": trust},
        inputs=inputs if data is None else {**inputs, "texts": texts},
        known={"trusted": trusted, "uncorrected": uncorrected},
        looks={"images": images, "texts": None if data else texts, "table": table},
        head={
            "estimator": estimator,
            "preset": preset,
            "random_state": seed,
            # Folders of before there was this option go on without it.
            **({} if labels_from is None else {"labels_from": labels_from}),
        },
    )
    run_cleaning(asked, output)
