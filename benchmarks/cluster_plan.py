"""A plan on paper for 100 million samples in 20,000 classes, and a simulation that checks it.

    python benchmarks/cluster_plan.py                     # from benchmarks/results/scale.json
    python benchmarks/cluster_plan.py --machines 4 32 --cores 32 --read 2e9

A fit is a number of passes over the rows, one after the other. A pass is cut into tasks, each about
some rows, which workers read and work on. ``scale.py`` has recorded tasks of real fits (the cells
``trace-``): from them come seconds a row of each function, how they grow with the classes, how much
they differ, the bytes that a task carries, and what is done between passes by the process that
asks. The simulation runs the tasks of each pass, with times drawn from those that were recorded, on
workers that get tasks one by one and read from a disk that their machine shares. Its makespan is
printed beside the closed formula: work / workers, or whatever else takes longer.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from heapq import heapify, heapreplace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scale_cells import FITS, Cell, Shape
from scipy.optimize import nnls

RESULTS = Path(__file__).parent / "results" / "scale.json"
TARGET = Shape(100_000_000, 20_000, 1_024)
MOST_TASKS = 100_000
"""Of a fit; Dask's scheduler has trouble with more."""
A_WORKER = (1, 2, 4, 8)
"""Tasks of a pass for each worker: with more of them the last ones to end keep fewer waiting, with
fewer there is less to hand out. The best counts."""
A_SAMPLE = 0.5
"""What sees a smaller share of the rows in all, sees a sample of them."""
MACHINES = (1, 4, 16, 64)
SEED = 0


@dataclass(frozen=True)
class Cluster:
    """Machines that are alike.

    Attributes
    ----------
    machines, cores : int
        A worker for each core.
    read : float
        Bytes a second that a machine reads, for all its cores.
    overhead : float
        Seconds that it takes to hand out a task and to take its result; one after the other.
    link : float
        Bytes a second from and to the process that hands tasks out.
    """

    machines: int
    cores: int = 16
    read: float = 1e9
    overhead: float = 1e-3
    link: float = 1.25e9

    @property
    def workers(self) -> int:
        return self.machines * self.cores


class Pass(NamedTuple):
    """Tasks that may run at the same time: seconds of work, bytes to be read, bytes sent."""

    name: str
    seconds: np.ndarray
    read: np.ndarray
    sent: np.ndarray


def handing_out(tasks: Pass, cluster: Cluster) -> np.ndarray:
    """Seconds for which each task occupies the process that hands tasks out."""
    return cluster.overhead + tasks.sent / cluster.link


def simulate(tasks: Pass, cluster: Cluster) -> float:
    """Makespan of a pass.

    Events are workers that become free. The next task goes to the first of them, after it was
    handed out; then it waits for the disk of its machine, reads, and works.
    """
    handed = handing_out(tasks, cluster)
    free = [(0.0, worker) for worker in range(cluster.workers)]
    heapify(free)
    sender, disks = 0.0, [0.0] * cluster.machines
    end = 0.0
    for k in range(len(tasks.seconds)):
        now, worker = free[0]
        sender = max(sender, now) + float(handed[k])
        machine = worker % cluster.machines
        disks[machine] = max(disks[machine], sender) + float(tasks.read[k]) / cluster.read
        done = disks[machine] + float(tasks.seconds[k])
        heapreplace(free, (done, worker))
        end = max(end, done)
    return end


def formula(tasks: Pass, cluster: Cluster) -> float:
    """What no schedule can be faster than: workers, disks, sender, or the longest task."""
    handed, reading = handing_out(tasks, cluster), tasks.read / cluster.read
    every = handed + reading + tasks.seconds
    return float(
        max(
            every.sum() / cluster.workers,
            reading.sum() / cluster.machines,
            handed.sum(),
            every.max(initial=0.0),
        )
    )


