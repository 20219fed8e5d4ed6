"""What users pass to an audit: samples, taken in blocks, their ids, and which were fitted on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from rehead import _validation as check
from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble import LayerEnsemble

Model = RobustGaussianClassifier | LayerEnsemble

ENTRIES = 2**20
"""A block has so many rows that its posteriors are about so many numbers (8 MB)."""
FEWEST_ROWS, MOST_ROWS = 512, 8192
"""But not fewer rows than keep BLAS busy, nor so many that copies of features grow large."""


def check_model(model: Any) -> None:
    """A fitted model of ours."""
    if not isinstance(model, Model):
        hint = (
            " A RobustHead has judged its training labels already: see head.report_; others are "
            "judged by head.score_labels(loader)."
            if type(model).__name__ == "RobustHead"
            else ""
        )
        raise TypeError(
            "Labels are judged by a RobustGaussianClassifier or a LayerEnsemble, got "
            f"{type(model).__name__}.{hint}"
        )
    check_is_fitted(model)


def n_samples(model: Model, X: Any) -> int:
    """How many samples there are; none is an error, and so are layers where features belong."""
    if isinstance(model, LayerEnsemble):
        check.check_layers(X, expected=model._inputs)
        n = int(_num_samples(next(iter(X.values()))))
    elif isinstance(X, Mapping):
        raise ValueError(
            f"The model was fitted on one array of features, got a dict of {list(X)}. Pass the "
            "features themselves, or fit a LayerEnsemble."
        )
    else:
        n = int(_num_samples(X))
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
    indexes = [_own_index(values, n) for values in (*_arrays(X), y)]
    found = [index for index in indexes if index is not None]
    if not found:
        return None
    if any(not np.array_equal(found[0], other) for other in found[1:]):
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
            raise ValueError(f"The {what} has no entry for row {row}. {fix}.")
        if name in seen:
            raise ValueError(f"The {what} has duplicates ({name!r} first). {fix}.")
        seen.add(name)
    return named


def _arrays(X: Any) -> list[Any]:
    return list(X.values()) if isinstance(X, Mapping) else [X]


def _own_index(values: Any, n: int) -> Array | None:
    """The index of a pandas object, unless it only numbers the rows."""
    if not (hasattr(values, "iloc") and hasattr(values, "index")):
        return None
    index: Array = values.index.to_numpy()
    return None if np.array_equal(index, np.arange(n)) else index


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
