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
INPUTS = (
    "Inputs: a folder of images by class, a table (--paths or --texts), .npy, .npz, a loader as "
    "package.module:factory, or a part of a run: FOLDER:train, FOLDER:validation, FOLDER:test."
)
Data = Annotated[str, typer.Option(help=INPUTS)]
DataIfAny = Annotated[str | None, typer.Option("--data", help=INPUTS)]
ImagePaths = Annotated[
    str | None,
    typer.Option("--paths", help="The column of a table that holds paths of images."),
]
TextColumn = Annotated[
    str | None, typer.Option("--texts", help="The column of a table that holds texts.")
]
Transform = Annotated[
    str | None,
    typer.Option(
        help="package.module:function that prepares inputs: it turns a PIL image into a tensor, or "
        "a list of texts into a tensor or a dict of tensors."
    ),
]
Tokenizer = Annotated[
    str | None, typer.Option(help="For texts: folder or name of a Hugging Face tokenizer.")
]
Size = Annotated[
    int | None,
    typer.Option(
        help="Width and height of images, without --transform.",
        min=1,
        show_default="224",
    ),
]
InputLabels = Annotated[
    str | None,
    typer.Option(
        "--labels", help="Labels: a column of the table of inputs, .npy, .txt, or FILE:COLUMN."
    ),
]
InputIds = Annotated[
    str | None, typer.Option("--ids", help="Names of samples, given in the same way as labels.")
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
    typer.Option(help="Columns of the table to leave out, separated by commas."),
]
Trusted = Annotated[
    str | None,
    typer.Option(
        help="Labels that are known to be right: a column of the table, .npy, .txt, or "
        "FILE:COLUMN, with 'random' for rows that were drawn at random and checked, 'chosen' "
        "for rows that were checked because they looked wrong, 'suggested' for labels that an "
        "audit changed and nobody checked, and nothing for others."
    ),
]
Uncorrected = Annotated[
    str | None,
    typer.Option(
        help="Labels before some were put right, which are trusted now, or changed by an audit, "
        "which are 'suggested' in --trusted: a column of the table, .npy, .txt, or FILE:COLUMN, "
        "as rehead apply writes it (corrected.csv:uncorrected)."
    ),
]
Labeller = Annotated[
    str | None,
    typer.Option(
        help="What makes the labels of semantic noise: logistic, or a network: densenet100, "
        "resnet34, vgg13 (the paper's), resnet-small, ...",
        show_default="logistic for vectors, resnet-small for images",
    ),
]
Features = Annotated[Path, typer.Argument(help="Features: a store, .npy, .npz, .csv or .parquet.")]
Head = Annotated[Path, typer.Argument(help="A head that `rehead fit` wrote.")]
Reviewed = Annotated[
    Path, typer.Argument(help="A head that `rehead fit` wrote, or a folder of `rehead clean`.")
]
Beside = Annotated[
    Path | None,
    typer.Argument(
        help="Features, with a head: a store, .npy, .npz, .csv or .parquet.", show_default=False
    ),
]
Judge = Annotated[
    Path, typer.Argument(help="A head that `rehead fit` wrote, or a saved classifier.")
]
Images = Annotated[
    str | None,
    typer.Option(
        help="What samples look like: a folder of images whose paths or names are the ids, or an "
        ".npy file of them."
    ),
]
ShownTexts = Annotated[
    str | None,
    typer.Option("--texts", help="What samples look like: texts, FILE:COLUMN, found by ids."),
]
ShownTable = Annotated[
    str | None,
    typer.Option("--table", help="What samples look like: rows of a table, found by ids."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        help="Processes that work on features on disk. Default: the threads of one.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="A Dask cluster that does: the address of its scheduler, or local (with --jobs "
        "workers).",
    ),
]
