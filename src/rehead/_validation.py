"""The one place where user input is checked. An error names what is wrong and what to do."""

from __future__ import annotations

import contextlib
import difflib
import numbers
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from rehead._typing import Array
from rehead.gaussian import ESTIMATORS, Options
from rehead.gaussian.kernels import BLOCK


class ReheadWarning(UserWarning):
    """The result is sensible, but there is something the user should know about it."""


@contextmanager
def warnings_merged(
    what: str,
) -> Iterator[Callable[[str], contextlib.AbstractContextManager[None]]]:
    """Say what several parts were warned about once, with the names of the parts."""
    said: dict[str, list[str]] = {}

    @contextmanager
    def of_part(name: str) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ReheadWarning)
            yield
        for w in caught:
            if issubclass(w.category, ReheadWarning):
                said.setdefault(str(w.message), []).append(name)
            else:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)

    yield of_part
    for text, names in said.items():
        plural = "s" if len(names) > 1 else ""
        warnings.warn(f"{what}{plural} {', '.join(names)}: {text}", ReheadWarning, stacklevel=4)


def check_features(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Features as a finite 2-d float array; float32 stays float32."""
    if getattr(X, "dtype", None) == np.float16:
        X = X.astype(np.float32)
    X = validate_data(
        estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    largest = check_finite(X, getattr(estimator, "feature_names_in_", None))
    if X.dtype == np.float32 and not SINGLE[0] < largest < SINGLE[1]:
        X = X.astype(np.float64)
    result: Array = X
    return result


SINGLE = (1e-8, 1e8)
"""Magnitudes whose fourth powers single precision can hold; others are worked on in double."""
TOO_LARGE = 1e151
"""Squares of larger values, summed over many rows, overflow in double precision."""


def check_finite(X: Array, names: Array | None = None, what: str = "X") -> float:
    """The largest magnitude; raise if a value is NaN or infinite, and say where the first is."""
    largest = 0.0
    for a in range(0, len(X), BLOCK):
        block = X[a : a + BLOCK]
        # Extremes find out at memory speed; only a bad block is looked at closely.
        size = max(float(block.max(initial=0.0)), -float(block.min(initial=0.0)))
        if np.isfinite(size):
            largest = max(largest, size)
            continue
        row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(block)))
        value = "NaN" if np.isnan(block[row, column]) else "infinity"
        feature = column if names is None else f"{names[column]!r}"
        raise ValueError(
            f"Input {what} contains {value} (row {a + row}, feature {feature} first). Drop such "
            "rows or fill them in, with sklearn.impute.SimpleImputer for example."
        )
    if largest > TOO_LARGE:
        raise ValueError(
            f"Input {what} has values as large as {largest:.0e}, whose powers overflow. Bring the "
            "features to a common scale, with sklearn.preprocessing.StandardScaler for example."
        )
    return largest


def check_labels(y: Any, n: int) -> Array:
    """Labels as a 1-d array without missing values."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    labels: Array = np.asarray(column_or_1d(y, warn=True))
    if len(labels) != n:
        raise ValueError(
            f"X has {n} rows and y has {len(labels)} labels: inconsistent numbers of samples. "
            "Pass one label for each row, in the same order."
        )
    check_no_missing_labels(labels)
    _check_one_type(labels)
    check_classification_targets(labels)
    return labels


def check_no_missing_labels(y: Array) -> None:
    """Raise if a label is None, NaN, NaT or NA."""
    if y.dtype.kind == "O":
        missing = np.array([v is None or _is_na(v) for v in y], bool)
    elif y.dtype.kind in "mM":
        missing = np.isnat(y)
    elif y.dtype.kind in "fc":
        missing = ~np.isfinite(y)
    else:
        return
    if missing.any():
        where = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"Input y contains NaN, infinity or missing labels: {int(missing.sum())} in all, row "
            f"{where} first. Leave unlabelled rows out of fit; predict gives them a label."
        )


