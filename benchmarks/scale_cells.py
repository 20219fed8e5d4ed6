"""What ``scale.py`` measures: cells in named groups, and how long each will take, about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

GROUPS = ("imagenet", "speedup", "samples", "classes", "cleanlab", "traces", "long")
"""The most telling first. ``traces``: what a cluster is planned by; ``long``: what can be left out
where time is short."""
FITS = ("mcd", "auto", "audit")
ALONE = "serial"
CORES = "threads-2"
WORKERS = (ALONE, CORES, "pool-1", "pool-2", "dask-1", "dask-2")


@dataclass(frozen=True)
class Shape:
    """So many samples, classes and features."""

    samples: int
    classes: int
    width: int

    @property
    def name(self) -> str:
        return f"n{self.samples}-c{self.classes}-d{self.width}"

    @property
    def bytes(self) -> int:
        """Of the features on disk, in float16."""
        return 2 * self.samples * self.width


@dataclass(frozen=True)
class Cell:
    """One measurement: a task on samples of a shape, by some workers.

    ``cold``: the files are not in the memory of the system when it begins.
    """

    task: str
    shape: Shape
    workers: str = CORES
    cold: bool = False

    @property
    def name(self) -> str:
        cold = "-cold" if self.cold else ""
        return f"{self.task}-{self.shape.name}-{self.workers}{cold}"

    @property
    def n_workers(self) -> int:
        return 1 if self.workers == ALONE else int(self.workers.rpartition("-")[2])

    @classmethod
    def from_json(cls, content: dict) -> Cell:
        """The one that ``asdict`` was made of."""
        return cls(**{**content, "shape": Shape(**content["shape"])})


@dataclass(frozen=True)
class Sizes:
    """The shapes of a run; a tiny one takes a minute, and shows only that everything works."""

    imagenet: Shape
    speedup: Shape
    samples: tuple[Shape, ...]
    classes: tuple[Shape, ...]
    cleanlab: tuple[Shape, ...]
    traces: tuple[Shape, ...]
    empty: int = 5_000


FULL = Sizes(
    imagenet=Shape(1_280_000, 1_000, 1_024),
    speedup=Shape(1_000_000, 10, 512),
    samples=tuple(Shape(n, 100, 256) for n in (50_000, 200_000, 1_000_000, 5_000_000)),
    classes=tuple(Shape(200_000, c, 256) for c in (10, 100, 1_000, 5_000)),
    cleanlab=tuple(Shape(n, c, 256) for n, c in ((200_000, 100), (200_000, 1_000))),
    # As many samples a class as ImageNet has; then other numbers of classes, and of samples.
    traces=tuple(Shape(n, c, 1_024) for n, c in ((64_000, 50), (64_000, 500), (256_000, 200))),
)
TINY = Sizes(
    imagenet=Shape(3_000, 10, 32),
    speedup=Shape(3_000, 3, 16),
    samples=tuple(Shape(n, 10, 16) for n in (1_000, 2_000, 4_000)),
    classes=tuple(Shape(2_000, c, 16) for c in (5, 10, 40)),
    cleanlab=(Shape(2_000, 10, 16),),
    traces=tuple(Shape(n, c, 32) for n, c in ((3_000, 5), (3_000, 50), (6_000, 10))),
    empty=50,
)


def groups(sizes: Sizes) -> dict[str, list[Cell]]:
    """The cells of each group; some are in two of them, and measured once."""
    largest = sizes.samples[-1]
    samples = [cell for shape in sizes.samples for cell in _both(shape)]
    longest = [Cell("auto", largest, cold=True)]
    middle = sizes.samples[-2]
    samples.append(Cell("partition", middle))
    return {
        "imagenet": [Cell(task, sizes.imagenet) for task in ("read", *FITS)],
        "speedup": [
            *(Cell(task, sizes.speedup, w) for task in ("mcd", "auto") for w in WORKERS),
            *(Cell("empty", Shape(sizes.empty, 0, 0), w) for w in ("pool-2", "dask-2")),
        ],
        "samples": [cell for cell in samples if cell not in longest],
        "classes": [Cell(t, shape) for shape in sizes.classes for t in ("read", *FITS)],
        "cleanlab": [
            Cell(t, shape)
            for shape in sizes.cleanlab
            for t in ("auto", "audit", "probabilities", "cleanlab")
        ],
        "traces": [
            *(Cell(f"trace-{t}", shape, "pool-2") for shape in sizes.traces for t in FITS),
            *(Cell(f"trace-{t}", sizes.imagenet, "pool-2") for t in ("mcd", "audit")),
        ],
        "long": longest,
    }


def _both(shape: Shape) -> list[Cell]:
    """Warm, then cold: what is cold is warm afterwards."""
    return [Cell(t, shape, cold=cold) for t in ("read", *FITS) for cold in (False, True)]


def in_order(chosen: list[str], sizes: Sizes) -> list[tuple[str, Cell]]:
    """The cells of these groups with the first group that wants each."""
    found: dict[Cell, str] = {}
    every = groups(sizes)
    for group in GROUPS:
        if group in chosen:
            for cell in every[group]:
                found.setdefault(cell, group)
    return [(group, cell) for cell, group in found.items()]


def flops(cell: Cell) -> float:
    """Of the naive count: Algorithm 1 for a fit, the scores of all rows for an audit.

    Algorithm 1 on equal classes, K the half of each: C (2 K d^2 + 2 (2 N_c d^2 + 2 K d^2)).
    """
    n, c, d = cell.shape.samples, cell.shape.classes, cell.shape.width
    if cell.task.endswith("audit"):
        return 2.0 * n * d * (d + c)
    kept = min(n, (n + c * (d + 1)) / 2)
    return 2.0 * kept * d**2 + 2 * (2.0 * n * d**2 + 2.0 * kept * d**2)


# Seconds, about: on two cores at 100 Gflop/s each, from small runs. Only the plan uses them.
START = {"read": 1.0, "mcd": 3.0, "auto": 5.0, "audit": 3.0}
GEMMS = {"mcd": 1.2, "auto": 8.0, "audit": 12.0}
"""How many times the naive count of Algorithm 1 (of one pass of scores) a task takes."""
A_ROW = {"mcd": 4e-6, "auto": 1e-5, "audit": 1e-5}
A_SCORE = {"mcd": 0.0, "auto": 1e-7, "audit": 1e-8}
"""Seconds a row, and a row and class: what is not linear algebra."""
A_CLASS = {"mcd": 1e-3, "auto": 1e-2, "audit": 1e-3}
RATE = 1e11
READ = {False: 2e9, True: 4e8}
"""Bytes a second, from the memory of the system and from the disk."""
CHECKED = 1.5e9
WRITTEN = 8e7


def estimate(cell: Cell) -> float:
    """Seconds that a cell takes, about."""
    shape, task = cell.shape, cell.task.removeprefix("trace-")
    if task == "empty":
        return 10.0 + shape.samples * 2e-3
    reading = shape.bytes / READ[cell.cold] + shape.bytes / CHECKED
    if task == "read":
        return START["read"] + reading
    if task == "partition":
        return 5.0 + 2 * reading + shape.bytes / WRITTEN
    if task in ("probabilities", "cleanlab"):
        return 5.0 + 6e-8 * shape.samples * shape.classes
    fit = replace(cell, task=task)
    rows = A_ROW[task] * shape.samples + A_SCORE[task] * shape.samples * shape.classes
    work = GEMMS[task] * flops(fit) / RATE + rows + A_CLASS[task] * shape.classes
    again = 3 if work < 6 and not cell.cold else 1
    return START[task] + reading + again * work / cell.n_workers


def making(shapes: list[Shape]) -> float:
    """Seconds that it takes to write stores, about."""
    return sum(2.0 + shape.bytes / WRITTEN for shape in shapes)


def plan(cells: list[tuple[str, Cell]], done: set[str]) -> str:
    """What is to be measured, and how long each takes, about."""
    lines, total, made = [], 0.0, set()
    for group, cell in cells:
        seconds = 0.0 if cell.name in done else estimate(cell)
        if seconds and cell.shape not in made and cell.task != "empty":
            made.add(cell.shape)
            seconds += making([cell.shape])
        total += seconds
        said = "done" if cell.name in done else f"{seconds:6.0f} s"
        lines.append(f"{group:<9} {cell.name:<46} {said:>8}  {total / 60:5.1f} min")
    return "\n".join([*lines, f"{total / 60:.0f} minutes in all, about"])


def store_of(shape: Shape, folder: Path) -> Path:
    """Where the store of a shape is."""
    return folder / shape.name
