"""Seconds and memory of fits and audits on features on disk, as samples and classes grow.

    python benchmarks/scale.py --plan                   # what it measures, and how long each takes
    python benchmarks/scale.py --folder /large/disk     # an hour; goes on where it was stopped
    python benchmarks/scale.py --only imagenet speedup  # some groups
    python benchmarks/scale.py --tiny --output t.json   # a minute: does it run?
    python benchmarks/scale.py --page                   # writes docs/scale.md and docs/scale.png

Each cell runs in a process of its own. Its peak memory is the sum of what that process and its
workers had at most, each at its own time (VmHWM). Stores are made, in other processes, before.
Warm: the files were read just before. Cold: the system was asked to forget them, and reading and
comparing checksums is part of the time. Where a warm task takes less than ten seconds, the best of
three counts. Results are written after each cell; cells that are there are not measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reporting import circumstances, write_json
from scale_cells import FULL, GROUPS, TINY, Cell, estimate, in_order, plan

RESULTS = Path(__file__).parent / "results" / "scale.json"
LIMIT = 45.0
"""Minutes that a cell may take."""
ENDLESS = 1e6
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def measured(results: dict[str, Any]) -> set[str]:
    """Names of the cells that need not be measured again."""
    return {name for name, found in results["cells"].items() if "error" not in found}


def load(path: Path) -> dict[str, Any]:
    """What was measured before."""
    return json.loads(path.read_text()) if path.exists() else {"runs": [], "cells": {}}


def in_a_process(cell: Cell, folder: Path, *options: str, minutes: float = LIMIT) -> dict[str, Any]:
    """What the process of a cell prints, or why it did not come to an end."""
    command = [sys.executable, __file__, "--cell", json.dumps(asdict(cell)), "--folder"]
    environment = os.environ | dict.fromkeys(THREADS, str(cell.n_workers))
    process = subprocess.Popen(
        [*command, str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        out, said = process.communicate(timeout=60 * minutes)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # its workers too
        process.communicate()
        return {"error": f"stopped after {minutes:g} minutes"}
    if process.returncode != 0:
        last = said.strip().splitlines()[-1:] or ["killed"]
        return {"error": f"{last[0][:300]} ({process.returncode})"}
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def inside(cell: Cell, folder: Path, make: bool) -> dict[str, Any]:
    """What the process of a cell does."""
    import scale_beside
    import scale_work

    warnings.simplefilter("ignore")
    kind = cell.task.partition("-")[0]
    if make:
        scale_work.make_store(cell, folder)
        return {}
    special = {
        "read": scale_work.measure_read,
        "partition": scale_work.measure_partition,
        "empty": scale_work.measure_empty,
        "trace": scale_beside.measure_trace,
        "probabilities": scale_beside.measure_probabilities,
        "cleanlab": scale_beside.measure_cleanlab,
    }
    found = special.get(kind, scale_work.measure_fit)(cell, folder)
    return found | {"gflops": scale_work.sgemm_rate()}


def prepare(cell: Cell, folder: Path, options: list[str]) -> dict[str, Any]:
    """Make what a cell needs, where it is not there: a store, a model, probabilities."""
    import scale_beside
    from scale_work import MODELS, is_made, model_file

    if cell.task == "empty":
        return {}
    found = {} if is_made(cell, folder) else in_a_process(cell, folder, "--make", *options)
    needs_model = cell.task in ("audit", "trace-audit", "probabilities", "cleanlab")
    if needs_model and not any(model_file(cell, m, folder).exists() for m in MODELS):
        found |= in_a_process(Cell("mcd", cell.shape), folder, *options)
    if cell.task == "cleanlab" and not scale_beside.probabilities_file(cell, folder).exists():
        found |= in_a_process(Cell("probabilities", cell.shape), folder, *options)
    return {"error": found["error"]} if "error" in found else {}


def run(asked: argparse.Namespace, folder: Path, results: dict[str, Any]) -> None:
    """Measure what is missing, while there is time for it."""
    import scale_work  # noqa: F401 (circumstances tell of linear algebra that is loaded)

    from rehead.experiments.circumstances import commit

    said = {k: v for k, v in vars(asked).items() if k not in ("cell", "folder", "make")}
    results["runs"].append(circumstances(said) | {"commit": commit()})
    began, done = time.monotonic(), measured(results)
    options = ["--tiny"] if asked.tiny else []
    for group, cell in in_order(asked.only, TINY if asked.tiny else FULL):
        if cell.name in done:
            continue
        left = (asked.minutes or ENDLESS) - (time.monotonic() - began) / 60
        if estimate(cell) / 60 > left:
            print(f"{group} {cell.name}: no time left for it", flush=True)
            continue
        start = time.monotonic()
        found = prepare(cell, folder, options)
        making = time.monotonic() - start
        if not found:
            minutes = min(LIMIT, max(left, 1.0))
            found = in_a_process(cell, folder, *options, minutes=minutes)
        entry = {"cell": asdict(cell), "run": len(results["runs"]) - 1, **found}
        results["cells"][cell.name] = entry
        write_json(asked.output, results)
        print(line(group, cell, found, making), flush=True)


def line(group: str, cell: Cell, found: dict[str, Any], making: float) -> str:
    """What a cell gave, for those who wait."""
    if "error" in found:
        return f"{group:<9} {cell.name:<46} {found['error']}"
    memory = (found["process"] + found["workers"]) / 2**20
    return (
        f"{group:<9} {cell.name:<46} {found['seconds']:8.2f} s {memory:6.0f} MiB "
        f"{found['gflops']:4.0f} Gflop/s  (about {estimate(cell):.0f} s; made in {making:.0f} s)"
    )


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tiny", action="store_true", help="small numbers: does it run?")
    parser.add_argument("--plan", action="store_true", help="show what would be measured")
    parser.add_argument("--page", action="store_true", help="write docs/scale.md and its picture")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--minutes", type=float, help="in all, about; what has no time is left out")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--folder", type=Path, help="where stores are made, and kept (8 GB)")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    parser.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure what is missing, or show what is there."""
    asked = arguments()
    if asked.cell:
        if asked.tiny:  # what is small is sent all the same
            from rehead.gaussian import tasks

            tasks.WORTH_SENDING = 0.0
        cell = Cell.from_json(json.loads(asked.cell))
        print(json.dumps(inside(cell, asked.folder, asked.make)))
        return
    results = load(asked.output)
    if asked.plan:
        print(plan(in_order(asked.only, TINY if asked.tiny else FULL), measured(results)))
    elif asked.page:
        import scale_page

        scale_page.write(results)
    else:
        kept = asked.folder is not None
        where = nullcontext(asked.folder) if kept else tempfile.TemporaryDirectory()
        with where as folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            run(asked, Path(folder), results)


if __name__ == "__main__":
    main()