def _check_one_type(y: Array) -> None:
    """Raise if labels cannot be sorted."""
    kinds = sorted({type(v).__name__ for v in y}) if y.dtype.kind == "O" else []
    if "str" in kinds and len(kinds) > 1:
        raise ValueError(
            f"The labels mix types that cannot be sorted ({', '.join(kinds)}). Convert them to one "
            "type, with y.astype(str) for example."
        )


def _is_na(value: object) -> bool:
    """Whether a value is not equal to itself (NaN), or cannot say so (pandas.NA)."""
    try:
        return bool(value != value)
    except TypeError:
        return True


def encode_labels(y: Array) -> tuple[Array, Array]:
    """Classes, sorted, and the code of each label."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            "Classifier can't be trained with one class only: all labels are "
            f"{classes.tolist()[0]!r}. Pass samples of at least 2 classes."
        )
    return classes, codes.astype(np.int64).reshape(-1)


def known_codes(y: Array, classes: Array) -> Array:
    """Codes of labels that must be among the fitted classes."""
    strange = sorted(set(y.tolist()) - set(classes.tolist()), key=str)
    if strange:
        raise ValueError(
            f"The model was not fitted on these labels: {_some(strange)}. It knows "
            f"{_some(classes.tolist())}; fit it on all classes, or leave those rows out."
        )
    return np.searchsorted(classes, y).astype(np.int64)


def check_layers(layers: Any, expected: list[str] | None = None) -> None:
    """A mapping of layer names to features of the same samples."""
    if not isinstance(layers, Mapping) or not layers:
        raise ValueError(
            f"layers must be a non-empty dict of layer name to features, got "
            f"{type(layers).__name__}. For one layer: {{'features': X}}."
        )
    lengths = {name: len(X) for name, X in layers.items()}
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


def as_posterior(values: Any, n_classes: int, name: str) -> Array:
    """Probabilities from probabilities or logits."""
    p: Array = np.asarray(values)
    if p.ndim != 2 or p.shape[1] != n_classes:
        raise ValueError(
            f"The posterior {name!r} must have one column for each of the {n_classes} classes, "
            f"got shape {p.shape}."
        )
    p = p.astype(np.float64 if p.dtype == np.float64 else np.float32)
    check_finite(p, what=name)
    if (p >= 0).all() and np.allclose(p.sum(axis=1), 1.0, atol=1e-3):
        return p
    p = np.exp(p - p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p


def warn_if_shared(ids: Any, held_out: Any) -> None:
    """Warn if validation samples are training samples."""
    if ids is None or held_out is None:
        return
    shared = np.isin(np.asarray(held_out), np.asarray(ids))
    if shared.any():
        first = np.asarray(held_out)[shared][0]
        warnings.warn(
            f"{int(shared.sum())} of {len(shared)} validation samples are training samples (id "
            f"{first!r} first). A network has memorised their labels, so its deepest layers will "
            "get too much weight. Validate on samples it was not trained on.",
            ReheadWarning,
            stacklevel=4,
        )


def single_sample_note(codes: Array, classes: Array) -> list[str]:
    """What to say about classes of which there is one sample."""
    single = classes[np.bincount(codes, minlength=len(classes)) == 1].tolist()
    if not single:
        return []
    return [
        f"{len(single)} of {len(classes)} classes have one sample only ({single[0]!r} first). It "
        "is taken for the mean of its class, right or wrong. Add samples or leave the class out."
    ]


MOSTLY_WRONG = 0.65
"""Share of wrong labels above which the right ones can hardly be told from them."""
FAR_BELOW = 0.15
"""How much rarer right labels are in a class of mostly wrong ones than in all."""
FEW_RIGHT = 4.0
"""A class of which fewer samples are trusted has next to none to be estimated from."""


def noise_notes(rate: float, trust: Array, codes: Array, classes: Array) -> list[str]:
    """What to say about labels, or the labels of some classes, that are mostly wrong.

    ``rate`` is the measured share of wrong labels, ``trust`` how far each label is trusted.
    """
    if rate > MOSTLY_WRONG:
        return [
            f"About {rate:.0%} of the labels seem to be wrong. With so many, classes can be taken "
            "for one another. Mark some labels that are known to be right with trusted=."
        ]
    size = np.bincount(codes, minlength=len(classes))
    right = np.bincount(codes, weights=trust, minlength=len(classes))
    notes = []
    lost = classes[(right < FEW_RIGHT) & (size >= 2 * FEW_RIGHT)].tolist()
    if lost:
        notes.append(
            f"Next to no label {_some(lost)} is trusted, so the few best samples stand for the "
            "class. Look at them, or mark some that are known to be right with trusted=."
        )
    # Where all classes are about as noisy, chance puts some below one half.
    share = right / np.maximum(size, 1)
    doubtful = classes[(share < 0.5) & (share < 1.0 - rate - FAR_BELOW) & (size > 1)].tolist()
    doubtful = [name for name in doubtful if name not in lost]
    if doubtful and rate < 0.5:
        notes.append(
            f"Most samples labelled {_some(doubtful)} seem to belong to other classes. What is "
            "said about these classes is uncertain; look at their labels first."
        )
    return notes


def warn_of_absent(codes: Array, classes: Array) -> None:
    """Say so if held-out samples cannot speak for a class."""
    absent = classes[np.bincount(codes, minlength=len(classes)) == 0].tolist()
    if absent:
        warnings.warn(
            f"No held-out sample is labelled {_some(absent)}, so nothing tells how often that is "
            "right. Hold out samples of every class.",
            ReheadWarning,
            stacklevel=4,
        )


def _some(names: list[Any]) -> str:
    """The first few names."""
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def check_groups(groups: Any, n: int) -> Array | None:
    """One group for each sample, as codes; None where there are none."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(
            f"groups has shape {groups.shape}, but there are {n} samples: give one group for each."
        )
    codes: Array = np.unique(groups, return_inverse=True)[1]
    if codes.max() == 0:
        raise ValueError("All samples are in one group, so none can be held out. Leave groups out.")
    return codes


