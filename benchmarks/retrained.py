"""What training the network again on corrected labels adds to refitting its head.

    python benchmarks/retrained.py            # fills what is missing in results/retrained.json
    python benchmarks/retrained.py --table    # only prints the table of the docs

A weak classifier has labelled everything, as in ``reviewed.py``. A network learns its labels,
and gets a head. A reviewer who is always right looks at the 500 labels of the lowest quality. Then
the head is fitted again on the same features; or the network is trained again from the beginning,
on the corrected labels, and a head is fitted on its features. Both are told which labels were
checked. Held-out labels, by which layers are weighted, keep the errors of the weak classifier; the
head is also fitted again without them. All are scored on clean test samples, and so is each
network's own softmax.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rehead import ReheadWarning, data, noise
from rehead.torch import RobustHead
from rehead.torch.models import FCN
from rehead.torch.training import Recipe, Run, train

RESULTS = Path(__file__).parent / "results" / "retrained.json"
REVIEWED, SEEDS, CLEAN = 500, 3, 0.02
Array = np.ndarray


class Task(NamedTuple):
    """A data set and the hidden layers of its network."""

    data: str
    hidden: tuple[int, ...]
    held_out: float | int


TASKS = {
    "digits, MLP": Task("digits", (128, 128), 0.1),
    "Reuters-8, FCN": Task("reuters8", (256, 256), 210),
}
RECIPE = Recipe(epochs=30, batch_size=64, optimizer="adam", learning_rate=2e-3, schedule="cosine")
"""Until nearly all labels are fitted."""


class Noisy(NamedTuple):
    """Training samples with their true and noisy labels, held-out noisy ones, clean test ones."""

    X: Array
    truth: Array
    labels: Array
    held_out: tuple[Array, Array]
    test: tuple[Array, Array]


def noisy_data(task: Task, seed: int) -> Noisy:
    """Labels of a weak classifier, held-out ones too."""
    parts = data.load(task.data, validation=task.held_out, random_state=seed)
    made = noise.semantic(parts.train.X, parts.train.y, clean=CLEAN, random_state=seed)
    held_out = (parts.validation.X, made.label(parts.validation.X))
    test = (parts.test.X, parts.test.y)
    return Noisy(parts.train.X, np.asarray(parts.train.y), made.labels, held_out, test)


def network(task: Task, known: Noisy, labels: Array, seed: int) -> Any:
    """A network that is trained from the beginning."""
    sizes = known.X.shape[1], int(known.truth.max()) + 1
    make = partial(FCN, *sizes, hidden=task.hidden, gain=2**0.5)
    X = known.X.astype(np.float32)
    return train(make, X, labels, recipe=RECIPE, run=Run(seed=seed, progress=False)).net


def head_of(
    net: Any, known: Noisy, labels: Array, checked: Array | None = None, held_out: bool = True
) -> RobustHead:
    """The default head, which is told which labels were checked."""
    X, (held, held_labels) = known.X.astype(np.float32), known.held_out
    trusted = None if checked is None else np.where(checked, "chosen", "")
    head = RobustHead(net, random_state=0)
    validation = (held.astype(np.float32), held_labels) if held_out else None
    known = {"trusted": trusted, "uncorrected": None if checked is None else known.labels}
    return head.fit((X, labels), validation=validation, progress=False, **known)


def accuracy(model: Any, known: Noisy) -> float:
    """Share of the test samples that it is right about: a head, or a network by its softmax."""
    import torch

    X = torch.from_numpy(known.test[0].astype(np.float32))
    if isinstance(model, RobustHead):
        best = model.classes_[np.asarray(model.predict_proba(X)).argmax(axis=1)]
    else:
        with torch.inference_mode():
            best = model(X).argmax(dim=1).numpy()
    return float((best == known.test[1]).mean())


def measured(name: str, seed: int) -> dict[str, float]:
    """One network, reviewed, refitted and trained again."""
    task = TASKS[name]
    known = noisy_data(task, seed)
    net = network(task, known, known.labels, seed)
    head = head_of(net, known, known.labels)
    rows = head.report_.order[:REVIEWED]
    labels, checked = known.labels.copy(), np.zeros(len(known.labels), bool)
    labels[rows], checked[rows] = known.truth[rows], True
    again = network(task, known, labels, seed)
    return {
        "noise": float((known.labels != known.truth).mean()),
        "found": int((known.labels[rows] != known.truth[rows]).sum()),
        "softmax": accuracy(net, known),
        "head": accuracy(head, known),
        "refitted head": accuracy(head_of(net, known, labels, checked), known),
        ALONE: accuracy(head_of(net, known, labels, checked, held_out=False), known),
        "softmax of the new network": accuracy(again, known),
        "head of the new network": accuracy(head_of(again, known, labels, checked), known),
    }


ALONE = "refitted without held-out labels"
COLUMNS = (
    "softmax",
    "head",
    "refitted head",
    ALONE,
    "softmax of the new network",
    "head of the new network",
)


def table(found: dict[str, Any]) -> str:
    """The table of the docs: mean accuracy in percent, with its standard error over seeds."""
    lines = [
        f"| | labels wrong | found | {' | '.join(COLUMNS)} |",
        "| --- |" + " --- |" * (2 + len(COLUMNS)),
    ]
    for name, seeds in found["tasks"].items():
        runs = list(seeds.values())
        share, n = (np.mean([run[key] for run in runs]) for key in ("noise", "found"))
        cells = []
        for column in COLUMNS:
            values = 100 * np.array([run[column] for run in runs])
            cells.append(f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}")
        lines.append(f"| {name} | {100 * share:.0f} % | {n:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def fill(found: dict[str, Any], seeds: int, keep: Callable[[], None]) -> None:
    """Measure what is missing."""
    for name in TASKS:
        runs = found["tasks"].setdefault(name, {})
        for seed in range(seeds):
            if str(seed) not in runs:
                runs[str(seed)] = measured(name, seed)
                keep()
                print(name, seed, runs[str(seed)], flush=True)


def main() -> None:
    """All tasks."""
    from reporting import circumstances, write_json

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ReheadWarning)
    found: dict[str, Any] = {"circumstances": circumstances({}), "tasks": {}}
    if RESULTS.exists():
        found = json.loads(RESULTS.read_text())
    if not asked.table:
        fill(found, asked.seeds, lambda: write_json(RESULTS, found))
    print(table(found))


if __name__ == "__main__":
    main()
