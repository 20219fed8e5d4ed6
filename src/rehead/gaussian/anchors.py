"""The transition matrix, read off at anchors: the surest samples of each class.

Among the samples that are most surely of class c, judged without their labels, the share of each
label is row c of T. So some samples of each class must be easy, and the right label must be the
most frequent one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from rehead._typing import Array
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
    labels = _labels_of_anchors(scores, codes, counts, SETTINGS.anchor_shares[0])
    for share in SETTINGS.anchor_shares[1:]:
        of_fewer = _labels_of_anchors(scores, codes, counts, share)
        if _clearly_purer(of_fewer, labels):
            labels = of_fewer
    labels[_taken_for_another(labels)] = 0.0
    return AnchoredTransition(dominant(_smoothed_transition(labels)), labels.sum(axis=1))


def _labels_of_anchors(scores: Array, codes: Array, counts: Array, share: float) -> Array:
    """How often each label (column) occurs among the anchors of each class (row)."""
    n_classes = scores.shape[1]
    best = scores.argmax(axis=1)
    top_two = np.partition(scores, n_classes - 2, axis=1)[:, -2:]
    margin = top_two[:, 1] - top_two[:, 0]
    labels = np.zeros((n_classes, n_classes))
    for c in range(n_classes):
        rows = np.flatnonzero(best == c)
        total = counts[rows].sum()
        n = min(total, max(SETTINGS.fewest_anchors, int(share * total)))
        ranked = rows[np.argsort(-margin[rows], kind="stable")]
        before = np.cumsum(counts[ranked]) - counts[ranked]
        taken = np.clip(n - before, 0.0, counts[ranked])
        labels[c] = np.bincount(codes[ranked], weights=taken, minlength=n_classes)
    return labels


def _clearly_purer(few: Array, many: Array) -> bool:
    """Whether clearly more labels of fewer anchors agree, class by class."""
    share = many.sum(axis=1) / max(many.sum(), 1.0)
    (p, n), (q, _) = ((np.diag(s), s.sum(axis=1)) for s in (few, many))
    p, q = p / np.maximum(n, 1.0), q / np.maximum(many.sum(axis=1), 1.0)
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


def _smoothed_transition(labels: Array) -> Array:
    """Shares from counts; the more alike classes are, the more they borrow from each other.

    How often a label is right, and which wrong label it is then, are smoothed one after the other:
    flip noise has the same rate in all classes and a wrong label for each of its own, uniform noise
    has both in common.
    """
    n_classes = len(labels)
    of_class, right = labels.sum(axis=1), np.diag(labels)
    # Half a right and half a wrong anchor more: not even all agreeing means certainty.
    usual = (right.sum() + 0.5) / (of_class.sum() + 1.0)
    share = _smoothed_shares(
        np.column_stack([right, of_class - right]), np.array([usual, 1.0 - usual])
    )
    off = ~np.eye(n_classes, dtype=bool)
    wrong = labels[off].reshape(n_classes, n_classes - 1)
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

    def evidence(more: float) -> float:
        a = more * usual
        rows = (
            gammaln(more) - gammaln(more + n[:, 0]) + (gammaln(a + counts) - gammaln(a)).sum(axis=1)
        )
        return float(rows.sum())

    more = max(SETTINGS.borrowed_anchors, key=evidence)
    shares: Array = (counts + more * usual) / (n + more)
    return shares


def dominant(T: Array) -> Array:
    """No wrong label is more frequent than the right one: that is what "right" has to mean."""
    capped = np.minimum(T, np.diag(T)[:, None])
    dominant: Array = capped / capped.sum(axis=1, keepdims=True)
    return dominant
