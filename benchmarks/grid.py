"""Cells of the accuracy grid, read back: tables, and what they say about the default."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from tasks import noises_of

ORACLE, AUTO, ROG = "oracle", "auto", "RoG ensemble"
TRAINED = ("digits-mlp", "reuters8-fcn", "twitter-fcn", "cifar10-resnet")
Array = np.ndarray


def path_of(folder: Path, task: str, kind: str, rate: float, seed: int) -> Path:
    """Where a cell is kept."""
    return folder / f"{task}-{kind}{round(100 * rate)}-{seed}.json"


class Cell(NamedTuple):
    """A task under a noise: one entry for each seed."""

    task: str
    kind: str
    rate: float
    seeds: list[dict[str, Any]]

    def accuracy(self, column: str) -> Array:
        """Test accuracy in per cent, by seed."""
        return 100 * np.array([seed["accuracy"].get(column, np.nan) for seed in self.seeds])

    def audit(self, name: str) -> Array:
        """A figure about the training labels, by seed."""
        return np.array([seed["audit"].get(name, np.nan) for seed in self.seeds], float)

    def cleanlab(self) -> Array:
        """The better one of cleanlab's areas under the curve, by seed."""
        found = [seed["audit"].get("cleanlab", {"none": np.nan}) for seed in self.seeds]
        return np.array([max(c.values()) for c in found])

    @property
    def columns(self) -> list[str]:
        """Ways to predict that were measured with all seeds."""
        measured = [seed["accuracy"] for seed in self.seeds]
        return [name for name in measured[0] if all(name in m for m in measured)]

    @property
    def rivals(self) -> list[str]:
        """All but the default and the oracle."""
        return [c for c in self.columns if c not in (AUTO, ORACLE)]

    @property
    def best(self) -> str:
        """The best rival on the mean over seeds."""
        return max(self.rivals, key=lambda c: float(self.accuracy(c).mean()))

    @property
    def behind(self) -> Array:
        """By how much the default is behind the best rival, by seed."""
        return self.accuracy(self.best) - self.accuracy(AUTO)

    @property
    def noisy(self) -> bool:
        """Whether much of it is wrong."""
        return self.kind in ("uniform", "flip", "open-set") and self.rate >= 0.4


class Grid(NamedTuple):
    """All cells that were measured."""

    cells: list[Cell]

    @classmethod
    def read(cls, folder: Path, tasks: Sequence[str], seeds: Sequence[int]) -> Grid:
        """From the files of a folder."""
        cells = []
        for task in tasks:
            for kind, rate in noises_of(task):
                paths = [path_of(folder, task, kind, rate, s) for s in seeds]
                found = [json.loads(p.read_text()) for p in paths if p.exists()]
                if found:
                    cells.append(Cell(task, kind, rate, found))
        return cls(cells)

    def of(self, task: str) -> list[Cell]:
        """The cells of a task."""
        return [cell for cell in self.cells if cell.task == task]


class Target(NamedTuple):
    """Something to reach, and what was reached."""

    text: str
    reached: bool
    measured: str


