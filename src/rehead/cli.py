"""The command line. Each command calls one public function; heavy imports wait until it runs."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Give a network trained on noisy labels a new head.",
    pretty_exceptions_show_locals=False,
)


class Noise(StrEnum):
    """Kinds of noise."""

    uniform = "uniform"
    flip = "flip"


def _version(show: bool) -> None:
    if show:
        from rehead import __version__

        typer.echo(f"rehead {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that all commands share."""


@app.command()
def demo(
    noise: Annotated[
        list[Noise] | None,
        typer.Option(help="Kind of noise; can be given several times.", show_default="all"),
    ] = None,
    rate: Annotated[float, typer.Option(help="Share of wrong labels.", min=0.0, max=1.0)] = 0.4,
    seed: Annotated[int, typer.Option(help="First seed.", min=0)] = 0,
    seeds: Annotated[int, typer.Option(help="Number of seeds.", min=1)] = 5,
    output: Annotated[Path, typer.Option("--output", "-o", help="The report.")] = Path(
        "demo-report.html"
    ),
) -> None:
    """Train on noisy digits, fix the network without retraining, write a report. Needs no data."""
    _need_torch()
    _need_folder(output)
    from rich.console import Console

    from rehead.experiments.demo import DemoSettings, run_demo
    from rehead.report import console as show
    from rehead.report import write_demo_report

    kinds = tuple(kind.value for kind in noise or Noise)
    settings = DemoSettings(noises=kinds, rate=rate, seed=seed, n_seeds=seeds)
    start = time.perf_counter()
    with show.progress_bar() as progress:
        result = run_demo(settings, progress)
        progress("drawing the report", 1.0)
        page = write_demo_report(result, output, time.perf_counter() - start)
    console = Console()
    console.print(show.demo_table(result), show.demo_findings(result))
    console.print(f"Report: {page} ({time.perf_counter() - start:.0f} s)", soft_wrap=True)


def _need_folder(file: Path) -> None:
    """Fail before the work, not after it, where the result could not be written."""
    if not file.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent} for {file.name}; make it first")


def _need_torch() -> None:
    """Fail early, with the command that helps, where the torch extra is missing."""
    try:
        import rehead.torch  # noqa: F401
    except ImportError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
