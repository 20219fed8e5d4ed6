"""Checks of samples, labels and layers as users pass them; those of values are in ``_values.py``.

An error names what is wrong and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from rehead._columns import as_column, missing_rows
from rehead._columns import is_missing as is_missing
from rehead._features import as_numbers
from rehead._features import refuse_masked as refuse_masked
from rehead._known import CHOSEN as CHOSEN
from rehead._known import RANDOM as RANDOM
from rehead._known import SUGGESTED as SUGGESTED
from rehead._known import check_known as check_known
from rehead._known import check_mask as check_mask
from rehead._known import check_trusted as check_trusted
from rehead._labels import check_labels as check_labels
from rehead._labels import encode_labels as encode_labels
from rehead._labels import known_codes as known_codes
from rehead._labels import small_codes as small_codes
from rehead._typing import Array, Features, LazyFeatures, NamedFeatures
from rehead._values import check_choice as check_choice
from rehead._values import check_transition as check_transition
from rehead._values import first_few as first_few
from rehead._values import generator_from as generator_from
from rehead._values import is_real as is_real
from rehead._warnings import SKLEARN


def check_features(estimator: Any, X: Any, *, reset: bool) -> Features:
    """Features as a finite 2-d float array; float32 stays float32.

    Features on disk stay there: they are looked at block by block.
    """
    if issparse(X):
        raise TypeError(
            "Sparse input is not supported: a covariance of so many features cannot be estimated. "
            "Reduce them first, with sklearn.decomposition.TruncatedSVD(100) for example."
        )
    names = X.names if isinstance(X, NamedFeatures) else None
    lazy = X.values if isinstance(X, NamedFeatures) else X
    if isinstance(lazy, LazyFeatures):
        _check_columns(estimator, lazy[:1], names, reset=reset)  # a row tells
        X = lazy
    else:
        X = X if names is not None else as_numbers(X)
        if getattr(X, "dtype", None) == np.float16:
            X = X.astype(np.float32)
        X = _check_columns(estimator, X, names, reset=reset)
    if names is not None and reset:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    known = getattr(estimator, "feature_names_in_", None)
    extent = check_finite(X, known)
    if reset:
        check_scale(extent, known)
    if X.dtype == np.float32 and not extent.fits_single:
        X = X.astype(np.float64)
    checked: Features = X
    return checked


def _check_columns(estimator: Any, X: Any, names: list[str] | None, *, reset: bool) -> Array:
    """Features as a 2-d float array, with the columns that the estimator knows."""
    with SKLEARN:
        if names is not None and not reset and hasattr(estimator, "feature_names_in_"):
            _check_names(names, estimator.feature_names_in_.tolist())
            values = X.values if isinstance(X, NamedFeatures) else X
            checked: Array = check_array(values, dtype=PRECISIONS, ensure_all_finite=False)
        else:
            checked = validate_data(
                estimator, X, reset=reset, dtype=PRECISIONS, ensure_all_finite=False
            )
    return checked


def _check_names(names: list[str], known: list[str]) -> None:
    if names != known:
        raise ValueError(
            f"The columns must be those of the fit, in the same order: {first_few(known)}; got "
            f"{first_few(names)}."
        )


PRECISIONS = [np.float64, np.float32]
SINGLE = (1e-8, 1e8)
"""Magnitudes whose fourth powers single precision can hold; others are worked on in double."""
LEAST_SINGLE = 1e-15
"""So are features that vary by less than this: their squares would underflow."""
ROWS = 512
"""Rows that are looked at together: a memory map is not read into memory as a whole."""
TOO_LARGE, TOO_SMALL = 1e140, 1e-140
"""Squares of larger values overflow in double precision, where many are summed. Squares of what
varies by less underflow, and the feature would be taken for a constant one."""


class Extent(NamedTuple):
    """The smallest and the largest value of each feature."""

    low: Array
    high: Array

    @property
    def sizes(self) -> Array:
        """The largest magnitude of each feature."""
        sizes: Array = np.maximum(np.abs(self.low), np.abs(self.high))
        return sizes

    @property
    def spreads(self) -> Array:
        """How much each feature varies; its half, so that it is never too large for a number."""
        spreads: Array = self.high / 2 - self.low / 2
        return spreads

    @property
    def fits_single(self) -> bool:
        """Whether single precision can hold the squares."""
        spreads = self.spreads
        fits = SINGLE[0] < self.sizes.max(initial=0.0) < SINGLE[1]
        return bool(fits and not ((spreads > 0) & (spreads < LEAST_SINGLE)).any())


def check_scale(extent: Extent, names: Array | None = None) -> None:
    """Raise if squares of a feature overflow or underflow in double precision, and say which."""
    sizes, spreads = extent.sizes, extent.spreads
    large, small = sizes > TOO_LARGE, (spreads > 0) & (spreads < TOO_SMALL)
    if not (large | small).any():
        return
    column = int(np.flatnonzero(large | small)[0])
    feature = column if names is None else f"{names[column]!r}"
    fix = "Bring the features to a common scale, with sklearn.preprocessing.StandardScaler say."
    if large[column]:
        raise ValueError(
            f"Feature {feature} has values as large as {sizes[column]:.0e}, whose squares overflow."
            f" {fix}"
        )
    raise ValueError(
        f"Feature {feature} varies by no more than {2 * spreads[column]:.0e}, whose square "
        f"underflows. {fix}"
    )


def check_finite(X: Features, names: Array | None = None, what: str = "X") -> Extent:
    """The extent of each feature; raise if a value is NaN or infinite, and say where it is."""
    low, high = np.zeros((2, X.shape[1]), X.dtype)
    for a in range(0, len(X), ROWS):
        block = X[a : a + ROWS]
        # Extremes find out at memory speed; only a bad block is looked at closely.
        least, most = block.min(axis=0), block.max(axis=0)
        if np.isfinite(least).all() and np.isfinite(most).all():
            low = least if a == 0 else np.minimum(low, least)
            high = most if a == 0 else np.maximum(high, most)
            continue
        row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(block)))
        value = "NaN" if np.isnan(block[row, column]) else "infinity"
        feature = column if names is None else f"{names[column]!r}"
        raise ValueError(
            f"Input {what} contains {value} (row {a + row}, feature {feature} first). Drop such "
            "rows or fill them in, with sklearn.impute.SimpleImputer for example."
        )
    return Extent(low.astype(np.float64), high.astype(np.float64))


def count_rows(X: Any) -> int:
    """How many samples an array, a table or a list holds."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) > 0:
        return int(shape[0])
    try:
        return len(X)
    except TypeError:
        raise TypeError(
            f"Expected features, one row for each sample, got {type(X).__name__}. Pass an array, a "
            "table or a list of rows."
        ) from None


