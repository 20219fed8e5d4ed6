"""The quality of labels, each judged by estimates that did not see it, block by block.

The N x C posteriors are never all in memory: of each block only the probability of the given label,
the best label and its probability are kept. Features may be memory maps, and layers are joined only
within a block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.audit.inputs import features_of, rows_of, spans
from rehead.audit.outliers import typicality
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble.estimator import LayerEnsemble
from rehead.gaussian.posterior import label_scores
from rehead.models import Model, noise_of, recognised


class Verdicts(NamedTuple):
    """What was found of each sample: one entry a row.

    ``quality`` of the given label, ``best`` label (its code) and its ``probability``;
    ``typical`` is low for samples unlike all classes (NaN where the model cannot tell), ``far`` the
    squared distance to the nearest class for each feature; ``known`` tells whether the model was
    fitted on the row with this label, ``left_out`` whether it was judged without it.
    """

    quality: Array
    best: Array
    probability: Array
    far: Array
    typical: Array
    known: Array
    left_out: Array


def judge_labels(model: Model, X: Any, codes: Array, wanted: Array | None) -> Verdicts:
    """Judge all labels; rows of the fit (or those of them that are ``wanted``) without themselves.

    The best label is that with the highest posterior, given the features and, where the noise was
    measured, the label.
    """
    parts = []
    if isinstance(X, (list, tuple)):
        X = np.asarray(X)  # once, not for each block
    for span in spans(len(codes), len(model.classes_)):
        block, labels = rows_of(X, span), codes[span]
        leave = np.ones(len(labels), bool) if wanted is None else wanted[span]
        try:
            columns, known = _judge_block(model, block, labels, leave)
            typical = _typicality(model, block, model.classes_[labels], leave)
        except ValueError:
            _check_whole(model, X)
            raise
        quality, best, probability, far = columns.T
        best = best.astype(np.int64)
        parts.append(Verdicts(quality, best, probability, far, typical, known, known & leave))
    return Verdicts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def judge_of(model: Model, X: Any) -> tuple[RobustGaussianClassifier, Any]:
    """The classifier whose feature space labels are judged in, and its features of some samples.

    Where an ensemble has no judge, that of the layer which also measures its densities.
    """
    if not isinstance(model, LayerEnsemble):
        return model, X
    if model.judgement_ is not None:
        return model.judge(X)
    name = model._penultimate(list(model.estimators_))
    return model.estimators_[name], model._members(X)[name]


def _check_whole(model: Model, X: Any) -> None:
    """Raise the error of a block again, with the number that the row has among all."""
    if isinstance(model, RobustGaussianClassifier):
        features_of(model, X)
        return
    for name, values in X.items():
        check.check_finite(np.asarray(values), what=name)


def _judge_block(model: Model, X: Any, codes: Array, leave: Array) -> tuple[Array, Array]:
    """Columns quality, best, probability and far; and which rows are known."""
    noise = noise_of(model)
    if isinstance(model, LayerEnsemble) and noise is None:
        posterior, known = _mixture(model, X, codes, leave)
        return _summary(posterior[:, :-1], codes, posterior[:, -1]), known
    judge, features = judge_of(model, X)

    def reduce(scores: Array, codes: Array) -> Array:
        p = _posterior(judge, scores) if noise is None else noise.judged(scores, codes)
        return _summary(p, codes, _far(judge, scores))

    return _left_out(judge, features, codes, leave, reduce)


def _mixture(model: LayerEnsemble, X: Any, codes: Array, leave: Array) -> tuple[Array, Array]:
    """The weighted posterior of an ensemble, each member leaving the row itself out.

    The last column is ``far``, averaged over the members that know.
    """
    members = model._members(X)
    total = np.zeros((len(codes), len(model.classes_) + 1))
    known = np.ones(len(codes), bool)
    for weight, name in zip(model.weights_, model.layers_, strict=True):
        if name not in model.estimators_:
            total[:, :-1] += weight * model._posterior_of_given(members[name], name)
            continue
        member = model.estimators_[name]
        p, seen = _left_out(member, members[name], codes, leave, partial(_with_far, member))
        total += weight * p
        known &= seen
    return total, known


def _with_far(model: RobustGaussianClassifier, scores: Array, codes: Array) -> Array:
    return np.column_stack([_posterior(model, scores), _far(model, scores)])


def _left_out(
    model: RobustGaussianClassifier,
    X: Any,
    codes: Array,
    leave: Array,
    reduce: Callable[[Array, Array], Array],
) -> tuple[Array, Array]:
    """Reduced scores, without the row itself where it is to be left out; and which are known."""
    X = features_of(model, X)
    known, inside = recognised(model, X, codes)
    inside = inside._replace(rows=np.where(leave, inside.rows, 0.0))
    return label_scores(model._gaussians, X, codes, inside, reduce), known


def _typicality(model: Model, X: Any, labels: Array, leave: Array) -> Array:
    """P-values of the samples being like the trusted ones; without themselves where asked for."""
    if not _knows_what_is_usual(model):
        return np.full(len(labels), np.nan)
    if leave.all():
        return typicality(model, X, labels)
    plain: Array = typicality(model, X)
    return np.where(leave, typicality(model, X, labels), plain) if leave.any() else plain


def _knows_what_is_usual(model: Model) -> bool:
    """Not so for the members of a consensus beside its judge, nor for models of older files."""
    if isinstance(model, RobustGaussianClassifier):
        return model._reference is not None
    if model.judgement_ is None:
        return all(member._reference is not None for member in model.estimators_.values())
    return True


def _far(model: RobustGaussianClassifier, scores: Array) -> Array:
    """Squared distance to the nearest class, for each feature: about 1 for usual samples."""
    log_prior = np.log(model._gaussians.priors.max())
    far: Array = -2.0 * (scores.max(axis=1) - log_prior) / model.n_features_in_
    return far


def _posterior(model: RobustGaussianClassifier, scores: Array) -> Array:
    scores = model._gaussians.calibrated(scores).astype(np.float64)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def _summary(posterior: Array, codes: Array, far: Array) -> Array:
    """Quality, best class, its probability, and far, of each row."""
    every, best = np.arange(len(posterior)), posterior.argmax(axis=1)
    return np.column_stack([posterior[every, codes], best, posterior[every, best], far])
