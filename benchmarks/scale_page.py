"""``docs/scale.md`` from what ``scale.py`` measured; the whole page is made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cluster_plan
import numpy as np
from cluster_plan import Cluster
from scale_cells import ALONE, CORES, FITS, FULL, TINY, Cell, Shape, Sizes, flops

DOCS = Path(__file__).parents[1] / "docs"
PAGE, PICTURE = DOCS / "scale.md", DOCS / "scale.png"
NOTHING = "Not measured yet."
TARGETS = {"mcd": 10.0, "auto": 40.0, "audit": 10.0}
"""Minutes at ImageNet size."""
MOST_MEMORY = 3 * 2**30
LARGER = (
    ("50,000 x 100", 50_000, 100, 512),
    ("ImageNet: 1.28 million x 1,000", 1_280_000, 1_000, 1_024),
    ("5 million x 100", 5_000_000, 100, 256),
    ("10 million x 100,000", 10_000_000, 100_000, 1_024),
    ("100 million x 20,000", 100_000_000, 20_000, 1_024),
)
INTRO = """\
# Scale, measured

Made by `python benchmarks/scale.py` and its `--page`; nothing here is written by hand. How to do
it: [from a laptop to a cluster](how-to/scale.md).

Features are float16 shards on disk, class by class, a fifth of the labels drawn anew; about nine
of ten samples are nearest to their own class. `auto` is the default without maps. Each line is a
process of its own. Warm: files were read before, checksums compared. Cold: the system was asked to
forget the files; reading and checksums are part of the time. Peak memory is the sum of what the
process and its workers had at most, each at its own time (VmHWM), Python and its libraries
included. G is the time that the naive count takes at the speed of a float32 matrix product in the
same process: Algorithm 1, C (2 K d² + 2 (2 N_c d² + 2 K d²)), for fits, and 2 N d (d + C) for an
audit, which scores all rows."""


def entry(results: dict[str, Any], cell: Cell) -> dict[str, Any] | None:
    """What a cell gave; None where it is not there, or failed."""
    found = results["cells"].get(cell.name)
    return None if found is None or "error" in found else found


def g_of(cell: Cell, found: dict[str, Any]) -> float:
    """The yardstick, in seconds."""
    return flops(cell) / found["gflops"] / 1e9


def peak(found: dict[str, Any]) -> float:
    """Bytes of the process and its workers."""
    return float(found["process"] + found["workers"])


def table(head: str, rows: list[str]) -> str:
    """A table, or that there is none yet."""
    if not rows:
        return NOTHING
    return "\n".join([f"| {head} |", "| --- " + "| ---: " * head.count("|") + "|", *rows])


def sizes_of(results: dict[str, Any]) -> Sizes:
    """Those of the run."""
    return TINY if any(run["arguments"].get("tiny") for run in results["runs"]) else FULL


def imagenet(results: dict[str, Any]) -> str:
    """Minutes and memory, and what was wanted."""
    shape, rows = sizes_of(results).imagenet, []
    for task in FITS:
        cell = Cell(task, shape)
        found = entry(results, cell)
        if found is not None:
            minutes, memory = found["seconds"] / 60, peak(found)
            good = minutes <= TARGETS[task] and memory <= MOST_MEMORY
            rows.append(
                f"| {task} | {minutes:.1f} | {TARGETS[task]:.0f} | {memory / 2**30:.2f} | 3 "
                f"| {found['seconds'] / g_of(cell, found):.1f} | {'yes' if good else 'missed'} |"
            )
    read = entry(results, Cell("read", shape))
    text = table("| minutes | at most | peak, GiB | at most | of G | reached", rows)
    if read is not None and rows:
        text += f"\n\nReading the files once takes {read['seconds']:.1f} s, comparing their "
        text += f"checksums {read['verified']:.1f} s."
    return f"{_said(shape)}, float16: {shape.bytes / 1e9:.1f} GB on disk.\n\n{text}"


def _said(shape: Shape) -> str:
    return f"{shape.samples:,} x {shape.width:,}, {shape.classes:,} classes"


def speedup(results: dict[str, Any]) -> str:
    """Seconds of each way to do the work, beside one thread; and whether results are the same."""
    sizes, rows, notes = sizes_of(results), [], []
    for task in ("mcd", "auto"):
        serial = entry(results, Cell(task, sizes.speedup, ALONE))
        if serial is None:
            continue
        ways = (ALONE, CORES, "pool-1", "pool-2", "dask-1", "dask-2")
        for way in ways:
            found = entry(results, Cell(task, sizes.speedup, way))
            if found is not None:
                same = "yes" if found["checksum"] == serial["checksum"] else "NO"
                rows.append(
                    f"| {task}, {way} | {found['seconds']:.1f} "
                    f"| {serial['seconds'] / found['seconds']:.2f} | {same} "
                    f"| {found['start']:.1f} | {peak(found) / 2**20:,.0f} |"
                )
        notes += _wanted(results, task, serial)
    head = "| s | times as fast as one thread | same bits | start of workers, s | peak, MiB"
    text = table(head, rows)
    empty = [
        f"{w.partition('-')[0]} {1e3 * found['seconds'] / sizes.empty:.2f} ms"
        for w in ("pool-2", "dask-2")
        if (found := entry(results, Cell("empty", Shape(sizes.empty, 0, 0), w))) is not None
    ]
    if empty:
        notes.append(f"A task that does nothing takes: {', '.join(empty)}.")
    return "\n\n".join([f"{_said(sizes.speedup)}.", text, *notes])


def _wanted(results: dict[str, Any], task: str, serial: dict[str, Any]) -> list[str]:
    shape, notes = sizes_of(results).speedup, []
    for way in (CORES, "pool-2", "dask-2"):
        found = entry(results, Cell(task, shape, way))
        if found is not None:
            faster = serial["seconds"] / found["seconds"]
            word = "reached" if faster >= 1.7 else "missed"
            notes.append(f"{way} {faster:.2f} ({word})")
    text = [f"{task}, two workers at least 1.7 times as fast: {', '.join(notes)}."] if notes else []
    one = entry(results, Cell(task, shape, "dask-1"))
    if one is not None:
        more = one["seconds"] / serial["seconds"] - 1
        word = "reached" if more <= 0.15 else "missed"
        text.append(f"{task}, one Dask worker at most 15 % over one thread: {more:+.0%} ({word}).")
    return text


def growth(results: dict[str, Any], shapes: tuple[Shape, ...], against: str) -> str:
    """Seconds and memory over shapes that grow; warm, and cold where that was measured."""
    rows, notes = [], []
    for task in FITS:
        for shape in shapes:
            cell, cold = Cell(task, shape), entry(results, Cell(task, shape, cold=True))
            found, read = entry(results, cell), entry(results, Cell("read", shape))
            if found is not None:
                reading = "" if read is None else f"{read['seconds']:.2f}"
                rows.append(
                    f"| {task} | {shape.samples:,} | {shape.classes:,} | {found['seconds']:.2f} "
                    f"| {'' if cold is None else format(cold['seconds'], '.2f')} "
                    f"| {1e6 * found['seconds'] / shape.samples:.1f} "
                    f"| {found['seconds'] / g_of(cell, found):.1f} | {reading} "
                    f"| {peak(found) / 2**20:,.0f} |"
                )
        notes += _slopes(results, task, shapes, against)
    head = "| samples | classes | warm, s | cold, s | µs a sample | of G | reading, s | peak, MiB"
    return "\n\n".join([table(head, rows), *notes])


def _slopes(
    results: dict[str, Any], task: str, shapes: tuple[Shape, ...], against: str
) -> list[str]:
    """How seconds and memory grow: the power of the seconds, and bytes for one more."""
    known = [(getattr(s, against), f) for s in shapes if (f := entry(results, Cell(task, s)))]
    if len(known) < 3:
        return []
    x = np.array([n for n, _ in known], float)
    seconds, memory = (np.array([g(f) for _, f in known]) for g in (lambda f: f["seconds"], peak))
    power = np.polyfit(np.log(x), np.log(seconds), 1)[0]
    last = np.log(seconds[-1] / seconds[-2]) / np.log(x[-1] / x[-2])
    one = "sample" if against == "samples" else "class"
    return [
        f"{task}: seconds grow as {against} to the power {power:.2f} ({last:.2f} at the end), peak "
        f"memory by {np.polyfit(x, memory, 1)[0]:,.0f} bytes a {one}."
    ]


def cold_files(results: dict[str, Any]) -> str:
    """Whether the system forgot the files, and how fast the disk is."""
    rows, left = [], []
    for shape in sizes_of(results).samples:
        warm, cold = (entry(results, Cell("read", shape, cold=c)) for c in (False, True))
        if warm is not None and cold is not None:
            speeds = [shape.bytes / max(f["seconds"], 1e-9) / 1e9 for f in (warm, cold)]
            verified = shape.bytes / max(warm["verified"], 1e-9) / 1e9
            rows.append(
                f"| {shape.samples:,} | {speeds[0]:.1f} | {speeds[1]:.1f} | {verified:.1f} |"
            )
            left.append(cold["in_memory_before"])
    text = table("samples | read warm, GB/s | read cold, GB/s | checksums, GB/s", rows)
    if left and None in left:
        text += "\n\nWhether the system forgot the files cannot be seen here."
    elif left:
        word = "So it did." if max(left) < 0.05 else "It did not forget them: cold is not cold."
        text += (
            f"\n\nOf the files that were to be forgotten, {max(left):.0%} of the pages were left"
        )
        text += f" at most. {word} A disk that is virtual may have memory of its own."
    return text


def cleanlab(results: dict[str, Any]) -> str:
    """Its search in batches beside the audit."""
    rows = []
    for shape in sizes_of(results).cleanlab:
        for task in ("audit", "probabilities", "cleanlab"):
            found = entry(results, Cell(task, shape))
            if found is not None:
                on_disk = f"{found['bytes'] / 1e6:,.0f}" if "bytes" in found else ""
                right = [
                    f"{found[name]:.3f}" if name in found else ""
                    for name in ("precision", "recall")
                ]
                rows.append(
                    f"| {NAMES[task]} | {shape.samples:,} x {shape.classes:,} "
                    f"| {found['seconds']:.2f} | {peak(found) / 2**20:,.0f} | {on_disk} "
                    f"| {right[0]} | {right[1]} |"
                )
    head = "| samples x classes | s | peak, MiB | written, MB | right of flagged | wrong ones found"
    return table(head, rows)


NAMES = {
    "audit": "`score_labels`",
    "probabilities": "writing N x C probabilities",
    "cleanlab": "`find_label_issues_batched`",
}


def needs() -> str:
    """What N x C probabilities in float32 take on disk, beside features and the audit's memory."""
    lines = [
        "| samples x classes | N x C probabilities on disk | features, float16 | audit: memory |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {name} | {_bytes(4 * n * c)} | {_bytes(2 * n * d)} (d = {d:,}) | {_bytes(180 * n)} |"
        for name, n, c, d in LARGER
    ]
    return "\n".join(lines)


