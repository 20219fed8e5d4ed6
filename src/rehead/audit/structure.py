"""Classes that seem to be two, and pairs of classes that seem to be one.

Both questions are asked of half of the samples and answered by the others, so that what was sought
for is not found by the search. No shape of the classes is assumed.

- **Two in one.** The first half shows where a class might fall apart: 2-means gives a direction,
  and on it two peaks and a valley between them. Of any density with one peak, at least as many
  samples fall into the valley as into the lower of two equally wide places on either side. So if
  the other half has too few of them there, by the binomial distribution, there are two peaks.
- **One in two.** The first half gives the direction from one class mean to the other. If the other
  half can hardly be told apart along it, the labels of the two say the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.special import bdtr, ndtri

from rehead._typing import Array
from rehead.audit.inputs import rows_of
from rehead.audit.kinds import OK
from rehead.audit.protocol import LabelJudge
from rehead.audit.scores import LabelScores

FALSE_ALARMS = 0.01
"""Chance that any class of a data set is called two, or any pair one, and is not, at most."""
FEWEST = 60
"""Samples of a class that it takes to look at it."""
MOST = 800
"""More are not looked at."""
DIRECTIONS = 5
"""In which a class varies most, among which it may fall apart."""
PLACES = 3
"""As wide as this part of the distance between two peaks are the places that are counted."""
SHALLOW = 0.5
"""A valley with more than this share of the lower peak is none that matters."""
SMALL = 0.1
"""A part with less than this share of its class is none that matters."""
ALIKE = 0.6
"""Two classes are one if a pair of their samples is told apart less often than this: 1/2 is by
chance."""
BARS = 24


class TwoInOne(NamedTuple):
    """A class whose trusted samples fall into two groups.

    Attributes
    ----------
    label : object
        The class.
    share : float
        Of its trusted samples, in the smaller group.
    p_value : float
        How often one group looks like this by chance, for one class.
    heights, edges : arrays of shape (24,) and (25,)
        The trusted samples along the line from group to group: how many, from where to where.
    examples : tuple of two arrays
        Row numbers of samples in the midst of either group.
    """

    label: Any
    share: float
    p_value: float
    heights: Array
    edges: Array
    examples: tuple[Array, Array]


class OneInTwo(NamedTuple):
    """Two classes that can hardly be told apart; ``told`` is how often, 1/2 being chance."""

    labels: tuple[Any, Any]
    told: float
    at_most: float


class Structure(NamedTuple):
    """What was found, and how many classes were too small to be looked at."""

    split: list[TwoInOne]
    same: list[OneInTwo]
    too_small: int


def class_structure(model: LabelJudge, X: Any, scores: LabelScores, seed: int = 0) -> Structure:
    """Look for classes that seem to be two, and for pairs that seem to be one.

    Parameters
    ----------
    model : LabelJudge
    X : the features that were judged
    scores : LabelScores
        What was found of their labels.
    seed : int
        Of the halves.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, score_labels
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["cat", "dog"], 400)
    >>> X = rng.normal(size=(800, 2)) + 20 * (y == "dog")[:, None]
    >>> X[:150] += [0, 9]  # some cats are of another kind
    >>> model = RobustGaussianClassifier("sample").fit(X, y)
    >>> found = class_structure(model, X, score_labels(model, X, y))
    >>> [(str(part.label), round(part.share, 1)) for part in found.split], found.same
    ([('cat', 0.4)], [])
    """
    rng = np.random.default_rng(seed)
    rows = [_some(np.flatnonzero(scores.given == c), rng) for c in scores.classes]
    enough = [c for c, found in enumerate(rows) if len(found) >= FEWEST]
    level = FALSE_ALARMS / max(len(scores.classes), 1)
    split, means = [], {}
    for c in enough:
        Z = np.asarray(model.judging_space(rows_of(X, rows[c])))
        means[c] = Z[::2].mean(axis=0)
        trusted = (scores.kind[rows[c]] == OK) & ~scores.suspect[rows[c]]
        found = two_groups(Z[trusted], level) if trusted.sum() >= FEWEST else None
        if found is not None:
            label = scores.classes.tolist()[c]
            split.append(_named(label, rows[c][trusted], found))
    same = [
        OneInTwo((scores.classes.tolist()[a], scores.classes.tolist()[b]), told, at_most)
        for a, b in _nearest_pairs(means)
        for told, at_most in [_told_apart(model, X, rows[a], rows[b], level)]
        if at_most < ALIKE
    ]
    return Structure(split, same, len(rows) - len(enough))


class Groups(NamedTuple):
    """Two groups of some samples: how far along they are, and where one ends."""

    along: Array
    border: float
    p_value: float
    middles: tuple[float, float]


def two_groups(Z: Array, level: float) -> Groups | None:
    """Two groups of samples, where there are two beyond doubt."""
    from sklearn.cluster import KMeans

    searched, asked = Z[::2], Z[1::2]
    centre = searched.mean(axis=0)
    directions = _widest(searched - centre)
    seen = (searched - centre) @ directions.T
    groups = KMeans(2, n_init=4, random_state=0).fit(seen)
    line = groups.cluster_centers_[1] - groups.cluster_centers_[0]
    line /= max(float(np.linalg.norm(line)), 1e-300)
    first, second = seen @ line, (asked - centre) @ directions.T @ line
    left, valley, right, half = _places(first, *sorted(groups.cluster_centers_ @ line))
    n_left, n_valley, n_right = (
        int((np.abs(second - at) <= half).sum()) for at in (left, valley, right)
    )
    # With one peak, one of the two sides has no more than the valley; which one is not known.
    p = max(_at_most(n_valley, n_valley + n) for n in (n_left, n_right))
    share = float((second > valley).mean())
    deep = n_valley <= SHALLOW * min(n_left, n_right)
    if p > level or not deep or not SMALL <= share <= 1 - SMALL:
        return None
    return Groups((Z - centre) @ directions.T @ line, float(valley), p, (left, right))


def _widest(centred: Array) -> Array:
    """Orthonormal directions in which rows vary most, by the smaller of two matrices."""
    n, d = centred.shape
    small = centred.T @ centred if d <= n else centred @ centred.T
    last = [max(len(small) - DIRECTIONS, 0), len(small) - 1]
    vectors = eigh(small, subset_by_index=last)[1]
    found: Array = vectors.T if d <= n else vectors.T @ centred
    unit: Array = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)
    return unit


def _at_most(k: int, n: int) -> float:
    """Chance of at most k heads in n throws."""
    return float(bdtr(k, n, 0.5)) if n else 1.0


def _places(along: Array, low: float, high: float) -> tuple[float, float, float, float]:
    """Two peaks, the valley between them, and half the width of the places that are counted."""
    width = max((high - low) / PLACES, 1e-300)
    at = np.arange(low - width, high + 1.001 * width, width / 2)
    counts = np.array([(np.abs(along - a) <= width / 2).sum() for a in at])
    inside = np.flatnonzero((at >= low + width) & (at <= high - width))
    valley = inside[counts[inside].argmin()]
    left = int(counts[: valley - 1].argmax())
    right = valley + 2 + int(counts[valley + 2 :].argmax())
    return float(at[left]), float(at[valley]), float(at[right]), width / 2


def _named(label: Any, rows: Array, groups: Groups) -> TwoInOne:
    heights, edges = np.histogram(groups.along, BARS)
    above = groups.along > groups.border
    share = float(min(above.mean(), 1 - above.mean()))
    near = [rows[np.argsort(np.abs(groups.along - m), kind="stable")[:8]] for m in groups.middles]
    return TwoInOne(label, share, groups.p_value, heights, edges, (near[0], near[1]))


def _nearest_pairs(means: dict[int, Array]) -> list[tuple[int, int]]:
    """Each class and the one whose mean is nearest to its own, every pair once."""
    names, points = list(means), np.array(list(means.values()))
    if len(names) < 2:
        return []
    squared = (points**2).sum(axis=1)
    apart = squared[:, None] + squared - 2.0 * points @ points.T
    np.fill_diagonal(apart, np.inf)
    nearest = apart.argmin(axis=1)
    return sorted(
        {(min(names[a], names[b]), max(names[a], names[b])) for a, b in enumerate(nearest)}
    )


def _told_apart(model: LabelJudge, X: Any, a: Array, b: Array, level: float) -> tuple[float, float]:
    """How often a pair of samples is told apart, and how often at most beyond doubt."""
    from scipy.stats import rankdata

    of_a, of_b = (np.asarray(model.judging_space(rows_of(X, rows))) for rows in (a, b))
    line = of_b[::2].mean(axis=0) - of_a[::2].mean(axis=0)
    first, second = of_a[1::2] @ line, of_b[1::2] @ line
    n, m = len(first), len(second)
    ranks = rankdata(np.concatenate([first, second]))[n:]
    told = float((ranks.sum() - m * (m + 1) / 2) / (n * m))
    error = np.sqrt((1 / n + 1 / m) / 12)
    return told, told + float(-ndtri(level) * error)


def _some(rows: Array, rng: np.random.Generator) -> Array:
    """The rows of a class in a random order, or some of them."""
    return rng.permutation(rows)[:MOST]
