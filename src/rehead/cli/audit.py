"""``rehead audit``: which labels are wrong."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rehead.cli.arguments import Features, Ids, Ignore, Judge, Labels
from rehead.cli.checks import (
    need_ending,
    need_features,
    need_folder,
    need_head,
    need_other_file,
)
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead.audit import LabelReport
    from rehead.files.samples import Source


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
        float, typer.Option(help="Correct a label if another one is as probable.", max=1.0)
    ] = 0.9,
    show: Annotated[int, typer.Option(help="How many of the worst labels to show.", min=0)] = 10,
    input_order: Annotated[
        bool, typer.Option("--input-order", help="Keep the order of the data in the output.")
    ] = False,
) -> None:
    """Judge labels: which are wrong, what they should be, how many to review."""
    for file in (output, corrected):
        if file is not None:
            need_folder(file)
            need_ending(file, (".csv", ".parquet"))
            need_other_file(file, head, data, labels, ids)
    if output is not None and corrected is not None and output.absolute() == corrected.absolute():
        raise ValueError("--output and --corrected name the same file. Choose two.")
    from rehead.audit.files import audit_source
    from rehead.files.samples import Source
    from rehead.files.tables import write_table

    need_head(head)
    need_features(data)
    source = Source(data, labels, ids, tuple(ignore or ()))
    report, note = audit_source(head, source)
    if note:
        typer.echo(note)
    typer.echo(report.summary(show))
    if output is not None:
        write_table(output, report.file_columns(worst_first=not input_order))
        typer.echo(f"{len(report)} labels: {output}")
    if corrected is not None:
        changed = _write_corrected(report, corrected, min_probability)
        typer.echo(f"{changed} of {len(report)} labels corrected: {corrected}")
    for line in _next_steps(report, head, source, output, corrected):
        typer.echo(line)


def _write_corrected(report: LabelReport, path: Path, min_probability: float) -> int:
    """Corrected labels with their ids; returns how many differ from those given."""
    from rehead.files.tables import write_table

    labels = report.corrected(min_probability)
    changed = labels != report.given
    given = report.file_columns(worst_first=False)
    columns = {"id": given["id"], "label": labels, "given": report.given, "changed": changed}
    write_table(path, columns)
    return int(changed.sum())


def _next_steps(
    report: LabelReport, head: Path, source: Source, output: Path | None, corrected: Path | None
) -> list[str]:
    """What to do now, with the user's own names; nothing where no label needs a look."""
    n = report.n_review()
    if not n:
        return []
    told = _options(source)
    audit = f"rehead audit {_quoted(head)} {_quoted(source.data)}{told}"
    review = (
        f"{audit} -o suspects.csv, then look at its first {n} rows"
        if output is None
        else f"look at the {n} of {output} with the lowest quality"
    )
    lines = ["Next:", f"  review: {review}"]
    if corrected is None:
        lines.append(f"  correct: {audit} --corrected corrected.csv --min-probability 0.9")
    file = f"{corrected or 'corrected.csv'}:label"
    fit = f"rehead fit {_quoted(source.data)} --labels {_quoted(file)}{_ignored(source)}"
    lines.append(f"  fit again: {fit} -o new-head.safetensors")
    lines.append("  in Python: score_labels(model, X, y).corrected(0.9)")
    return lines


def _options(source: Source) -> str:
    """The options that say where samples are, as they were typed."""
    given = [("--labels", source.labels), ("--ids", source.ids)]
    given += [("--ignore", name) for name in source.ignore]
    return "".join(f" {option} {_quoted(value)}" for option, value in given if value)


def _ignored(source: Source) -> str:
    """What a fit must be told of a table whose labels are in another file now."""
    from rehead.files.samples import own_column

    names = [own_column(source.labels, source.data)]
    told = [("--ids", source.ids)] if source.ids else []
    told += [("--ignore", name) for name in (*names, *source.ignore) if name]
    return "".join(f" {option} {_quoted(value)}" for option, value in told)


def _quoted(value: object) -> str:
    return shlex.quote(str(value))
