"""Arguments and options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Net = Annotated[
    str,
    typer.Argument(
        help="The network: package.module:factory, an nn.Module there, or a folder of `train`."
    ),
]
Weights = Annotated[
    Path | None, typer.Option(help="Its weights: .safetensors, or a checkpoint of tensors.")
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Read checkpoints that can run code. Only if you must.")
]
Data = Annotated[
    str,
    typer.Option(
        help="A loader: package.module:factory, a file of inputs (.npy, .npz), or a part of a run: "
        "FOLDER:train, FOLDER:validation, FOLDER:test."
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Labels: a column of the table of features, .npy, .txt, or FILE:COLUMN. Default: "
        "those of the feature store."
    ),
]
Ids = Annotated[
    str | None,
    typer.Option(
        help="Names of samples: a column of the table of features, .npy, .txt, or FILE:COLUMN. "
        "Default: those of the feature store, or row numbers."
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="Columns of the table that are no features; separated by commas."),
]
Features = Annotated[Path, typer.Argument(help="Features: a store, .npy, .npz, .csv or .parquet.")]
Head = Annotated[Path, typer.Argument(help="A head that `rehead fit` wrote.")]
Judge = Annotated[
    Path, typer.Argument(help="A head that `rehead fit` wrote, or a saved classifier.")
]
