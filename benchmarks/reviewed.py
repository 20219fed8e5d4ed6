"""What reviewed labels are worth under semantic noise, against as many random checks.

    python benchmarks/reviewed.py                          # fills what is missing in
    python benchmarks/reviewed.py --tasks digits --fresh   # results/reviewed.json
    python benchmarks/reviewed.py --table                  # only prints the table of the docs

Labels come from a weak classifier, so a model sees next to none of their errors. A reviewer who is
always right looks at 50, 100, 200 and 500 of them: the worst by quality, or drawn at random; the
former also with the head fitted again after every 50. The head is then fitted with the corrected
labels, and told which were checked, as ``rehead apply`` does: "random", or "chosen" because they
looked wrong; and what the labels were before. It is scored on clean test samples. "corrected
alone": with the same 500 labels, but nobody tells the head which were checked.

Features: digits as they are; windows of words of Twitter, and images of CIFAR-10 through a public
encoder (where ``REHEAD_DATA`` has them). Each result is written as it comes; a run that was stopped
goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from rehead import ReheadWarning, RobustGaussianClassifier, noise, score_labels
from rehead.data import load

RESULTS = Path(__file__).parent / "results" / "reviewed.json"
Array = np.ndarray
NUMBERS, EVERY, SEEDS = (50, 100, 200, 500), 50, 3
RANDOM, WORST, REFITTED = "at random", "worst first", "worst first, refitted"
WAYS = (RANDOM, WORST, REFITTED)
IMAGES, SIZE, COMPONENTS = 5000, 64, 100
"""Images of CIFAR-10 that are used, the size in which the encoder sees them, and how many principal
components of its 1,280 features are kept, so that many fits do not take long."""


class Data(NamedTuple):
    """Training features, true and noisy labels, and clean test samples."""

    X: Array
    truth: Array
    noisy: Array
    X_test: Array
    y_test: Array


def _split(X: Array, y: Array, n: int, clean: float, seed: int) -> Data:
    X, X_test, y, y_test = train_test_split(X, y, train_size=n, random_state=seed, stratify=y)
    noisy = noise.semantic(X, y, clean=clean, random_state=seed).labels
    return Data(X, y, noisy, X_test[:4000], y_test[:4000])


def digits(seed: int) -> Data:
    """Pixels; the labeller is taught on 2 % of them."""
    return _split(*load_digits(return_X_y=True), 1300, 0.02, seed)


def twitter(seed: int) -> Data:
    """Windows of word vectors, of the tags that are common."""
    part = load("twitter_pos", random_state=seed).train
    names, counts = np.unique(part.y, return_counts=True)
    common = np.isin(part.y, names[counts >= 200])
    return _split(part.X[common], part.y[common], 2500, 0.02, seed)


def frozen_images(seed: int) -> Data:
    """Features of a public encoder, frozen; the labeller is taught on 5 % of them."""
    return _split(*_encoded(), 3000, 0.05, seed)


@cache
def _encoded() -> tuple[Array, Array]:
    from rehead.experiments.grid.encoders import encode_images

    part = load("cifar10", validation=0).train
    features = encode_images(part.X[:IMAGES], SIZE)
    reduced = PCA(COMPONENTS, random_state=0).fit_transform(features)
    return reduced, np.asarray(part.y[:IMAGES])


TASKS: dict[str, Callable[[int], Data]] = {
    "digits": digits,
    "Twitter windows": twitter,
    "frozen CIFAR-10": frozen_images,
}


def fit(data: Data, labels: Array, trusted: Array | None = None) -> RobustGaussianClassifier:
    """The default head; where it is told which labels were checked, also what they were before."""
    before = None if trusted is None else data.noisy
    model = RobustGaussianClassifier(random_state=0)
    return model.fit(data.X, labels, trusted=trusted, uncorrected=before)


def words(rows: Array, n: int, way: str) -> Array:
    """What the head is told of each label."""
    told = np.full(n, "", dtype="U6")
    told[rows] = "random" if way == RANDOM else "chosen"
    return told


def worst_first(data: Data, labels: Array, seen: Array) -> Array:
    """All rows that were not seen yet, those of the lowest quality first."""
    told = words(seen, len(labels), WORST) if len(seen) else None
    order = score_labels(fit(data, labels, told), data.X, labels).order
    return order[~np.isin(order, seen)]


def reviewed(data: Data, way: str, seed: int) -> Iterator[Array]:
    """The rows that a reviewer has looked at, when they are as many as each of the numbers."""
    order = np.zeros(0, np.int64)
    if way == RANDOM:
        order = np.random.default_rng([seed, 7]).permutation(len(data.truth))
    elif way == WORST:
        order = worst_first(data, data.noisy, order)
    for n in NUMBERS:
        while len(order) < n:
            labels = data.noisy.copy()
            labels[order] = data.truth[order]
            order = np.concatenate([order, worst_first(data, labels, order)[:EVERY]])
        yield order[:n]


def measured(data: Data, rows: Array, way: str) -> dict[str, float]:
    """Accuracy and errors found, when these rows are reviewed."""
    labels = data.noisy.copy()
    labels[rows] = data.truth[rows]
    told = fit(data, labels, words(rows, len(labels), way))
    found = {
        "found": int((data.noisy[rows] != data.truth[rows]).sum()),
        "accuracy": told.score(data.X_test, data.y_test),
    }
    if len(rows) == NUMBERS[-1]:
        found["corrected alone"] = fit(data, labels).score(data.X_test, data.y_test)
    return found


def run(name: str, seed: int, entry: dict[str, Any], keep: Callable[[], None]) -> None:
    """One task with one seed: every way, every number; what is there already is not done again."""
    if all(way in entry for way in WAYS):
        return
    data = TASKS[name](seed)
    entry["noise"] = float((data.noisy != data.truth).mean())
    entry["none"] = fit(data, data.noisy).score(data.X_test, data.y_test)
    entry["clean"] = fit(data, data.truth).score(data.X_test, data.y_test)
    for way in WAYS:
        if way not in entry:
            found = {
                str(len(rows)): measured(data, rows, way) for rows in reviewed(data, way, seed)
            }
            entry[way] = found
            keep()
            print(name, seed, way, found, flush=True)


def finished(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """By task, the seeds of which everything was measured."""
    whole = {
        name: [seed for seed in entry["seeds"].values() if all(way in seed for way in WAYS)]
        for name, entry in found["tasks"].items()
    }
    return {name: seeds for name, seeds in whole.items() if seeds}


def mean(seeds: list[dict[str, Any]], *names: str) -> float:
    """A number, averaged over the seeds of a task."""
    values = []
    for value in seeds:
        for name in names:
            value = value[name]
        values.append(value)
    return float(np.mean(values))


def table(found: dict[str, Any]) -> str:
    """The table of the docs: mean accuracy over seeds, in percent, and errors found."""
    lines = ["| | reviewed | " + " | ".join(WAYS) + " |", "| --- | --- |" + " --- |" * len(WAYS)]
    for name, seeds in finished(found).items():
        for n in map(str, NUMBERS):
            cells = [
                f"{100 * mean(seeds, way, n, 'accuracy'):.1f} "
                f"({mean(seeds, way, n, 'found'):.0f} found)"
                for way in WAYS
            ]
            lines.append(f"| {name} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_ends(found: dict[str, Any]) -> str:
    """Seeds, noise, and accuracy without a review and with clean labels; and what telling adds."""
    lines = [
        "| | seeds | labels wrong | no review | clean labels | 500 worst, told | not told |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, seeds in finished(found).items():
        ends = [mean(seeds, end) for end in ("noise", "none", "clean")]
        told = [mean(seeds, WORST, "500", how) for how in ("accuracy", "corrected alone")]
        cells = " | ".join(f"{100 * value:.1f}" for value in (*ends, *told))
        lines.append(f"| {name} | {len(seeds)} | {cells} |")
    return "\n".join(lines)


def read() -> dict[str, Any]:
    """What was measured."""
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"tasks": {}}
    return found


def main() -> None:
    """All tasks."""
    from reporting import circumstances, write_json

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--fresh", action="store_true", help="measure again what is there")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ReheadWarning)

    def keep(name: str, begun: dict[str, Any]) -> None:
        """Several tasks may be measured at once, each by a run of its own."""
        tasks = {**read()["tasks"], name: begun}
        write_json(RESULTS, {"tasks": {name: tasks[name] for name in TASKS if name in tasks}})

    for name in [] if asked.table else asked.tasks:
        begun = read()["tasks"].get(name, {})
        if asked.fresh or "seeds" not in begun:
            begun = {"circumstances": circumstances({"task": name}), "seeds": {}}
        for seed in range(asked.seeds):
            entry = begun["seeds"].setdefault(str(seed), {})
            run(name, seed, entry, partial(keep, name, begun))
    print(table(read()), table_of_ends(read()), sep="\n\n")


if __name__ == "__main__":
    main()
