"""What users pass to an audit: samples, taken in blocks, their ids, and which were fitted on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._columns import as_column, library, tensor_array
from rehead._features import array_of_rows
from rehead._typing import Array
from rehead.audit.protocol import LabelJudge

BLOCK_ENTRIES = 2**22
"""Posteriors in a block, about: 32 MB of them."""
FEWEST_ROWS, MOST_ROWS = 512, 8192
"""Rows in a block: enough to keep BLAS busy, few enough for copies of features to be small."""


class DuplicateIdsError(ValueError):
    """Several samples have the same id."""


def count_labels(model: LabelJudge, X: Any) -> int:
    """How many samples there are; none is an error."""
    n = model.count_samples(X)
    if n == 0:
        raise ValueError("There are no labels to judge: X has 0 rows.")
    return n


def rows_of(X: Any, rows: Any) -> Any:
    """Some rows of features, or of all layers."""
    if isinstance(X, Mapping):
        return {name: rows_of(values, rows) for name, values in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if library(X) == "torch":
        return tensor_array(X)[rows]
    # A list has no rows by number, a buffer not by many; polars and arrays do.
    has_rows = hasattr(X, "__getitem__") and hasattr(X, "shape") and not isinstance(X, memoryview)
    if has_rows:
        return X[rows]
    whole = array_of_rows(X, "X") if isinstance(X, (list, tuple)) else np.asarray(X)
    return whole[rows]


def spans(n: int, n_columns: int) -> Iterator[slice]:
    """Rows in blocks, short where there are many columns.

    Multiples of the fewest, so that results do not depend on how large blocks are.
    """
    size = int(np.clip(BLOCK_ENTRIES // max(n_columns, 1), FEWEST_ROWS, MOST_ROWS))
    size -= size % FEWEST_ROWS
    return (slice(a, min(a + size, n)) for a in range(0, n, size))


def check_in_sample(in_sample: Any, n: int) -> Array | None:
    """A mask of the rows that the model was fitted on, or None to find out."""
    if in_sample is None:
        return None
    if isinstance(in_sample, (bool, np.bool_)):
        return np.full(n, bool(in_sample))
    return check.check_mask(in_sample, n, "in_sample")


def sample_ids(ids: Any, X: Any, y: Any, n: int) -> Array | None:
    """Ids as given, or those of a pandas index that is more than row numbers."""
    shared = check.check_aligned(X, y=y)
    if ids is not None:
        return check_ids(ids, n, "ids", "Pass ids that name one sample each")
    if shared is None:
        return None
    fix = "Drop it with reset_index(drop=True), or pass ids="
    return check_ids(shared, n, "pandas index", fix)


def check_ids(ids: Any, n: int, what: str, fix: str) -> Array:
    """One name for each of n samples."""
    named = as_column(ids)
    if named.ndim != 1 or len(named) != n:
        raise ValueError(
            f"{what} must have one entry for each of the {n} rows, got shape {named.shape}."
        )
    seen: set[Any] = set()
    for row, name in enumerate(named.tolist()):
        if name is None or check.is_missing(name):
            raise ValueError(f"There is no entry for row {row} in the {what}. {fix}.")
        if name in seen:
            raise DuplicateIdsError(f"There are duplicates in the {what} ({name!r} first). {fix}.")
        seen.add(name)
    return named


def check_same_rows(X: Any, ids: Array | None) -> None:
    """Raise if features have the ids of the samples as their index, but in another order."""
    index = check.check_aligned(X)
    if ids is None or index is None or index.shape != ids.shape or np.array_equal(index, ids):
        return
    if set(index.tolist()) == set(ids.tolist()):
        raise ValueError(
            "The rows of X are not in the order of the report: their pandas index has the same ids "
            "in another order. Pass the features that were judged, X.loc[report.ids]."
        )


def check_recognised(wanted: Array | None, known: Array) -> None:
    """Rows that were said to be fitted on must be known to the model."""
    if wanted is None:
        return
    strange = np.flatnonzero(wanted & ~known)
    if len(strange):
        raise ValueError(
            f"in_sample says that the model was fitted on rows which it does not recognise: "
            f"{len(strange)} of {len(known)}, row {int(strange[0])} first. Features and label must "
            "be those of the fit to the last bit, and samples that fit held out do not count. "
            "Leave in_sample out, and rows that are not recognised are judged as new ones."
        )


def rows_of_samples(which: Any, ids: Array | None, n: int) -> Array:
    """Row numbers of some of n samples, named by ids or by row number where there are none."""
    if ids is not None:
        return _rows_of_ids(ids, which)
    asked = np.atleast_1d(np.asarray(which))
    if asked.ndim != 1 or not len(asked):
        raise ValueError(f"which must be an id or a list of ids, got {which!r}.")
    if asked.dtype.kind not in "iu" or not ((asked >= 0) & (asked < n)).all():
        raise ValueError(
            f"The samples have no ids: name them by row number, 0 to {n - 1}; got {which!r}."
        )
    return asked.astype(np.int64)


def _rows_of_ids(ids: Array, which: Any) -> Array:
    """Row numbers of an id, or of several; an id may be a tuple, as those of a MultiIndex are."""
    if ids.dtype.kind in "mM":  # times have many names: those of pandas, of Python, text
        which = np.asarray(which, ids.dtype).tolist()
    named: dict[Any, list[int]] = {}
    for row, name in enumerate(ids.tolist()):
        named.setdefault(name, []).append(row)
    single = isinstance(which, str) or np.ndim(which) == 0
    single = single or (isinstance(which, tuple) and which in named)
    asked = [which] if single else which.tolist() if isinstance(which, np.ndarray) else list(which)
    if not asked:
        raise ValueError(f"which must be an id or a list of ids, got {which!r}.")
    found = [named.get(name, []) for name in asked]
    for name, at in zip(asked, found, strict=True):
        if len(at) != 1:
            raise ValueError(f"The id {name!r} names {len(at)} of the samples, not one.")
    return np.array([at[0] for at in found], np.int64)
