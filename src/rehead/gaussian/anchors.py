"""The transition matrix, read off at anchors: the surest samples of each class.

Among the samples that are most surely of class c, judged without their labels, the share of each
label is row c of T. So some samples of each class must be easy, and the right label must be the
most frequent one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from rehead._typing import BLOCK, Array
from rehead.gaussian.settings import SETTINGS


class AnchoredTransition(NamedTuple):
    """``T[c, k]`` (``matrix``), and the number of anchors that each of its rows was read off at."""

    matrix: Array
    anchors: Array


def anchor_transition(
    scores: Array, codes: Array, counts: Array | None = None
) -> AnchoredTransition:
    """``T[c, k]``: how often the label is k among the samples that are most surely of class c.

    A class that is never predicted has no anchors, and is taken to be like the others.

    Anchors that are not of their class look like noise. Where classes overlap, there are fewer of
    those among fewer anchors: if more of their labels agree, clearly, these are taken.
    """
    counts = np.ones(len(codes)) if counts is None else counts
    judged = Judged(*_best_and_margin(scores), codes, counts, scores.shape[1])
    each = Ranked.of(judged, np.arange(judged.n_classes))
    labels = wide = each.labels_of_anchors(SETTINGS.anchor_shares[0])
    shares, ranked = SETTINGS.anchor_shares[1:], each
    if judged.n_classes > SETTINGS.few_classes:
        shares = SETTINGS.anchor_shares + SETTINGS.fewer_anchor_shares
        ranked = Ranked.of(judged, judged.groups())
    for share in shares:
        of_fewer = ranked.labels_of_anchors(share)
        if _clearly_purer(of_fewer, labels, ranked.groups):
            labels = of_fewer
    mistaken = _taken_for_another(labels)
    labels[mistaken] = 0.0
    # Where wrong labels go is seen at more anchors, if those that say how many there are, are few.
    wide = labels if ranked is each else np.where(mistaken[:, None], 0.0, wide)
    return AnchoredTransition(dominant(_smoothed_transition(labels, wide)), labels.sum(axis=1))


class Judged(NamedTuple):
    """What samples are taken for, by which margin; their labels, and how often each counts."""

    taken_for: Array
    margin: Array
    codes: Array
    counts: Array
    n_classes: int

    def groups(self) -> Array:
        """A number for each class; classes too small for anchors of their own have one in common.

        The anchors of one small class would be all samples that are taken for it, sure or not.
        """
        totals = np.bincount(self.taken_for, self.counts, minlength=self.n_classes)
        small = SETTINGS.anchor_shares[0] * totals < SETTINGS.fewest_anchors
        return np.where(small, self.n_classes, np.arange(self.n_classes))


class Ranked(NamedTuple):
    """Samples by the group of the class that they are taken for, the surest ones first.

    ``before`` counts those of the same group that come before, ``totals`` all of each group.
    """

    judged: Judged
    groups: Array
    before: Array
    totals: Array

    @classmethod
    def of(cls, judged: Judged, groups: Array) -> Ranked:
        """By margins; ``groups`` has a number for each class."""
        group, n_groups = groups[judged.taken_for], int(groups.max()) + 1
        order = np.lexsort((-judged.margin, group))
        counts = judged.counts[order]
        totals = np.bincount(group, weights=judged.counts, minlength=n_groups)
        before = np.empty(len(order))
        before[order] = np.cumsum(counts) - counts - (np.cumsum(totals) - totals)[group[order]]
        return cls(judged, groups, before, totals)

    def labels_of_anchors(self, share: float) -> Array:
        """How often each label (column) occurs among the anchors of each class (row)."""
        (taken_for, _, codes, counts, C), totals = self.judged, self.totals
        least = np.full(len(totals), float(SETTINGS.fewest_anchors))
        least[C:] = SETTINGS.fewest_common_anchors
        n = np.minimum(totals, np.maximum(least, np.floor(share * totals)))
        taken = np.clip(n[self.groups[taken_for]] - self.before, 0.0, counts)
        labels = np.bincount(taken_for * C + codes, weights=taken, minlength=C**2)
        return labels.reshape(C, C)


def _best_and_margin(scores: Array) -> tuple[Array, Array]:
    """The best class of each sample, and how far the second best is behind."""
    best, margin = scores.argmax(axis=1), np.empty(len(scores))
    for start in range(0, len(scores), BLOCK):
        block = scores[start : start + BLOCK].copy()
        every, at = np.arange(len(block)), best[start : start + BLOCK]
        top = block[every, at]
        block[every, at] = -np.inf
        margin[start : start + BLOCK] = top - block.max(axis=1)
    return best, margin


def _clearly_purer(few: Array, many: Array, groups: Array | None = None) -> bool:
    """Whether clearly more labels of fewer anchors agree, class by class (or group by group)."""
    groups = np.arange(len(few)) if groups is None else groups

    def summed(labels: Array) -> tuple[Array, Array]:
        return np.bincount(groups, np.diag(labels)), np.bincount(groups, labels.sum(axis=1))

    (right, n), (right_of_many, total) = summed(few), summed(many)
    share = total / max(total.sum(), 1.0)
    p, q = right / np.maximum(n, 1.0), right_of_many / np.maximum(total, 1.0)
    error = np.sqrt(share**2 @ variance_of_shares(p, n))
    return bool(share @ (p - q) > SETTINGS.standard_errors * error)


def variance_of_shares(share: Array, n: Array) -> Array:
    """Of shares that were counted; one more of each kind, so that it is never 0."""
    variance: Array = (share * (1.0 - share) * n + 1.0) / (n + 2.0) ** 2
    return variance


def _taken_for_another(labels: Array) -> Array:
    """Classes whose anchors mostly carry the label of another class: they are samples of that one.

    It happens to a rare class whose label many samples of a frequent class carry. Its anchors say
    nothing about its own noise; taken at their word, the two classes would change places.
    """
    own = np.diag(labels)
    other = np.where(np.eye(len(labels), dtype=bool), 0.0, labels).max(axis=1)
    mistaken: Array = other - own > np.sqrt(other + own)
    return mistaken


def _smoothed_transition(labels: Array, wide: Array | None = None) -> Array:
    """Shares from counts; the more alike classes are, the more they borrow from each other.

    How often a label is right, and which wrong label it is then, are smoothed one after the other:
    flip noise has the same rate in all classes and a wrong label for each of its own, uniform noise
    has both in common. How often a label is right is read off ``labels``, the rest off ``wide``.
    """
    n_classes = len(labels)
    of_class, right = labels.sum(axis=1), np.diag(labels)
    # Half a right and half a wrong anchor more: not even all agreeing means certainty.
    usual = (right.sum() + 0.5) / (of_class.sum() + 1.0)
    share = _smoothed_shares(
        np.column_stack([right, of_class - right]), np.array([usual, 1.0 - usual])
    )
    off = ~np.eye(n_classes, dtype=bool)
    wrong = (labels if wide is None else wide)[off].reshape(n_classes, n_classes - 1)
    T = np.diag(share[:, 0])
    even = np.full(n_classes - 1, 1.0 / (n_classes - 1))
    T[off] = (share[:, 1:] * _smoothed_shares(wrong, even)).ravel()
    return T


def _smoothed_shares(counts: Array, usual: Array) -> Array:
    """Shares of each row as if some more had been counted, spread as usual.

    How many more is what makes the counts most probable: rows are multinomial, and their
    probabilities come from a Dirichlet distribution around the usual ones.
    """
    n = counts.sum(axis=1, keepdims=True)
    occur = np.nonzero(counts)
    counted, expected = counts[occur], usual[occur[1]]

    def evidence(more: float) -> float:
        a = more * expected
        of_rows = gammaln(more) - gammaln(more + n)
        return float(of_rows.sum() + (gammaln(a + counted) - gammaln(a)).sum())

    more = max(SETTINGS.borrowed_anchors, key=evidence)
    shares: Array = (counts + more * usual) / (n + more)
    return shares


def dominant(T: Array) -> Array:
    """No wrong label is more frequent than the right one: that is what "right" has to mean."""
    capped = np.minimum(T, np.diag(T)[:, None])
    dominant: Array = capped / capped.sum(axis=1, keepdims=True)
    return dominant
