"""What a head remembers of the labels that it was told are right: where they are, and of what.

Files have no names of samples at times. So a head also keeps a mark of the samples, in their order,
and one of the labels that were checked. By these it is seen whether a file is still of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from rehead._labels import in_type_of
from rehead._rowhash import fingerprint
from rehead._typing import Array, NamedFeatures
from rehead._validation import check_labels, known_codes
from rehead.gaussian.kernels import evenly_spaced

TRUSTED, UNCORRECTED = "trusted", "uncorrected"
"""Where this was read."""
SAMPLES, CHECKED = "samples", "checked"
"""Marks: of the samples, and of the labels that were checked."""
MARKED = 1000
"""Rows that a mark of samples is made of."""


def memory_of(model: Any) -> Mapping[str, str]:
    """All of it; empty where a head was told nothing."""
    told: Mapping[str, str] = getattr(getattr(model, "inputs_", None), "known_from", {})
    return told


def remembered_places(model: Any) -> dict[str, str]:
    """Where it was read, by option."""
    told = memory_of(model)
    return {name: told[name] for name in (TRUSTED, UNCORRECTED) if name in told}


def was_told(model: Any) -> bool:
    """Whether a head was fitted with trusted labels, as far as it remembers."""
    if memory_of(model):
        return True
    fitted = getattr(model, "fitted_", None)
    members = getattr(fitted, "members", {"": fitted})
    return any(getattr(member, "told", 0) for member in members.values())


def mark_of_samples(layers: Mapping[str, Any]) -> str:
    """What tells samples from others, and from the same ones in another order.

    Of 1,000 rows of one layer at most, so that features on disk are not all read.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(3, 2))
    >>> mark_of_samples({"a": X}) == mark_of_samples({"a": X.astype(np.float32)})
    True
    >>> mark_of_samples({"a": X}) == mark_of_samples({"a": X[::-1]})
    False
    """
    X = layers[min(layers)]
    values = X.values if isinstance(X, NamedFeatures) else X
    rows = evenly_spaced(len(values), MARKED)
    with np.errstate(over="ignore"):
        # A copy in another precision is the same.
        some = np.asarray(values[rows]).astype(np.float32)
    found = fingerprint(some, np.zeros(len(rows), np.int64))
    return mark_of_numbers(np.append(found, np.uint64(len(values))))


def mark_of_numbers(numbers: Array) -> str:
    """SHA-256 of whole numbers.

    Examples
    --------
    >>> len(mark_of_numbers(np.arange(3)))
    64
    """
    return hashlib.sha256(np.ascontiguousarray(numbers, "<u8").tobytes()).hexdigest()


def codes_of(labels: Array, classes: Array) -> Array:
    """Codes of labels, whatever type a file has made of them.

    Examples
    --------
    >>> codes_of(np.array(["1", "0"]), np.array([0, 1])).tolist()
    [1, 0]
    """
    return known_codes(check_labels(in_type_of(labels, classes), len(labels)), classes)
