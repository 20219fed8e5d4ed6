"""The public functions: any container gives the same results, and bad samples none."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rehead import (
    LayerEnsemble,
    RobustGaussianClassifier,
    abstention_threshold,
    find_mislabelled,
    noise,
    predict_or_abstain,
    score_labels,
    typicality,
)
from rehead.gaussian.options import PRESETS, USAGE

from .containers import SINGLE, X_BAD, X_SAME, Y_BAD, Y_SAME, WithArray, other_index
from .ensembles import ensemble_case, given_case
from .outcome import Case, posterior_of, refused, same
from .samples import CODES, FEATURES, TOLERANCE, X, pick, pick_named

Random = np.random.Generator
Array = np.ndarray
ESTIMATORS = sorted(USAGE)
A_RANK = 0.04
"""Typicality ranks a sample among sixty; rounding may move it by one where others tie."""


def cases(rng: Random, folder: Path) -> Iterator[Case]:
    """Cases without end."""
    kinds = [_same_case, _same_case, _bad_case, _bad_case, _odd_case, _option_case, _noise_case]
    kinds += [_moved_case, _index_case, ensemble_case, _extra_case, given_case]
    for _ in itertools.count():
        yield pick(rng, kinds)(rng)


# What is asked of a fitted model. Labels are answered as codes, whatever they are.


def _codes(labels: Any, classes: list[Any]) -> list[int]:
    return [classes.index(v) if v in classes else -1 for v in np.asarray(labels).tolist()]


def _proba(m: Any, X: Any, y: Any, classes: list[Any]) -> Any:
    return m.predict_proba(X), _codes(m.predict(X), classes)


def _report(m: Any, X: Any, y: Any, classes: list[Any]) -> Any:
    report = score_labels(m, X, y)
    return report.quality, _codes(report.suggested, classes)


def _abstention(m: Any, X: Any, y: Any, classes: list[Any]) -> Any:
    found = abstention_threshold(m, X, y, error=0.4, checked=True)
    sure = predict_or_abstain(m, X, 0.8)
    return found.coverage, found.error, found.bound, _codes(sure, classes)


QUESTIONS: dict[str, Callable[..., Any]] = {
    "predict": _proba,
    "scores": lambda m, X, y, c: (m.decision_function(X), m.score_samples(X)),
    "logs": lambda m, X, y, c: (m.predict_log_proba(X), m.score(X, y)),
    "report": _report,
    "mislabelled": lambda m, X, y, c: np.sort(find_mislabelled(m, X, y)),
    "typicality": lambda m, X, y, c: (typicality(m, X), typicality(m, X, y)),
    "abstention": _abstention,
}


def _fit_and_ask(estimator: str, question: str, X: Any, y: Any, classes: list[Any]) -> Any:
    model = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
    return QUESTIONS[question](model, X, y, classes)


@cache
def _answer(estimator: str, question: str, dtype: str) -> Any:
    return _fit_and_ask(estimator, question, X.astype(dtype), CODES, [0, 1, 2])


def _same_case(rng: Random) -> Case:
    estimator, question = pick(rng, ESTIMATORS), pick(rng, QUESTIONS)
    of_x, make_x = pick_named(rng, X_SAME)
    of_y, kind = pick_named(rng, Y_SAME)
    dtype = "f4" if of_x in SINGLE else "f8"
    tolerance = A_RANK if question == "typicality" else TOLERANCE[dtype]
    right = same(_answer(estimator, question, dtype), tolerance)

    def run() -> Any:
        return _fit_and_ask(estimator, question, make_x(X), kind.make(CODES), kind.classes)

    return Case(f"{question} of {estimator}, X {of_x}, y {of_y}", run, right)


@cache
def _model(estimator: str) -> RobustGaussianClassifier:
    return RobustGaussianClassifier(estimator, random_state=0).fit(X, CODES)


def _bad_case(rng: Random) -> Case:
    """Bad features or labels, in the fit or later."""
    estimator, question = pick(rng, ESTIMATORS), pick(rng, QUESTIONS)
    features, labels = X, CODES
    if rng.random() < 0.5:
        what, spoil = pick_named(rng, X_BAD)
        features = spoil(X, rng)
        what = f"X {what}"
    else:
        what, spoil = pick_named(rng, Y_BAD)
        labels = spoil(CODES, rng)
        what = f"y {what}"
    later = rng.random() < 0.4
    fine = {"no rows", "a row less", "too large"} if what.startswith("X") else {"y one class"}
    asked = question in ("report", "mislabelled", "abstention")
    if later and (what.removeprefix("X ") in fine or what in fine or not asked):
        later = False
    fit = RobustGaussianClassifier(estimator, random_state=0).fit
    if later:
        run = partial(QUESTIONS[question], _model(estimator), features, labels, [0, 1, 2])
    else:
        run = lambda: fit(features, labels).predict_proba(X)  # noqa: E731
    when = question if later else "fit"
    return Case(f"{when} of {estimator}, {what}", run, refused)


# Odd samples: a posterior, whatever they are.


def _odd_samples(rng: Random) -> tuple[str, Array, Array]:
    n, d, C = int(rng.integers(4, 80)), int(rng.integers(1, 12)), int(rng.integers(2, 6))
    y = rng.integers(C, size=n)
    y[:C] = np.arange(C)[:n]
    Z = rng.normal(size=(n, d)) + 3 * rng.normal(size=(C, d))[y % C]
    row, column = int(rng.integers(n)), int(rng.integers(d))

    def put(value: float) -> Array:
        Z[row, column] = value
        return Z

    ways: dict[str, Callable[[], Array]] = {
        "as they are": lambda: Z,
        "constant column": lambda: np.where(np.arange(d) == column, 3.0, Z),
        "all constant": lambda: np.ones((n, d)),
        "all zero": lambda: np.zeros((n, d)),
        "nearly constant": lambda: 1e6 + 1e-9 * Z,
        "copies of a column": lambda: np.repeat(Z[:, :1], d, axis=1),
        "copies of rows": lambda: Z[np.arange(n) // 4],
        "far away": lambda: Z + 1e12,
        "tiny": lambda: Z * 1e-100,
        "huge": lambda: Z * 1e100,
        "of many scales": lambda: Z * 10.0 ** rng.integers(-60, 60, size=d),
        "one outlier": lambda: put(10.0 ** int(rng.integers(5, 130))),
        "smallest numbers": lambda: Z * 5e-324,
        "two values": lambda: np.sign(Z),
        "labels told by a column": lambda: np.column_stack([Z, y]),
        "half": lambda: Z.astype("f2"),
        "single": lambda: Z.astype("f4") * np.float32(10.0 ** int(rng.integers(-30, 30))),
    }
    what, make = pick_named(rng, ways)
    return what, make(), y


def _odd_case(rng: Random) -> Case:
    estimator = pick(rng, ESTIMATORS)
    what, Z, y = _odd_samples(rng)

    def run() -> Any:
        m = RobustGaussianClassifier(estimator, random_state=0).fit(Z, y)
        report = score_labels(m, Z, y)
        return m.predict_proba(Z), report.quality, typicality(m, Z), m.score_samples(Z)

    right = posterior_of(len(y), len(np.unique(y)))
    return Case(f"{estimator} of {Z.shape} {what}", run, right)


# Options.

GOOD: dict[str, list[Any]] = {
    "support_fraction": [0.5, 0.7, 1, 1.0, np.float32(0.5), 1e-9],
    "max_steps": [1, 2, 50, np.int64(3)],
    "n_starts": [1, 4],
    "start": ["random", "deterministic", "pooled"],
    "leave_one_out": [True, False],
    "shrinkage": [0, 0.0, 0.3, 1, "auto", np.float64(0.1)],
    "priors": ["uniform", "empirical", [0.2, 0.3, 0.5], np.array([1.0, 0, 0])],
    "random_state": [0, 2**31, np.int64(3), np.random.default_rng(0), np.random.RandomState(0)],
}
BAD: dict[str, list[Any]] = {
    "support_fraction": [0, -1, 2, "half", np.nan, True, [0.5], np.inf, 1j],
    "max_steps": [0, -1, 1.5, "two", True, np.nan, [1]],
    "n_starts": [0, 2.0, False, "a", -3],
    "start": ["first", 3, ["random"], b"random"],
    "leave_one_out": [1, "yes", 0.0],
    "shrinkage": [-1, 2, "ledoit", np.nan, True, [0.1], 1j],
    "priors": [[0.5, 0.5], [0.5, 0.6, -0.1], "flat", 3, [[1, 0, 0]], [np.nan] * 3, {0: 1.0}],
    "random_state": ["abc", 1.5, -1, [1, 2], np.nan, True],
    "preset": ["author", 3, ["paper"], True],
    "estimator": ["mdc", 3, ["mcd"], b"mcd", True, ""],
}


def _option_case(rng: Random) -> Case:
    estimator = pick(rng, ESTIMATORS)
    names = [n for n in GOOD if n == "random_state" or n in USAGE[estimator].options]
    options: dict[str, Any] = {"random_state": 0}
    for name in rng.choice(names, size=min(len(names), 3), replace=False).tolist():
        options[name] = pick(rng, GOOD[name])
    if options.get("start", "random") != "random":
        options.pop("n_starts", None)
    settings = {"estimator": estimator, **options}
    if rng.random() < 0.1:
        settings = {"preset": pick(rng, sorted(PRESETS))}
    right = posterior_of(60, 3)
    if rng.random() < 0.5:
        name = pick(rng, ["estimator", "preset", *names])
        settings[name] = pick(rng, BAD[name])
        right = refused
    many = rng.random() < 0.3

    def run() -> Any:
        if many:
            layers = {"a": X, "b": X[:, :2]}
            return LayerEnsemble(**settings).fit(layers, CODES).predict_proba(layers)
        return RobustGaussianClassifier(**settings).fit(X, CODES).predict_proba(X)

    return Case(f"{'LayerEnsemble' if many else 'classifier'} {settings}", run, right)


# Samples that are moved: the same posteriors, moved alike.

FREE_OF_SCALE = ["sample", "agreement", "auto", "mixture", "posterior"]


def _moved_case(rng: Random) -> Case:
    estimator = pick(rng, FREE_OF_SCALE)
    expected = _answer(estimator, "predict", "f8")[0]
    rows, columns = np.arange(60), np.arange(4)
    Z, power = X, int(rng.integers(-30, 31))
    how = pick(rng, ["scale", "rows", "columns", "shift"])
    if how == "scale":
        Z = X * 2.0**power
    elif how == "rows":
        rows = rng.permutation(60)
    elif how == "columns":
        columns = rng.permutation(4)
    else:
        Z = X + 2.0 ** rng.integers(0, 20, size=4)

    def run() -> Any:
        m = RobustGaussianClassifier(estimator, random_state=0)
        moved = Z[rows][:, columns]
        return m.fit(moved, CODES[rows]).predict_proba(moved)

    return Case(f"{estimator}, {how} moved by {power}", run, same(expected[rows], 1e-5))


def _index_case(rng: Random) -> Case:
    """pandas: an index that both share changes nothing, one that contradicts is refused."""
    estimator, question = pick(rng, ESTIMATORS), pick(rng, ["predict", "report", "typicality"])
    index = other_index(rng, 60)
    frame, labels = pd.DataFrame(X, index, FEATURES), pd.Series(CODES, index)
    how = pick(rng, ["shared", "y without", "X without", "moved"])
    right = same(_answer(estimator, question, "f8"))
    if how == "y without":
        labels = CODES
    elif how == "X without":
        frame = X
    elif how == "moved":
        labels = labels.iloc[rng.permutation(60)]
        right = refused
    run = partial(_fit_and_ask, estimator, question, frame, labels, [0, 1, 2])
    return Case(f"{question} of {estimator}, index {how} ({index.dtype})", run, right)


def _extra_case(rng: Random) -> Case:
    """Weights and masks, good and bad; features of another width or with other names."""
    ones, none = np.ones(60), np.zeros(60, bool)
    good = {
        "sample_weight": [ones, ones.astype("i1"), ones.tolist(), pd.Series(ones), 1.0, none + 1],
        "trusted": [none, none.tolist(), pd.Series(none), pd.array(none), np.ma.array(none)],
    }
    bad: dict[str, list[Any]] = {
        "sample_weight": [-ones, ones[1:], ones * np.nan, 0 * ones, ones[:, None], "heavy", [None]],
        "trusted": [ones, none[1:], "yes", [3, 5], none[:, None], [None] * 60, 1j * ones],
    }
    bad["sample_weight"] += [np.where(CODES == 1, 0, ones), ["1"] * 60, ones * np.inf, ones * 1j]
    bad["sample_weight"] += [np.ma.array(ones, mask=CODES == 1), pd.Series([pd.NA] * 60)]
    bad["trusted"] += [np.ma.array(none, mask=CODES == 1), pd.array([pd.NA] * 60, "boolean")]
    name = pick(rng, good)
    estimator = pick(rng, ["auto", "sample", "mcd", "mixture"])
    right = same(_answer(estimator, "predict", "f8")[0], 1e-5)
    value = pick(rng, good[name])
    if rng.random() < 0.6:
        value, right = pick(rng, bad[name]), refused

    def run() -> Any:
        model = RobustGaussianClassifier(estimator, random_state=0)
        return model.fit(X, CODES, **{name: value}).predict_proba(X)

    return Case(f"{name} {type(value).__name__} of {estimator}: {str(value)[:30]}", run, right)


# Noise.


def _noise_case(rng: Random) -> Case:
    """The same labels in any container become noisy alike; bad labels and rates are refused."""
    name, make = pick_named(rng, dict(noise.NOISES))
    rate = pick(rng, [0, 0.0, 0.3, 1, 1.0, np.float32(0.5)])
    of_y, kind = pick_named(rng, Y_SAME)
    plain = make(CODES, float(rate), random_state=0)
    right = same((_codes(plain.labels, [0, 1, 2]), plain.changed, plain.rate))
    if rng.random() < 0.4:
        of_y, spoil = pick_named(rng, Y_BAD)
        short = ("one short", "one more", "fine")
        kind = kind._replace(make=lambda y: spoil(y, np.random.default_rng(0)))
        right = (lambda result: True) if of_y in short else refused
    elif rng.random() < 0.3:
        rate, right = pick(rng, [-0.1, 1.1, np.nan, "0.4", None, 40, 1j, [0.4]]), refused

    def run() -> Any:
        found = make(kind.make(CODES), rate, random_state=0)
        labels = found.labels
        if hasattr(labels, "numpy"):
            labels = WithArray(labels.numpy())
        return _codes(labels, kind.classes), found.changed, found.rate

    return Case(f"noise {name}, rate {rate!r}, y {of_y}", run, right)
