"""What a report says, in numbers and words: from the scores of labels, for a template."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rehead._columns import as_column, missing_rows
from rehead._typing import Array
from rehead.audit.kinds import KINDS, OUTLIER
from rehead.audit.review import expected_wrong, n_review
from rehead.audit.scores import LabelScores
from rehead.audit.strange import without_strange
from rehead.audit.summary import confusions, noise_in_words, review_in_words
from rehead.evaluation.outputs import read_outputs_as
from rehead.report.drawing import class_name

MOST_PAIRS = 12
"""Confusions that are listed."""
CURVE = 60
"""Points of a curve."""


class Headline(NamedTuple):
    """The first numbers of a report.

    ``kinds`` has the number of samples of each kind, in the order of KINDS; ``measured`` tells
    whether the noise was measured, ``least`` and ``most`` are NaN where it has no range,
    ``checked`` is the number of labels that range and rate rest on, if some were checked.
    """

    n: int
    n_classes: int
    rate: float
    error: float
    least: float
    most: float
    checked: float
    measured: bool
    expected: float
    n_suspects: int
    n_review: int
    kinds: dict[str, int]
    noise: str
    review: str


class Truth(NamedTuple):
    """How right labels and predictions are, where the truth is known.

    ``softmax`` is NaN where the network's outputs are not known. ``found`` is the share of the
    wrong labels that is suspected, ``precise`` the share of the suspects that is wrong.
    """

    n: int
    given: float
    softmax: float
    suggested: float
    found: float
    precise: float


class ClassRow(NamedTuple):
    """A class: samples with its label, how many are wrong, and what these look like."""

    name: str
    n: int
    expected: float
    share: float
    n_suspects: int
    n_strange: int
    looks_like: str
    looks_like_n: int


class Pair(NamedTuple):
    """A confusion: a label that is given, what it should be, how often; codes for the map."""

    given: str
    suggested: str
    n: int
    given_code: int
    suggested_code: int


class Curve(NamedTuple):
    """How many wrong labels are found by looking at the worst: shares of labels and of errors."""

    points: list[tuple[float, float]]
    n_review: int
    share_reviewed: float
    share_found: float


def headline_of(scores: LabelScores) -> Headline:
    """The first numbers."""
    kinds = {kind: int((scores.kind == kind).sum()) for kind in KINDS}
    counted, _ = without_strange(scores)
    rate = counted.noise_rate
    if scores.checked:
        rate = float(np.clip(rate, counted.noise_least, counted.noise_most))
    return Headline(
        n=len(scores),
        n_classes=len(scores.classes),
        rate=rate,
        error=counted.noise_rate_error,
        least=counted.noise_least,
        most=counted.noise_most,
        checked=scores.checked,
        measured=not np.isnan(scores.noise_rate_error),
        expected=rate * len(counted) if scores.checked else expected_wrong(counted.quality),
        n_suspects=int(scores.suspect.sum()),
        n_review=n_review(scores.quality),
        kinds=kinds,
        noise=noise_in_words(scores),
        review=review_in_words(scores),
    )


def truth_codes(scores: LabelScores, truth: Any) -> Array:
    """Codes of the true labels; -1 where they are missing, or of a class that is not known.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> scores = SimpleNamespace(classes=np.array(["a", "b"]), given=np.array(["a", "a", "b"]))
    >>> truth_codes(scores, ["b", None, "z"]).tolist()
    [1, -1, -1]
    """
    n = len(scores.given)
    codes = np.full(n, -1)
    if truth is None:
        return codes
    column = as_column(truth)
    if column.shape != (n,):
        raise ValueError(f"There must be one true label for each of the {n} samples.")
    known = ~missing_rows(column)
    if column.dtype.kind in "UO":
        known &= np.array([v is not None and str(v).strip() != "" for v in column.tolist()])
    if not known.any():
        return codes
    # A file cannot tell 1 from "1", so the classes do.
    places = {str(label): code for code, label in enumerate(scores.classes.tolist())}
    codes[known] = [places.get(str(label), -1) for label in column[known].tolist()]
    return codes


def truth_of(scores: LabelScores, codes: Array, outputs: Array | None) -> Truth | None:
    """How right everything is where the truth is known; None where it is nowhere."""
    known = codes >= 0
    if not known.any():
        return None
    true = scores.classes[codes[known]]
    right = scores.given[known] == true
    suspect = scores.suspect[known]
    softmax = float("nan")
    if outputs is not None and outputs.shape[1]:
        read = read_outputs_as(outputs, scores.given, scores.classes)
        if read is not None:
            best = read.posterior(outputs[known]).argmax(axis=1)
            softmax = float((best == codes[known]).mean())
    return Truth(
        n=int(known.sum()),
        given=float(right.mean()),
        softmax=softmax,
        suggested=float((scores.suggested[known] == true).mean()),
        found=_share(suspect[~right]),
        precise=_share(~right[suspect]),
    )


def _share(mask: Array) -> float:
    return float(mask.mean()) if len(mask) else float("nan")


def class_rows(scores: LabelScores) -> list[ClassRow]:
    """Class by class, the one with most wrong labels first."""
    C = len(scores.classes)
    given = np.searchsorted(scores.classes, scores.given)
    suggested = np.searchsorted(scores.classes, scores.suggested)
    n = np.bincount(given, minlength=C)
    wrong = np.bincount(given, 1.0 - scores.quality, C)
    strange = np.bincount(given[scores.kind == OUTLIER], minlength=C)
    suspects = np.bincount(given[scores.suspect], minlength=C)
    first: dict[int, tuple[int, int]] = {}
    pairs, counts = np.unique(
        given[scores.suspect] * C + suggested[scores.suspect], return_counts=True
    )
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        a, b = divmod(pair, C)
        if count > first.get(a, (0, 0))[1]:
            first[a] = (b, count)
    names = [class_name(label) for label in scores.classes.tolist()]
    return [
        ClassRow(
            names[c],
            int(n[c]),
            float(wrong[c]),
            float(wrong[c] / n[c]),
            int(suspects[c]),
            int(strange[c]),
            names[first[c][0]] if c in first else "",
            first[c][1] if c in first else 0,
        )
        for c in np.argsort(-wrong, kind="stable")
        if n[c]
    ]


def pairs_of(scores: LabelScores) -> tuple[list[Pair], int]:
    """The most common confusions, and how many more pairs there are."""
    found = confusions(scores)
    codes = {label: code for code, label in enumerate(scores.classes.tolist())}
    shown = [
        Pair(class_name(a), class_name(b), n, codes[a], codes[b]) for a, b, n in found[:MOST_PAIRS]
    ]
    return shown, max(len(found) - MOST_PAIRS, 0)


def review_curve(scores: LabelScores) -> Curve:
    """How many of the wrong labels are found among the worst, in expectation."""
    wrong = 1.0 - np.sort(scores.quality)
    found = np.cumsum(wrong) / max(float(wrong.sum()), 1e-12)
    n, most = len(wrong), n_review(scores.quality)
    at = np.unique(np.linspace(0, n - 1, CURVE).astype(int))
    points = [(0.0, 0.0), *((float((i + 1) / n), float(found[i])) for i in at)]
    return Curve(points, most, most / n, float(found[most - 1]) if most else 0.0)
