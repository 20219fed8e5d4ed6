"""``rehead audit``: which labels are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rehead.cli.arguments import Cluster, Features, Ids, Ignore, Jobs, Judge, Labels
from rehead.cli.checks import (
    need_ending,
    need_features,
    need_folder,
    need_head,
    need_other_file,
)
from rehead.cli.next_steps import TRUSTED, Paths, next_steps
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead.audit import LabelReport
    from rehead.audit.known import KnownRows


@app.command()
@friendly
def audit(
    head: Judge,
    data: Features,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="All labels, worst first: .csv or .parquet."),
    ] = None,
    labels: Labels = None,
    ids: Ids = None,
    ignore: Ignore = None,
    corrected: Annotated[
        Path | None,
        typer.Option(help="Corrected labels, in the order of the data: .csv or .parquet."),
    ] = None,
    min_probability: Annotated[
        float, typer.Option(help="Correct a label if another one has at least this probability.")
    ] = 0.9,
    show: Annotated[int, typer.Option(help="How many of the worst labels to show.", min=0)] = 10,
    input_order: Annotated[
        bool, typer.Option("--input-order", help="Keep the order of the data in the output.")
    ] = False,
    jobs: Jobs = None,
    cluster: Cluster = None,
) -> None:
    """Judge labels: which are wrong, what they should be, how many to review."""
    for file in (output, corrected):
        if file is not None:
            need_folder(file)
            need_ending(file, (".csv", ".parquet"))
            need_other_file(file, head, data, labels, ids)
    if output is not None and corrected is not None and output.absolute() == corrected.absolute():
        raise ValueError("--output and --corrected name the same file. Choose two.")
    if not 0 < min_probability <= 1:
        raise ValueError(
            f"--min-probability must be above 0, and 1 at most; got {min_probability}."
        )
    from rehead.audit.files import audit_source, open_model
    from rehead.audit.known import known_again
    from rehead.audit.memory import remembered_places
    from rehead.files.samples import Source
    from rehead.files.tables import write_table
    from rehead.scale import workers

    need_head(head)
    need_features(data)
    model, source = open_model(head), Source(data, labels, ids, ignore or ())
    for file in filter(None, (output, corrected)):
        need_other_file(file, *remembered_places(model).values())
    with workers(jobs, cluster):
        report, samples = audit_source(model, source)
    if samples.note:
        typer.echo(samples.note)
    known = known_again(report, source, samples.layers)
    typer.echo(report.summary(show))
    if output is not None:
        write_table(output, report.file_columns(worst_first=not input_order), for_people=True)
        typer.echo(f"{len(report)} labels: {output}")
    if corrected is not None:
        changed, n_checked = _write_corrected(report, corrected, min_probability, known)
        typer.echo(f"{changed} of {len(report)} labels corrected: {corrected}")
        if n_checked:
            typer.echo(f"{n_checked} more look wrong, but were checked: they are left alone.")
    paths = Paths(head, output, corrected)
    for line in next_steps(report, paths, source, samples.left_out, known):
        typer.echo(line)


def _write_corrected(
    report: LabelReport, path: Path, min_probability: float, known: KnownRows | None
) -> tuple[int, int]:
    """Corrected labels with their ids; how many differ from those given, and how many do not.

    The latter are those that would, if the head had not been told that they are right. The former
    are suggestions, and are called so.
    """
    import numpy as np

    from rehead.files.tables import write_table

    labels, n_checked = report.corrected(min_probability), 0
    if known is not None:
        checked = known.is_trusted & (labels != report.given)
        labels, n_checked = np.where(checked, report.given, labels), int(checked.sum())
    changed = labels != report.given
    given = report.file_columns(worst_first=False)
    columns = {"id": given["id"], "label": labels, "given": report.given, "changed": changed}
    if known is not None:
        trusted = known.after_audit(changed).trusted
        assert trusted is not None
        columns[TRUSTED] = trusted
    write_table(path, columns)
    return int(changed.sum()), n_checked