class Law(NamedTuple):
    """What tasks of one function take, as recorded.

    Attributes
    ----------
    passes : float
        How often a fit has it see every row.
    takes : array of shape (3,)
        Seconds: of a task, of a row in it, of a row and class.
    spread : array
        Recorded seconds over those that the law says.
    sent : array of shape (4,)
        Bytes to and from a worker: of a task, of a row in it, of a class, of a pair of classes.
    at_once : int
        Tasks of a pass, as it was cut.
    sampled : float
        Rows that it sees where these are a sample, however many there are; else 0.
    """

    passes: float
    takes: np.ndarray
    spread: np.ndarray
    sent: np.ndarray
    at_once: int
    sampled: float = 0.0

    def rows(self, samples: int) -> float:
        """Rows that one pass sees."""
        return min(self.sampled, samples) if self.sampled else samples

    def seconds(self, rows: float, classes: int) -> float:
        """Of a task."""
        return float(self.takes @ [1.0, rows, rows * classes])

    def bytes(self, rows: float, classes: int) -> float:
        """That a task carries there and back."""
        return float(self.sent @ [1.0, rows, classes, float(classes) ** 2])


class Fit(NamedTuple):
    """The laws of a fit's functions, and seconds between passes: in all, a row, a class."""

    functions: dict[str, Law]
    between: np.ndarray


def traces_of(results: dict[str, Any], task: str) -> list[tuple[Shape, dict[str, Any]]]:
    """The recorded fits of a kind, by shape."""
    found = []
    for entry in results["cells"].values():
        cell = Cell.from_json(entry["cell"])
        if cell.task == f"trace-{task}" and "error" not in entry:
            found.append((cell.shape, entry))
    return found


def fit_of(results: dict[str, Any], task: str) -> Fit | None:
    """What a kind of fit takes; None where it was not recorded."""
    traces = traces_of(results, task)
    names = sorted({name for _, entry in traces for name in entry["functions"]})
    if not names:
        return None
    shapes = np.array([[1.0, s.samples, s.classes] for s, _ in traces])
    between = _not_negative(shapes, np.array([entry["between"] for _, entry in traces]))
    return Fit({name: _law(name, traces) for name in names}, between)


def _law(name: str, traces: list[tuple[Shape, dict[str, Any]]]) -> Law:
    known = [(s, e["functions"][name]) for s, e in traces if name in e["functions"]]
    tasks = np.array([(s.classes, *seen) for s, of in known for seen in of["seen"]], float)
    classes, rows, seconds = tasks[:, 0], tasks[:, 1], tasks[:, 2]
    one = np.ones(len(rows))
    by = np.column_stack([one, rows, rows * classes])
    takes = _not_negative(by, seconds)
    sent = _not_negative(
        np.column_stack([one, rows, classes, classes**2]), tasks[:, 3] + tasks[:, 4]
    )
    passes = max(of["rows"] / shape.samples for shape, of in known)
    sampled = max(of["rows"] for _, of in known) if passes < A_SAMPLE else 0.0
    seen = [(of["rows"] if sampled else s.samples, of) for s, of in known]
    at_once = max(round(of["tasks"] * rows / max(of["rows"], 1)) for rows, of in seen)
    return Law(passes, takes, seconds / (by @ takes), sent, max(at_once, 1), sampled)


