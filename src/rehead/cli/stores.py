"""``rehead partition`` and ``rehead merge``: stores made of stores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rehead.cli.checks import need_other_folder
from rehead.cli.program import app, friendly

Store = Annotated[Path, typer.Argument(help="Folder of a feature store.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder of the new store.")]


@app.command()
@friendly
def partition(
    store: Store,
    output: Output,
    labels: Annotated[
        str | None,
        typer.Option(help="In place of the labels of the store: .npy, .txt, or FILE:COLUMN."),
    ] = None,
) -> None:
    """Rewrite a feature store class by class, so that fits read it faster.

    The same command continues a killed run.
    """
    need_other_folder(output, store, labels)
    from rehead.files.partition import partition_store
    from rehead.files.places import locate

    place = locate(labels, None)
    found = partition_store(store, output, None if place is None else place.read())
    typer.echo(f"{len(found)} samples, class by class: {output}")


@app.command()
@friendly
def merge(
    stores: Annotated[list[Path], typer.Argument(help="Folders of feature stores.")],
    output: Output,
) -> None:
    """Join feature stores into one: parts of an extraction, or samples that came in several lots.

    The same command continues a killed run.
    """
    for store in stores:
        need_other_folder(output, store)
    from rehead.files.merge import merge_stores

    found = merge_stores(stores, output)
    typer.echo(f"{len(found)} samples of {len(stores)} stores: {output}")
