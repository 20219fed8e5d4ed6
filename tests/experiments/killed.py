"""Sweeps that are killed: ``python killed.py FOLDER SEED KILLS KILLS_WITH_TWO_JOBS``.

A child is forked that runs a sweep, and is killed with SIGKILL at a random moment, until there were
enough kills and a sweep came to its end. What must be true after each kill is checked here; a fault
ends the program with a message.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":  # not in the workers, which import this file as well
    import torch

    from rehead.experiments.cache import Cache
    from rehead.experiments.results import RAN, Results
    from rehead.experiments.sweep import Sweep, run_sweep
    from rehead.experiments.tables import table_cells

COLUMNS = ("softmax", "LDA", "RoG")
MARK = "REHEAD_TEST_SWEEP"
"""Names the sweep in the environment of all its processes."""
PATIENCE = 60.0
"""Seconds in which a worker must have noticed that its parent is gone: it may be importing."""


def cells():
    """Twelve networks that take a tenth of a second each."""
    return table_cells("5", "tiny", data="digits")


def sweep_in(folder: Path, jobs: int):
    return Sweep(Results(folder / "results"), Cache(folder / "cache"), jobs, COLUMNS)


def start(folder: Path, jobs: int) -> int:
    """A process that runs the sweep to its end."""
    child = os.fork()
    if child:
        return child
    try:
        run_sweep(sweep_in(folder, jobs), cells())
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
        os._exit(1)
    os._exit(0)


class Moment(NamedTuple):
    """When to kill: so long after the start, or after the first result that was not there."""

    seconds: float
    after_result: bool = False


NEVER = Moment(600)


def random_moment(rng: random.Random, usual: float) -> Moment:
    """With two jobs, most of the time passes before the first result."""
    return Moment(rng.uniform(0, usual / 2), rng.random() < 0.75)


def kill_at(child: int, moment: Moment, folder: Path) -> bool:
    """Kill it, unless it is done before; whether it was killed."""
    there = n_results(folder)
    begun = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if status:
                sys.exit(f"The sweep failed: {status}")
            return False
        if moment.after_result and n_results(folder) == there:
            begun = time.monotonic()
        if time.monotonic() >= begun + moment.seconds:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True
        time.sleep(0.002)


def n_results(folder: Path) -> int:
    return sum(1 for _ in (folder / "results").rglob("*.json"))


def processes_of_the_sweep() -> list[int]:
    """Those that were started for it, but for this one."""
    mark = f"{MARK}={os.environ[MARK]}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            marked = mark in (entry / "environ").read_bytes().split(b"\0")
            alive = (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            continue
        if marked and alive and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def check_no_orphans() -> None:
    end = time.monotonic() + PATIENCE
    while processes_of_the_sweep():
        if time.monotonic() > end:
            sys.exit(f"Orphans are alive: {processes_of_the_sweep()}")
        time.sleep(0.05)


def check(folder: Path, before: dict[str, str]) -> dict[str, str]:
    """All files are whole, and what was measured before is there as it was."""
    results = Results(folder / "results")
    now = {}
    for result in results:  # one that is half written would be an error
        columns = [m.column for m in result.measurements]
        if result.status != RAN or sorted(columns) != sorted(COLUMNS) or result.reason:
            sys.exit(f"{result.cell.name}: {result.status}, {result.reason}, {columns}")
        now[result.cell.key] = results.path(result.cell).read_text()
    lost = {key for key, text in before.items() if now.get(key) != text}
    if lost:
        sys.exit(f"Lost, or measured again: {lost}")
    return now


def leftovers(folder: Path) -> list[str]:
    """What is neither a result nor a lock, and work in progress."""
    results = [p for p in (folder / "results").rglob("*") if p.is_file()]
    strange = [p.name for p in results if p.suffix != ".json" and p.name != ".lock"]
    arrays = [p.name for p in (folder / "cache" / "arrays").iterdir() if p.suffix != ".npz"]
    working = folder / "cache" / "working"
    return [*strange, *arrays, *(p.name for p in working.glob("*"))]


def accuracies(folder: Path) -> dict[str, list[tuple[str, float]]]:
    results = Results(folder / "results")
    return {r.cell.key: [(m.column, m.accuracy) for m in r.measurements] for r in results}


def to_the_end(folder: Path, jobs: int, moments: Iterator[Moment]) -> int:
    """Kill it at these moments, and let it end. How often it was killed."""
    known: dict[str, str] = {}
    n, killed = 0, True
    while killed:
        killed = kill_at(start(folder, jobs), next(moments, NEVER), folder)
        known = check(folder, known)
        check_no_orphans()
        known = check(folder, known)  # what an orphan wrote must be right as well
        n += killed
    if set(known) != {cell.key for cell in cells()}:
        sys.exit(f"There are {len(known)} results of {len(cells())}.")
    if leftovers(folder):
        sys.exit(f"Left behind: {leftovers(folder)}")
    return n


def main(folder: Path, seed: int, *kills: int) -> None:
    os.environ[MARK] = f"{os.getpid()}-{seed}"
    torch.set_num_threads(1)
    import_module("torch._dynamo")  # which optimisers import: once, and not in each child
    import_module("rehead.experiments.training")
    rng, begun, killed = random.Random(seed), time.monotonic(), []
    to_the_end(folder / "in peace", 1, iter([]))
    usual = time.monotonic() - begun
    for jobs, wanted in enumerate(kills, start=1):
        n = rounds = 0
        while n < wanted:
            here = folder / f"{jobs}-{rounds}"
            n += to_the_end(here, jobs, (random_moment(rng, usual) for _ in range(wanted - n)))
            if accuracies(here) != accuracies(folder / "in peace"):
                sys.exit("Results are not those of a sweep that was left in peace.")
            rounds += 1
        killed.append(n)
    sys.stdout.write(json.dumps({"killed": killed, "seconds": time.monotonic() - begun}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
