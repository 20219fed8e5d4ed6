"""Train, validation and test parts, and how the validation part is drawn."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array

STREAM = 0x5911
"""Keeps the draw of validation samples apart from noise drawn with the same seed."""


class Split(NamedTuple):
    """Inputs, clean labels, and an id for each sample that stays the same in every split."""

    X: Array
    y: Array
    ids: Array


class Splits(NamedTuple):
    """A data set."""

    train: Split
    validation: Split
    test: Split
    class_names: list[str]


class Labelled(NamedTuple):
    """Inputs and class codes of one published part of a data set."""

    X: Array
    y: Array


class Published(NamedTuple):
    """The parts of a data set as they were published.

    Attributes
    ----------
    train, test : Labelled
    validation : Labelled, optional
        An official validation part.
    """

    train: Labelled
    test: Labelled
    validation: Labelled | None = None


class HoldOut(NamedTuple):
    """Which training samples are held out for validation.

    Attributes
    ----------
    validation : int, float or None
        What the user asked for: a number or a share. None: the official part, or else ``default``
        samples.
    random_state : int, Generator, RandomState or None
    default : int
        Number of samples where the user did not say.
    per_class : bool
        Whether the default number is taken in equal parts from all classes.
    """

    validation: Any
    random_state: Any
    default: int = 1000
    per_class: bool = False


def make_splits(published: Published, class_names: list[str], hold_out: HoldOut) -> Splits:
    """Number the samples, and take the validation part out of the training part.

    Ids count through train, then test, then the official validation part.
    """
    numbered, start = [], 0
    for part in published:
        if part is not None:
            ids = np.arange(start, start + len(part.y), dtype=np.int64)
            numbered.append(Split(part.X, part.y.astype(np.int64), ids))
            start += len(ids)
    whole, tested, *official = numbered
    asked = hold_out.validation
    if asked is None and official:
        return Splits(whole, official[0], tested, class_names)
    n = hold_out.default if asked is None else held_out_count(asked, len(whole.y))
    if n == 0:
        return Splits(whole, Split(*(a[:0] for a in whole)), tested, class_names)
    equal = hold_out.per_class and asked is None
    wanted = class_counts(whole.y, len(class_names), n, equal=equal)
    held_out = draw(whole.y, wanted, generator(hold_out.random_state))
    parts = (Split(*(a[rows] for a in whole)) for rows in (~held_out, held_out))
    return Splits(next(parts), next(parts), tested, class_names)


def held_out_count(validation: Any, n: int) -> int:
    """Number of samples from a number or a share of n samples."""
    whole = isinstance(validation, numbers.Integral) and not isinstance(validation, bool)
    if whole and 0 <= int(validation) < n:
        return int(validation)
    share = isinstance(validation, numbers.Real) and not isinstance(validation, numbers.Integral)
    if share and 0 <= float(validation) < 1:
        return round(float(validation) * n)
    raise ValueError(
        f"validation must be a number of samples from 0 to {n - 1}, a share from 0.0 up to, not "
        f"including, 1.0, or None for the default, got {validation!r}."
    )


def class_counts(y: Array, n_classes: int, n: int, *, equal: bool = False) -> Array:
    """How many samples to take of each class: in proportion to its size, or equally many."""
    sizes = np.bincount(y, minlength=n_classes)
    exact = np.full(n_classes, n / n_classes) if equal else n * sizes / sizes.sum()
    counts: Array = np.floor(exact).astype(np.int64)
    # What rounding down left over goes to the largest remainders.
    most_left = np.argsort(counts - exact, kind="stable")
    counts[most_left[: n - counts.sum()]] += 1
    if (counts > sizes).any():
        raise ValueError(
            f"{n} samples in equal parts are more than the smallest class has ({sizes.min()}). "
            "Ask for fewer with validation=."
        )
    return counts


def draw(y: Array, wanted: Array, rng: np.random.Generator) -> Array:
    """Boolean mask of a number of random samples of each class."""
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    sizes = np.bincount(y, minlength=len(wanted))
    place = np.arange(len(y)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mask: Array = np.zeros(len(y), bool)
    mask[by_class[place < np.repeat(wanted, sizes)]] = True
    return mask


def generator(random_state: Any, stream: int = STREAM) -> np.random.Generator:
    """A generator whose stream is its own, also where noise is drawn with the same seed."""
    rng = check.generator_from(random_state)
    if isinstance(random_state, numbers.Integral):
        rng = np.random.default_rng(np.random.SeedSequence([int(random_state), stream]))
    return rng
