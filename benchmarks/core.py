"""Speed, memory and accuracy of the core, beside scikit-learn, in one table.

    make bench              # sizes A, B, E
    make bench LARGE=1      # and D

Seconds mean little on another computer, or on this one while it is busy. So every time is a ratio
to something measured in the same run: to another candidate, or to G, the time that the obvious
count of Algorithm 1,

    C (2 K d^2 + 2 (2 N_c d^2 + 2 K d^2)) floating point operations, K = floor((N_c + d + 1) / 2),

takes at the speed of a large square float32 matrix product with the same number of threads.
Candidates, sizes and numbers of threads take turns for several rounds, and the minimum of each
one counts: what is left when nothing else was running. Nothing here asserts anything; the
list after the table tells which targets were reached.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import reporting
import synthetic
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from sklearn.covariance import MinCovDet
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from threadpoolctl import threadpool_limits

from rehead import ReheadWarning, RobustGaussianClassifier
from rehead.gaussian import Fit, estimate, group_by_class, support_size
from rehead.gaussian.mcd import CSteps
from rehead.gaussian.options import USAGE

PRODUCT = 2048
"""Side of the square matrices whose product gives the speed of the machine."""

PAUSE = 0.1
"""Seconds of rest before each measurement. OpenBLAS's threads spin for some 30 ms after their last
work, and numpy and scipy bring one OpenBLAS each: without a pause, a candidate would compete with
the leftovers of the one before."""

Work = Callable[[], Any]
Advance = Callable[..., None]
Seconds = dict[str, dict[str, list[float]]]


def main() -> None:
    """Measure, print, write."""
    args = parse_arguments()
    results = reporting.circumstances(vars(args))
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    # Drawn only between measurements: a bar that redraws itself would take part in them.
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), auto_refresh=False
    ) as progress:
        task = progress.add_task("", total=steps(args))
        results["rows"] = measure(args, partial(advance_bar, progress, task))
    results["targets"] = reporting.targets(results["rows"])
    reporting.show(Console(), results)
    reporting.write_json(args.output, results)


def advance_bar(progress: Progress, task: TaskID, what: str, done: int = 0) -> None:
    """Tell what comes next, and that ``done`` steps are done."""
    progress.update(task, advance=done, description=what)
    progress.refresh()


def parse_arguments() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", default="A,B,E", help="of A, B, E, D (default: A,B,E)")
    parser.add_argument("--large", action="store_true", help="size D too: 200,000 x 1,024")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each candidate")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default: 1,2)")
    parser.add_argument("--noise", choices=["uniform", "flip"], default="uniform")
    parser.add_argument("--rate", type=float, default=0.4, help="share of wrong labels")
    parser.add_argument(
        "--unlike", type=float, default=0.1, help="how much class covariances differ (default 0.1)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-mincovdet", action="store_true", help="leave MinCovDet out")
    parser.add_argument(
        "--mincovdet-limit", type=float, default=240.0, metavar="SECONDS", help="then give up"
    )
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).parent / "results" / "core.json"
    )
    args = parser.parse_args()
    args.sizes = list(dict.fromkeys(args.sizes.split(",") + ["D"] * args.large))
    if unknown := set(args.sizes) - set(synthetic.SIZES):
        parser.error(f"no such size: {', '.join(sorted(unknown))}; there are A, B, E, D")
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    available = processors()
    args.threads = [t for t in map(int, args.threads.split(",")) if 1 <= t <= available]
    if not args.threads:
        parser.error(f"--threads must be from 1 to {available}, the processors there are")
    return args


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def steps(args: argparse.Namespace) -> int:
    """How often the progress bar moves."""
    slow = 1 in args.threads and not args.no_mincovdet
    return len(args.sizes) * (2 + slow + len(args.threads) * args.rounds)


def measure(args: argparse.Namespace, advance: Advance) -> list[dict[str, Any]]:
    """All measurements: a row for each size and number of threads."""
    options = {"kind": args.noise, "rate": args.rate, "unlike": args.unlike, "seed": args.seed}
    sets, common = {}, {}
    for name in args.sizes:
        advance(f"{name}: data and accuracy")
        sets[name] = synthetic.make(synthetic.SIZES[name], **options)
        common[name] = {"size": name, **sets[name].size._asdict(), **quality(sets[name])}
        advance(f"{name}: data and accuracy", 1)
    seconds = take_turns(sets, args.threads, args.rounds, advance)
    rows = []
    for name, data in sets.items():
        extra = memory(data, args.threads, partial(advance, f"{name}: memory"))
        slow = None
        if 1 in args.threads and not args.no_mincovdet:
            bar = partial(advance, f"{name}: MinCovDet, up to {args.mincovdet_limit:.0f} s")
            slow = mincovdet_seconds(data.X[data.noisy == 0], args.mincovdet_limit, bar)
        for t in args.threads:
            found = times(data, seconds[t][name], best_product(seconds[t]))
            slowest = {"mincovdet": slow if t == 1 else None}
            rows.append({**common[name], "threads": t, **found, "memory": extra[t], **slowest})
    return rows


def fit_estimator(name: str, data: synthetic.Data) -> Fit:
    """An estimator from features and labels, grouping by class included."""
    grouped = group_by_class(data.X, data.noisy, data.size.n_classes)
    return estimate(name, grouped, USAGE[name].defaults, np.random.default_rng(0))


def fit_full_work(data: synthetic.Data) -> Fit:
    """Algorithm 1 with every moment formed anew and both steps done: no shortcuts."""
    with mock.patch("rehead.gaussian.classwise.CSteps", partial(CSteps, shortcuts=False)):
        return fit_estimator("mcd", data)


def fit_classifier(data: synthetic.Data) -> RobustGaussianClassifier:
    """The whole estimator, as a user calls it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReheadWarning)  # recorded once, by quality()
        return RobustGaussianClassifier(preset="paper", random_state=0).fit(data.X, data.noisy)


