"""``rehead audit``: which labels are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rehead.cli.arguments import Features, Judge, Labels
from rehead.cli.checks import need_features, need_folder, need_head, need_other_file
from rehead.cli.program import app, friendly


@app.command()
@friendly
def audit(
    head: Judge,
    data: Features,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A CSV file of all labels, worst first.")
    ] = None,
    labels: Labels = None,
    ids: Annotated[
        str | None,
        typer.Option(help="Ids: .npy, .txt, or FILE:COLUMN. Default: those of the feature store."),
    ] = None,
    show: Annotated[int, typer.Option(help="So many of the worst labels are shown.", min=0)] = 10,
    input_order: Annotated[
        bool, typer.Option("--input-order", help="Keep the order of the data in the CSV file.")
    ] = False,
) -> None:
    """Judge labels: which are wrong, what they should be, how many to review."""
    if output is not None:
        need_folder(output)
        need_other_file(output, head, data, labels, ids)
    from rehead.audit.files import audit_files

    need_head(head)
    need_features(data)
    report = audit_files(head, data, labels, ids)
    typer.echo(report.summary(show))
    if output is not None:
        report.to_csv(output, worst_first=not input_order)
        typer.echo(f"{len(report)} labels: {output}")
