"""What classifiers that were taught on clean labels think of samples that they have not seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from rehead._typing import Array
from rehead.gaussian.threads import own_threads
from rehead.noise.containers import BLOCK, as_features, n_rows, take
from rehead.noise.labels import Labels, floor_of

LOGIT_VARIANCE = 10.0
"""Prior variance of a logit: the inverse ridge times the number of standardised features. From 64
features to 3,072 (digits, tweets, Reuters, pixels), held-out labels were within 0.08 nats of the
best ridge in steps of ten; an inverse ridge of 1 costs pixels 1.5 nats."""
TEMPERATURES = (-np.log(4.0), np.log(4.0))
"""Logarithms of the temperatures that may calibrate: few samples that are easy know no bound."""


class Teaching(NamedTuple):
    """Who is taught on what.

    Attributes
    ----------
    classifier : object with ``fit(X, codes)``, ``predict_proba(X)`` and ``classes_``, or None
        Copied for each fold. None: logistic regression on flattened, standardised inputs.
    folds : int
        Samples of each fold are judged by a copy that was taught on the other ones.
    share : float
        Share of each class that teaches a copy; one sample at least.
    """

    classifier: Any
    folds: int
    share: float


class Judges(NamedTuple):
    """Classifiers that were taught on different samples, classes, and what calibrates them."""

    models: tuple[Any, ...]
    n_classes: int
    temperature: float

    def posteriors(self, X: Any) -> Array:
        """What each of them thinks of samples: shape (n_judges, n_samples, n_classes)."""
        rows = np.arange(n_rows(X))
        found = (posterior(model, X, rows, self.n_classes) for model in self.models)
        return np.stack([tempered(p, self.temperature) for p in found])


def cross_judged(
    X: Any, labels: Labels, teaching: Teaching, rng: np.random.Generator
) -> tuple[Array, Judges]:
    """Judge each sample by a classifier that was not taught on it.

    Parameters
    ----------
    X : inputs, one row for each label
    labels : Labels
        The true ones.
    teaching : Teaching
    rng : Generator
        Draws the folds, and who teaches.

    Returns
    -------
    array of shape (n_samples, n_classes)
        The posterior of each sample, calibrated by one temperature. A class that a classifier was
        not taught has 0.
    Judges
        One for each fold.
    """
    _check_classes(labels)
    folds = _folds(labels, teaching.folds, rng)
    blank = teaching.classifier
    if blank is None:
        X = as_features(X)
        blank = _logistic(X.shape[1])
    found = np.zeros((len(labels.codes), len(labels.classes)))
    models = []
    for k in range(teaching.folds):
        taught = _taught(labels, folds != k, teaching.share, rng)
        model = clone(blank, safe=False)
        with own_threads():  # the same labels, however many threads there are
            model.fit(take(X, taught), labels.codes[taught])
        rows = np.flatnonzero(folds == k)
        found[rows] = posterior(model, X, rows, len(labels.classes))
        models.append(model)
    temperature = calibration(found, labels.codes)
    judges = Judges(tuple(models), len(labels.classes), temperature)
    return tempered(found, temperature), judges


@own_threads()
def posterior(model: Any, X: Any, rows: Array, n_classes: int) -> Array:
    """What a classifier of class codes thinks of some rows, as probabilities of all classes."""
    known = np.asarray(model.classes_)
    found = np.zeros((len(rows), n_classes))
    for a in range(0, len(rows), BLOCK):
        block = rows[a : a + BLOCK]
        given = np.asarray(model.predict_proba(take(X, block)), np.float64)
        if given.shape != (len(block), len(known)) or not (given >= 0).all():
            raise ValueError(
                f"The classifier's predict_proba must give a probability for each of {len(block)} "
                f"rows and {len(known)} classes, got an array of shape {given.shape}, or NaN, or "
                "negative values."
            )
        found[a : a + len(block), known] = given
    sums = found.sum(axis=1, keepdims=True)
    result: Array = found / np.where(sums > 0, sums, 1.0)
    return result


def tempered(posterior: Array, temperature: float) -> Array:
    """The posterior at another temperature: softer above 1, sharper below.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.noise.posteriors import tempered
    >>> tempered(np.array([[0.9, 0.1, 0.0]]), 2.0).round(6).tolist()
    [[0.75, 0.25, 0.0]]
    """
    powers = posterior ** (1.0 / temperature)
    sums = powers.sum(axis=1, keepdims=True)
    result: Array = powers / np.where(sums > 0, sums, 1.0)
    return result


def calibration(posterior: Array, codes: Array) -> float:
    """The temperature at which true labels are likeliest: so, any classifier is as sure as it may.

    Labels that were given no chance at all have none at any temperature, and are left out.
    """
    rows = np.flatnonzero(posterior[np.arange(len(codes)), codes] > 0)

    def surprise(log_temperature: float) -> float:
        given = tempered(posterior[rows], float(np.exp(log_temperature)))
        return -float(np.log(given[np.arange(len(rows)), codes[rows]]).mean())

    if len(rows) == 0:
        return 1.0
    return float(np.exp(minimize_scalar(surprise, bounds=TEMPERATURES, method="bounded").x))


def check_classifier(classifier: Any) -> None:
    """Raise if something is neither None nor an object that gives probabilities."""
    for method in ("fit", "predict_proba") if classifier is not None else ():
        if isinstance(classifier, type) or not callable(getattr(classifier, method, None)):
            raise ValueError(
                f"classifier must be an object with fit and predict_proba, got {classifier!r}. "
                "Pass a scikit-learn classifier, RandomForestClassifier() for example."
            )


def _logistic(n_features: int) -> Any:
    """Logistic regression, not yet taught; its ridge grows with the number of features."""
    # Labels are drawn from it: more digits than these make no difference to them.
    logistic = LogisticRegression(C=LOGIT_VARIANCE / n_features, tol=1e-2, max_iter=1000)
    return make_pipeline(FunctionTransformer(as_features), StandardScaler(), logistic)


def _check_classes(labels: Labels) -> None:
    """Two classes are known to every classifier if each has two samples, in different folds."""
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    if (counts >= 2).sum() < 2:
        few = labels.classes[counts < 2].tolist()[:5]
        raise ValueError(
            f"Two classes need two samples or more each, to teach and to be labelled; {few} have "
            "fewer. Add samples."
        )


def _folds(labels: Labels, n: int, rng: np.random.Generator) -> Array:
    """The fold of each sample; each class is spread over them as evenly as can be."""
    folds: Array = np.zeros(len(labels.codes), np.int64)
    for rows in labels.rows_of_classes():
        folds[rng.permutation(rows)] = (np.arange(len(rows)) + rng.integers(n)) % n
    return folds


def _taught(labels: Labels, others: Array, share: float, rng: np.random.Generator) -> Array:
    """Rows of the other folds that teach."""
    chosen = []
    for rows in labels.rows_of_classes():
        there = rows[others[rows]]
        n = min(max(1, floor_of(share, len(rows))), len(there))
        chosen.append(rng.choice(there, size=n, replace=False))
    return np.sort(np.concatenate(chosen))
