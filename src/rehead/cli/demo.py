"""``rehead demo``: everything at once, on digits that come with the package."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rehead.cli.checks import need_folder
from rehead.cli.program import app, friendly


class Noise(StrEnum):
    """Kinds of noise."""

    uniform = "uniform"
    flip = "flip"


@app.command()
@friendly
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
    folder: Annotated[
        Path, typer.Option(help="A folder to review, of the first kind of noise.")
    ] = Path("demo"),
) -> None:
    """Train on noisy digits, fix the network without retraining, write a report. Needs no data."""
    need_folder(output)
    import rehead.torch  # noqa: F401  (says what to install if torch is missing)
    from rehead.experiments.demo import DemoSettings, run_demo
    from rehead.report import console as show
    from rehead.report.demo import write_demo_report
    from rehead.report.demofolder import check_demo_folder, write_demo_folder

    kinds = tuple(kind.value for kind in noise or Noise)
    settings = DemoSettings(noises=kinds, rate=rate, seed=seed, n_seeds=seeds)
    check_demo_folder(folder, settings)
    start = time.perf_counter()
    with show.progress_bar() as progress:
        result = run_demo(settings, progress)
        progress("drawing the report", 1.0)
        page = write_demo_report(result, output, time.perf_counter() - start)
        write_demo_folder(result.showcases[0], settings, folder)
    show.print_demo(result)
    typer.echo(f"Report: {page} ({time.perf_counter() - start:.0f} s)")
    typer.echo(f"Next, go through the wrong labels by keyboard: rehead review {folder}")
