"""What users pass to an audit: samples, taken in blocks, their ids, and which were fitted on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier
from rehead.models import Model, check_model, n_samples

ENTRIES = 2**20
"""A block has so many rows that its posteriors are about so many numbers (8 MB)."""
FEWEST_ROWS, MOST_ROWS = 512, 8192
"""But not fewer rows than keep BLAS busy, nor so many that copies of features grow large."""


def check_judge(model: Any) -> None:
    """A fitted model of ours."""
    of_head = (
        "A RobustHead has judged its training labels already: see head.report_; others are judged "
        "by head.score_labels(loader)."
    )
    check_model(model, "Labels are judged", of_head)


def n_labels(model: Model, X: Any) -> int:
    """How many samples there are; none is an error."""
    n = n_samples(model, X)
    if n == 0:
        raise ValueError("There are no labels to judge: X has 0 rows.")
    return n


def rows_of(X: Any, rows: Any) -> Any:
    """Some rows of features, or of all layers."""
    if isinstance(X, Mapping):
        return {name: rows_of(values, rows) for name, values in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    # A list has no rows by number; polars and arrays do.
    return np.asarray(X)[rows] if isinstance(X, (list, tuple)) else X[rows]


def spans(n: int, n_columns: int) -> Iterator[slice]:
    """Rows in blocks, short where there are many columns."""
    size = int(np.clip(ENTRIES // max(n_columns, 1), FEWEST_ROWS, MOST_ROWS))
    return (slice(a, min(a + size, n)) for a in range(0, n, size))


def features_of(model: RobustGaussianClassifier, X: Any) -> Array:
    """Features as the classifier takes them."""
    return check.check_features(model, X, reset=False)


def check_in_sample(in_sample: Any, n: int) -> Array | None:
    """A mask of the rows that the model was fitted on, or None to find out."""
    if in_sample is None:
        return None
    if isinstance(in_sample, (bool, np.bool_)):
        return np.full(n, bool(in_sample))
    return check.check_mask(in_sample, n, "in_sample")


def sample_ids(ids: Any, X: Any, y: Any, n: int) -> Array | None:
    """Ids as given, or those of a pandas index that is more than row numbers."""
    if ids is not None:
        return check_ids(ids, n, "ids", "Pass ids that name one sample each")
    indexes = [_index(values) for values in (*_arrays(X), y)]
    every = [index for index in indexes if index is not None]
    found = [index for index in every if not _only_numbers(index)]
    if not found:
        return None
    # Row numbers go with any index, but not with one that has the same numbers in another order.
    shuffled = len(found) < len(every) and _only_numbers(found[0], in_order=False)
    if shuffled or any(not np.array_equal(found[0], other) for other in found[1:]):
        raise ValueError(
            "X and y have different pandas indexes, so it is not clear which label belongs to "
            "which row. Bring them into the same order, or pass ids=."
        )
    fix = "Drop it with reset_index(drop=True), or pass ids="
    return check_ids(found[0], n, "pandas index", fix)


def check_ids(ids: Any, n: int, what: str, fix: str) -> Array:
    """One name for each of n samples."""
    named: Array = np.asarray(ids)
    if named.ndim != 1 or len(named) != n:
        raise ValueError(
            f"{what} must have one entry for each of the {n} rows, got shape {named.shape}."
        )
    seen: set[Any] = set()
    for row, name in enumerate(named.tolist()):
        if name is None or check._is_na(name):
            raise ValueError(f"There is no entry for row {row} in the {what}. {fix}.")
        if name in seen:
            raise ValueError(f"There are duplicates in the {what} ({name!r} first). {fix}.")
        seen.add(name)
    return named


def _arrays(X: Any) -> list[Any]:
    return list(X.values()) if isinstance(X, Mapping) else [X]


def _index(values: Any) -> Array | None:
    """The index of a pandas object."""
    if not (hasattr(values, "iloc") and hasattr(values, "index")):
        return None
    index: Array = values.index.to_numpy()
    return index


def _only_numbers(index: Array, *, in_order: bool = True) -> bool:
    """Whether an index only numbers the rows."""
    if index.dtype.kind not in "iu":
        return False
    return np.array_equal(index if in_order else np.sort(index), np.arange(len(index)))


class Unrecognised(NamedTuple):
    """Rows that were said to be fitted on, and were not."""

    rows: Array

    def raise_if_any(self, n: int) -> None:
        """Say which, and what to do."""
        if len(self.rows):
            raise ValueError(
                f"in_sample says that the model was fitted on rows which it does not recognise: "
                f"{len(self.rows)} of {n}, row {int(self.rows[0])} first. Features and label must "
                "be those of the fit to the last bit, and samples that fit held out do not count. "
                "Leave in_sample out, and rows that are not recognised are judged as new ones."
            )
