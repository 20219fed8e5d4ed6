"""``rehead reproduce``: the paper's tables, figures and theorem, ours beside the printed ones."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rehead.cli.checks import need_folder
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead.experiments.asked import Scope
    from rehead.experiments.figures.cells import Request
    from rehead.experiments.sweep import Progress, Sweep
    from rehead.report.sheets import Sheet

TITLED = {"markdown": "**{}**\n\n{}", "csv": "# {}\n{}"}
"""How several tables are told apart in forms that have no titles."""
ALL, THEOREM, PAGE, FIGURE = "all", "theorem", "page", "figure"
PICTURES = (".png", ".svg")


@app.command()
@friendly
def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="table1 to table8, table1-variations (3, 5 and 6 too), figure1a, ..., theorem, "
            "all, page, or a cell by its name."
        ),
    ],
    profile: Annotated[
        str,
        typer.Option(help="quick: two CPU cores. paper: as published. tiny: shows that it works."),
    ] = "quick",
    data: Annotated[
        str | None,
        typer.Option(help="Run it on another data set; digits needs no files."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds.", min=1, show_default="the table's")
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(help="At most so many cells of each table.", min=1, show_default="all"),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Networks to train at the same time.", min=1)] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="A Dask cluster that trains them: the address of its scheduler, or local (with "
            "--jobs workers)."
        ),
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    cache: Annotated[
        Path | None,
        typer.Option(help="Folder for features of networks.", show_default="the user's cache"),
    ] = None,
    cache_limit: Annotated[float, typer.Option(help="Its size, in GB.", min=0.0)] = 20.0,
    form: Annotated[
        str, typer.Option("--format", help="terminal, markdown, csv or latex.")
    ] = "terminal",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File of the table, page or picture; or a folder for the latter."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Run nothing; show what is there.")] = False,
    list_cells: Annotated[
        bool, typer.Option("--list", help="Run nothing; list the cells and their state.")
    ] = False,
) -> None:
    """Run what is missing of a table, and show our numbers beside the printed ones.

    What was measured is kept and not run again; after an interruption the same command goes on.
    """
    from rehead.experiments.asked import Scope, check_asked
    from rehead.experiments.cache import Cache, default_folder
    from rehead.experiments.results import Results
    from rehead.experiments.sweep import Sweep
    from rehead.report.sheets import check_form

    if what != PAGE and not _is_picture(what):
        form = _form_of(output, form)
    check_form(form)
    if results.exists() and not results.is_dir():
        raise typer.BadParameter(f"--results {results} is a file; name a folder")
    scope = check_asked(what, Scope(profile, data, seeds, cells))
    _check_together(what, form, show=show, cells=cells)
    output = _place_of(what, output)
    store = Cache(cache or default_folder(), int(cache_limit * 1e9))
    asked = Asked(what, scope, Sweep(Results(results), store, jobs, cluster=cluster))
    if list_cells:
        _list(asked)
        return
    if not show:
        _run(asked)
    if what == PAGE:
        _write_page(asked, output or Path("reproduction.md"))
        return
    _put(asked, _shown(asked, output, form), None if _is_picture(what) else output)


def _place_of(what: str, output: Path | None) -> Path | None:
    """Where to write: a folder will do for pages and pictures, and endings must be theirs."""
    if output is None:
        return None
    if what == PAGE and output.is_dir():
        output = output / "reproduction.md"
    if what == PAGE and output.suffix != ".md":
        raise typer.BadParameter(
            f"the page is Markdown; name a file that ends in .md, not {output}"
        )
    if _is_picture(what) and not output.is_dir() and output.suffix not in ("", *PICTURES):
        raise typer.BadParameter(f"pictures end in {' or '.join(PICTURES)}, not {output.suffix}")
    need_folder(output / "x" if _is_picture(what) and output.is_dir() else output)
    return output


def _check_together(what: str, form: str, *, show: bool, cells: int | None) -> None:
    """Options that would be ignored beside others."""
    if show and cells is not None:
        raise typer.BadParameter(
            "--cells says how many to run, and --show runs none; leave one out"
        )
    if what == PAGE and form != "terminal":
        raise typer.BadParameter("the page is always Markdown; leave --format out")


class Asked(NamedTuple):
    """What was asked for: its name, how much of it, and where results are."""

    what: str
    scope: Scope
    sweep: Sweep

    @property
    def results(self) -> Path:
        """The folder of the results."""
        return self.sweep.results.folder

    @property
    def kept(self) -> Path:
        """The folder of the results of the profile."""
        return self.results / self.scope.profile

    @property
    def request(self) -> Request:
        """What figures are collected from."""
        from rehead.experiments.figures.cells import Request

        sweep, scope = self.sweep, self.scope
        return Request(sweep.results, sweep.cache, scope.profile, scope.data)

    @property
    def figures(self) -> Path:
        """The folder of what figures show."""
        from rehead.report.figures import kept_in

        return kept_in(self.results, self.scope.profile, self.scope.data)


def _is_picture(what: str) -> bool:
    return what.startswith(FIGURE) or what == THEOREM


def _put(asked: Asked, text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text)
        return
    from rehead.files.atomic import write_atomically

    write_atomically(output, f"{text}\n".encode())
    typer.echo(f"{asked.what}: {output}")


def _list(asked: Asked) -> None:
    from rehead.experiments.asked import find_cells
    from rehead.experiments.results import NOT_RUN, ResultError

    for cell in find_cells(asked.what, asked.scope):
        try:
            found = asked.sweep.results.read(cell)
        except ResultError as error:  # the others are to be listed all the same
            typer.echo(f"{cell.name}  cannot be read: {error}")
            continue
        typer.echo(f"{cell.name}  {NOT_RUN if found is None else found.status}")


def _run(asked: Asked) -> None:
    """Train and measure what is missing; then collect figures."""
    what = asked.what
    if what not in (THEOREM, PAGE):
        _run_cells(asked)
    if what in (THEOREM, ALL):
        _run_theorem(asked)
    if what.startswith(FIGURE):
        _collect(asked)
    if what == ALL:
        from rehead.report.figures import collect_all

        for name, why in collect_all(asked.request).items():
            typer.echo(f"figure{name}: {why}", err=True)


def _collect(asked: Asked) -> None:
    """Collect a figure; where its features are gone, what was kept of it is drawn."""
    from rehead.experiments.figures.cells import NothingToDrawError
    from rehead.report.figures import collect_figure

    name = asked.what.removeprefix(FIGURE)
    try:
        collect_figure(name, asked.request)
    except NothingToDrawError as error:
        if not (asked.figures / f"{name}.json").exists():
            raise
        typer.echo(f"{asked.what} is drawn as it was kept. {error}", err=True)


def _run_theorem(asked: Asked) -> None:
    from rehead.experiments.theory.kept import keep_theorem
    from rehead.report.console import progress_bar

    with progress_bar() as progress:
        keep_theorem(asked.kept, asked.scope.profile, progress)


def _run_cells(asked: Asked) -> None:
    import rehead.torch  # noqa: F401  (says what to install if torch is missing)
    from rehead._progress import plain_lines, progress_bar
    from rehead.experiments.asked import find_cells
    from rehead.experiments.sweep import run_sweep

    chosen = find_cells(asked.what, asked.scope)
    todo = sum(not asked.sweep.is_done(cell) for cell in chosen)
    if not todo:
        return
    reasons: Counter[str] = Counter()
    with plain_lines(), progress_bar("cells", todo) as advance:

        def tell(progress: Progress) -> None:
            advance(0 if progress.result is None else 1, progress_text(progress))
            if progress.result is not None and progress.result.reason:
                reasons[progress.result.reason] += 1

        run_sweep(asked.sweep, chosen, tell)
    for reason, n in reasons.items():
        typer.echo(f"{n} of {todo} {'cell' if todo == 1 else 'cells'}: {reason}", err=True)


def progress_text(progress: Progress) -> str:
    """What the bar, or the log, says."""
    left = progress.seconds_left
    known = not math.isnan(left) and progress.done < progress.total
    guess = f", about {math.ceil(left / 60)} min left" if known else ""
    cells = "cell" if progress.total == 1 else "cells"
    if progress.result is None:
        return f"{progress.total} {cells} to run"
    cell, status = progress.result.cell.name, progress.result.status
    state = "" if status == "ran" else f" ({status})"
    return f"{cell}{state}, {progress.done} of {progress.total} {cells}{guess}"


def _shown(asked: Asked, output: Path | None, form: str) -> str:
    from rehead.report.reproduced import sheets_of
    from rehead.report.sheets import render

    what = asked.what
    if what.startswith(FIGURE):
        sheets = [_figure(asked, output)]
    elif what == THEOREM:
        sheets = [_theorem(asked, output)]
    else:
        sheets = sheets_of(what, asked.scope, asked.sweep.results)
    texts = [render(sheet, form) for sheet in sheets]
    if len(sheets) > 1 and form in TITLED:
        texts = [TITLED[form].format(s.title, t) for s, t in zip(sheets, texts, strict=True)]
    return "\n\n".join(texts)


def _form_of(output: Path | None, form: str) -> str:
    """The format that the name of a file says, where none was asked for."""
    if output is None or form != "terminal":
        return form
    return {".csv": "csv", ".md": "markdown", ".tex": "latex"}.get(output.suffix, form)


def _figure(asked: Asked, output: Path | None) -> Sheet:
    from rehead.experiments.figures.drawing import read_content
    from rehead.report.figures import caption_sheet, draw_kept

    name = asked.what.removeprefix(FIGURE)
    files = draw_kept(name, asked.figures, output or asked.figures)
    return caption_sheet(name, read_content(name, asked.figures), files)


def _theorem(asked: Asked, output: Path | None) -> Sheet:
    from rehead.experiments.theory.drawing import draw_theorem
    from rehead.experiments.theory.kept import read_theorem
    from rehead.report.figures import theorem_sheet

    result, place = read_theorem(asked.kept), output or asked.figures
    files = [place] if place.suffix in PICTURES else [place / f"theorem{e}" for e in PICTURES]
    files[0].parent.mkdir(parents=True, exist_ok=True)
    for file in files:
        draw_theorem(result, file)
    return theorem_sheet(result)._replace(notes=[f"Picture: {files[0]}"])


def _write_page(asked: Asked, output: Path) -> None:
    from rehead.report.reproduction import write_pages

    written = write_pages(asked.results, output, asked.scope.profile)
    for file in written.files:
        typer.echo(f"{asked.what}: {file}")
    for name, why in written.missing.items():
        typer.echo(f"{FIGURE}{name} was not drawn: {why}", err=True)