def check_weights(sample_weight: Any, X: Array, codes: Array, classes: Array) -> Array | None:
    """Sample weights, or None for equal ones."""
    if sample_weight is None:
        return None
    w = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
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
    weights: Array = w
    return weights


def check_mask(mask: Any, n: int, name: str) -> Array | None:
    """A boolean mask of n rows, or None."""
    if mask is None:
        return None
    array: Array = np.asarray(mask)
    if array.shape != (n,) or array.dtype.kind != "b":
        raise ValueError(
            f"{name} must be a boolean mask with one entry for each of the {n} rows, got "
            f"{array.dtype} of shape {array.shape}. From row numbers: mask = np.zeros({n}, bool); "
            "mask[rows] = True."
        )
    return array


PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "estimator": "mcd",
        "support_fraction": None,
        "max_steps": 2,
        "n_starts": 1,
        "start": "random",
        "leave_one_out": False,
        "shrinkage": 0.0,
        "priors": "uniform",
    },
    "authors": {
        "estimator": "mcd",
        "support_fraction": 0.7,
        "max_steps": 1,
        "n_starts": 1,
        "start": "pooled",
        "leave_one_out": False,
        "shrinkage": 0.0,
        "priors": "uniform",
    },
}
"""``paper``: Algorithm 1 as printed. ``authors``: the released code, which keeps 70 % of each
class after one selection by a covariance shared by all classes (without its division bug)."""


def default_estimator(given: Iterable[str]) -> str:
    """The estimator where none was named: "auto", or "mcd" where options of it were set."""
    return "auto" if set(given) <= ESTIMATORS["auto"].uses else "mcd"


