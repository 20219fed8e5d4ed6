"""The table, the targets and the JSON file of ``core.py``."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from threadpoolctl import threadpool_info

from rehead.experiments.circumstances import cpu
from rehead.files.atomic import write_atomically

Row = dict[str, Any]

QUIET = 1.15
"""Median over best time of the same matrix product, up to which a machine counts as quiet."""

CAPTION = """\
G: seconds that the naive operation count of Algorithm 1 takes at the sgemm speed of this run.
full: Algorithm 1 without shortcuts; printed: as printed (estimator "mcd", grouping by class \
included); posterior: estimator "posterior"; fit: RobustGaussianClassifier(preset="paper").fit; \
LDA: LinearDiscriminantAnalysis(solver="lsqr").fit. All in units of G.
MinCovDet: one class measured, times the number of classes (~), or more than that where it hit \
the limit (>). memory: peak of allocations during the mcd fit / the whole fit, over the size of X \
(tracemalloc, separate run). kept: share of right labels among kept rows, mcd / posterior. \
accuracy: clean held-out samples, mcd / posterior / LDA / LDA fitted on clean labels. \
predict: predict_proba of ours over scikit-learn's LDA."""


def circumstances(arguments: dict[str, Any]) -> dict[str, Any]:
    """When, where and with what a run was made."""
    packages = "numpy", "scipy", "scikit-learn", "threadpoolctl", "rehead"
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        # Names of files without their folders, which are of one machine.
        "arguments": {k: v.name if isinstance(v, Path) else v for k, v in arguments.items()},
        "hardware": {
            "cpu": cpu(),
            "cores": os.cpu_count(),
            "platform": platform.platform(),
            "load_at_start": os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan"),
        },
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
            "blas": [
                f"{library['internal_api']} {library['version']} ({library['architecture']})"
                for library in threadpool_info()
                if library["user_api"] == "blas"
            ],
        },
    }


def in_g(row: Row, name: str) -> float:
    """Time of a candidate in units of G."""
    return float(row["seconds"][name] / row["G"])


def over(row: Row, a: str, b: str) -> float:
    """Ratio of the times of two candidates."""
    return float(row["seconds"][a] / row["seconds"][b])


def mincovdet_ratio(row: Row) -> float | None:
    """MinCovDet for all classes over Algorithm 1 as printed (a lower bound at the limit)."""
    slow = row["mincovdet"]
    return slow and slow["one_class"] * row["n_classes"] / row["seconds"]["printed"]


def speed_up(row: Row, rows: list[Row]) -> float | None:
    """Algorithm 1 as printed: one thread over this row's number of threads."""
    single = [r for r in rows if r["size"] == row["size"] and r["threads"] == 1]
    if not single or row["threads"] == 1:
        return None
    return float(single[0]["seconds"]["printed"] / row["seconds"]["printed"])


def targets(rows: list[Row]) -> list[dict[str, Any]]:
    """Each target with what was measured, where the run measured it."""
    return [t for row in rows for t in _targets_of(row, speed_up(row, rows))]


def _targets_of(row: Row, faster: float | None) -> Iterator[dict[str, Any]]:
    def target(what: str, value: float, bound: float, *, at_most: bool = True) -> dict[str, Any]:
        reached = value <= bound if at_most else value >= bound
        return {
            "size": row["size"],
            "threads": row["threads"],
            "what": what,
            "value": value,
            "bound": bound,
            "at_most": at_most,
            "reached": reached,
        }

    limits = {"A": 0.65, "B": 0.9, "E": 0.9}
    if row["threads"] == 1 and row["size"] in limits:
        yield target("as printed, in G", in_g(row, "printed"), limits[row["size"]])
    yield target("as printed / LDA (lsqr)", over(row, "printed", "lda"), 1.0)
    yield target("whole fit / LDA (lsqr)", over(row, "fit", "lda"), 1.0)
    ratio = mincovdet_ratio(row)
    if ratio is not None:
        found = target("MinCovDet / as printed", ratio, 500.0, at_most=False)
        if not found["reached"] and not row["mincovdet"]["finished"]:
            found["reached"] = None  # a lower bound: longer --mincovdet-limit would tell
        yield found
    yield target("extra memory / X, mcd", row["memory"]["mcd"], 0.25)
    yield target("extra memory / X, whole fit", row["memory"]["fit"], 0.25)
    if row["threads"] == 2 and row["size"] == "A" and faster is not None:
        yield target("two threads over one", faster, 1.7, at_most=False)
    yield target("predict_proba / that of LDA", over(row, "predict", "lda_predict"), 1.0)


