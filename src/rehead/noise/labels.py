"""Labels as whole numbers, and the record of what noise did to them."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._columns import as_column, library
from rehead._labels import warn_of_odd_classes
from rehead._typing import Array
from rehead.noise.containers import labels_like


@dataclass(frozen=True, eq=False)
class NoisyLabels:
    """Noisy labels and what was done to them.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        Of the kind that was given: a tensor for a tensor, a Series for a Series, an array for a
        list.
    changed : boolean array of shape (n_samples,)
    rate : float
        The realised share of changed labels.
    transition : array of shape (n_classes, n_classes)
        Realised probability of each noisy label (column) for each true one (row). The row of a
        class without samples is NaN: nothing was realised.
    classes : array of shape (n_classes,)
        In the order of the rows and columns of ``transition``.

    Examples
    --------
    >>> from rehead import noise
    >>> noisy = noise.flip([0, 0, 1, 1, 1, 1], rate=0.5, random_state=0)
    >>> noisy.changed.sum(), noisy.rate
    (np.int64(3), 0.5)
    >>> noisy.transition.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    labels: Any
    changed: Array
    rate: float
    transition: Array
    classes: Array


class Labels(NamedTuple):
    """Given labels as codes: positions in ``classes``."""

    given: Any
    codes: Array
    classes: Array

    def rows_of_classes(self) -> list[Array]:
        """Row numbers of each class."""
        return [np.flatnonzero(self.codes == c) for c in range(len(self.classes))]

    def in_kind(self, codes: Array) -> Any:
        """Labels of these codes, in the container of the given ones."""
        return labels_like(self.classes[codes], self.given)

    def noisy(self, codes: Array) -> NoisyLabels:
        """Record what changed from the given labels to these."""
        changed = codes != self.codes
        return NoisyLabels(
            labels=self.in_kind(codes),
            changed=changed,
            rate=float(changed.mean()),
            transition=shares(self.codes, codes, (len(self.classes), len(self.classes))),
            classes=self.classes,
        )


def read_labels(y: Any, classes: Any = None, *, fewest: int = 2) -> Labels:
    """Check labels and encode them by the given classes, or by those that occur, sorted."""
    values = check.check_labels(y)
    if values.size == 0:
        raise ValueError("There are no labels to make noisy: y is empty.")
    if classes is not None:
        return _by_given_classes(y, values, classes)
    occurring, codes = np.unique(values, return_inverse=True)
    warn_of_odd_classes(occurring)
    if len(occurring) < fewest:
        raise ValueError(
            f"All labels are of one class, {occurring.tolist()[0]!r}: there is no other to change "
            "them to. Name all classes with classes=[...]."
        )
    return Labels(y, codes.astype(np.int64).reshape(-1), occurring)


def _by_given_classes(y: Any, values: Array, classes: Any) -> Labels:
    named = as_column(classes)
    code_of = {label: code for code, label in enumerate(named.tolist())} if named.ndim == 1 else {}
    if len(code_of) < max(2, len(named) if named.ndim else 0):
        raise ValueError(f"classes must be at least 2 different labels, got {classes!r}.")
    strange = sorted(set(values.tolist()) - code_of.keys(), key=str)
    if strange:
        raise ValueError(
            f"y has labels that are not among classes: {strange[:5]}. Add them; classes is "
            f"{named.tolist()}."
        )
    codes = np.array([code_of[label] for label in values.tolist()], np.int64)
    return Labels(y, codes, _as_labels_of(y, values, named))


def _as_labels_of(y: Any, values: Array, classes: Array) -> Array:
    """Classes in the dtype of the labels; those that it cannot hold are an error."""
    # The kind alone: a longer name must not be cut to the length of those that occur.
    dtype = values.dtype.kind if values.dtype.kind in "US" else values.dtype
    cast: Array = classes.astype(dtype)
    lost = classes[cast != classes].tolist()
    if library(y) == "pandas" and hasattr(getattr(y, "dtype", None), "categories"):
        lost = [c for c in classes.tolist() if c not in y.dtype.categories]
    if lost:
        raise ValueError(
            f"y of dtype {getattr(y, 'dtype', values.dtype)} cannot hold the classes {lost[:5]}. "
            "Convert y, or leave them out of classes."
        )
    return cast


def shares(true: Array, noisy: Array, shape: tuple[int, int]) -> Array:
    """Share of each noisy code (column) among the samples of each true one (row)."""
    joint = np.zeros(shape)
    np.add.at(joint, (true, noisy), 1.0)
    with np.errstate(invalid="ignore"):
        rows: Array = joint / joint.sum(axis=1, keepdims=True)
    return rows


def check_rate(rate: float) -> None:
    """Raise if a rate is not a share."""
    if not isinstance(rate, numbers.Real) or not 0.0 <= float(rate) <= 1.0:
        raise ValueError(f"rate must be in [0, 1], got {rate!r}. For 40 % pass 0.4.")


def floor_of(rate: float, n: int) -> int:
    """Give the largest whole number of samples within a share of n."""
    # The small number keeps 0.29 * 100 from becoming 28.
    return int(rate * n + 1e-9)
