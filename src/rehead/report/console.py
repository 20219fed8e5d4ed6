"""What commands show in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rehead._values import visible
from rehead.experiments.demo import DEFAULT, DemoResult

WIDEST = 1000
"""Letters of a line where there is no terminal; tables are no wider than they need to be."""


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on standard error; yields a function of text and share done."""
    columns = (
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    silent = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as progress:
        task = progress.add_task("starting", total=1.0)

        def update(text: str, share: float) -> None:
            progress.update(task, description=text, completed=share)

        yield update


def demo_table(result: DemoResult) -> Table:
    """Test accuracy of each way to predict: mean and spread over seeds."""
    s = result.settings
    table = Table(title=f"Accuracy on clean test digits, % (mean ± std over {s.n_seeds} seeds)")
    table.add_column("inference")
    for kind in s.noises:
        table.add_column(f"{kind} {s.rate:.0%}", justify="right")
    for method in result.methods():
        cells = [_mean_std(100.0 * result.accuracies(kind, method)) for kind in s.noises]
        style = "bold" if method == DEFAULT else None
        table.add_row(method, *cells, style=style)
    return table


def demo_findings(result: DemoResult) -> Table:
    """What the network fitted, how clean the kept samples are, and the noise, measured."""
    s = result.settings
    table = Table(title="What RoG kept, and the noise it measured, %")
    table.add_column("")
    for kind in s.noises:
        table.add_column(f"{kind} {s.rate:.0%}", justify="right")

    def row(name: str, values: Callable[[str], list[float]]) -> None:
        table.add_row(name, *(_mean_std(100.0 * np.array(values(kind))) for kind in s.noises))

    runs = {kind: [run for run in result.runs if run.noise == kind] for kind in s.noises}
    row("labels the network fits", lambda kind: [run.fitted for run in runs[kind]])
    row("kept by K_c / N_c", lambda kind: [result.kept_share])
    for layer in result.runs[0].clean_kept:
        shares = {kind: [run.clean_kept[layer] for run in runs[kind]] for kind in s.noises}
        row(f"clean among the kept, {layer}", shares.__getitem__)
    row("wrong labels, truly", lambda kind: [run.noise_rate for run in runs[kind]])
    row("wrong labels, estimated", lambda kind: [run.noise_estimate for run in runs[kind]])
    return table


def print_demo(result: DemoResult) -> None:
    """Both tables of the demo."""
    show(demo_table(result), demo_findings(result))


def print_layers(candidates: Sequence[Any], chosen: Sequence[str]) -> None:
    """The layers of a network; those that "auto" takes are marked."""
    table = Table()
    for name in ("layer", "kind", "output", "width", "auto"):
        table.add_column(name, overflow="fold")  # names are for copying: none is cut
    for c in candidates:
        shape = " x ".join(str(n) for n in c.shape)
        # Text, since names of layers may look like markup.
        layer, kind = Text(visible(c.name)), Text(visible(c.kind))
        table.add_row(layer, kind, shape, str(c.width), "*" if c.name in chosen else "")
    show(table)


def show(*tables: Table) -> None:
    """Print tables: as wide as the terminal, or in a file or a pipe as wide as they are."""
    console = Console()
    (console if console.is_terminal else Console(width=WIDEST)).print(*tables)


def _mean_std(values: np.ndarray) -> str:
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"