def check_aligned(X: Any, **others: Any) -> Array | None:
    """The pandas index that samples share, where it is more than row numbers.

    ``X`` are features, or a mapping of layers. Indexes that contradict each other are an error:
    rows are taken in their order, and a label would silently go to another sample. Row numbers go
    with any index, but not with one that has the same numbers in another order.
    """
    given = {**X, **others} if isinstance(X, Mapping) else {"X": X, **others}
    indexes = {
        name: values.index
        for name, values in given.items()
        if hasattr(values, "iloc") and hasattr(values, "index")
    }
    named = [name for name, index in indexes.items() if not _numbers_rows(index.to_numpy())]
    if not named:
        return None
    first = indexes[named[0]]
    shared: Array = first.to_numpy()
    shuffled = _numbers_rows(shared, in_order=False)
    for name, index in indexes.items():
        clash = not first.equals(index) if name in named else shuffled
        if clash and len(index) == len(first):
            raise ValueError(
                f"{named[0]} and {name} have different pandas indexes, so it is not clear which "
                "rows belong together. Bring them into the same order, with reindex for example, "
                "or pass .to_numpy() of both where the order is right."
            )
    return shared


def _numbers_rows(index: Array, *, in_order: bool = True) -> bool:
    """Whether an index only numbers the rows."""
    if index.dtype.kind not in "iu":
        return False
    return np.array_equal(index if in_order else np.sort(index), np.arange(len(index)))