def targets(grid: Grid) -> Iterator[Target]:
    """What the default is held to."""
    cells = [c for c in grid.cells if AUTO in c.columns]
    regret = np.array([max(c.behind.mean(), 0.0) for c in cells])
    other = np.mean([r for r, c in zip(regret, cells, strict=True) if c.kind != "semantic"])
    yield Target(
        "mean regret <= 0.5 points",
        regret.mean() <= 0.5,
        f"{regret.mean():.2f}; {other:.2f} without semantic noise",
    )
    worse = [c for c in cells if c.behind.mean() > 0.5 + 2 * paired_error(c.behind)]
    yield Target(
        "no cell behind by more than 0.5 + 2 paired standard errors",
        not worse,
        ", ".join(f"{name_of(c)} {c.behind.mean():.1f} ({c.best})" for c in worse) or "none",
    )
    near = [c.accuracy(ORACLE).mean() - c.accuracy(AUTO).mean() <= 1.0 for c in cells]
    yield Target(
        "within 1.0 of the oracle in most cells", np.mean(near) > 0.5, f"{sum(near)} of {len(near)}"
    )
    clean = {
        name_of(c): (c.accuracy("softmax") - c.accuracy(AUTO)).mean()
        for c in cells
        if not c.rate and c.kind == "none" and c.task in TRAINED
    }
    yield Target(
        "clean: at most 0.3 below softmax",
        all(v <= 0.3 for v in clean.values()),
        ", ".join(f"{k} {v:+.2f}" for k, v in clean.items()),
    )
    noisy = [c for c in cells if c.noisy and c.task in TRAINED]
    if noisy:
        gain = np.mean([(c.accuracy(AUTO) - c.accuracy(ROG)).mean() for c in noisy])
        yield Target("noise >= 40 %: 10 points above RoG", gain >= 10, f"{gain:.1f}")
        means = {k: np.mean([c.accuracy(k).mean() for c in noisy]) for k in noisy[0].columns}
        peers = {k: v for k, v in means.items() if k not in (AUTO, ORACLE)}
        peer = max(peers, key=lambda k: peers[k])
        yield Target(
            "noise >= 40 %: above every peer on average",
            means[AUTO] > peers[peer],
            f"{means[AUTO]:.1f} against {peers[peer]:.1f} ({peer})",
        )
    wanted = {
        ("reuters8-fcn", 0.6): 88,
        ("reuters8-fcn", 0.4): 93,
        ("twitter-fcn", 0.6): 80,
        ("twitter-fcn", 0.4): 83,
    }
    for c in cells:
        least = wanted.get((c.task, c.rate)) if c.kind == "uniform" else None
        if least:
            mean = c.accuracy(AUTO).mean()
            yield Target(f"{name_of(c)} >= {least}", mean >= least, f"{mean:.1f}")
    finding = [c for c in grid.cells if c.noisy]
    if finding:
        auroc = np.mean([c.audit("auroc").mean() for c in finding])
        yield Target("wrong labels at >= 40 %: AUROC >= 0.90", auroc >= 0.9, f"{auroc:.3f}")
    below = [c for c in grid.cells if c.audit("auroc").mean() < c.cleanlab().mean()]
    yield Target(
        "AUROC never below cleanlab with the same features",
        not below,
        ", ".join(
            f"{name_of(c)} {c.audit('auroc').mean():.3f} < {c.cleanlab().mean():.3f}" for c in below
        )
        or "none",
    )
    off = [c for c in grid.cells if abs((c.audit("estimated") - c.audit("noise")).mean()) > 0.03]
    yield Target(
        "estimated noise within 3 points",
        not off,
        ", ".join(
            f"{name_of(c)} {100 * c.audit('estimated').mean():.0f} of "
            f"{100 * c.audit('noise').mean():.0f}"
            for c in off
        )
        or "all",
    )
    bad = [c for c in grid.cells if c.audit("calibration").mean() > 0.05]
    yield Target(
        "calibration error of the quality <= 0.05",
        not bad,
        ", ".join(f"{name_of(c)} {c.audit('calibration').mean():.2f}" for c in bad) or "all",
    )


def paired_error(differences: Array) -> float:
    """Standard error of a mean of differences; none can be told from one seed."""
    n = len(differences)
    return float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0


def show(grid: Grid, console: Console | None = None) -> None:
    """Print tables and targets."""
    console = console or Console(width=200)
    for task in dict.fromkeys(cell.task for cell in grid.cells):
        console.print(table_of(task, grid.of(task)))
    for target in targets(grid):
        mark = "[green]reached[/]" if target.reached else "[red]missed [/]"
        console.print(f"{mark}  {target.text}: {target.measured}")


def beside(now: Grid, committed: Grid) -> None:
    """Print what was measured now, and in brackets what is committed."""
    earlier = {name_of(cell): cell for cell in committed.cells}
    for task in dict.fromkeys(cell.task for cell in now.cells):
        cells = now.of(task)
        table = Table(f"{task}: now (committed)", *[_noise(c) for c in cells])
        for column in cells[0].columns:
            table.add_row(column, *[_pair(c, earlier.get(name_of(c)), column) for c in cells])
        for figure in ("auroc", "estimated"):
            table.add_row(figure, *[_pair(c, earlier.get(name_of(c)), figure) for c in cells])
        Console(width=120).print(table)


def _pair(now: Cell, committed: Cell | None, name: str) -> str:
    def text(cell: Cell) -> str:
        if name in cell.columns:
            return f"{cell.accuracy(name).mean():.1f}"
        return f"{cell.audit(name).mean():.3f}"

    return text(now) if committed is None else f"{text(now)} ({text(committed)})"


def table_of(task: str, cells: list[Cell]) -> Table:
    """One row for each way to predict, one column for each noise."""
    table = Table(f"{task}", *[f"{_noise(c)}" for c in cells])
    for column in cells[0].columns:
        texts = []
        for cell in cells:
            values = cell.accuracy(column)
            spread = f" ±{values.std(ddof=1):.1f}" if len(values) > 1 else ""
            bold = "[bold]" if column in (cell.best, AUTO) else ""
            texts.append(f"{bold}{values.mean():.1f}{spread}")
        table.add_row(column, *texts, end_section=column in ("cleanlab, LR", ORACLE))
    audits = {
        "AUROC": lambda c: f"{c.audit('auroc').mean():.3f}",
        "cleanlab's": lambda c: f"{c.cleanlab().mean():.3f}",
        "noise, %": lambda c: f"{100 * c.audit('noise').mean():.1f}",
        "estimated": lambda c: f"{100 * c.audit('estimated').mean():.1f}",
        "calibration": lambda c: f"{c.audit('calibration').mean():.3f}",
    }
    for name, text in audits.items():
        table.add_row(name, *[text(c) for c in cells])
    return table


def _noise(cell: Cell) -> str:
    return f"{cell.kind} {cell.rate:.0%}" if cell.rate else cell.kind


def name_of(cell: Cell) -> str:
    """Task and noise."""
    return f"{cell.task} {_noise(cell)}"
