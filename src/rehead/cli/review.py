"""``rehead review`` and ``rehead apply``: decide about suspects, go on with what was decided."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rehead.cli.arguments import Beside, Ids, Ignore, Labels, Reviewed
from rehead.cli.checks import head_and_samples, need_ending, need_folder, need_other_file
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead.files.samples import Source

Log = Annotated[
    Path | None,
    typer.Option(help="The file of decisions.", show_default="decisions.sqlite beside the head"),
]


@app.command()
@friendly
def review(
    head: Reviewed,
    data: Beside = None,
    labels: Labels = None,
    ids: Ids = None,
    ignore: Ignore = None,
    images: Annotated[
        str | None, typer.Option(help="Show images: a folder of files named by id, or .npy.")
    ] = None,
    texts: Annotated[str | None, typer.Option(help="Show texts: FILE:COLUMN.")] = None,
    table: Annotated[str | None, typer.Option(help="Show rows of a table: FILE.")] = None,
    log: Log = None,
    other_head: Annotated[
        bool,
        typer.Option("--other-head", help="Go on with decisions that were made with another head."),
    ] = False,
    validation: Annotated[
        Path | None,
        typer.Option(help="Held-out features, for fitting the head again from the page."),
    ] = None,
    validation_labels: Labels = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; another one opens it to your network.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(help="Port.", min=0, max=65535, show_default="the first free from 8723 on"),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Go through suspects in a browser, by keyboard. Nothing is ever written into the data."""
    from rehead.files.samples import check_shown
    from rehead.report.shown import Looks
    from rehead.review import Address, open_subject, serve
    from rehead.review.applying import read_held_out
    from rehead.review.serving import listen

    path, source, looks = head_and_samples(head, data, labels, ids, ignore)
    own = Looks(images, texts, table)
    check_shown(source, texts, table)
    listen(Address(host, port)).close()  # a port in use is told before all labels are judged
    subject = open_subject(path, source, own if any(own) else looks)
    typer.echo(subject.report.summary(0))
    n = int(subject.report.suspect.sum())
    typer.echo(f"{n} suspects: another label is more probable than the given one.")
    if subject.shown is not None and subject.shown.note:
        typer.echo(subject.shown.note)
    if subject.shown is None:
        typer.echo("Samples have only their ids to show; see --images, --texts and --table.")
    where = _validation(head, data, validation, validation_labels)
    held_out = None if where is None else read_held_out(subject, where)
    if host not in ("127.0.0.1", "localhost", "::1"):
        typer.echo(f"Warning: whoever reaches {host} and has the address can decide.", err=True)
    serve(
        subject,
        log,
        address=Address(host, port),
        other_head=other_head,
        validation=held_out,
        browser=browser,
        tell=typer.echo,
    )


@app.command()
@friendly
def apply(
    head: Reviewed,
    data: Beside = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Corrected labels and weights: .csv, .parquet, .json, or .npy (labels alone).",
        ),
    ] = None,
    labels: Labels = None,
    ids: Ids = None,
    ignore: Ignore = None,
    log: Log = None,
    new_head: Annotated[
        Path | None, typer.Option(help="The head, fitted again with the decisions.")
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(help="Held-out features, for the weights of the layers.")
    ] = None,
    validation_labels: Labels = None,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out/--no-held-out", help="Use the held-out samples of a folder of `clean`."
        ),
    ] = True,
    truth: Annotated[
        str | None,
        typer.Option(
            help="True labels of the same samples: FILE:COLUMN; blank where they are not known."
        ),
    ] = None,
) -> None:
    """Write corrected labels and weights from decisions, and fit the head again with them."""
    from rehead.audit.files import open_model
    from rehead.audit.memory import remembered_places
    from rehead.review.applying import CORRECTED, NEW_HEAD, Outputs, apply_decisions
    from rehead.review.corrected import WRITTEN

    path, source, _ = head_and_samples(head, data, labels, ids, ignore)
    if data is None:
        output, new_head = output or head / CORRECTED, new_head or head / NEW_HEAD
    elif output is None and new_head is None:
        raise ValueError("Say what to write: --output corrected.csv, --new-head FILE, or both.")
    remembered = remembered_places(open_model(path)).values()
    for file in filter(None, (output, new_head)):
        need_folder(file)
        need_other_file(file, path, source.data, source.labels, source.ids, *remembered)
    if output is not None:
        need_ending(output, WRITTEN)
    done = apply_decisions(
        path,
        source,
        log,
        outputs=Outputs(output, new_head),
        validation=_validation(head, data, validation, validation_labels) if held_out else None,
        truth=truth,
    )
    changed, trusted = int(done.corrected.changed.sum()), int(done.corrected.trusted.sum())
    if done.gain is None:
        typer.echo(f"{changed} labels corrected, {trusted - changed} kept.")
    else:
        typer.echo(str(done.gain))
    for file in done.files:
        typer.echo(f"Written: {file}")


def _validation(
    head: Path, data: Path | None, validation: Path | None, labels: str | None
) -> Source | None:
    """Held-out samples, as given, or those of the folder."""
    from rehead.files.cleaned import CleanedFolder
    from rehead.files.samples import Source

    if validation is not None:
        return Source(validation, labels, option="--validation-labels")
    return CleanedFolder(head).validation() if data is None else None
