"""Which labels are wrong, and how many: the classifier turned on its own training labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rehead import _validation as check
from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier
from rehead.fingerprint import fingerprint
from rehead.gaussian.posterior import Kept, label_scores


@dataclass(frozen=True, eq=False)
class LabelReport:
    """What the model thinks of each given label, in the order of the input.

    Attributes
    ----------
    quality : array of shape (n_samples,)
        Posterior probability of the given label, in [0, 1]; low is suspect.
    suggested : array of shape (n_samples,)
        The most probable label.
    suggested_probability : array of shape (n_samples,)
    order : array of shape (n_samples,)
        Row numbers, worst label first.
    noise_rate : float
        Estimated share of wrong labels: the mean of ``1 - quality``.
    transition : array of shape (n_classes, n_classes)
        Estimated probability of each given label (column) for each true one (row).
    """

    quality: Array
    suggested: Array
    suggested_probability: Array
    order: Array
    noise_rate: float
    transition: Array


def score_labels(model: RobustGaussianClassifier, X: Any, y: Any) -> LabelReport:
    """Score every label.

    Rows that the model was fitted on, with the label they had then, are recognised and judged by
    estimates that leave them out, in closed form: otherwise a wrong label would vouch for itself.

    Parameters
    ----------
    model : RobustGaussianClassifier
        Fitted.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels to be judged, of classes that the model knows.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, score_labels
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["cat", "dog"], 50)
    >>> X = rng.normal(size=(100, 2)) + 6 * (y == "dog")[:, None]
    >>> y[3] = "dog"
    >>> report = score_labels(RobustGaussianClassifier("posterior").fit(X, y), X, y)
    >>> int(report.order[0]), str(report.suggested[3])
    (3, 'cat')
    """
    check_is_fitted(model)
    X = check.check_features(model, X, reset=False)
    codes = check.known_codes(check.check_labels(y, len(X)), model.classes_)
    inside = _inside(model, X, codes)
    columns = label_scores(model._gaussians, X, codes, inside, _summarise)
    quality, best, probability = columns.T
    suggested = best.astype(np.int64)
    joint = _joint(codes, suggested, quality, probability, len(model.classes_))
    return LabelReport(
        quality=quality,
        suggested=model.classes_[suggested],
        suggested_probability=probability,
        order=np.argsort(quality, kind="stable"),
        noise_rate=float(1.0 - quality.mean()),
        transition=joint / joint.sum(axis=1, keepdims=True),
    )


def find_mislabelled(model: RobustGaussianClassifier, X: Any, y: Any) -> Array:
    """Row numbers of the labels that are probably wrong, worst first.

    A label is reported if another one is more probable.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, find_mislabelled
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
    >>> y = np.repeat([0, 1], 30)
    >>> y[[4, 50]] = 1, 0
    >>> sorted(find_mislabelled(RobustGaussianClassifier("posterior").fit(X, y), X, y).tolist())
    [4, 50]
    """
    report = score_labels(model, X, y)
    y = check.check_labels(y, len(report.quality))
    suspect = report.suggested != y
    order: Array = report.order[suspect[report.order]]
    return order


def _inside(model: RobustGaussianClassifier, X: Array, codes: Array) -> Kept:
    """How much of each row the model's estimates contain."""
    hashes = fingerprint(X.astype(model.means_.dtype, copy=False), codes)
    at = np.searchsorted(model._seen, hashes).clip(max=len(model._seen) - 1)
    rows = np.where(model._seen[at] == hashes, model._seen_weights[at], 0.0)
    return Kept(rows, model._class_weights)


def _summarise(scores: Array, codes: Array) -> Array:
    """Quality, best class and its probability of each row."""
    scores = scores.astype(np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    every, best = np.arange(len(scores)), scores.argmax(axis=1)
    return np.column_stack([scores[every, codes], best, scores[every, best]])


def _joint(
    codes: Array, suggested: Array, quality: Array, probability: Array, n_classes: int
) -> Array:
    """Estimated counts of (true label, given label).

    Each row's posterior mass goes to its given label and to the best other one.
    """
    joint = np.zeros((n_classes, n_classes))
    agrees = suggested == codes
    np.add.at(joint, (codes, codes), np.where(agrees, 1.0, quality))
    np.add.at(joint, (suggested[~agrees], codes[~agrees]), 1.0 - quality[~agrees])
    joint += np.finfo(float).tiny * np.eye(n_classes)
    return joint