def _bytes(n: float) -> str:
    """In words, with two digits.

    >>> _bytes(8e12), _bytes(5.12e9)
    ('8.0 TB', '5.1 GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n >= size:
            return f"{n / size:.{1 if n < 10 * size else 0}f} {unit}"
    return f"{n:,.0f} B"


def on_paper(results: dict[str, Any]) -> str:
    """The plan of a cluster."""
    if not any(cluster_plan.traces_of(results, task) for task in FITS):
        return NOTHING
    overhead = cluster_plan.overhead_of(results)
    clusters = [Cluster(m, overhead=overhead) for m in cluster_plan.MACHINES]
    c, shape = clusters[0], cluster_plan.TARGET
    said = (
        f"{_said(shape)}: {_bytes(shape.bytes)} in float16. Machines of {c.cores} cores like those "
        f"of this benchmark, that read {c.read / 1e9:g} GB/s; {1e3 * overhead:.2f} ms to hand out "
        f"a task, {c.link / 1e9:g} GB/s to the process that hands them out. {RECKONED}"
    )
    partition = entry(results, Cell("partition", sizes_of(results).samples[-2]))
    notes = []
    if partition is not None:
        of = sizes_of(results).samples[-2]
        hours = shape.bytes / (of.bytes / partition["seconds"]) / 3600
        notes.append(f"`rehead partition`, one process, once: {hours:.1f} hours.")
    parts = [
        said,
        "\n".join(cluster_plan.table(results, clusters)),
        *notes,
        "What is waited for first:",
        "\n".join(cluster_plan.table_of_limits(results, clusters[-1])),
        "The same laws, for what was measured here on two cores:",
        "\n".join(cluster_plan.table_of_checks(results)),
    ]
    return "\n\n".join(parts)


def where(results: dict[str, Any]) -> str:
    """When, and on what."""
    lines = []
    for run in results["runs"]:
        hardware, versions = run["hardware"], run["versions"]
        lines.append(
            f"{run['date'][:10]}, rehead {versions['rehead']} ({run['commit']}), "
            f"{hardware['cores']} cores of {hardware['cpu']}, load at start "
            f"{hardware['load_at_start']:.1f}; numpy {versions['numpy']}, scipy "
            f"{versions['scipy']}, {', '.join(versions['blas'])}."
        )
    speeds = [f["gflops"] for f in results["cells"].values() if "gflops" in f]
    if speeds:
        lines.append(f"Matrix products: {min(speeds):.0f} to {max(speeds):.0f} Gflop/s.")
    failed = [f"{name}: {f['error']}" for name, f in results["cells"].items() if "error" in f]
    return "\n\n".join([*dict.fromkeys(lines), *failed]) or NOTHING


def page(results: dict[str, Any]) -> str:
    """The whole of it."""
    sizes = sizes_of(results)
    picture = f"![Seconds and peak memory over samples and classes]({PICTURE.name})"
    sections = {
        "ImageNet size": imagenet(results),
        "Workers": speedup(results),
        "Samples": growth(results, sizes.samples, "samples"),
        "Classes": growth(results, sizes.classes, "classes"),
        "Files that are not in memory": cold_files(results),
        "Beside cleanlab": f"{CLEANLAB}\n\n{cleanlab(results)}\n\n{needs()}",
        "A cluster, on paper": on_paper(results),
        "Where": where(results),
    }
    if numbers(results):
        sections["Samples"] = f"{picture}\n\n{sections['Samples']}"
    return "\n\n".join([INTRO, *(f"## {name}\n\n{text}" for name, text in sections.items())]) + "\n"


RECKONED = """\
`benchmarks/cluster_plan.py` tells how it is reckoned: tasks of real fits were recorded, and a
simulation runs as many as are needed, with times drawn from them. The formula is what no schedule
can be faster than. As cut now: with as many tasks a pass as the engine makes now. Shared once: if
what tasks have in common (covariance, means) went once to each machine, not with each task."""
CLEANLAB = """\
`cleanlab.experimental.label_issues_batched.find_label_issues_batched` reads N x C probabilities
from disk, in batches. Someone has to write them: here one pass of a fitted model, where out-of-
sample ones would take several fits. Mapped files count as memory while they are read. The audit
reads the features, and writes nothing. Nobody measured what the second table says: it is N x C x
4, N x d x 2 and 180 N bytes."""


def numbers(results: dict[str, Any]) -> dict[str, Any]:
    """What the picture shows."""
    from scale_plot import numbers as shown

    return shown(results, sizes_of(results))


def write(results: dict[str, Any], folder: Path = DOCS) -> None:
    """Write the page, and the picture where there is something to be seen."""
    from scale_plot import draw

    (folder / PAGE.name).write_text(page(results), encoding="utf-8")
    shown = numbers(results)
    if shown:
        draw(shown, folder / PICTURE.name)
