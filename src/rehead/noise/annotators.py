"""Annotator noise: labels of people who are unsure where samples are hard."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from rehead._typing import Array
from rehead.noise.instance import InstanceLabels, asked, spread
from rehead.noise.labels import floor_of
from rehead.noise.posteriors import Judges, Teaching, check_classifier, cross_judged, tempered

ANNOTATORS = 2
"""Each labels the samples that the other one may have learned from."""
TEMPERATURE = 1.5
"""How much softer than a calibrated classifier an annotator is. At 20 % noise, of the easiest tenth
of digits, Reuters documents and tweets, 1, 4 and 2 % are wrong; at 2, it would be 2, 6 and 5 %."""
MOST_OPINIONS = 1e12


@dataclass(frozen=True)
class Opinions:
    """What annotators say.

    Attributes
    ----------
    judges : Judges
    amount : float
        Up to 1, the share of labels that an annotator gave; the others are the truth. Above 1, the
        number of opinions, of which a wrong one counts.
    """

    judges: Judges
    amount: float

    def __call__(self, X: Any, codes: Array, rng: np.random.Generator) -> Array:
        """Probability of each label, if any of the annotators may have been asked."""
        said = [opinion(p, codes, self.amount) for p in self.judges.posteriors(X)]
        mean: Array = np.mean(said, axis=0)
        return mean


def annotator(
    X: Any,
    y: Any,
    rate: float,
    *,
    classifier: Any = None,
    clean: float = 0.2,
    classes: Any = None,
    random_state: Any = None,
) -> InstanceLabels:
    """Sample labels from the softened opinion of a weak classifier, mixed with the truth.

    Wrong labels sit where classes meet, and go to the class that the sample looks like; labels of
    easy samples are nearly clean. Two annotators learn from a few clean samples each, and judge
    samples that they did not learn from.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Inputs: features or images. numpy, torch, pandas, or a list.
    y : array-like of shape (n_samples,)
        True labels, as in :func:`uniform`.
    rate : float
        Share of wrong labels: ``floor(rate * n_samples)`` of them, in all classes together.
    classifier : object with ``fit``, ``predict_proba`` and ``classes_``, optional
        It gets rows of `X` as they are, and whole numbers as labels. It is copied, not changed.
        Default: logistic regression on flattened, standardised inputs.
    clean : float
        Share of each class, at most 0.5, that teaches an annotator: fewer make a weaker one.
    classes : array-like, optional
        All classes, in order, if some of them may not occur in `y`.
    random_state : None, int, Generator or RandomState
        Chooses who teaches, and draws the labels. The order of rows matters.

    Returns
    -------
    InstanceLabels

    Examples
    --------
    >>> from rehead import noise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> noisy = noise.annotator(X, y, 0.2, random_state=0)
    >>> int(noisy.changed.sum()) == int(0.2 * len(y))
    True
    """
    if not isinstance(clean, numbers.Real) or not 0.0 < float(clean) <= 0.5:
        raise ValueError(f"clean must be in (0, 0.5], got {clean!r}. For 20 % pass 0.2.")
    check_classifier(classifier)
    given = asked(X, y, rate, classes, random_state)
    codes = given.labels.codes
    teaching = Teaching(classifier, ANNOTATORS, float(clean))
    posterior, judges = cross_judged(X, given.labels, teaching, given.rng)
    amount = _amount(_errors(tempered(posterior, TEMPERATURE), codes), floor_of(rate, len(codes)))
    return given.noisy(opinion(posterior, codes, amount), Opinions(judges, amount))


def opinion(posterior: Array, codes: Array, amount: float) -> Array:
    """Probability of each label, from what the annotator's classifier thinks."""
    softened = tempered(posterior, TEMPERATURE)
    return spread(_wrong(_errors(softened, codes), amount), softened, codes)


def _errors(softened: Array, codes: Array) -> Array:
    """Probability that one opinion is wrong: summed, since 1 - p loses the digits of easy ones."""
    others = softened.copy()
    others[np.arange(len(codes)), codes] = 0.0
    errors: Array = np.minimum(others.sum(axis=1), 1.0)
    return errors


def _wrong(errors: Array, amount: float) -> Array:
    """Probability of a wrong label: of one opinion at times, or of any among several."""
    with np.errstate(divide="ignore"):
        several = amount > 1
        wrong: Array = -np.expm1(amount * np.log1p(-errors)) if several else amount * errors
    return wrong


def _amount(errors: Array, n: int) -> float:
    """How much of the opinions makes n wrong labels."""
    if errors.sum() >= n:
        return float(n / errors.sum()) if n else 0.0

    def missing(log_amount: float) -> float:
        return float(_wrong(errors, float(np.exp(log_amount))).sum()) - n

    most = np.log(MOST_OPINIONS)
    if missing(most) < 0.0:
        raise ValueError(
            f"{n} of {len(errors)} labels cannot be wrong: the annotator is certain of too many. "
            "Lower rate, or lower clean for a weaker annotator."
        )
    return float(np.exp(brentq(missing, 0.0, most, xtol=1e-12)))
