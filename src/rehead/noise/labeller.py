"""Semantic noise: labels of a weak classifier (section 4.4 of the paper)."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from rehead import _validation as check
from rehead._columns import as_column
from rehead._typing import Array
from rehead.noise.containers import BLOCK, check_rows, flat, n_rows, take
from rehead.noise.labels import Labels, NoisyLabels, floor_of, read_labels


@dataclass(frozen=True, eq=False)
class SemanticLabels(NoisyLabels):
    """Labels made by a classifier, and the classifier.

    Attributes
    ----------
    labels, changed, rate, transition, classes
        As in :class:`NoisyLabels`, over all samples.
    clean_part : boolean array of shape (n_samples,)
        The samples that taught the classifier. They keep their true labels.
    classifier : object
        The fitted classifier.

    Examples
    --------
    >>> from rehead import noise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> noisy = noise.semantic(X[:1500], y[:1500], random_state=0)
    >>> held_out = noisy.label(X[1500:])
    >>> held_out.shape
    (297,)
    """

    clean_part: Array
    classifier: Any

    @property
    def rate_of_rest(self) -> float:
        """Share of wrong labels among those that the classifier gave."""
        return float(self.changed[~self.clean_part].mean())

    def label(self, X: Any) -> Array:
        """Label other samples, of a validation part for example, with the same classifier.

        Parameters
        ----------
        X : inputs of the kind that :func:`semantic` was given

        Returns
        -------
        array of shape (n_samples,)
        """
        codes = _label(self.classifier, X, np.arange(n_rows(X)), self.classes)
        labels: Array = self.classes[codes]
        return labels


def semantic(
    X: Any,
    y: Any,
    *,
    classifier: Any = None,
    clean: float = 0.05,
    random_state: Any = None,
) -> SemanticLabels:
    """Label all but a small clean part by a weak classifier taught on that part.

    Its errors depend on the input: similar classes are mistaken for each other.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Inputs: features or images. numpy, torch, pandas, a sparse matrix or a list.
    y : array-like of shape (n_samples,)
        True labels, as in :func:`uniform`.
    classifier : object with ``fit(X, y)`` and ``predict(X)``, optional
        It gets rows of `X` as they are, and labels as a numpy array. A scikit-learn estimator is
        cloned; any other object is fitted itself. Default: logistic regression on flattened,
        standardised inputs.
    clean : float
        Share of each class that teaches the classifier, at least one sample. The paper takes 0.05
        of CIFAR-10 and 0.2 of CIFAR-100.
    random_state : None, int, Generator or RandomState
        Chooses the clean part. A classifier has its own.

    Returns
    -------
    SemanticLabels

    Examples
    --------
    >>> from rehead import noise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> noisy = noise.semantic(X, y, clean=0.05, random_state=0)
    >>> int(noisy.clean_part.sum()), bool(noisy.changed[noisy.clean_part].any())
    (86, False)
    >>> 0.05 < noisy.rate < noisy.rate_of_rest < 0.3
    True
    """
    if not isinstance(clean, numbers.Real) or not 0.0 < float(clean) < 1.0:
        raise ValueError(f"clean must be in (0, 1), got {clean!r}. For 5 % pass 0.05.")
    labels = read_labels(y)
    check_rows(X, len(labels.codes))
    clean_part = _clean_part(labels, clean, check.generator_from(random_state))
    weak = _weak_classifier(classifier)
    taught, rest = np.flatnonzero(clean_part), np.flatnonzero(~clean_part)
    # Some objects return a fitted copy from fit, others return nothing.
    fitted = weak.fit(take(X, taught), labels.classes[labels.codes[taught]])
    weak = fitted if hasattr(fitted, "predict") else weak
    noisy = labels.codes.copy()
    noisy[rest] = _label(weak, X, rest, labels.classes)
    return SemanticLabels(**vars(labels.noisy(noisy)), clean_part=clean_part, classifier=weak)


def _clean_part(labels: Labels, clean: float, rng: np.random.Generator) -> Array:
    """Mask of a share of each class; something is left of each to be labelled."""
    mask = np.zeros(len(labels.codes), bool)
    for c, rows in enumerate(labels.rows_of_classes()):
        if len(rows) < 2:
            raise ValueError(
                f"Class {labels.classes.tolist()[c]!r} has one sample only: it needs one to teach "
                "the classifier and one to be labelled. Add samples or leave the class out."
            )
        n = min(max(1, floor_of(clean, len(rows))), len(rows) - 1)
        mask[rng.choice(rows, size=n, replace=False)] = True
    return mask


def _weak_classifier(classifier: Any) -> Any:
    if classifier is None:
        return make_pipeline(
            FunctionTransformer(flat), StandardScaler(), LogisticRegression(max_iter=1000)
        )
    for method in ("fit", "predict"):
        if isinstance(classifier, type) or not callable(getattr(classifier, method, None)):
            raise ValueError(
                f"classifier must be an object with fit and predict, got {classifier!r}. For a "
                "network, wrap its training in a class with these two methods."
            )
    return clone(classifier) if isinstance(classifier, BaseEstimator) else classifier


def _label(classifier: Any, X: Any, rows: Array, classes: Array) -> Array:
    """Codes of the labels that the classifier gives to some rows."""
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    codes: list[int] = []
    for a in range(0, len(rows), BLOCK):
        block = rows[a : a + BLOCK]
        predicted = as_column(classifier.predict(take(X, block)))
        if predicted.shape != block.shape:
            raise ValueError(
                f"The classifier's predict must give one label for each of {len(block)} rows, got "
                f"shape {predicted.shape}. From scores: return classes[scores.argmax(axis=1)]."
            )
        strange = sorted(set(predicted.tolist()) - code_of.keys(), key=str)
        if strange:
            raise ValueError(
                f"The classifier predicts labels that are not classes: {strange[:5]}. It was "
                f"taught {classes.tolist()}, and predict must give these, not their numbers."
            )
        codes += [code_of[label] for label in predicted.tolist()]
    return np.array(codes, np.int64)