def show(console: Console, results: dict[str, Any]) -> None:
    """Print the table and the targets."""
    rows = results["rows"]
    hardware, versions = results["hardware"], results["versions"]
    table = _table(rows)
    # A cut figure is worse than a long line.
    unlimited = console.options.update(max_width=1000)
    console.width = max(console.width, Measurement.get(console, unlimited, table).maximum)
    console.print(table)
    console.print(CAPTION, style="dim", highlight=False)
    console.print(
        f"\n{results['date']}, {hardware['cpu']}, {hardware['cores']} cores, load at start "
        f"{hardware['load_at_start']:.1f}; numpy {versions['numpy']}, scipy {versions['scipy']}, "
        f"scikit-learn {versions['scikit-learn']}, {', '.join(versions['blas'])}, rehead "
        f"{versions['rehead']}\n{_unrest(rows)}\n",
        highlight=False,
    )
    for target in results["targets"]:
        console.print(_line(target), highlight=False)
    for note in sorted({f"{row['size']}, {note}" for row in rows for note in row["notes"]}):
        console.print(f"[yellow]note[/] {note}", highlight=False)


def _table(rows: list[Row]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    headers = (
        "\nsize", "\nthreads", "G\ns", "full\n/G", "printed\n/G", "posterior\n/G", "fit\n/G",
        "LDA\n/G", "MinCovDet\n/G", "MinCovDet\n/printed", "memory/X\nmcd fit", "kept\nmcd post",
        "accuracy, %\nmcd post LDA clean", "speed\n-up", "predict\n/LDA",
    )  # fmt: skip
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)
    for i, row in enumerate(rows):
        last = i + 1 == len(rows) or rows[i + 1]["size"] != row["size"]
        table.add_row(*_cells(row, rows), end_section=last)
    return table


def _cells(row: Row, rows: list[Row]) -> Iterator[str]:
    yield from (row["size"], str(row["threads"]), f"{row['G']:.3g}")
    yield from (f"{in_g(row, n):.2f}" for n in ("full", "printed", "posterior", "fit", "lda"))
    ratio = mincovdet_ratio(row)
    if ratio is None:
        yield from ("", "")
    else:
        sign = "~" if row["mincovdet"]["finished"] else ">"
        yield from (f"{sign} {ratio * in_g(row, 'printed'):,.0f}", f"{sign} {ratio:,.0f}")
    yield f"{row['memory']['mcd']:.2f} {row['memory']['fit']:.2f}"
    yield f"{row['kept']['mcd']:.3f} {row['kept']['posterior']:.3f}"
    a = {name: f"{100 * value:.1f}" for name, value in row["accuracy"].items()}
    yield f"{a['mcd']} {a['posterior']} {a['lda']} {a['lda_clean']}"
    faster = speed_up(row, rows)
    yield "" if faster is None else f"{faster:.2f}"
    yield f"{over(row, 'predict', 'lda_predict'):.2f}"


def _unrest(rows: list[Row]) -> str:
    """How far apart the same matrix product was: tells how quiet the machine was."""
    products: dict[int, list[float]] = {}
    for row in rows:
        products.setdefault(row["threads"], []).extend(row["all_seconds"]["sgemm"])
    spread = max(statistics.median(p) / min(p) for p in products.values())
    speeds = {row["threads"]: row["sgemm_gflops"] for row in rows}
    parts = [f"{speed:.0f} Gflop/s with {threads}" for threads, speed in speeds.items()]
    text = f"sgemm: {', '.join(parts)} thread(s); half of the products took {spread:.2f} times the "
    text += "time of the best or more."
    if spread > QUIET or (1 in speeds and 2 in speeds and speeds[2] < 1.7 * speeds[1]):
        text += " [yellow]Something else was using the processor: run again when it is quiet.[/]"
    return text


def _line(target: dict[str, Any]) -> str:
    value, bound = target["value"], target["bound"]
    distance = abs(value / bound - 1.0)
    word = {True: "[green]reached[/]", False: "[red]missed [/]", None: "[yellow]unknown[/]"}
    side = "to spare" if target["reached"] else "short" if not target["at_most"] else "over"
    threads = f"{target['threads']} thread{'s' * (target['threads'] > 1)}"
    return (
        f"{word[target['reached']]} {target['size']}, {threads}: {target['what']} {value:,.3g} "
        f"({'<=' if target['at_most'] else '>='} {bound:g}; {distance:.0%} {side})"
    )


def write_json(path: Path, results: dict[str, Any]) -> None:
    """Write a file that is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, f"{json.dumps(results, indent=1)}\n".encode())
