"""What a feature is: a number. What would become one silently is refused, with the fix."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from rehead._columns import LARGEST, as_column, is_missing, library, tensor_array
from rehead._typing import Array
from rehead._values import first_few
from rehead._warnings import warn

ARRAY_LIKE = ("shape", "__array__", "__array_interface__", "itemsize")
"""What tells that something is, or can become, an array; the last one: a buffer."""
TIMES = ("Date", "Time", "Duration")
"""How the names of polars' types for times begin."""


def as_numbers(X: Any, what: str = "X") -> Any:
    """Features that hold numbers only, in their container; shapes are not looked at.

    Text, times and values that are masked or missing are an error: numpy would read "1e3" as 1000,
    a day as the number of days since 1970, and a masked value as what it hides. Whole numbers that
    are too large to be told apart as features are a warning.

    Examples
    --------
    >>> import numpy as np
    >>> as_numbers(np.ma.masked_equal([[1.0, 2.0], [3.0, 2.0]], 3.0))
    Traceback (most recent call last):
        ...
    ValueError: Input X contains NaN or masked values (row 1, feature 0 first). Drop such rows or \
fill them in, with sklearn.impute.SimpleImputer for example.
    """
    if isinstance(X, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(X)
        if mask.any():
            raise _missing(what, np.argwhere(mask)[0].tolist())
        return np.asarray(X.data)
    if library(X) == "torch":
        return tensor_array(X)
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise TypeError(
            f"Input {what} is a {type(X).__name__}, not yet computed: pass X.collect()."
        )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        _check_frame(X, what)
        return X
    if hasattr(X, "__array__") and not hasattr(X, "shape"):
        return as_numbers(np.asarray(X), what)
    array = array_of_rows(X, what) if isinstance(X, (list, tuple)) else X
    if isinstance(array, np.ndarray):
        _check_values(array, what, "feature {}")
    elif not any(hasattr(X, name) for name in ARRAY_LIKE):
        raise TypeError(
            f"Input {what} must be features, one row for each sample; got {type(X).__name__}. Pass "
            "an array, a table or a list of rows."
        )
    return X


def array_of_rows(rows: Sequence[Any], what: str) -> Array:
    """A list of rows as an array."""
    try:
        return np.asarray(rows)
    except ValueError:
        sizes = [len(row) if hasattr(row, "__len__") else 1 for row in rows]
    odd = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
    problem = "hold lists in place of numbers"
    if odd is not None:
        problem = f"differ in length: row 0 has {sizes[0]} values, and row {odd} has {sizes[odd]}"
    raise ValueError(f"Rows of input {what} {problem}. Give every row a number for each feature.")


def refuse_masked(X: Any, what: str) -> None:
    """Raise if some values of a masked array are masked."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise _missing(what, np.argwhere(np.ma.getmaskarray(X))[0].tolist())


def _check_frame(X: Any, what: str) -> None:
    names = list(X.columns)
    twice = [n for n, times in Counter(names).items() if times > 1 and isinstance(n, str)]
    if twice:
        raise ValueError(
            f"Input {what} has several columns called {first_few(twice)}. Give each column a name "
            "of its own."
        )
    for i, (name, dtype) in enumerate(zip(names, list(X.dtypes), strict=True)):
        if str(dtype).startswith(TIMES) or getattr(dtype, "kind", "") in ("m", "M"):
            raise _no_number(what, "times", f"column {name!r}")
        if getattr(dtype, "kind", "O") in "fb":
            continue
        column = as_column(X.iloc[:, i] if hasattr(X, "iloc") else X[name])
        if column.ndim != 1:
            raise _no_number(what, "lists", f"column {name!r}")
        _check_values(column, what, f"column {name!r}")


def _check_values(values: Array, what: str, where: str) -> None:
    """Raise if an array, or a column of a frame, holds anything but numbers."""
    kind = values.dtype.kind
    if kind in "mM":
        raise _no_number(what, "times", where.format(0))
    if kind == "V":
        raise ValueError(
            f"Input {what} holds records, {where.format(0)}. Features are numbers, a column each: "
            "convert it with numpy.lib.recfunctions.structured_to_unstructured."
        )
    if kind in "USTO":
        _check_objects(values, what, where)
    elif kind in "iu" and _are_large(values):
        _warn_of_rounding(what)


def _are_large(values: Array) -> bool:
    wide = values.dtype.itemsize == 8 and values.size > 0
    return wide and max(int(values.max()), -int(values.min())) > LARGEST


def _check_objects(values: Array, what: str, where: str) -> None:
    large = False
    for place in np.ndindex(values.shape):
        value = values[place]
        if value is None or is_missing(value):
            raise _missing(what, list(place), where)
        if _is_no_number(value):
            column = where.format(place[1]) if len(place) > 1 else where.format(0)
            raise _refused_value(value, what, column, f" in row {place[0]}" if place else "")
        large = large or (isinstance(value, int) and abs(value) > LARGEST)
    if large:
        _warn_of_rounding(what)


def _refused_value(value: Any, what: str, column: str, at: str) -> Exception:
    """The error for a value that is no number; for objects, of scikit-learn's kind and words."""
    shown = f"({str(value)!r:.50}{at})"
    if isinstance(value, (str, bytes)):
        return _no_number(what, f"text {shown}", column)
    if isinstance(value, int):
        return _no_number(what, f"a number too large for any float {shown}", column)
    return TypeError(
        f"Input {what} holds {type(value).__name__} {shown}, {column}. A feature as argument must "
        "be no string and no object, but a number: convert it, or leave it out."
    )


def _is_no_number(value: Any) -> bool:
    """Whether a value is neither a number nor stands for one, or is too large to be one."""
    if isinstance(value, (str, bytes)):  # numpy's text claims to be a number
        return True
    if isinstance(value, int):
        return abs(value) > sys.float_info.max
    real = hasattr(value, "__float__") and not isinstance(value, (complex, np.complexfloating))
    return not real or getattr(value, "ndim", 0) > 0


def _missing(what: str, place: list[int], where: str = "feature {}") -> ValueError:
    at = f"row {place[0]}, {where.format(place[1] if len(place) > 1 else 0)}" if place else "all"
    return ValueError(
        f"Input {what} contains NaN or masked values ({at} first). Drop such rows or fill them in, "
        "with sklearn.impute.SimpleImputer for example."
    )


def _no_number(what: str, found: str, where: str) -> ValueError:
    return ValueError(
        f"Input {what} holds {found}, {where}. Features are numbers: convert it, or leave it out."
    )


def _warn_of_rounding(what: str) -> None:
    warn(
        f"Input {what} has whole numbers above 2^53, which are rounded: rows that differ in the "
        "last digits become equal. If they are ids or times, leave them out."
    )
