"""Noise that looks at the labels only: uniform, flip, any transition matrix (section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.noise.labels import Labels, NoisyLabels, check_rate, floor_of, read_labels

Count = Literal["per-class", "overall", "bernoulli"]
COUNTS = ("per-class", "overall", "bernoulli")


def uniform(
    y: Any,
    rate: float,
    *,
    count: Count = "per-class",
    include_true: bool = False,
    classes: Any = None,
    random_state: Any = None,
) -> NoisyLabels:
    """Replace a share of the labels by labels drawn from all other classes alike.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels: a numpy array, a list, a pandas Series or Categorical, a torch tensor. Not
        modified.
    rate : float
        Share of the labels that are redrawn.
    count : "per-class", "overall" or "bernoulli"
        ``floor(rate * N_c)`` labels of each class, ``floor(rate * N)`` of the whole set, or each
        label with probability `rate`.
    include_true : bool
        Draw from *all* classes: a redrawn label may be the true one, and the expected share of
        changed labels is only ``rate * (C - 1) / C``.
    classes : array-like, optional
        All classes, in order, if some of them may not occur in `y`.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    NoisyLabels

    Examples
    --------
    >>> from rehead import noise
    >>> noisy = noise.uniform([0, 0, 0, 0, 1, 1, 1, 1], rate=0.5, random_state=0)
    >>> noisy.rate
    0.5
    >>> int(noisy.changed[:4].sum())
    2
    """
    check_rate(rate)
    check.check_choice(count, COUNTS, "count")
    labels = read_labels(y, classes)
    C = len(labels.classes)
    rng = check.generator_from(random_state)
    noisy = labels.codes.copy()
    for rows in _chosen(labels.rows_of_classes(), rate, count, rng):
        if include_true:
            noisy[rows] = rng.integers(C, size=len(rows))
        else:
            noisy[rows] = (noisy[rows] + rng.integers(1, C, size=len(rows))) % C
    return labels.noisy(noisy)


def flip(
    y: Any,
    rate: float,
    *,
    to: Mapping[Any, Any] | Literal["random"] | None = None,
    count: Count = "per-class",
    classes: Any = None,
    random_state: Any = None,
) -> NoisyLabels:
    """Replace a share of the labels of each class by one other class.

    With ``count="bernoulli"`` this is the pair flip of the co-teaching paper.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels, as in :func:`uniform`.
    rate : float
        Share of the labels that change, among the classes that have another one to go to.
    to : mapping of class to class, "random" or None
        Where each class goes. None: to the next in order, and the last to the first. A mapping:
        classes that are not in it stay clean. "random": to one other class each, drawn before
        anything else, so that equal seeds and classes give equal targets, whatever the labels.
    count : "per-class", "overall" or "bernoulli"
        As in :func:`uniform`.
    classes : array-like, optional
        All classes, in order, if some of them may not occur in `y`. Default: those in `y`, sorted.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    NoisyLabels

    Examples
    --------
    >>> from rehead import noise
    >>> noise.flip(["a", "b", "c"], rate=1.0).labels.tolist()
    ['b', 'c', 'a']
    >>> noise.flip(["cat", "dog", "car"], rate=1.0, to={"cat": "dog"}).labels.tolist()
    ['dog', 'dog', 'car']
    """
    check_rate(rate)
    check.check_choice(count, COUNTS, "count")
    labels = read_labels(y, classes)
    rng = check.generator_from(random_state)
    target = _flip_targets(labels.classes, to, rng)
    groups = [rows for c, rows in enumerate(labels.rows_of_classes()) if target[c] != c]
    noisy = labels.codes.copy()
    for rows in _chosen(groups, rate, count, rng):
        noisy[rows] = target[noisy[rows]]
    return labels.noisy(noisy)


def transition(
    y: Any,
    T: Any,
    *,
    count: Literal["bernoulli", "per-class"] = "bernoulli",
    classes: Any = None,
    random_state: Any = None,
) -> NoisyLabels:
    """Draw each label from the row of its true class in a matrix.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels, as in :func:`uniform`.
    T : array-like of shape (n_classes, n_classes)
        Probability of each noisy label (column) for each true one (row); rows sum to 1. Rows and
        columns are in the order of the classes.
    count : "bernoulli" or "per-class"
        Draw each label by itself, or give each class the nearest whole numbers to
        ``N_c * T[c]``, by largest remainders, to randomly chosen samples.
    classes : array-like, optional
        All classes, in order, if some of them may not occur in `y`. Default: those in `y`, sorted.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    NoisyLabels

    Examples
    --------
    >>> from rehead import noise
    >>> T = [[0.75, 0.25], [0.0, 1.0]]
    >>> noisy = noise.transition([0, 0, 0, 0, 1, 1], T, count="per-class", random_state=0)
    >>> noisy.transition.tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    check.check_choice(count, ("bernoulli", "per-class"), "count")
    labels = read_labels(y, classes)
    T = _matrix(T, labels)
    C = len(T)
    rng = check.generator_from(random_state)
    noisy = labels.codes.copy()
    for c, rows in enumerate(labels.rows_of_classes()):
        if count == "bernoulli":
            noisy[rows] = rng.choice(C, size=len(rows), p=T[c])
        else:
            noisy[rng.permutation(rows)] = np.repeat(np.arange(C), _apportion(len(rows), T[c]))
    return labels.noisy(noisy)


