"""The accuracy grid, measured: tasks x noises x ways to predict, several seeds.

    python -m rehead.experiments.accuracy            # measures what is missing, writes the page
    python -m rehead.experiments.accuracy --quick    # a part of seed 0 anew, beside what was kept
    python -m rehead.experiments.accuracy --print    # what was measured
    python -m rehead.experiments.accuracy --tasks tabular    # another list of tasks

A cell is a task under a noise with a seed. Nothing is chosen on test labels at run time; how the
constants of the default were set is told on the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from rehead import _validation as check
from rehead.experiments.cache import Cache
from rehead.experiments.cell import Cell
from rehead.experiments.columns.classic import LDA_SHRUNK
from rehead.experiments.columns.registry import AUTO, COLUMNS, ROG
from rehead.experiments.grid.columns import CLEANLAB, ORACLE, baseline
from rehead.experiments.grid.page import write_page
from rehead.experiments.grid.peers import cells_of_peers, read_standings
from rehead.experiments.grid.summary import Grid
from rehead.experiments.grid.tasks import FRESH_SEEDS, LISTS, SEEDS, TABLE, grid_cells, task_of
from rehead.experiments.grid.terminal import beside, show, show_list
from rehead.experiments.plans import source_of
from rehead.experiments.results import RAN, Result, Results
from rehead.experiments.running import run
from rehead.experiments.sweep import Progress, Sweep, run_sweep

QUICK = ("digits-mlp", "reuters8-fcn", "reuters8-frozen", "cifar10-frozen")
QUICK_NOISES = (("none", 0.0), ("uniform", 0.4), ("flip", 0.4))
QUICK_COLUMNS = (LDA_SHRUNK, ROG, CLEANLAB[0], "agreement", AUTO, ORACLE)
"""Besides the network itself."""
WIDTH = 200


def quick_cells() -> list[Cell]:
    """A part of seed 0: tasks and noises that take minutes.

    Examples
    --------
    >>> from rehead.experiments.accuracy import quick_cells
    >>> len(quick_cells())
    12
    """
    return [c for c in grid_cells(QUICK, [0]) if (c.noise, c.rate) in QUICK_NOISES]


def measure_anew(cells: Sequence[Cell], cache: Cache, console: Console) -> Iterator[Result]:
    """Measure some ways to predict, whatever was measured before; nothing is written."""
    for cell in cells:
        result = run(cell, cache, columns=[baseline(task_of(cell)), *QUICK_COLUMNS])
        tell(result, console)
        yield result


def quick(cache: Cache, results: Results, console: Console) -> None:
    """Measure a part of seed 0 anew, and print it beside what was kept."""
    now = Grid.of_results(measure_anew(quick_cells(), cache, console))
    beside(now, Grid.read(results, QUICK, [0]), console)


def tell(result: Result, console: Console) -> None:
    """Print a cell in a line: accuracies in per cent, or why there are none."""
    shown = ", ".join(f"{name} {result.accuracy(name):.1f}" for name in result.columns)
    said = shown if result.status == RAN else f"{result.status}: {result.reason}"
    console.print(result.cell.name, said, markup=False, highlight=False)


def measure(sweep: Sweep, cells: Sequence[Cell], console: Console) -> None:
    """Measure what is missing."""

    def told(progress: Progress) -> None:
        if progress.result is not None:
            tell(progress.result, console)

    run_sweep(sweep, cells, told)


def parser() -> argparse.ArgumentParser:
    """The options."""
    asked = argparse.ArgumentParser(
        prog="python -m rehead.experiments.accuracy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    asked.add_argument("tasks", nargs="*", metavar="task", help=f"of {_names()}")
    asked.add_argument("--tasks", dest="listed", choices=list(LISTS), default=TABLE, help="a list")
    asked.add_argument("--noise", nargs="+", metavar="kind", help="some kinds: none uniform30")
    asked.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    asked.add_argument("--columns", nargs="+", choices=list(COLUMNS), metavar="column")
    asked.add_argument(
        "--anew", action="store_true", help="again what another version of rehead measured"
    )
    asked.add_argument("--jobs", type=int, default=1, help="networks trained at the same time")
    asked.add_argument("--peers", action="store_true", help="seed 0 with methods of others")
    asked.add_argument("--cached", action="store_true", help="only tasks that are made already")
    only = asked.add_mutually_exclusive_group()
    only.add_argument("--quick", action="store_true", help="a part of seed 0, anew")
    only.add_argument("--print", action="store_true", dest="only_print", help="measure nothing")
    only.add_argument("--page", action="store_true", help="only write the page")
    asked.add_argument("--results", type=Path, default=Path("results"), help="folder of results")
    asked.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the page")
    return asked


def _names() -> str:
    """Tasks by list."""
    return "; ".join(f"{name}: {', '.join(tasks)}" for name, tasks in LISTS.items())


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options that were given; what does not go together ends the program."""
    reader = parser()
    asked = reader.parse_args(arguments)
    if asked.listed != TABLE and (asked.peers or asked.quick or asked.page):
        reader.error("--peers, --quick and --page are of the grid itself, without --tasks")
    asked.tasks = asked.tasks or list(LISTS[asked.listed])
    for name in asked.tasks:
        check.check_choice(name, LISTS[asked.listed], "task")
    return asked


def asked_cells(asked: argparse.Namespace, cache: Cache) -> list[Cell]:
    """What is to be measured."""
    cells = cells_of_peers(asked.tasks) if asked.peers else grid_cells(asked.tasks, asked.seeds)
    if asked.noise:
        kinds = list(dict.fromkeys(cell.kind for cell in cells))
        for kind in asked.noise:
            check.check_choice(kind, kinds, "noise")
        cells = [cell for cell in cells if cell.kind in asked.noise]
    return [c for c in cells if not asked.cached or cache.has(source_of(c).what)]


def read_lists(results: Results) -> dict[str, Grid]:
    """What was measured with fresh seeds, of all lists of tasks."""
    return {name: Grid.read(results, tasks, FRESH_SEEDS) for name, tasks in LISTS.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, print, write the page."""
    asked = parsed(arguments)
    console, cache, results = Console(width=WIDTH), Cache.default(), Results(asked.results)
    if asked.quick:
        quick(cache, results, console)
        return
    if not (asked.only_print or asked.page):
        columns = tuple(asked.columns) if asked.columns else None
        sweep = Sweep(results, cache, asked.jobs, columns, asked.anew)
        measure(sweep, asked_cells(asked, cache), console)
    if asked.listed != TABLE:
        show_list(Grid.read(results, asked.tasks, asked.seeds), console)
        return
    if not asked.page:
        show(Grid.read(results, asked.tasks, asked.seeds), console)
    if not asked.only_print:
        # The page is of all that was measured, whatever was asked for now.
        write_page(Grid.read(results), asked.docs, read_standings(results), read_lists(results))


if __name__ == "__main__":
    main()