def resolve_options(
    estimator: str | None, preset: str | None, given: Mapping[str, Any]
) -> tuple[str, Options]:
    """Name of the estimator and its options, from what the user set (``None``: not set)."""
    given = {name: value for name, value in given.items() if value is not None}
    if preset is not None:
        check_choice(preset, PRESETS, "preset")
        clash = sorted([*given, *(["estimator"] if estimator is not None else [])])
        if clash:
            raise ValueError(
                f"preset={preset!r} already sets {', '.join(clash)}. Give either the preset or "
                f"the arguments; {preset!r} stands for {PRESETS[preset]}."
            )
        settings = dict(PRESETS[preset])
        return settings.pop("estimator"), Options(**settings)
    name = default_estimator(given) if estimator is None else estimator
    check_choice(name, ESTIMATORS, "estimator")
    unused = sorted(set(given) - ESTIMATORS[name].uses)
    if unused:
        takers = [e for e in sorted(ESTIMATORS) if set(given) <= ESTIMATORS[e].uses]
        raise ValueError(
            f"estimator={name!r} does not use {', '.join(unused)}. Leave that out, or choose an "
            f"estimator that does: {', '.join(takers) or 'there is none for all of these'}."
        )
    defaults = ESTIMATORS[name].defaults
    options = Options(**{**vars(defaults), **given})
    _check_options(options)
    return name, options


def _check_options(options: Options) -> None:
    fraction, shrinkage = options.support_fraction, options.shrinkage
    if fraction is not None and not (_is_real(fraction) and 0 < fraction <= 1):
        raise ValueError(f"support_fraction must be in (0, 1] or None, got {fraction!r}.")
    for name in ("max_steps", "n_starts"):
        value = getattr(options, name)
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
    check_choice(options.start, ("random", "deterministic", "pooled"), "start")
    if options.n_starts > 1 and options.start != "random":
        raise ValueError(
            f"n_starts={options.n_starts} needs start='random'; start={options.start!r} has its "
            "own starts."
        )
    if shrinkage != "auto" and not (_is_real(shrinkage) and 0 <= shrinkage <= 1):
        raise ValueError(f"shrinkage must be in [0, 1] or 'auto', got {shrinkage!r}.")
    if not isinstance(options.leave_one_out, (bool, np.bool_)):
        raise ValueError(f"leave_one_out must be True or False, got {options.leave_one_out!r}.")


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_priors(priors: Any, classes: Array) -> str | Array:
    """Priors as "uniform", "empirical" or an array that sums to 1."""
    if isinstance(priors, str):
        check_choice(priors, ("uniform", "empirical"), "priors")
        return priors
    try:
        beta: Array = np.asarray(priors, np.float64)
    except (TypeError, ValueError):
        beta = np.empty(0)
    if beta.shape != (len(classes),) or not (beta >= 0).all() or not np.isclose(beta.sum(), 1):
        raise ValueError(
            f"priors must be 'uniform', 'empirical' or {len(classes)} probabilities that sum to "
            f"1 (classes {list(classes)}), got {priors!r}."
        )
    beta = beta / beta.sum()
    return beta


def check_choice(value: Any, choices: Iterable[str], name: str) -> None:
    """Raise if a value is not one of the choices, with the nearest one."""
    choices = list(choices)
    if isinstance(value, str) and value in choices:
        return
    near = difflib.get_close_matches(str(value), choices, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name} must be one of {choices}, got {value!r}.{hint}")


def generator_from(random_state: Any) -> np.random.Generator:
    """A generator from None, an int, a numpy Generator or a RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is np.random:
        return np.random.default_rng(np.random.randint(2**31, size=4))
    whole = isinstance(random_state, numbers.Integral) and int(random_state) >= 0
    if random_state is not None and not whole:
        raise ValueError(
            "random_state must be None, a whole number >= 0, a numpy Generator or a RandomState, "
            f"got {random_state!r}."
        )
    return np.random.default_rng(None if random_state is None else int(random_state))
