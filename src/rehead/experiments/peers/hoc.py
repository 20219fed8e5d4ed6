"""HOC: the noise, from how often neighbours have which labels.

Zhu, Song and Liu, "Clusterability as an Alternative to Anchor Points When Learning with Noisy
Labels", ICML 2021.

If a sample and its two nearest neighbours have the same true class i, and their labels were changed
independently, then label triples have the probabilities ``sum_i p_i T_ij T_ik T_il``, pairs
``sum_i p_i T_ij T_ik`` and single labels ``sum_i p_i T_ij``. The transition matrix T and the
shares p of the true classes are those that come closest to what is counted.

The paper forms the tensor of C^3 triples, and takes subsets of the classes where there are many.
Here no tensor is formed: the model is a sum of C products of vectors, so that its length needs
``p' (T T')^r p`` only (powers entry by entry), and its product with the counts needs the triples
only that occur. So all classes are fitted together, however many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize
from scipy.sparse import csr_matrix

from rehead._typing import Array
from rehead.experiments.peers.neighbours import nearest_others, unit_rows
from rehead.gaussian.probability import softmax

START = 0.7
"""Diagonal of T at the start. Nearer to 1, the softmax is flat, and many steps are lost."""
STEPS = 300
"""Steps of the optimiser at most."""
BLOCK_ENTRIES = 2**22
"""Products of three entries of T in a block, about."""


class Counts(NamedTuple):
    """How often labels occur alone, with that of the nearest neighbour, and of the nearest two.

    Attributes
    ----------
    single : array of shape (C,)
    pairs : array of shape (C, C)
    triples : integer array of shape (t, 3)
        The triples of labels that occur, each in ascending order: the model is symmetric.
    shares : array of shape (t,)
        How often these occur. Each of the three kinds sums to one.
    """

    single: Array
    pairs: Array
    triples: Array
    shares: Array


class LabelNoise(NamedTuple):
    """What HOC finds.

    Attributes
    ----------
    transition : array of shape (C, C)
        T[i, j]: how probable label j is for a sample of class i.
    priors : array of shape (C,)
        Shares p of the true classes.
    """

    transition: Array
    priors: Array

    @property
    def rate(self) -> float:
        """Share of wrong labels: ``1 - sum_c p_c T_cc``."""
        return float(1 - self.priors @ np.diag(self.transition))

    @property
    def precision(self) -> Array:
        """How probably each label is right: ``P(class c | label c) = p_c T_cc / p~_c``."""
        labels = self.priors @ self.transition
        share: Array = self.priors * np.diag(self.transition) / np.maximum(labels, 1e-12)
        return share


def hoc(X: Array, y: Array, n_classes: int, block: int | None = None) -> LabelNoise:
    """Estimate the noise from features and labels.

    Parameters
    ----------
    X : array of shape (n, d)
        At least three rows.
    y : integer array of shape (n,)
        Class numbers.
    n_classes : int
    block : int, optional
        Rows in a block.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    >>> hoc(X, np.repeat([0, 1], 20), 2).transition.round(2)
    array([[1., 0.],
           [0., 1.]])
    """
    if len(y) < 3:
        raise ValueError(f"HOC counts two neighbours of each sample, and there are {len(y)}.")
    return fit_noise(count_labels(y, nearest_others(unit_rows(X), 2, block=block).rows, n_classes))


def count_labels(y: Array, neighbours: Array, n_classes: int) -> Counts:
    """Count labels alone, in pairs and in triples with those of the nearest neighbours.

    Parameters
    ----------
    y : integer array of shape (n,)
    neighbours : integer array of shape (n, 2) or more
        Row numbers, nearest first.
    n_classes : int

    Examples
    --------
    >>> import numpy as np
    >>> counts = count_labels(np.array([0, 0, 1]), np.array([[1, 2], [0, 2], [1, 0]]), 2)
    >>> counts.triples, counts.shares
    (array([[0, 0, 1]]), array([1.]))
    >>> counts.pairs * 3
    array([[2., 0.],
           [1., 0.]])
    """
    y = y.astype(np.int64)  # pairs are numbered beyond what small types hold
    single = np.bincount(y, minlength=n_classes) / len(y)
    pairs = np.bincount(y * n_classes + y[neighbours[:, 0]], minlength=n_classes**2)
    three = np.sort(np.column_stack([y, y[neighbours[:, :2]]]), axis=1)
    triples, times = np.unique(three, axis=0, return_counts=True)
    return Counts(single, pairs.reshape(n_classes, n_classes) / len(y), triples, times / len(y))


def fit_noise(counts: Counts) -> LabelNoise:
    """T and p that come closest to the counts, by the sum of the three squared distances.

    T and p are softmaxes; T starts with a large diagonal, p at the shares of labels. L-BFGS with
    the exact gradient.
    """
    C = len(counts.single)
    blocks = list(triple_blocks(counts))
    likely = np.log(START / (1 - START) * max(C - 1, 1))
    start = np.concatenate([likely * np.eye(C).ravel(), np.log(counts.single + 1e-6)])

    def objective(logits: Array) -> tuple[float, Array]:
        noise = LabelNoise(softmax(logits[: C * C].reshape(C, C)), softmax(logits[C * C :]))
        value, *by = misfit(noise, counts, blocks)
        slopes = [_through_softmax(*pair).ravel() for pair in zip(noise, by, strict=True)]
        # Scaled, since the optimiser compares changes with 1, and the counts of cells are small.
        return C * C * value, C * C * np.concatenate(slopes)

    options = {"maxiter": STEPS, "maxfun": 2 * STEPS, "ftol": 1e-10, "gtol": 1e-8}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    return in_order(LabelNoise(softmax(found[: C * C].reshape(C, C)), softmax(found[C * C :])))


def in_order(noise: LabelNoise) -> LabelNoise:
    """The same noise, with the true classes in the order that has the largest diagonal of T.

    Counts cannot tell in which order they are. The paper assumes that most labels of a class are
    right.

    Examples
    --------
    >>> import numpy as np
    >>> in_order(LabelNoise(np.array([[0.1, 0.9], [0.6, 0.4]]), np.array([0.3, 0.7])))
    LabelNoise(transition=array([[0.6, 0.4],
           [0.1, 0.9]]), priors=array([0.7, 0.3]))
    """
    order = linear_sum_assignment(noise.transition.T, maximize=True)[1]
    return LabelNoise(noise.transition[order], noise.priors[order])


class Misfit(NamedTuple):
    """Squared distance of the model to the counts, and its slopes by T and p."""

    value: float
    by_transition: Array
    by_priors: Array


class Block(NamedTuple):
    """Some triples: their labels, shares, and matrices that add what they give to each label."""

    labels: Array
    shares: Array
    adding: tuple[Any, ...]


def triple_blocks(counts: Counts) -> Iterator[Block]:
    """The triples in blocks, few of them where there are many classes."""
    C, size = len(counts.single), max(BLOCK_ENTRIES // len(counts.single), 1)
    for a in range(0, len(counts.shares), size):
        labels, shares = counts.triples[a : a + size].T, counts.shares[a : a + size]
        n = len(shares)
        adding = tuple(csr_matrix((shares, (own, np.arange(n))), shape=(C, n)) for own in labels)
        yield Block(labels, shares, adding)


def misfit(noise: LabelNoise, counts: Counts, blocks: Sequence[Block]) -> Misfit:
    """How far the model is from the counts, without the squared length of the counts.

    That is a constant, and the only part that would need each triple in its own order.
    """
    T, p = noise
    # Lengths: the product of the r-th powers of two rows of T is the r-th power of their product.
    gram = T @ T.T
    by_p = 2 * (gram + gram**2 + gram**3) @ p
    by_T = 2 * (np.outer(p, p) * (1 + 2 * gram + 3 * gram**2)) @ T
    # Products with the counts.
    both = T @ (counts.pairs + counts.pairs.T)
    fits = T @ counts.single + 0.5 * (both * T).sum(axis=1)
    slopes = counts.single + both
    columns = np.ascontiguousarray(T.T)
    for block in blocks:
        a, b, c = (columns[own] for own in block.labels)
        fits += block.shares @ (a * b * c)
        first, second, third = block.adding
        slopes += (first @ (b * c) + second @ (a * c) + third @ (a * b)).T
    value = 0.5 * p @ by_p - 2 * p @ fits
    return Misfit(float(value), by_T - 2 * p[:, None] * slopes, by_p - 2 * fits)


def _through_softmax(q: Array, slope: Array) -> Array:
    """The slope by the logits of probabilities, from that by the probabilities."""
    changed: Array = q * (slope - (q * slope).sum(axis=-1, keepdims=True))
    return changed
