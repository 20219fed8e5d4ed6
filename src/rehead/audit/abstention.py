"""Predictions that are only made where a promised error is kept, proved on held-out labels.

A prediction c with confidence s (its posterior) is *accepted* if s >= t. The error among accepted
predictions of new samples is to be at most e. Held-out samples tell. Their labels were checked, on
samples that were drawn at random; or the label y of a sample of true class k is drawn from row k of
a transition matrix T that is *known*. Then

    loss = 1 - (T^-1)[y, c]    has the mean    1 - sum_y T[k, y] (T^-1)[y, c] = 1 - [k = c]

whatever k is, so the mean loss of accepted samples estimates their error without a bias. (For
checked labels, T = I, it is the share of wrong predictions.) A matrix that was measured on the same
features will not do: where classes overlap it holds hard samples for wrong labels, and would excuse
the very errors that are to be counted.

A loss lies between bounds that T gives, so that the hypothesis "the error is larger than e" has a
p-value at any number n of samples:

- where losses have two possible values (no noise, or uniform noise), the number of larger ones is
  binomial: the exact test, as behind the interval of Clopper and Pearson;
- otherwise the smaller of ``exp(-n kl(m, mu))`` (Hoeffding) and ``e P(Bin(n, mu) <= ceil(n m))``
  (Bentkus), for the mean loss m and the limit mu, both scaled to [0, 1].

*Fixed-sequence testing.* Thresholds of a grid that does not depend on the labels are tested from
strict to lax, all at the level 1 - confidence, until one fails; the last that passed is taken. A
promise can only be broken if the first threshold whose error is too large passes, so no level has
to be shared between them. It starts with the strictest that is likely to pass (before any label is
looked at: from the number of samples that it accepts, from T, and from the error that their
posteriors stand for): at a stricter one a few unlucky labels would end it all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, xlogy
from scipy.stats import binom

from rehead import _validation as check
from rehead._typing import Array
from rehead._warnings import warn
from rehead.audit.pipelines import as_judge
from rehead.audit.protocol import LabelJudge

THRESHOLDS = 200
"""Size of the grid, of equal steps in the log odds of the confidence."""
SUREST = 14.0
"""Log odds of the strictest threshold."""
LEAST_ERROR = 0.25
"""No model is believed to have a smaller share of the promised error."""
BAD_LUCK = 1.0
"""Standard errors of bad luck that the first threshold tested has to stand."""
INVERTIBLE = 1e-3
"""Smallest singular value of a transition matrix that tells labels apart."""
PREDICTED = "Predictions are made"


@dataclass(frozen=True)
class Abstention:
    """A confidence threshold, and what it promises.

    Attributes
    ----------
    threshold : float
        Predictions of at least this confidence (the largest posterior) are accepted; infinite
        where nothing can be promised.
    coverage : float
        Share of the held-out samples that is accepted.
    error : float
        Estimated error among them, corrected for label noise; by chance it can be below 0.
    bound : float
        Upper confidence bound of that error.
    confidence : float
        Probability with which it holds.
    """

    threshold: float
    coverage: float
    error: float
    bound: float
    confidence: float


def abstention_threshold(
    model: LabelJudge,
    X: Any,
    y: Any,
    *,
    error: float = 0.05,
    confidence: float = 0.9,
    checked: bool = False,
    transition: Any = None,
) -> Abstention:
    """The lowest confidence at which predictions keep a promised error.

    With probability ``confidence`` (over the held-out samples), of new samples whose prediction is
    accepted at most a share ``error`` is predicted wrongly. The module's docstring has the proof.

    Parameters
    ----------
    model : RobustGaussianClassifier or LayerEnsemble
        Fitted.
    X : array-like of shape (n_samples, n_features), or mapping of layers for an ensemble
        Held-out samples: neither the model nor the network below it was fitted on them, nor on
        others because of them.
    y : array-like of shape (n_samples,)
        Their labels.
    error : float in (0, 1), default=0.05
    confidence : float in (0, 1), default=0.9
    checked : bool, default=False
        Say so if somebody has checked these labels, and *the samples were drawn at random* first.
        Reviewed suspects are not a random draw: their labels are right now, but they are not like
        the samples to come.
    transition : array-like of shape (n_classes, n_classes), optional
        For labels that are noisy: the probability of each label (column) for each true class (row),
        known from elsewhere. What a model measured is not known well enough, and there is no
        default.

    Returns
    -------
    Abstention
        Where no threshold can promise it, a warning is given, and the threshold is infinite: always
        abstain.

    Notes
    -----
    Noise has its price in samples. To promise an error of 5 % takes 45 accepted samples whose
    labels were checked, if all are right; with 30 % uniform noise of a known matrix about 400 with
    luck and 1,200 without. The promise is about new samples of the same distribution;
    :func:`rehead.typicality` finds others.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, abstention_threshold, predict_or_abstain
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> X = rng.normal(size=(2000, 2)) + 2 * y[:, None]
    >>> clf = RobustGaussianClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> sure = abstention_threshold(clf, X[1000:], y[1000:], error=0.03, checked=True)
    >>> bool(sure.bound <= 0.03), bool(sure.coverage > 0.7)
    (True, True)
    >>> predict_or_abstain(clf, [[-1, -1], [1, 1], [3, 3]], sure).tolist()
    [0, None, 1]
    """
    model = as_judge(model, PREDICTED, "See head.abstention_threshold(loader).")
    for name, value in (("error", error), ("confidence", confidence)):
        if not (check.is_real(value) and 0 < value < 1):
            raise ValueError(f"{name} must be between 0 and 1, got {value!r}.")
    check.check_aligned(X, y=y)
    predicted, confidences = _predicted(model, X)
    codes = check.known_codes(check.check_labels(y, len(predicted)), model.classes_)
    level = 1.0 - confidence
    T = _known_transition(model.classes_, checked=checked, transition=transition)
    losses = corrected_losses(T, predicted, codes)
    found = _laxest(confidences, losses, Promise(error, level))
    if found is None:
        warn(
            f"No threshold can promise an error of {error:g} with confidence {confidence:g} on "
            f"these {len(codes)} samples, so no prediction is accepted. More held-out "
            "samples or checked labels help, or a larger error."
        )
        return Abstention(np.inf, 0.0, np.nan, np.nan, confidence)
    bound = upper_bound(found.loss, found.n, losses, level)
    return Abstention(found.threshold, found.n / len(codes), found.loss, bound, confidence)


def predict_or_abstain(
    model: LabelJudge, X: Any, threshold: float | Abstention, abstain: Any = None
) -> Array:
    """The most probable class of each sample, where it is probable enough.

    Parameters
    ----------
    model : RobustGaussianClassifier or LayerEnsemble
    X : array-like of shape (n_samples, n_features), or mapping of layers for an ensemble
    threshold : float or Abstention
        From :func:`abstention_threshold`.
    abstain : optional
        The value for all other samples; it must not be a class. With None, or a value of another
        type than the classes, the result is an array of objects.

    Returns
    -------
    array of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, predict_or_abstain
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> clf = RobustGaussianClassifier("sample").fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> predict_or_abstain(clf, [[1.0], [5.0], [9.0]], 0.99, "?").tolist()
    ['a', '?', 'b']
    """
    model = as_judge(model, PREDICTED, "See head.predict_or_abstain(loader, threshold).")
    t = threshold.threshold if isinstance(threshold, Abstention) else threshold
    if not check.is_real(t) or np.isnan(t) or 1 < t < np.inf:
        raise ValueError(
            "threshold must be a probability, an Abstention, or np.inf to abstain always, got "
            f"{threshold!r}."
        )
    if abstain is not None and np.isin(abstain, model.classes_):
        raise ValueError(f"abstain={abstain!r} is a class. Choose a value that is not.")
    codes, confidences = _predicted(model, X)
    labels: Array = model.classes_[codes]
    value = np.asarray(abstain)
    kinds = {value.dtype.kind, labels.dtype.kind}
    alike = len(kinds) == 1 or kinds <= {"i", "u", "f"}
    labels = labels.astype(np.result_type(labels, value) if alike else object)
    labels[confidences < t] = abstain
    return labels


class Promise(NamedTuple):
    """The error, and the level that it is tested at."""

    error: float
    level: float


class Losses(NamedTuple):
    """A loss for each sample, between bounds.

    ``binary`` says that there is nothing in between, ``variance`` how much the losses of right
    predictions vary because of the noise.
    """

    values: Array
    low: float
    high: float
    binary: bool
    variance: float


class Accepted(NamedTuple):
    """A threshold, how many samples it accepts, and their mean loss."""

    threshold: float
    n: int
    loss: float


def _predicted(model: LabelJudge, X: Any) -> tuple[Array, Array]:
    model.count_samples(X)  # says what to pass where X is neither features nor layers
    posterior = model.predict_proba(X)
    codes = posterior.argmax(axis=1)
    return codes, posterior[np.arange(len(codes)), codes].astype(np.float64)


def _known_transition(classes: Array, *, checked: Any, transition: Any) -> Array:
    """The matrix that labels were drawn from, which the user has to vouch for."""
    check_vouched({"checked": checked, "transition": transition})
    if checked:
        return np.eye(len(classes))
    T = check.check_transition(transition, classes)
    if np.linalg.svd(T, compute_uv=False)[-1] < INVERTIBLE:
        raise ValueError(
            "The transition matrix has (nearly) no inverse: labels this noisy do not tell which "
            "predictions are right. Pass samples with checked labels and checked=True."
        )
    return T


def check_vouched(options: Mapping[str, Any]) -> None:
    """Raise unless the user says of labels that they are right, or how they go wrong."""
    checked, transition = options.get("checked", False), options.get("transition")
    if not isinstance(checked, (bool, np.bool_)):
        raise ValueError(f"checked must be True or False, got {checked!r}.")
    if checked == (transition is not None):
        raise ValueError(
            "An error can only be promised on labels that were checked, of samples drawn at "
            "random: pass those with checked=True. Or pass transition= where it is known how "
            "labels go wrong; what the model measured takes hard samples for wrong labels, and "
            "would excuse errors." + (" You have passed both." if checked else "")
        )


def corrected_losses(transition: Array, predicted: Array, given: Array) -> Losses:
    """Losses whose means are 1 where a prediction is wrong, and 0 where it is right.

    Examples
    --------
    >>> import numpy as np
    >>> T = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> found = corrected_losses(T, np.array([0, 0]), np.array([0, 1]))
    >>> found.values, found.binary
    (array([-0.5,  1.5]), True)
    """
    possible = 1.0 - np.linalg.inv(transition)
    classes, counts = np.unique(predicted, return_counts=True)
    columns = possible[:, classes]
    # How often each label is seen with each prediction, if all predictions are right.
    often = transition[classes].T * (counts / counts.sum())
    variance = float((columns**2 * often).sum())
    low, high = float(columns.min()), float(columns.max())
    binary = bool(np.isclose(columns, np.where(columns > (low + high) / 2, high, low)).all())
    return Losses(possible[given, predicted], low, high, binary, variance)


def p_value(loss: float, n: int, limit: float, losses: Losses) -> float:
    """How probable so small a mean loss of n samples is at most, if the true one exceeds a limit.

    Examples
    --------
    >>> import numpy as np
    >>> clean = Losses(np.zeros(45), 0.0, 1.0, True, 0.0)
    >>> round(p_value(0.0, 45, 0.05, clean), 4), round(0.95**45, 4)
    (0.0994, 0.0994)
    """
    width = losses.high - losses.low
    m = float(np.clip((loss - losses.low) / width, 0.0, 1.0))
    mu = (limit - losses.low) / width
    if m >= mu:
        return 1.0
    if mu >= 1.0:
        return 0.0
    if losses.binary:
        return float(binom.cdf(round(n * m), n, mu))
    kl = xlogy(m, m / mu) + xlogy(1.0 - m, (1.0 - m) / (1.0 - mu))
    bentkus = np.e * binom.cdf(np.ceil(n * m - 1e-9), n, mu)
    return float(min(np.exp(-n * kl), bentkus, 1.0))


def upper_bound(loss: float, n: int, losses: Losses, level: float) -> float:
    """The smallest limit that a mean loss of n samples is significantly below."""
    above = max(loss, losses.low)
    if p_value(loss, n, losses.high - 1e-12, losses) > level:
        return losses.high
    return float(brentq(lambda e: p_value(loss, n, e, losses) - level, above, losses.high - 1e-12))


def _laxest(confidences: Array, losses: Losses, promise: Promise) -> Accepted | None:
    """The laxest threshold that passes, all stricter ones from the first on having passed too."""
    order = np.argsort(-confidences, kind="stable")
    odds = np.linspace(SUREST, float(logit(1e-3)), THRESHOLDS)
    thresholds = np.append(expit(odds), 0.0)
    counts = np.searchsorted(-confidences[order], -thresholds, side="right")
    thresholds, counts = thresholds[counts > 0], counts[counts > 0]
    expected = np.cumsum(1.0 - confidences[order])[counts - 1] / counts
    first = _first(expected, counts, losses, promise)
    means = np.cumsum(losses.values[order])[counts - 1] / counts
    passed = None
    for t, n, loss in zip(thresholds[first:], counts[first:], means[first:], strict=True):
        if p_value(float(loss), int(n), promise.error, losses) > promise.level:
            break
        passed = Accepted(float(t), int(n), float(loss))
    return passed


def _first(expected: Array, counts: Array, losses: Losses, promise: Promise) -> int:
    """The strictest threshold that is likely to pass, or else the likeliest of those that can.

    Posteriors may be too modest for any to be likely. One that accepts so few samples that not even
    right predictions would pass must not be tested then: it would end it all.
    """
    expected = np.maximum(expected, LEAST_ERROR * promise.error)
    variance = losses.variance + expected * (1.0 - expected)
    unlucky = expected + BAD_LUCK * np.sqrt(np.maximum(variance, 0.0) / counts)

    def p_of(loss: Array) -> Array:
        each = zip(np.broadcast_to(loss, counts.shape), counts, strict=True)
        return np.array([p_value(float(m), int(n), promise.error, losses) for m, n in each])

    likely = np.flatnonzero(p_of(unlucky) <= promise.level)
    if len(likely):
        return int(likely[0])
    can = p_of(np.zeros(1)) <= promise.level
    ranked = np.lexsort((unlucky, p_of(expected), ~can))
    return int(ranked[0])
