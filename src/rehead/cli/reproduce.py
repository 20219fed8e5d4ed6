"""``rehead reproduce``: the paper's tables, figures and theorem, ours beside the printed ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rehead.cli.checks import need_folder
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead.experiments.asked import Scope
    from rehead.experiments.sweep import Progress, Sweep


@app.command()
@friendly
def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="table1 to table8, table5-variations, figure1a, ..., theorem, all, or a cell by "
            "its name."
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
        Path | None, typer.Option("--output", "-o", help="File for the table.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Run nothing; show what is there.")] = False,
    list_cells: Annotated[
        bool, typer.Option("--list", help="Run nothing; list the cells and their state.")
    ] = False,
) -> None:
    """Run what is missing of a table, and show our numbers beside the printed ones.

    What was measured is kept and not run again; after an interruption the same command goes on.
    """
    from rehead.experiments.asked import Scope
    from rehead.experiments.cache import Cache, default_folder
    from rehead.experiments.results import Results
    from rehead.experiments.sweep import Sweep
    from rehead.report.sheets import check_form

    check_form(form)
    if output is not None:
        need_folder(output)
    store = Cache(cache or default_folder(), int(cache_limit * 1e9))
    sweep = Sweep(Results(results), store, jobs)
    scope = Scope(profile, data, seeds, cells)
    if list_cells:
        _list(what, scope, sweep)
        return
    if not show:
        _run(what, scope, sweep)
    text = _shown(what, scope, sweep, form)
    if output is None:
        typer.echo(text)
    else:
        from rehead.files.atomic import write_atomically

        write_atomically(output, f"{text}\n".encode())
        typer.echo(f"{what}: {output}")


def _list(what: str, scope: Scope, sweep: Sweep) -> None:
    from rehead.experiments.asked import find_cells

    for cell in find_cells(what, scope):
        found = sweep.results.read(cell)
        state = "not run" if found is None else found.status
        typer.echo(f"{cell.name}  {state}")


def _run(what: str, scope: Scope, sweep: Sweep) -> None:
    import rehead.torch  # noqa: F401  (says what to install if torch is missing)
    from rehead._progress import plain_lines, progress_bar
    from rehead.experiments.asked import find_cells
    from rehead.experiments.sweep import run_sweep

    chosen = find_cells(what, scope)
    todo = sum(not sweep.is_done(cell) for cell in chosen)
    if not todo:
        return
    with plain_lines(), progress_bar("cells", todo) as advance:

        def tell(progress: Progress) -> None:
            advance(0 if progress.result is None else 1, progress_text(progress))

        run_sweep(sweep, chosen, tell)


def progress_text(progress: Progress) -> str:
    """What the bar, or the log, says."""
    left = progress.seconds_left
    guess = "" if math.isnan(left) else f", about {math.ceil(left / 60)} min left"
    if progress.result is None:
        return f"{progress.total} cells to run"
    cell, status = progress.result.cell.name, progress.result.status
    state = "" if status == "ran" else f" ({status})"
    return f"{cell}{state}, {progress.done} of {progress.total} cells{guess}"


def _shown(what: str, scope: Scope, sweep: Sweep, form: str) -> str:
    from rehead.report.reproduced import sheets_of
    from rehead.report.sheets import render

    return "\n\n".join(render(sheet, form) for sheet in sheets_of(what, scope, sweep.results))
