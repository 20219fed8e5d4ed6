"""Samples on a plane: near each other where the model finds them alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.audit.inputs import rows_of, spans
from rehead.audit.kinds import OUTLIER
from rehead.audit.protocol import LabelJudge
from rehead.audit.scores import LabelScores

MOST_POINTS = 100_000
"""Samples on the map; of more, suspects are drawn first, and the rest at random."""
FOR_MEANS = 20_000
"""Samples that class means are estimated from."""
DIRECTIONS = 16
"""In which class means differ most; distances are measured along these."""
LANDMARKS = 2500
"""Samples that t-SNE places; it would take too long for more."""
NEAREST = 4
"""Landmarks between which any other sample is placed."""
OUTSIDE = 0.001
"""Share of the samples that is moved to the edge, on each side, lest one of them shrink the map."""


FLAT = "The plane through the three class means, in the space in which labels are judged."
ACROSS = (
    "From left to right: from one class mean to the other, in the space in which labels are "
    "judged. Up and down: where samples vary most besides."
)


class Plane(NamedTuple):
    """Samples on a plane.

    ``rows`` are the samples that are drawn, ``xy`` where they are (0 to 1), ``how`` says what the
    plane is.
    """

    rows: Array
    xy: Array
    how: str


def plane_of(model: LabelJudge, X: Any, scores: LabelScores, seed: int = 0) -> Plane:
    """Place samples on a plane.

    With two or three classes it is the plane of their means, in the space that labels are judged
    in. With more, where a plane is too flat, t-SNE places some samples and the others go between
    the nearest of these.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, score_labels
    >>> y = np.repeat([0, 1], 50)
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) + 9 * y[:, None]
    >>> model = RobustGaussianClassifier("sample").fit(X, y)
    >>> plane = plane_of(model, X, score_labels(model, X, y))
    >>> plane.xy.shape, bool(abs(plane.xy[:50, 0].mean() - plane.xy[50:, 0].mean()) > 0.5)
    ((100, 2), True)
    """
    rng = np.random.default_rng(seed)
    rows = drawn_rows(scores, rng)
    directions = _directions(model, X, scores, rng)
    n_classes = len(scores.classes)
    Z = np.concatenate(
        [
            np.asarray(model.judging_space(rows_of(X, rows[span])) @ directions.T, np.float32)
            for span in spans(len(rows), directions.shape[1])
        ]
    )
    if n_classes <= 3:
        usual = scores.kind[rows] != OUTLIER
        return Plane(rows, _fit_in(Z[:, :2], usual), FLAT if n_classes == 3 else ACROSS)
    return Plane(rows, *_by_landmarks(Z, scores.given[rows], rng))


def drawn_rows(scores: LabelScores, rng: np.random.Generator) -> Array:
    """Samples that are drawn: all, or the worst half of those that fit, and others at random."""
    n = len(scores)
    if n <= MOST_POINTS:
        return np.arange(n)
    worst = scores.order[: min(MOST_POINTS // 2, int(scores.suspect.sum()))]
    others = np.setdiff1d(np.arange(n), worst, assume_unique=True)
    chosen = rng.choice(others, MOST_POINTS - len(worst), replace=False)
    rows: Array = np.sort(np.concatenate([worst, chosen]))
    return rows


def _directions(model: LabelJudge, X: Any, scores: LabelScores, rng: np.random.Generator) -> Array:
    """Orthonormal directions in which trusted class means differ most; at least two."""
    n = len(scores)
    some = np.sort(rng.choice(n, min(n, FOR_MEANS), replace=False))
    codes = np.searchsorted(scores.classes, scores.given[some])
    trust = np.where(scores.suspect[some], 0.0, scores.quality[some])
    sums: Any = 0.0
    squares: Any = 0.0
    for span in spans(len(some), len(scores.classes)):
        Z = np.asarray(model.judging_space(rows_of(X, some[span])), np.float64)
        of_class = np.zeros((len(scores.classes), len(Z)))
        of_class[codes[span], np.arange(len(Z))] = trust[span]
        sums = sums + of_class @ Z
        if len(scores.classes) < 3:  # one direction of means, and more are wanted
            squares = squares + Z.T @ Z
    totals = np.bincount(codes, trust, len(scores.classes))
    means = sums[totals > 0] / totals[totals > 0, None]
    centred = means - means.mean(axis=0)
    _, sizes, found = np.linalg.svd(centred, full_matrices=False)
    found = found[sizes > 1e-9 * max(float(sizes.max(initial=0)), 1e-300)][:DIRECTIONS]
    if len(found) >= 2:
        return np.asarray(found)
    width = sums.shape[1]
    return _with_widest(found, squares if np.ndim(squares) else np.eye(width))


def _with_widest(found: Array, squares: Array) -> Array:
    """Two directions: those found, and those in which samples vary most besides."""
    width = len(squares)
    inside = np.eye(width) - found.T @ found
    others = np.linalg.eigh(inside @ squares @ inside)[1][:, ::-1].T
    if width == 1:
        others = np.zeros((1, 1))
    both: Array = np.concatenate([found, others])[:2]
    return both if len(both) == 2 else np.concatenate([both, np.zeros((1, width))])


def _fit_in(xy: Array, usual: Array | None = None) -> Array:
    """Both coordinates from 0 to 1, on one scale; what is not ``usual`` does not set it."""
    told = xy if usual is None or not usual.any() else xy[usual]
    low, high = np.quantile(told, [OUTSIDE, 1 - OUTSIDE], axis=0)
    size = max(1.04 * float((high - low).max()), 1e-12)
    inside: Array = np.clip((xy - (low + high) / 2) / size + 0.5, 0.0, 1.0)
    return inside


def _by_landmarks(Z: Array, given: Array, rng: np.random.Generator) -> tuple[Array, str]:
    """Places by t-SNE, and how they came about, in words."""
    from sklearn.manifold import TSNE

    n = len(Z)
    chosen = np.arange(n) if n <= LANDMARKS else _landmarks(given, rng)
    perplexity = float(min(30.0, max(2.0, (len(chosen) - 1) / 4)))
    sne = TSNE(random_state=0, init="pca", max_iter=500, perplexity=perplexity)
    how = (
        f"Places by t-SNE, of the {Z.shape[1]} directions in which class means differ most, in the "
        "space in which labels are judged. What is near is alike; sizes of groups and the "
        "distances between them mean little."
    )
    if Z.std() == 0:
        return np.full((n, 2), 0.5), how
    places = _fit_in(sne.fit_transform(Z[chosen]))
    if len(chosen) == n:
        return places, how
    xy = _between(Z, Z[chosen], places)
    xy[chosen] = places
    return xy, f"{how} t-SNE placed {len(chosen):,} samples; the others are between the nearest."


def _landmarks(given: Array, rng: np.random.Generator) -> Array:
    """As many of each class, so far as there are so many; the rest from the larger ones."""
    order = rng.permutation(len(given))
    _, codes = np.unique(given[order], return_inverse=True)
    by_class = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[by_class], np.arange(codes.max() + 1))
    place = np.empty(len(given), np.int64)  # which of its class a sample is
    place[by_class] = np.arange(len(given)) - starts[codes[by_class]]
    chosen: Array = np.sort(order[np.argsort(place, kind="stable")[:LANDMARKS]])
    return chosen


def _between(Z: Array, landmarks: Array, places: Array) -> Array:
    """Each sample between its nearest landmarks, the nearer to those that are like it."""
    squared_norms = (landmarks**2).sum(axis=1)
    xy = np.empty((len(Z), 2), np.float32)
    for span in spans(len(Z), len(landmarks)):
        block = Z[span]
        apart = squared_norms - 2.0 * block @ landmarks.T
        apart += (block**2).sum(axis=1, keepdims=True)
        near = np.argpartition(apart, NEAREST, axis=1)[:, :NEAREST]
        weights = 1.0 / (np.take_along_axis(apart, near, axis=1).clip(min=0) + 1e-3)
        weights /= weights.sum(axis=1, keepdims=True)
        xy[span] = np.einsum("nk,nkd->nd", weights, places[near])
    return xy
