"""Noise that depends on the sample: who is wrong is drawn, by chances that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.noise.containers import check_rows
from rehead.noise.labels import Labels, NoisyLabels, check_rate, read_labels

DIGITS = 6
"""Digits of a sum of chances that count: so, a whole number is one in spite of rounding."""


class Chances(Protocol):
    """What makes labels noisy."""

    def __call__(self, X: Any, codes: Array, rng: np.random.Generator) -> Array:
        """Probability of each label (column) for samples of these true codes (rows)."""
        ...


@dataclass(frozen=True, eq=False)
class InstanceLabels(NoisyLabels):
    """Labels with noise that depends on the sample, and what they were drawn from.

    Attributes
    ----------
    labels, changed, rate, transition, classes
        As in :class:`NoisyLabels`.
    probabilities : array of shape (n_samples, n_classes)
        What the label of each sample was drawn from: the truth that a noise model is after.
    chances : callable
        Gives such probabilities for other samples.
    seed : tuple of int
        Of the draws for other samples, which are independent of those for these.

    Examples
    --------
    >>> from rehead import noise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> noisy = noise.annotator(X[:1500], y[:1500], 0.2, random_state=0)
    >>> noisy.rate, noisy.probabilities.shape
    (0.2, (1500, 10))
    >>> held_out = noisy.label(X[1500:], y[1500:])
    >>> held_out.shape
    (297,)
    """

    probabilities: Array
    chances: Chances
    seed: tuple[int, ...]

    def label(self, X: Any, y: Any, *, random_state: Any = None) -> Any:
        """Make labels of other samples noisy, of a validation part for example, in the same way.

        The share of wrong labels is the one that comes out: about `rate`, if they are like the
        first samples. Part-dependent noise makes ``floor(rate * n_samples)`` of them wrong.

        Parameters
        ----------
        X : inputs of the kind that the noise was made from
        y : array-like of shape (n_samples,)
            Their true labels.
        random_state : None, int, Generator or RandomState
            None: the same draw each time, which comes from the seed of the first labels. Where
            several parts are labelled, give each a number. Any is independent of the first draw.

        Returns
        -------
        Noisy labels, of the kind of `y`.
        """
        labels = read_labels(y, self.classes)
        check_rows(X, len(labels.codes))
        given = [] if random_state is None else new_seed(check.generator_from(random_state))
        rng = np.random.default_rng([*self.seed, *given])
        P = self.chances(X, labels.codes, rng)
        return labels.in_kind(draw(P, labels.codes, rng))


class Asked(NamedTuple):
    """True labels whose noise is asked for, where it comes from, and the seed of other draws."""

    labels: Labels
    rng: np.random.Generator
    seed: tuple[int, ...]

    def noisy(self, P: Array, chances: Chances) -> InstanceLabels:
        """Draw labels by these probabilities."""
        made = self.labels.noisy(draw(P, self.labels.codes, self.rng))
        return InstanceLabels(**vars(made), probabilities=P, chances=chances, seed=self.seed)


def asked(X: Any, y: Any, rate: float, classes: Any, random_state: Any) -> Asked:
    """Check what every noise of this kind is given."""
    check_rate(rate)
    labels = read_labels(y, classes)
    check_rows(X, len(labels.codes))
    rng = check.generator_from(random_state)
    return Asked(labels, rng, new_seed(rng))


def new_seed(rng: np.random.Generator) -> tuple[int, ...]:
    """A seed for a generator that is independent of this one."""
    return tuple(int(word) for word in rng.integers(2**32, size=4))


def spread(wrong: Array, towards: Array, codes: Array) -> Array:
    """Probability of each label, from that of a wrong one and from where wrong ones go.

    Parameters
    ----------
    wrong : array of shape (n_samples,)
        Probability that the label is wrong.
    towards : array of shape (n_samples, n_classes)
        What wrong labels are proportional to. That of the true class is not looked at.
    codes : array of shape (n_samples,)
        True classes.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.noise.instance import spread
    >>> P = spread(np.array([0.3]), np.array([[5.0, 2.0, 1.0]]), np.array([0]))
    >>> P.round(6).tolist()
    [[0.7, 0.2, 0.1]]
    """
    P: Array = np.array(towards, np.float64)
    rows = np.arange(len(codes))
    P[rows, codes] = 0.0
    sums = P.sum(axis=1)
    P *= (wrong / np.where(sums > 0, sums, 1.0))[:, None]
    P[rows, codes] = 1.0 - P.sum(axis=1)
    return P


def draw(P: Array, codes: Array, rng: np.random.Generator) -> Array:
    """Draw a label for each sample; how many are wrong is not left to chance.

    As many as are expected are wrong: a whole number, or one of the two nearest. Pareto sampling
    (Rosén, 1997) chooses them, each with its own probability, to a very good approximation.
    """
    rows = np.arange(len(codes))
    wrong = np.clip(1.0 - P[rows, codes], 0.0, 1.0)
    n = int(np.floor(round(float(wrong.sum()), DIGITS) + rng.random()))
    u = rng.random(len(codes))
    with np.errstate(divide="ignore"):
        order = u / (1.0 - u) * ((1.0 - wrong) / wrong)
    chosen = np.argsort(order, kind="stable")[:n]
    others = P[chosen]
    others[np.arange(n), codes[chosen]] = 0.0
    sums = others.cumsum(axis=1)
    noisy = codes.copy()
    noisy[chosen] = (sums <= rng.random((n, 1)) * sums[:, -1:]).sum(axis=1)
    return noisy
