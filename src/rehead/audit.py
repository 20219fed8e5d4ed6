"""Which labels are wrong, and how many: the classifier turned on its own training labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rehead import _validation as check
from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble import LayerEnsemble
from rehead.fingerprint import fingerprint
from rehead.gaussian.posterior import Kept, label_scores


@dataclass(frozen=True, eq=False)
class LabelReport:
    """What the model thinks of each given label, in the order of the input.

    Attributes
    ----------
    given : array of shape (n_samples,)
        The labels that were judged.
    quality : array of shape (n_samples,)
        Probability that the given label is right, in [0, 1]; low is suspect. Where the model has
        measured the noise, it takes into account how common such errors are; otherwise it is the
        posterior of the label alone.
    suggested : array of shape (n_samples,)
        The most probable label.
    suggested_probability : array of shape (n_samples,)
    order : array of shape (n_samples,)
        Row numbers, worst label first.
    noise_rate : float
        Estimated share of wrong labels: the mean of ``1 - quality``.
    transition : array of shape (n_classes, n_classes)
        Estimated probability of each given label (column) for each true one (row).
    noise_rate_error : float
        Standard error of the noise rate, where the model has measured the noise ("auto",
        "anchored"), else NaN.
    ids : array of shape (n_samples,) or None
        Names of the samples, where they have any.
    """

    given: Array
    quality: Array
    suggested: Array
    suggested_probability: Array
    order: Array
    noise_rate: float
    transition: Array
    noise_rate_error: float = float("nan")
    ids: Array | None = None

    def mislabelled(self) -> Array:
        """Ids (row numbers where there are none) of labels that are probably wrong, worst first.

        A label is probably wrong if another one is more probable.
        """
        suspect = self.order[(self.suggested != self.given)[self.order]]
        named: Array = suspect if self.ids is None else self.ids[suspect]
        return named


Model = RobustGaussianClassifier | LayerEnsemble


def score_labels(model: Model, X: Any, y: Any) -> LabelReport:
    """Score every label.

    Rows that the model was fitted on, with the label they had then, are recognised and judged by
    estimates that leave them out, in closed form: otherwise a wrong label would vouch for itself.

    Parameters
    ----------
    model : RobustGaussianClassifier or LayerEnsemble
        Fitted.
    X : array-like of shape (n_samples, n_features), or mapping of layers for an ensemble
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
    n = len(next(iter(X.values()))) if isinstance(X, Mapping) else len(X)
    codes = check.known_codes(check.check_labels(y, n), model.classes_)
    judge, features, noise = model, X, getattr(model, "noise_", None)
    if isinstance(model, LayerEnsemble) and model.judgement_ is not None:
        check.check_layers(X, expected=model._inputs)
        judge, features = model.judge(X)
        noise = model.judgement_.noise
    if isinstance(judge, LayerEnsemble):
        columns = _summary(_ensemble_posterior(judge, features, codes), codes)
    elif noise is not None:
        columns = _leave_one_out(
            judge, features, codes, lambda s, c: _summary(noise.judged(s, c), c)
        )
    else:
        columns = _leave_one_out(
            judge, features, codes, lambda s, c: _summary(_calibrated(judge, s, c), c)
        )
    quality, best, probability = columns.T
    suggested = best.astype(np.int64)
    if noise is None:
        joint = _joint(codes, suggested, quality, probability, len(model.classes_))
        transition = joint / joint.sum(axis=1, keepdims=True)
    else:
        transition = noise.transition
    return LabelReport(
        given=model.classes_[codes],
        quality=quality,
        suggested=model.classes_[suggested],
        suggested_probability=probability,
        order=np.argsort(quality, kind="stable"),
        noise_rate=float(1.0 - quality.mean()),
        transition=transition,
        noise_rate_error=float("nan") if noise is None else noise.rate_error,
    )


def find_mislabelled(model: Model, X: Any, y: Any) -> Array:
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
    return score_labels(model, X, y).mislabelled()


def _leave_one_out(
    model: RobustGaussianClassifier,
    X: Any,
    codes: Array,
    reduce: Callable[[Array, Array], Array],
) -> Array:
    """Scores of the labels, without the row itself where the model was fitted on it."""
    X = check.check_features(model, X, reset=False)
    hashes = fingerprint(X.astype(model.means_.dtype, copy=False), codes)
    at = np.searchsorted(model._seen, hashes).clip(max=len(model._seen) - 1)
    known = (model._seen[at] == hashes) & (model._seen_weights[at] > 0)
    inside = Kept(
        rows=np.where(known, model._seen_weights[at], 0.0),
        members=np.where(known, model._seen_members[at], codes),
        classes=np.bincount(
            model._seen_members + 1,
            weights=model._seen_weights,
            minlength=len(model.classes_) + 1,
        )[1:],
    )
    return label_scores(model._gaussians, X, codes, inside, reduce)


def _ensemble_posterior(model: LayerEnsemble, layers: Any, codes: Array) -> Array:
    """The weighted posterior of an ensemble, each member leaving the row itself out."""
    check.check_layers(layers, expected=model._inputs)
    members = model._members(layers)
    total = np.zeros((len(codes), len(model.classes_)))
    for weight, name in zip(model.weights_, model.layers_, strict=True):
        if name in model.estimators_:
            member = model.estimators_[name]
            honest = partial(_calibrated, member)
            total += weight * _leave_one_out(member, members[name], codes, honest)
        else:
            total += weight * check.as_posterior(members[name], len(model.classes_), name)
    return total


def _calibrated(model: RobustGaussianClassifier, scores: Array, codes: Array) -> Array:
    return _softmax(model._gaussians.calibrated(scores))


def _softmax(scores: Array) -> Array:
    scores = scores.astype(np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def _summary(posterior: Array, codes: Array) -> Array:
    """Quality, best class and its probability of each row."""
    every, best = np.arange(len(posterior)), posterior.argmax(axis=1)
    return np.column_stack([posterior[every, codes], best, posterior[every, best]])


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
