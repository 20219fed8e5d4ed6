"""Whether the interval of wrong labels that are left holds as often as it promises.

    python benchmarks/stopping.py          # fills benchmarks/results/stopping.json

A reviewer who knows the truth goes through noisy labels, as the review page shows them. After some
decisions, the number of wrong labels that are really left is compared with the interval. Three
tasks: noisy digits; classes that overlap, where a model takes hard samples for wrong labels;
semantic noise, where it sees next to none of them. And two ways to stop: at a number of decisions
that was fixed beforehand, or at the first moment when the upper end looks good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits

from rehead import RobustGaussianClassifier, noise, score_labels
from rehead.review.draws import Candidates, Shares, draw_order, next_samples, turns_of
from rehead.review.stopping import Left, parts_of, wrong_left
from rehead.review.subject import suspects_of

RESULTS = Path(__file__).parent / "results" / "stopping.json"
Array = np.ndarray
REPEATS, STEPS, SHARES = 400, (100, 300, 600), (0.05, 0.15)
GOOD = 0.1
"""Share of the samples: who stops early does so when the upper end is below it."""
LOOKS = range(40, 1001, 20)
"""Numbers of decisions after which that reviewer looks at the interval."""


class Labels(NamedTuple):
    """Suspects, worst first, and which labels are wrong."""

    suspects: Array
    wrong: Array


def judged(X: Array, truth: Array, noisy: Array) -> Labels:
    """What a model makes of noisy labels."""
    report = score_labels(RobustGaussianClassifier("anchored").fit(X, noisy), X, noisy)
    return Labels(suspects_of(report), truth != noisy)


def noisy_digits() -> Labels:
    """Digits, 30 % of the labels flipped."""
    X, truth = load_digits(return_X_y=True)
    return judged(X, truth, noise.flip(truth, rate=0.3, random_state=0).labels)


def overlapping() -> Labels:
    """Three Gaussians that overlap, 20 % uniform noise."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=1500)
    X = rng.normal(size=(1500, 2)) + 1.3 * np.eye(3, 2)[truth]
    return judged(X, truth, noise.uniform(truth, rate=0.2, random_state=0).labels)


def semantic() -> Labels:
    """Digits, labelled by a weak classifier."""
    X, truth = load_digits(return_X_y=True)
    return judged(X, truth, noise.semantic(X, truth, clean=0.05, random_state=0).labels)


TASKS: dict[str, Callable[[], Labels]] = {
    "noisy digits": noisy_digits,
    "overlapping classes": overlapping,
    "semantic noise": semantic,
}


class Moment(NamedTuple):
    """After some decisions: the interval, and how many wrong labels are really left."""

    left: Left
    truly: int

    @property
    def holds(self) -> bool:
        """Whether the interval covers the truth."""
        return self.left.low <= self.truly <= self.left.high


def review(labels: Labels, seed: int, share: float, steps: Sequence[int]) -> Iterator[Moment]:
    """What the page says after these numbers of decisions, by a reviewer who is always right."""
    suspects, wrong = labels
    n = len(wrong)
    order = draw_order(n, suspects, seed)
    left = {"random suspect": len(order[0]), "random other": len(order[1])}
    candidates = Candidates((), suspects, *order)
    shown = next_samples(candidates, Shares(share), left, turns_of(seed, "Ann", 0))
    answered, done = np.zeros(n, bool), 0
    for until in steps:
        for one in islice(shown, until - done):
            answered[one.row] = True
        done = until
        parts = parts_of(suspects, order, answered, wrong.astype(float))
        yield Moment(wrong_left(parts), int((wrong & ~answered).sum()))


def coverage(labels: Labels, share: float, repeats: int = REPEATS) -> list[dict[str, Any]]:
    """How often the interval holds after each number of decisions, and how wide it is."""
    runs = [list(review(labels, seed, share, STEPS)) for seed in range(repeats)]
    rows = []
    for step, moments in zip(STEPS, zip(*runs, strict=True), strict=True):
        told = [m for m in moments if m.left.estimate is not None]
        rows.append(
            {
                "decisions": step,
                "holds": float(np.mean([m.holds for m in moments])),
                "above": float(np.mean([m.truly > m.left.high for m in moments])),
                "truly_left": float(np.mean([m.truly for m in moments])),
                "estimate": float(np.mean([m.left.estimate for m in told])) if told else None,
                "low": float(np.mean([m.left.low for m in moments])),
                "high": float(np.mean([m.left.high for m in moments])),
                "draws": float(np.mean([m.left.drawn for m in moments])),
            }
        )
    return rows


def stopped_early(labels: Labels, share: float, repeats: int = REPEATS) -> dict[str, Any]:
    """How often more is left than the upper end says, at the first moment when that looks good."""
    limit = GOOD * len(labels.wrong)
    ends = []
    for seed in range(repeats):
        moments = review(labels, seed, share, LOOKS)
        ends.append(next((m for m in moments if m.left.high <= limit), None))
    found = [m for m in ends if m is not None]
    above = float(np.mean([m.truly > m.left.high for m in found])) if found else None
    return {"stopped": len(found) / repeats, "above": above}


def table(found: dict[str, Any]) -> str:
    """The table of the docs."""
    names = ("labels", "decisions", "random draws", "truly left", "estimate")
    names += ("range, on average", "holds", "more is left")
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join(['---'] * len(names))} |"]
    for name, task in found["tasks"].items():
        for row in task["shares"][str(SHARES[0])]["coverage"]:
            counts = (row["draws"], row["truly_left"], row["estimate"])
            cells = [name, str(row["decisions"]), *(f"{count:.0f}" for count in counts)]
            cells += [f"{row['low']:.0f} to {row['high']:.0f}"]
            cells += [f"{100 * row[share]:.1f} %" for share in ("holds", "above")]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """All tasks, as a table and a file."""
    from reporting import circumstances, write_json

    found: dict[str, Any] = {"circumstances": circumstances({"repeats": REPEATS}), "tasks": {}}
    for name, task in TASKS.items():
        labels = task()
        n, wrong, suspects = len(labels.wrong), int(labels.wrong.sum()), len(labels.suspects)
        caught = int(labels.wrong[labels.suspects].sum())
        print(f"{name}: {n} samples, {wrong} wrong, {suspects} suspects, {caught} of them wrong")
        entry: dict[str, Any] = {"samples": n, "wrong": wrong, "suspects": suspects}
        entry |= {"wrong_suspects": caught, "shares": {}}
        for share in SHARES:
            rows, early = coverage(labels, share), stopped_early(labels, share)
            entry["shares"][str(share)] = {"coverage": rows, "stopped_early": early}
            for row in rows:
                print(share, {k: v if v is None else round(v, 3) for k, v in row.items()})
            print(share, "stopped early", early, flush=True)
        found["tasks"][name] = entry
    write_json(RESULTS, found)
    print(table(found))


if __name__ == "__main__":
    main()
