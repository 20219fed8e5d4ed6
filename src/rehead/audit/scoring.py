"""score_labels and find_mislabelled."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._perrow import number_type
from rehead._typing import Array
from rehead.audit.inputs import check_in_sample, check_recognised, count_labels, sample_ids
from rehead.audit.judging import Verdicts, judge_in_blocks
from rehead.audit.kinds import kinds_of, ordinary_share, quality_of_strange
from rehead.audit.pipelines import as_judge
from rehead.audit.protocol import LabelJudge
from rehead.audit.report import LabelReport
from rehead.audit.samerows import warn_of_other_labels
from rehead.audit.scores import variance_by_chance
from rehead.gaussian import NoiseModel
from rehead.gaussian.tasks import run_on

OF_HEAD = (
    "A RobustHead has judged its training labels already: see head.report_; others are judged by "
    "head.score_labels(loader)."
)


def score_labels(
    model: LabelJudge,
    X: Any,
    y: Any,
    *,
    ids: Any = None,
    in_sample: Any = None,
    executor: Executor | None = None,
) -> LabelReport:
    """Score every label.

    Rows that the model was fitted on, with the label they had then, are recognised and judged by
    estimates that leave them out, in closed form: otherwise a wrong label would vouch for itself.
    Others are judged as new samples.

    Work goes block by block: memory does not grow with samples times classes, and ``X`` may be
    features on disk (``FeatureStore(path).rows(layer)``).

    Parameters
    ----------
    model : RobustGaussianClassifier or LayerEnsemble
        Fitted.
    X : array-like of shape (n_samples, n_features), or mapping of layers for an ensemble
    y : array-like of shape (n_samples,)
        Labels to be judged, of classes that the model knows.
    ids : array-like of shape (n_samples,), optional
        Names of the samples, all different. Default: the pandas index of X or y, if it is more than
        row numbers.
    in_sample : bool or boolean array-like of shape (n_samples,), optional
        Which rows the model was fitted on. Default: those that are recognised. Rows with False are
        judged as new ones, even if they are recognised; rows with True that are not recognised are
        an error, since nobody can tell how much they counted in the fit.
    executor : concurrent.futures.Executor, optional
        Who judges features on disk. Default: the threads of this process. Results are the same.

    Returns
    -------
    LabelReport

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, score_labels
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["cat", "dog"], 50)
    >>> X = rng.normal(size=(100, 2)) + 6 * (y == "dog")[:, None]
    >>> y[[3, 8, 20]], y[[60, 71]] = "dog", "cat"
    >>> report = score_labels(RobustGaussianClassifier().fit(X, y), X, y)
    >>> sorted(report.worst().tolist())
    [3, 8, 20, 60, 71]
    >>> str(report.given[3]), str(report.suggested[3]), str(report.kind[3])
    ('dog', 'cat', 'wrong label')
    """
    model = as_judge(model, "Labels are judged", OF_HEAD)
    n = count_labels(model, X)
    codes = check.known_codes(check.check_labels(y, n), model.classes_)
    codes = codes.astype(number_type(len(model.classes_)))
    named = sample_ids(ids, X, y, n)
    wanted = check_in_sample(in_sample, n)
    with run_on(executor):
        found = judge_in_blocks(model, X, codes, wanted)
    check_recognised(wanted, found.known)
    warn_of_other_labels(model, X, codes, found.known)
    noise = model.noise_
    ordinary = ordinary_share(found.typical, found.distance, found.best)
    if noise is not None:  # else the quality is the plain posterior
        found = found._replace(quality=quality_of_strange(found.quality, ordinary))
    rate = float(1.0 - found.quality.mean())
    least, most = _range_of_rates(rate, noise)
    kind = kinds_of(codes, found.best, found.probability, ordinary)
    return LabelReport(
        given=model.classes_[codes],
        quality=found.quality,
        suggested=model.classes_[found.best],
        suggested_probability=found.probability,
        kind=kind,
        typicality=found.typical,
        order=np.argsort(found.quality, kind="stable"),
        noise_rate=rate,
        noise_rate_error=_rate_error(found.quality, noise),
        transition=_transition(codes, found, len(model.classes_), noise),
        classes=model.classes_,
        in_sample=found.known if wanted is None else found.known & wanted,
        ids=named,
        model=model,
        noise_least=least,
        noise_most=most,
        checked=0.0 if noise is None else noise.checked,
    )


def find_mislabelled(
    model: LabelJudge, X: Any, y: Any, *, ids: Any = None, in_sample: Any = None
) -> Array:
    """Ids of the labels that are probably wrong, worst first; row numbers where there are no ids.

    A label is reported if another one is more probable. Parameters are those of
    :func:`score_labels`.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, find_mislabelled
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
    >>> y = np.repeat([0, 1], 30)
    >>> y[[4, 50]] = 1, 0
    >>> model = RobustGaussianClassifier().fit(X, y)
    >>> sorted(find_mislabelled(model, X, y).tolist())
    [4, 50]
    >>> sorted(find_mislabelled(model, X, y, ids=[f"img{i}" for i in range(60)]).tolist())
    ['img4', 'img50']
    """
    return score_labels(model, X, y, ids=ids, in_sample=in_sample).mislabelled()


def _rate_error(quality: Array, noise: NoiseModel | None) -> float:
    """Counting error of the noise rate.

    Two things are counted: how often labels get wrong, at some anchors, and whether each of these
    labels is. That hard samples may be taken for wrong labels is not in it.
    """
    if noise is None:
        return float("nan")
    return float(np.hypot(noise.rate_error, np.sqrt(variance_by_chance(quality))))


def _range_of_rates(rate: float, noise: NoiseModel | None) -> tuple[float, float]:
    """At least and at most, as far from the rate as where the noise was measured.

    What is not known from above there, or was counted at checked labels, stays as it is; and where
    nothing spoke against clean labels, strange samples do not either.
    """
    if noise is None or np.isnan(noise.least):
        return np.nan, np.nan
    if noise.checked:
        return noise.least, noise.most
    if noise.most >= 1.0:
        return min(rate, noise.least), 1.0
    least, most = rate - (noise.wrong - noise.least), rate + (noise.most - noise.wrong)
    return max(least, 0.0) if noise.least > 0 else 0.0, min(most, 1.0)


def _transition(codes: Array, found: Verdicts, n_classes: int, noise: NoiseModel | None) -> Array:
    """As measured; else from the estimated counts of (true label, given label).

    There, each row's posterior mass goes to its given label and to the best other one.
    """
    if noise is not None:
        return noise.transition
    joint = np.zeros((n_classes, n_classes))
    agrees = found.best == codes
    np.add.at(joint, (codes, codes), np.where(agrees, 1.0, found.quality))
    np.add.at(joint, (found.best[~agrees], codes[~agrees]), 1.0 - found.quality[~agrees])
    joint += np.finfo(float).tiny * np.eye(n_classes)
    shares: Array = joint / joint.sum(axis=1, keepdims=True)
    return shares
