"""The same samples in the containers that people have, and samples that no container makes good."""

from __future__ import annotations

import array
import datetime
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
import torch

from .samples import FEATURES, NAMES, pick

Random = np.random.Generator
Array = np.ndarray
SINGLE = ("float32", "float16", "torch single", "pandas single", "torch bfloat16")
"""Containers whose features are worked on in single precision; scikit-learn makes double of those
of polars."""


class WithArray:
    """Only knows how to become an array."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.values, dtype)

    def __len__(self) -> int:
        return len(self.values)


class Subclass(np.ndarray):
    """An array of somebody's own kind."""


def _frame(X: Array, **options: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=FEATURES[: X.shape[1]], **options)


def _strided(X: Array) -> Array:
    wide = np.zeros((2 * len(X), 2 * X.shape[1]), X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _read_only(X: Array) -> Array:
    X = X.copy()
    X.flags.writeable = False
    return X


def _mapped(X: Array) -> Array:
    with TemporaryFile() as file:
        np.save(file, X)
        return np.memmap(file, X.dtype, "r", offset=128, shape=X.shape)


X_SAME: dict[str, Callable[[Array], Any]] = {
    "array": lambda X: X,
    "columns first": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda X: X[::-1].copy()[::-1],
    "read-only": _read_only,
    "memory map": _mapped,
    "big-endian": lambda X: X.astype(">f8"),
    "float32": lambda X: X.astype("f4"),
    "float16": lambda X: X.astype("f2"),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int8": lambda X: X.astype("i1"),
    "int64": lambda X: X.astype("i8"),
    "big-endian int": lambda X: X.astype(">i4"),
    "objects": lambda X: X.astype(object),
    "objects of int": lambda X: X.astype(int).astype(object),
    "masked, no mask": lambda X: np.ma.array(X),
    "masked, empty mask": lambda X: np.ma.array(X, mask=np.zeros(X.shape, bool)),
    "subclass": lambda X: X.view(Subclass),
    "matrix": np.matrix,
    "list": lambda X: X.tolist(),
    "list of int": lambda X: X.astype(int).tolist(),
    "tuple": lambda X: tuple(map(tuple, X.tolist())),
    "list of arrays": list,
    "list of columns of array": lambda X: [array.array("d", row) for row in X.tolist()],
    "list of tensors": lambda X: list(torch.from_numpy(X)),
    "only __array__": WithArray,
    "memoryview": lambda X: memoryview(np.ascontiguousarray(X)),
    "pandas": _frame,
    "pandas, numbered": pd.DataFrame,
    "pandas Float64": lambda X: _frame(X).astype("Float64"),
    "pandas Int64": lambda X: _frame(X).astype("Int64"),
    "pandas int8": lambda X: _frame(X).astype("int8"),
    "pandas mixed": lambda X: _frame(X).astype({"length": "int16", "width": "Float64"}),
    "pandas arrow": lambda X: _frame(X).astype("double[pyarrow]"),
    "pandas objects": lambda X: _frame(X).astype(object),
    "pandas sparse": lambda X: _frame(X).astype(pd.SparseDtype("float64", 0.0)),
    "pandas single": lambda X: _frame(X).astype("float32"),
    "pandas categories": lambda X: _frame(X).astype("category"),
    "polars": lambda X: pl.DataFrame(X, schema=FEATURES[: X.shape[1]]),
    "polars int": lambda X: pl.DataFrame(X.astype("i4"), schema=FEATURES[: X.shape[1]]),
    "polars single": lambda X: pl.DataFrame(X.astype("f4"), schema=FEATURES[: X.shape[1]]),
    "polars lazy": lambda X: pl.DataFrame(X).lazy(),
    "pyarrow": lambda X: pa.table({n: X[:, i] for i, n in enumerate(FEATURES[: X.shape[1]])}),
    "torch": torch.from_numpy,
    "torch single": lambda X: torch.from_numpy(X.astype("f4")),
    "torch int": lambda X: torch.from_numpy(X.astype("i4")),
    "torch bfloat16": lambda X: torch.from_numpy(X).to(torch.bfloat16),
    "torch gradients": lambda X: torch.from_numpy(X.copy()).requires_grad_(),
    "torch transposed": lambda X: torch.from_numpy(np.ascontiguousarray(X.T)).T,
    "generator": lambda X: (row for row in X),
    "dict": lambda X: {n: X[:, i] for i, n in enumerate(FEATURES[: X.shape[1]])},
    "sparse": sp.csr_array,
}
"""The same features in other containers: the same results, or an error."""


class LabelKind(NamedTuple):
    """Labels of codes 0, 1, 2 in a container, and the classes as ``tolist`` gives them."""

    make: Callable[[Array], Any]
    classes: list[Any]


_NUMBERS, _NAMES = [0, 1, 2], NAMES.tolist()
_DAYS = np.array(["2020-01-01", "2020-01-02", "2021-01-01"], "M8[D]")

Y_SAME: dict[str, LabelKind] = {
    "int64": LabelKind(lambda y: y, _NUMBERS),
    **{
        f"{t}": LabelKind(lambda y, t=t: y.astype(t), _NUMBERS)
        for t in ("i1", "u1", ">i2", "u8", "f2", "f4", "f8", ">f8", "g", "O")
    },
    "list": LabelKind(lambda y: y.tolist(), _NUMBERS),
    "list of numpy ints": LabelKind(list, _NUMBERS),
    "list of floats": LabelKind(lambda y: [float(v) for v in y], _NUMBERS),
    "range": LabelKind(lambda y: tuple(map(int, y)), _NUMBERS),
    "column": LabelKind(lambda y: y[:, None], _NUMBERS),
    "read-only": LabelKind(_read_only, _NUMBERS),
    "strided": LabelKind(lambda y: np.repeat(y, 2)[::2], _NUMBERS),
    "masked, no mask": LabelKind(lambda y: np.ma.array(y), _NUMBERS),
    "text": LabelKind(lambda y: NAMES[y], _NAMES),
    "objects of text": LabelKind(lambda y: NAMES[y].astype(object), _NAMES),
    "numpy StringDType": LabelKind(lambda y: NAMES[y].astype(np.dtypes.StringDType()), _NAMES),
    "bytes": LabelKind(lambda y: NAMES[y].astype("S"), _NAMES),
    "list of text": LabelKind(lambda y: NAMES[y].tolist(), _NAMES),
    "letters": LabelKind(lambda y: [["é", "名", "😀"][c] for c in y], ["é", "名", "😀"]),
    "numbers as text": LabelKind(lambda y: y.astype(str), ["0", "1", "2"]),
    "days": LabelKind(lambda y: _DAYS[y], _DAYS.tolist()),
    "Series": LabelKind(pd.Series, _NUMBERS),
    "Series of text": LabelKind(lambda y: pd.Series(NAMES[y]), _NAMES),
    "Series string": LabelKind(lambda y: pd.Series(NAMES[y], dtype="string"), _NAMES),
    "Series Int64": LabelKind(lambda y: pd.Series(y, dtype="Int64"), _NUMBERS),
    "Categorical": LabelKind(lambda y: pd.Categorical(NAMES[y]), _NAMES),
    "Categorical, other order": LabelKind(
        lambda y: pd.Series(pd.Categorical(NAMES[y], ["cat", "ant", "bee", "dog"])), _NAMES
    ),
    "Index": LabelKind(pd.Index, _NUMBERS),
    "DataFrame": LabelKind(lambda y: pd.DataFrame({"y": y}), _NUMBERS),
    "polars": LabelKind(lambda y: pl.Series(NAMES[y]), _NAMES),
    "polars categories": LabelKind(lambda y: pl.Series(NAMES[y], dtype=pl.Categorical), _NAMES),
    "pyarrow": LabelKind(lambda y: pa.array(NAMES[y]), _NAMES),
    "pyarrow chunks": LabelKind(lambda y: pa.chunked_array([y[:5], y[5:]]), _NUMBERS),
    "pyarrow dictionary": LabelKind(lambda y: pa.array(NAMES[y]).dictionary_encode(), _NAMES),
    "torch": LabelKind(torch.from_numpy, _NUMBERS),
    "torch bytes": LabelKind(lambda y: torch.from_numpy(y.astype("u1")), _NUMBERS),
    "torch floats": LabelKind(lambda y: torch.from_numpy(y).float(), _NUMBERS),
    "list of tensors": LabelKind(lambda y: list(torch.from_numpy(y)), _NUMBERS),
    "array.array": LabelKind(lambda y: array.array("q", y.tolist()), _NUMBERS),
    "only __array__": LabelKind(WithArray, _NUMBERS),
    "paths": LabelKind(lambda y: [Path(NAMES[c]) for c in y], [Path(n) for n in _NAMES]),
    "dates": LabelKind(lambda y: [_DAYS.tolist()[c] for c in y], _DAYS.tolist()),
    "enough bits": LabelKind(lambda y: y + 2**60, [2**60, 2**60 + 1, 2**60 + 2]),
}
"""The same labels in other containers: the same results, or an error."""


def _put(value: Any, dtype: Any = None) -> Callable[[Array, Random], Array]:
    """Put a value into a place by chance."""

    def spoil(values: Array, rng: Random) -> Array:
        values = values.astype(dtype or values.dtype)
        values[tuple(int(rng.integers(n)) for n in values.shape)] = value
        return values

    return spoil


def _masked(values: Array, rng: Random) -> Any:
    mask = _put(True)(np.zeros(values.shape, bool), rng)
    return np.ma.array(values, mask=mask)


X_BAD: dict[str, Callable[[Array, Random], Any]] = {
    "nan": _put(np.nan),
    "inf": _put(np.inf),
    "-inf in single": _put(-np.inf, "f4"),
    "nan in half": _put(np.nan, "f2"),
    "None": _put(None, object),
    "NA": _put(pd.NA, object),
    "NaT": _put(pd.NaT, object),
    "text": _put("x", object),
    "number as text": _put("1.5", object),
    "bytes": _put(b"1", object),
    "a list": lambda X, rng: [[[1.0], *row[1:]] for row in X.tolist()],
    "a dict": _put({}, object),
    "a complex": _put(1j, object),
    "a time": _put(datetime.date(2020, 1, 1), object),
    "too large": _put(1e200),
    "huge whole number": _put(10**400, object),
    "masked": _masked,
    "masked nan": lambda X, rng: np.ma.masked_invalid(_put(np.nan)(X, rng)),
    "all text": lambda X, rng: X.astype(str),
    "all bytes": lambda X, rng: X.astype("S"),
    "StringDType": lambda X, rng: X.astype(str).astype(np.dtypes.StringDType()),
    "complex": lambda X, rng: X + 1j,
    "times": lambda X, rng: X.astype("M8[D]"),
    "spans": lambda X, rng: X.astype("m8[s]"),
    "records": lambda X, rng: np.zeros(len(X), [("a", "f8"), ("b", "f8")]),
    "void": lambda X, rng: np.zeros(X.shape, "V8"),
    "one dimension": lambda X, rng: X[:, 0],
    "three dimensions": lambda X, rng: X[None],
    "four dimensions": lambda X, rng: X[None, None],
    "scalar": lambda X, rng: 3.0,
    "None at all": lambda X, rng: None,
    "a string": lambda X, rng: "features.npy",
    "a set": lambda X, rng: {1.0, 2.0},
    "a function": lambda X, rng: len,
    "ragged": lambda X, rng: [*X.tolist()[:-1], [1.0]],
    "no rows": lambda X, rng: X[:0],
    "empty list": lambda X, rng: [],
    "list of empty lists": lambda X, rng: [[] for _ in X],
    "no columns": lambda X, rng: X[:, :0],
    "a row less": lambda X, rng: X[1:],
    "pandas nan": lambda X, rng: _frame(_put(np.nan)(X, rng)),
    "pandas NA": lambda X, rng: _frame(_put(np.nan)(X, rng)).astype("Float64"),
    "pandas int NA": lambda X, rng: _frame(_put(np.nan)(X, rng)).astype("Int64"),
    "pandas text": lambda X, rng: _frame(X).assign(mass="heavy"),
    "pandas number text": lambda X, rng: _frame(X).astype({"mass": str}),
    "pandas category text": lambda X, rng: _frame(X).assign(mass=pd.Categorical(["a"] * len(X))),
    "pandas times": lambda X, rng: _frame(X).assign(mass=pd.Timestamp("2020-01-01")),
    "pandas time zone": lambda X, rng: _frame(X).assign(mass=pd.Timestamp("2020", tz="UTC")),
    "pandas spans": lambda X, rng: _frame(X).assign(mass=pd.Timedelta("1h")),
    "pandas periods": lambda X, rng: _frame(X).assign(mass=pd.Period("2020")),
    "pandas two names": lambda X, rng: _frame(X).set_axis(["a", "a", "b", "c"], axis=1),
    "pandas lists": lambda X, rng: _frame(X).assign(mass=[[1.0]] * len(X)),
    "pandas complex": lambda X, rng: _frame(X).assign(mass=1j),
    "Series": lambda X, rng: pd.Series(X[:, 0]),
    "polars null": lambda X, rng: pl.DataFrame({"a": [None, *X[1:, 0]], "b": X[:, 1]}),
    "polars text": lambda X, rng: pl.DataFrame({"a": ["x"] * len(X), "b": X[:, 1]}),
    "polars lists": lambda X, rng: pl.DataFrame({"a": X.tolist()}),
    "pyarrow null": lambda X, rng: pa.table({"a": [None, *X[1:, 0]], "b": X[:, 1]}),
    "torch nan": lambda X, rng: torch.from_numpy(_put(np.nan)(X, rng)),
    "torch complex": lambda X, rng: torch.from_numpy(X + 1j),
    "torch sparse": lambda X, rng: torch.from_numpy(X).to_sparse(),
    "torch meta": lambda X, rng: torch.empty(X.shape, device="meta"),
}
"""Features that must be refused."""

Y_BAD: dict[str, Callable[[Array, Random], Any]] = {
    "nan": _put(np.nan, float),
    "inf": _put(np.inf, float),
    "None": _put(None, object),
    "NA": _put(pd.NA, object),
    "text among numbers": _put("1", object),
    "truth among numbers": _put(True, object),
    "list among numbers": lambda y, rng: [[0], *y.tolist()[1:]],
    "masked": _masked,
    "blank": lambda y, rng: _put("")(NAMES[y], rng),
    "blanks": lambda y, rng: _put("  ", object)(NAMES[y], rng),
    "None among text": lambda y, rng: _put(None, object)(NAMES[y], rng),
    "NUL": lambda y, rng: [*NAMES[y[:-1]].tolist(), "a\0"],
    "fractions": lambda y, rng: y + 0.5 * rng.random(len(y)),
    "complex": lambda y, rng: y + 1j,
    "NaT": lambda y, rng: _put(np.datetime64("NaT"))(_DAYS[y], rng),
    "one class": lambda y, rng: np.zeros_like(y),
    "one short": lambda y, rng: y[1:],
    "one more": lambda y, rng: np.append(y, 0),
    "one-hot": lambda y, rng: np.eye(3)[y],
    "two columns": lambda y, rng: np.column_stack([y, y]),
    "scalar": lambda y, rng: 1,
    "None at all": lambda y, rng: None,
    "a string": lambda y, rng: "labels.npy",
    "a dict": lambda y, rng: dict(enumerate(y.tolist())),
    "a set": lambda y, rng: set(y.tolist()),
    "empty": lambda y, rng: y[:0],
    "empty list": lambda y, rng: [],
    "records": lambda y, rng: np.zeros(len(y), [("a", "i8")]),
    "dicts": lambda y, rng: [{"a": int(v)} for v in y],
    "tuples": lambda y, rng: [(int(v), "a") for v in y],
    "huge": lambda y, rng: [10**30 + int(v) for v in y],
    "large floats": lambda y, rng: y * 1e17,
    "Series NA": lambda y, rng: pd.Series([pd.NA, *y[1:]], dtype="Int64"),
    "Categorical NA": lambda y, rng: pd.Categorical([None, *NAMES[y[1:]]]),
    "polars null": lambda y, rng: pl.Series([None, *NAMES[y[1:]].tolist()]),
    "polars lists": lambda y, rng: pl.Series([[int(v), 0] for v in y]),
    "pyarrow null": lambda y, rng: pa.array([None, *y[1:].tolist()]),
    "torch nan": lambda y, rng: torch.from_numpy(_put(np.nan, float)(y, rng)),
    "torch one-hot": lambda y, rng: torch.eye(3)[torch.from_numpy(y)],
    "MultiIndex": lambda y, rng: pd.MultiIndex.from_arrays([y, y]),
    "sparse": lambda y, rng: sp.csr_array(y[None]),
}
"""Labels that must be refused."""


def other_index(rng: Random, n: int) -> Any:
    """A pandas index that is more than row numbers."""
    kinds = [[f"img{i}" for i in range(n)], np.arange(n) * 10 + 7, rng.permutation(n)]
    return pd.Index(pick(rng, kinds))
