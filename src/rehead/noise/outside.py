"""Open-set noise: inputs that belong to no class (section 4.4 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._columns import library
from rehead._typing import Array
from rehead.noise.containers import as_numpy, inputs_like
from rehead.noise.labels import check_rate, floor_of, read_labels, shares


@dataclass(frozen=True, eq=False)
class OpenSetData:
    """Inputs of which some were replaced, under their old labels.

    Attributes
    ----------
    X : array of shape (n_samples, ...)
        A copy, of the kind that was given.
    labels : array of shape (n_samples,)
        As they were.
    changed : boolean array of shape (n_samples,)
        The samples whose input was replaced.
    rate : float
        The realised share of replaced inputs.
    source_rows : integer array of shape (n_samples, 2)
        Number of the source and row in it, for each replaced input; -1 elsewhere.
    transition : array of shape (n_classes + 1, n_classes)
        Realised probability of each label (column) for each true class (row). Inputs of a class
        have its label, so the first rows are the identity; the last row is the share of each label
        among inputs from outside. A row is NaN if there are no such inputs.
    classes : array of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import noise
    >>> X, y = np.zeros((4, 2)), [0, 0, 1, 1]
    >>> noise.open_set(X, y, 0.5, np.ones((9, 2)), random_state=0).transition.tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    """

    X: Any
    labels: Any
    changed: Array
    rate: float
    source_rows: Array
    transition: Array
    classes: Array


def open_set(X: Any, y: Any, rate: float, source: Any, *, random_state: Any = None) -> OpenSetData:
    """Replace ``floor(rate * N_c)`` inputs of each class by outside ones, and keep all labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Inputs: a numpy array, a torch tensor or a DataFrame of one dtype. Not modified.
    y : array-like of shape (n_samples,)
        Labels, as in :func:`uniform`.
    rate : float
        Share of the inputs of each class that are replaced.
    source : array-like of shape (n_outside, ...), or a list of such
        Outside inputs, each used once at most. From several sources, each class gets equal shares,
        to within one sample. Leave out what belongs to a class of `y`.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    OpenSetData

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import noise
    >>> X, y = np.zeros((6, 2)), np.array([0, 0, 0, 1, 1, 1])
    >>> mixed = noise.open_set(X, y, 0.4, [np.full((9, 2), 7.0), np.full((9, 2), 8.0)])
    >>> sorted(mixed.X[mixed.changed, 0].tolist())
    [7.0, 8.0]
    >>> mixed.labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    check_rate(rate)
    labels = read_labels(y, fewest=1)
    inputs = _inputs(X, len(labels.codes))
    outside = _outside(source, X, inputs)
    rng = check.generator_from(random_state)
    replaced = np.concatenate(
        [
            rng.choice(rows, size=floor_of(rate, len(rows)), replace=False)
            for rows in labels.rows_of_classes()
        ]
    )
    mixed = np.array(inputs)
    source_rows = np.full((len(inputs), 2), -1)
    # In turn, along samples that are in random order within each class: equal shares of each.
    source_of = np.arange(len(replaced)) % len(outside)
    for i, (name, values) in enumerate(outside.items()):
        places = replaced[source_of == i]
        rows = _draw(values, len(places), name, rng)
        mixed[places] = values[rows]
        source_rows[places, 0], source_rows[places, 1] = i, rows
    changed = source_rows[:, 0] >= 0
    C = len(labels.classes)
    return OpenSetData(
        X=inputs_like(mixed, X),
        labels=labels.in_kind(labels.codes),
        changed=changed,
        rate=float(changed.mean()),
        source_rows=source_rows,
        transition=shares(np.where(changed, C, labels.codes), labels.codes, (C + 1, C)),
        classes=labels.classes,
    )


def _inputs(X: Any, n: int) -> Array:
    """Inputs as a numpy array that holds them without loss."""
    if library(X) == "pandas" and len(set(X.dtypes)) > 1:
        raise ValueError(
            f"X has columns of several dtypes: {sorted({str(t) for t in X.dtypes})}. Convert them "
            "to one, with X.astype(float) for example."
        )
    values = as_numpy(X)
    if values.ndim == 0 or len(values) != n:
        raise ValueError(
            f"X has shape {values.shape} and y has {n} labels. Pass one label for each row, in "
            "the same order."
        )
    return values


def _outside(source: Any, X: Any, inputs: Array) -> dict[str, Array]:
    """Sources by name, each of rows that can stand in for rows of X."""
    several = isinstance(source, (list, tuple))
    named = {f"source[{i}]": s for i, s in enumerate(source)} if several else {"source": source}
    if not named:
        raise ValueError("source is an empty list. Pass an array of outside inputs.")
    outside = {name: as_numpy(values) for name, values in named.items()}
    for name, values in outside.items():
        if values.ndim == 0 or values.shape[1:] != inputs.shape[1:]:
            raise ValueError(
                f"Rows of {name} and of X differ in shape: {name} is {values.shape}, X is "
                f"{inputs.shape}. Bring the outside inputs to the shape of X."
            )
        if library(X) == library(named[name]) == "pandas":
            theirs, ours = list(named[name].columns), list(X.columns)
            if theirs != ours:
                raise ValueError(f"{name} and X have different columns: {theirs} and {ours}.")
        # Rounding to a shorter float is no loss; cutting off decimals or high bits is.
        floats = values.dtype.kind == inputs.dtype.kind == "f"
        if not floats and not np.can_cast(values.dtype, inputs.dtype, "safe"):
            raise ValueError(
                f"{name} of dtype {values.dtype} does not fit into X of dtype {inputs.dtype} "
                "without loss. Convert one of them, with the same scale of values in mind."
            )
    return outside


def _draw(values: Array, n: int, name: str, rng: np.random.Generator) -> Array:
    if n > len(values):
        raise ValueError(
            f"{name} is too small: {n} of its inputs are needed, each once, and there are "
            f"{len(values)}. Pass more of them or lower the rate."
        )
    rows: Array = rng.choice(len(values), size=n, replace=False)
    return rows