def fit_lda(X: Any, y: Any) -> LinearDiscriminantAnalysis:
    """scikit-learn's fastest linear discriminant analysis; not robust."""
    return LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)


def candidates(data: synthetic.Data) -> dict[str, Work]:
    """What is timed."""
    a = np.random.default_rng(0).random((PRODUCT, PRODUCT), np.float32)
    out = np.empty_like(a)
    ours, theirs = fit_classifier(data), fit_lda(data.X, data.noisy)
    return {
        "sgemm": lambda: np.matmul(a, a, out=out),
        "full": lambda: fit_full_work(data),
        "printed": lambda: fit_estimator("mcd", data),
        "posterior": lambda: fit_estimator("posterior", data),
        "fit": lambda: fit_classifier(data),
        "lda": lambda: fit_lda(data.X, data.noisy),
        "predict": lambda: ours.predict_proba(data.X),
        "lda_predict": lambda: theirs.predict_proba(data.X),
    }


def take_turns(
    sets: dict[str, synthetic.Data], threads: list[int], rounds: int, advance: Advance
) -> dict[int, Seconds]:
    """Seconds of each candidate in each round, by number of threads and size.

    Sizes and numbers of threads take turns like the candidates, so that a busy minute of the
    machine meets them all.
    """
    works = {name: candidates(data) for name, data in sets.items()}
    seconds: dict[int, Seconds] = {t: {n: {w: [] for w in works[n]} for n in sets} for t in threads}
    for i, (name, t) in product(range(rounds), product(sets, threads)):
        advance(f"{name}: times, round {i + 1} of {rounds}")
        with threadpool_limits(t):
            for what, work in works[name].items():
                gc.collect()
                time.sleep(PAUSE)
                start = time.perf_counter()
                work()
                seconds[t][name][what].append(time.perf_counter() - start)
        advance(f"{name}: times, round {i + 1} of {rounds}", 1)
    return seconds


def best_product(seconds: Seconds) -> float:
    """Seconds of the fastest matrix product of the whole run."""
    return min(min(of_size["sgemm"]) for of_size in seconds.values())


def times(data: synthetic.Data, seconds: dict[str, list[float]], sgemm: float) -> dict[str, Any]:
    """The best time of each candidate, the speed of the machine, and G."""
    speed = 2.0 * PRODUCT**3 / sgemm
    return {
        "sgemm_gflops": speed / 1e9,
        "G": operations(data) / speed,
        "seconds": {name: min(s) for name, s in seconds.items()},
        "all_seconds": seconds,
    }


def operations(data: synthetic.Data) -> float:
    """The naive count of Algorithm 1 with two steps; see the module's docstring."""
    _, d, n_classes = data.size
    total = 0.0
    for n in np.bincount(data.noisy, minlength=n_classes):
        k = support_size(float(n), d)
        total += 2 * k * d**2 + 2 * (2 * float(n) * d**2 + 2 * k * d**2)
    return total


def quality(data: synthetic.Data) -> dict[str, Any]:
    """Share of right labels among the kept rows, and accuracy on clean held-out samples."""
    right = data.noisy == data.clean
    kept, accuracy, notes = {}, {}, []
    for name in ("mcd", "posterior"):
        fit = fit_estimator(name, data)
        predicted = fit.gaussians.scores(data.X_test).argmax(axis=1)
        kept[name] = float(right[fit.composition.weights > 0].mean())
        accuracy[name] = float((predicted == data.y_test).mean())
        notes += [f"{name}: {note}" for note in fit.notes]
    for name, y in {"lda": data.noisy, "lda_clean": data.clean}.items():
        accuracy[name] = float(fit_lda(data.X, y).score(data.X_test, data.y_test))
    return {"kept": kept, "accuracy": accuracy, "notes": notes}


def memory(data: synthetic.Data, threads: list[int], advance: Advance) -> dict[int, Any]:
    """Peak of what is allocated during a fit (untimed, by tracemalloc), as a share of X.

    numpy reports its arrays to tracemalloc, so results, copies and scratch blocks are in it. What
    BLAS itself keeps (a fixed work buffer for each thread) is not.
    """
    advance()
    works = {"mcd": lambda: fit_estimator("mcd", data), "fit": lambda: fit_classifier(data)}
    shares: dict[int, Any] = {t: {} for t in threads}
    for t, (name, work) in product(threads, works.items()):
        gc.collect()
        with threadpool_limits(t):
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            work()
            shares[t][name] = (tracemalloc.get_traced_memory()[1] - before) / data.X.nbytes
            tracemalloc.stop()
    advance(1)
    return shares


def mincovdet_seconds(X: Any, limit: float, advance: Advance) -> dict[str, Any] | None:
    """Seconds of scikit-learn's MinCovDet on one class, one thread, in a process with a limit.

    None if it failed.
    """
    advance()
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_fit_mincovdet, args=(X, sender), daemon=True)
    process.start()
    sender.close()
    try:
        receiver.recv()  # ready: imports do not count
        if receiver.poll(limit):
            return {"one_class": receiver.recv(), "finished": True}
        return {"one_class": limit, "finished": False}
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()
        advance(1)


def _fit_mincovdet(X: Any, sender: Connection) -> None:
    """Run in another process."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sender.send("ready")
        start = time.perf_counter()
        MinCovDet(random_state=0).fit(X)
        sender.send(time.perf_counter() - start)


if __name__ == "__main__":
    main()