def check_layers(layers: Any, expected: list[str] | None = None) -> None:
    """A mapping of layer names to features of the same samples."""
    if not isinstance(layers, Mapping) or not layers:
        raise ValueError(
            f"layers must be a non-empty dict of layer name to features, got "
            f"{type(layers).__name__}. For one layer: {{'features': X}}."
        )
    odd = [name for name in layers if not isinstance(name, str)]
    if odd:
        raise ValueError(f"Names of layers must be text, got {odd[0]!r}. Use {str(odd[0])!r}.")
    lengths = {name: count_rows(X) for name, X in layers.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"The layers have different numbers of samples: {lengths}. Extract all layers from "
            "the same samples, in the same order."
        )
    missing = [name for name in expected or [] if name not in layers]
    if missing:
        raise ValueError(
            f"Layers {missing} are missing; the ensemble was fitted on {expected}, got "
            f"{list(layers)}."
        )
    unseen = [name for name in layers if expected is not None and name not in expected]
    if unseen:
        raise ValueError(f"The ensemble was not fitted on {unseen}, only on {expected}.")


def check_groups(groups: Any, n: int) -> Array | None:
    """One group for each sample, as codes; None where there are none."""
    if groups is None:
        return None
    groups = as_column(groups)
    if groups.shape != (n,):
        raise ValueError(
            f"groups has shape {groups.shape}, but there are {n} samples: give one group for each."
        )
    missing = np.flatnonzero(missing_rows(groups))
    if len(missing):
        raise ValueError(
            f"groups has no value in row {int(missing[0])}. Give every sample a group; one that "
            "belongs to no other is a group of its own."
        )
    names = sorted(set(groups.tolist()), key=lambda name: (type(name).__name__, name))
    code_of = {name: code for code, name in enumerate(names)}
    codes = np.array([code_of[name] for name in groups.tolist()])
    if codes.max() == 0:
        raise ValueError("All samples are in one group, so none can be held out. Leave groups out.")
    return codes


def check_weights(sample_weight: Any, X: Features, codes: Array, classes: Array) -> Array | None:
    """Sample weights, or None for equal ones."""
    if sample_weight is None:
        return None
    w = _plain_weights(sample_weight, len(X))
    if not w.any():
        raise ValueError("All weights in sample_weight are zero. Give some samples a weight.")
    empty = np.bincount(codes, weights=w, minlength=len(classes)) <= 0
    if (~empty).sum() < 2:
        raise ValueError(
            "Less than 2 classes have samples of positive sample_weight: cannot train with one "
            "class only. Give samples of at least 2 classes a positive weight."
        )
    if empty.any():
        raise ValueError(
            f"All samples of class {classes[empty].tolist()[0]!r} have weight 0. Leave the class "
            "out of X and y, or give one of its samples a positive weight."
        )
    return w


def _plain_weights(sample_weight: Any, n: int) -> Array:
    """One finite weight >= 0 for each of n rows."""
    given = as_column(sample_weight)
    if given.dtype.kind == "O":
        given = as_column(np.where(missing_rows(given), np.nan, given))
    if given.dtype.kind not in "biuf":
        first = given.reshape(-1)[:1].tolist()
        raise ValueError(
            f"sample_weight must be numbers, got {given.dtype} ({first[0]!r} first). Convert it, "
            "with [float(w) for w in sample_weight] for example."
            if first
            else "sample_weight is empty: give one weight for each row."
        )
    w: Array = given.astype(np.float64)
    if w.ndim == 0:
        w = np.full(n, float(w))
    if w.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {w.shape}, but there are {n} rows: give one weight for each."
        )
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must not be negative, NaN or infinite: row {int(bad[0])} has "
            f"{w[bad[0]]}. A weight says how many times a sample counts; 0 leaves it out."
        )
    return w