def _not_negative(by: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Least squares in which nothing is negative, with columns of like size."""
    scale = by.max(axis=0).clip(1e-300)
    return nnls(by / scale, values)[0] / scale


@dataclass(frozen=True)
class Cut:
    """How passes are cut into tasks.

    ``a_worker``: tasks of a pass for each worker; None: as many as were recorded, which is all that
    the engine does now. ``once``: what tasks have in common goes once to each machine.
    """

    a_worker: int | None
    once: bool = False


def passes_of(fit: Fit, shape: Shape, cluster: Cluster, cut: Cut) -> list[Pass]:
    """The passes of a fit of a shape, cut into tasks for a cluster."""
    rng = np.random.default_rng(SEED)
    wanted = sum(int(np.ceil(law.passes)) for law in fit.functions.values())
    most, found = max(MOST_TASKS // wanted, 1), []
    for name, law in fit.functions.items():
        n = law.at_once if cut.a_worker is None else min(cut.a_worker * cluster.workers, most)
        n = min(n, law.at_once) if law.sampled else n
        rows = law.rows(shape.samples) / n
        read = 2.0 * rows * shape.width
        sent, shared = law.bytes(rows, shape.classes), law.bytes(0, shape.classes)
        if cut.once:
            sent += shared * (min(cluster.machines / n, 1.0) - 1.0)
        for _ in range(int(np.ceil(law.passes))):
            seconds = law.seconds(rows, shape.classes) * rng.choice(law.spread, n)
            found.append(Pass(name, seconds, np.full(n, read), np.full(n, sent)))
    return found


class Outcome(NamedTuple):
    """Hours of a fit, by the formula and simulated, and what it moves."""

    formula: float
    simulated: float
    core_hours: float
    tasks: int
    read: float
    sent: float


def outcome(fit: Fit, shape: Shape, cluster: Cluster, cut: Cut) -> Outcome:
    """A fit of a shape on a cluster."""
    passes = passes_of(fit, shape, cluster, cut)
    between = float(fit.between @ [1.0, shape.samples, shape.classes]) / 3600
    return Outcome(
        between + sum(formula(p, cluster) for p in passes) / 3600,
        between + sum(simulate(p, cluster) for p in passes) / 3600,
        sum(float(p.seconds.sum()) for p in passes) / 3600,
        sum(len(p.seconds) for p in passes),
        sum(float(p.read.sum()) for p in passes),
        sum(float(p.sent.sum()) for p in passes),
    )


def best(fit: Fit, shape: Shape, cluster: Cluster, once: bool = False) -> Outcome:
    """With the number of tasks that is soonest done."""
    every = [outcome(fit, shape, cluster, Cut(n, once)) for n in A_WORKER]
    return min(every, key=lambda found: found.simulated)


def overhead_of(results: dict[str, Any]) -> float:
    """Seconds that Dask takes for a task that does nothing."""
    for entry in results["cells"].values():
        cell = Cell.from_json(entry["cell"])
        if cell.task == "empty" and cell.workers.startswith("dask") and "error" not in entry:
            return float(entry["seconds"]) / cell.shape.samples
    return Cluster(1).overhead


def memory_of(results: dict[str, Any], task: str, shape: Shape) -> float | None:
    """Bytes of the process that asks, from the peaks of fits of other shapes."""
    by, values = [], []
    for entry in results["cells"].values():
        cell = Cell.from_json(entry["cell"])
        if cell.task == task and cell.workers.startswith("threads") and "error" not in entry:
            by.append(_parts(cell.shape))
            values.append(float(entry["process"]))
    if len(values) < 3:
        return None
    return float(_not_negative(np.array(by), np.array(values)) @ _parts(shape))


def _parts(shape: Shape) -> list[float]:
    n, c, d = shape.samples, shape.classes, shape.width
    return [1.0, float(n), float(c) * d, float(c) ** 2, float(d) ** 2]


def limits(fit: Fit, shape: Shape, cluster: Cluster) -> dict[str, float]:
    """The number of workers beyond which each of these is waited for, the smallest first.

    Tasks of a pass: there are no more. Reading: a machine's cores read all that it can. Handing
    out one task for each worker, and the work between passes: as long as the tasks themselves.
    """
    passes = passes_of(fit, shape, cluster, Cut(1))
    work = sum(float(p.seconds.sum()) for p in passes)
    handed = sum(float(handing_out(p, cluster).sum()) for p in passes)
    reading = sum(float(p.read.sum()) for p in passes) / cluster.read
    between = float(fit.between @ [1.0, shape.samples, shape.classes])
    found = {
        "tasks of a pass, as they are cut now": float(
            min(law.at_once for law in fit.functions.values() if not law.sampled)
        ),
        "reading (cores of one machine)": work / max(reading, 1e-9),
        # Twice the workers: half the time of their tasks, twice the time of handing them out.
        "handing out tasks": float(np.sqrt(work * cluster.workers / max(handed, 1e-9))),
        "work between passes": work / max(between, 1e-9),
    }
    return dict(sorted(found.items(), key=lambda item: item[1]))


def table(results: dict[str, Any], clusters: list[Cluster], shape: Shape = TARGET) -> list[str]:
    """Hours and bytes of each kind of fit on each cluster."""
    lines = [
        "| | machines | workers | tasks | core hours | hours, formula | hours, simulated "
        "| as cut now | shared once | read, TB | sent, GB |",
        "| --- " + "| ---: " * 10 + "|",
    ]
    for task in FITS:
        fit = fit_of(results, task)
        for cluster in clusters if fit is not None else []:
            found, once = best(fit, shape, cluster), best(fit, shape, cluster, once=True)
            now = outcome(fit, shape, cluster, Cut(None))
            lines.append(
                f"| {task} | {cluster.machines} | {cluster.workers:,} | {found.tasks:,} "
                f"| {found.core_hours:.1f} | {found.formula:.2f} | {found.simulated:.2f} "
                f"| {now.simulated:.2f} | {once.simulated:.2f} | {found.read / 1e12:.2f} "
                f"| {found.sent / 1e9:,.0f} |"
            )
    return lines


def table_of_limits(results: dict[str, Any], cluster: Cluster, shape: Shape = TARGET) -> list[str]:
    """What is waited for first, and the memory of the process that asks."""
    lines = [
        "| | waited for beyond so many workers | memory of the process that asks, GB |",
        "| --- | --- | ---: |",
    ]
    for task in FITS:
        fit = fit_of(results, task)
        if fit is not None:
            found = limits(fit, shape, cluster)
            said = "; ".join(f"{name}: {value:,.0f}" for name, value in found.items())
            memory = memory_of(results, task, shape)
            lines.append(f"| {task} | {said} | {'' if memory is None else f'{memory / 1e9:.0f}'} |")
    return lines


def table_of_checks(results: dict[str, Any]) -> list[str]:
    """Seconds that the same laws say for what was measured on the cores of one machine."""
    lines = ["| | simulated, s | measured, s |", "| --- | ---: | ---: |"]
    cluster = Cluster(1, 2, read=1e12, overhead=0.0)
    for entry in results["cells"].values():
        cell = Cell.from_json(entry["cell"])
        fit = fit_of(results, cell.task) if cell.task in FITS else None
        widths = {s.width for s, _ in traces_of(results, cell.task)}
        told = cell.workers == "threads-2" and not cell.cold and "error" not in entry
        if fit is not None and told and cell.shape.width in widths:
            said = 3600 * outcome(fit, cell.shape, cluster, Cut(None)).simulated
            shape = f"{cell.shape.samples:,} x {cell.shape.width:,}, {cell.shape.classes:,} classes"
            lines.append(f"| {cell.task}, {shape} | {said:.0f} | {entry['seconds']:.0f} |")
    return lines


def main() -> None:
    """Print the plan."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--machines", type=int, nargs="+", default=MACHINES)
    parser.add_argument("--cores", type=int, default=Cluster.cores)
    parser.add_argument("--read", type=float, default=Cluster.read, help="bytes/s of a machine")
    asked = parser.parse_args()
    results = json.loads(asked.results.read_text())
    if not any(traces_of(results, task) for task in FITS):
        raise SystemExit("Nothing was recorded: python benchmarks/scale.py --only traces speedup")
    overhead = overhead_of(results)
    clusters = [Cluster(m, asked.cores, asked.read, overhead) for m in asked.machines]
    for lines in (
        table(results, clusters),
        table_of_limits(results, clusters[-1]),
        table_of_checks(results),
    ):
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
