"""``rehead report``: what is wrong with a data set, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rehead.cli.arguments import (
    Beside,
    Ids,
    Ignore,
    Images,
    Labels,
    Reviewed,
    ShownTable,
    ShownTexts,
)
from rehead.cli.checks import head_and_samples, need_ending, need_folder, need_other_file
from rehead.cli.next_steps import Paths, page_steps
from rehead.cli.program import app, friendly


@app.command()
@friendly
def report(
    head: Reviewed,
    data: Beside = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page: .html.")] = Path(
        "report.html"
    ),
    labels: Labels = None,
    ids: Ids = None,
    ignore: Ignore = None,
    images: Images = None,
    texts: ShownTexts = None,
    table: ShownTable = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="True labels of the same samples, in their order: a column of the table of "
            "features, .npy, .txt, or FILE:COLUMN; blank where they are not known."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="What stands on top of the page.")] = "",
) -> None:
    """Judge labels, and show what was found: one HTML file that holds everything."""
    need_folder(output)
    need_ending(output, (".html", ".htm"))
    need_other_file(output, head, data, labels, ids, images, texts, table, truth)
    from rehead.audit.files import audit_source
    from rehead.audit.known import known_again
    from rehead.files.samples import check_beside, check_shown
    from rehead.report.page import Beside, write_report
    from rehead.report.shown import Looks
    from rehead.report.truths import read_truth

    head, source, looks = head_and_samples(head, data, labels, ids, ignore)
    own, features = Looks(images, texts, table), Path(source.data)
    looks = own if any(own) else looks
    if truth is not None:
        check_beside(truth, source, "true labels")
    check_shown(source, texts, table)
    true = None if truth is None else read_truth(truth, features)
    audited = audit_source(head, source)
    found, samples = audited
    if samples.note:
        typer.echo(samples.note)
    known = known_again(found, source, samples.layers)
    beside = Beside(
        X=audited.features,
        looks=looks,
        truth=true,
        outputs=samples.outputs,
        steps=page_steps(found, Paths(head, None, None), source, samples.left_out, looks, known),
        title=title or f"Labels of {features.name}",
        how=[("head", str(head)), ("features", str(features))],
        data=features,
    )
    page = write_report(found, output, beside)
    typer.echo(found.summary(0))
    typer.echo(f"Report: {page} ({page.stat().st_size / 1e6:.1f} MB)")