NOISES: Mapping[str, Callable[..., NoisyLabels]] = MappingProxyType(
    {
        "uniform": uniform,
        "flip": flip,
        "symmetric": partial(uniform, count="bernoulli"),
        "pair-flip": partial(flip, count="bernoulli"),
        "uniform-mix": partial(uniform, count="bernoulli", include_true=True),
        "random-flip": partial(flip, count="bernoulli", to="random"),
    }
)
"""Noise by name, each called as ``(y, rate, *, classes=None, random_state=None)``. The last four
are the variants of the co-teaching (symmetric, pair-flip) and GLC papers' code."""


def _chosen(
    groups: list[Array], rate: float, count: str, rng: np.random.Generator
) -> Iterator[Array]:
    """Rows to corrupt, some at a time.

    One class after the other, so that a caller draws the labels of a class before the rows of the
    next are chosen: results for a seed rely on this order.
    """
    if count != "per-class":
        # In the order of the samples, so that the result does not depend on that of the classes.
        groups = [np.sort(np.concatenate([*groups, np.empty(0, np.int64)]))]
    for rows in groups:
        if count == "bernoulli":
            yield rows[rng.random(len(rows)) < rate]
        else:
            yield rng.choice(rows, size=floor_of(rate, len(rows)), replace=False)


def _flip_targets(classes: Array, to: Any, rng: np.random.Generator) -> Array:
    """Code that each class goes to; its own if it stays clean."""
    C = len(classes)
    target: Array = np.arange(C)
    if to is None:
        target = (target + 1) % C
    elif isinstance(to, Mapping):
        code_of = {label: code for code, label in enumerate(classes.tolist())}
        for pair in to.items():
            strange = [label for label in pair if label not in code_of]
            if strange:
                raise ValueError(
                    f"to has {strange[0]!r}, which is not among the classes {classes.tolist()}. "
                    "If it does not occur in y, name all classes with classes=[...]."
                )
            if pair[0] == pair[1]:
                raise ValueError(
                    f"to sends {pair[0]!r} to itself. Leave a class out of it to keep it clean."
                )
            target[code_of[pair[0]]] = code_of[pair[1]]
    elif isinstance(to, str) and to == "random":
        target = (target + rng.integers(1, C, size=C)) % C
    else:
        raise ValueError(f"to must be a dict of class to class, 'random' or None, got {to!r}.")
    return target


def _matrix(T: Any, labels: Labels) -> Array:
    """The transition matrix, with rows that sum to 1 to the last digit."""
    try:
        return check.check_transition(T, labels.classes)
    except ValueError as error:
        if np.shape(T) == (len(labels.classes),) * 2:
            raise
        raise ValueError(
            f"{error} If a class does not occur in y, name all with classes=[...]."
        ) from None


def _apportion(n: int, p: Array) -> Array:
    """Whole numbers that sum to n, as near to n * p as possible (largest remainders)."""
    counts: Array = np.array([floor_of(share, n) for share in p])
    largest = np.argsort(counts - n * p, kind="stable")
    counts[largest[: n - counts.sum()]] += 1
    return counts
