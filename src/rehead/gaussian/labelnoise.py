"""A model of label noise on top of class scores: how wrong labels come about, and which they are.

Scores s_c of a sample (log densities that did not see it) become a posterior of its *true* class,
p_c ~ beta_c exp(s_c / tau). Its observed label y is drawn from row c of T. So

    P(y | x) = sum_c p_c T[c, y],         P(c | x, y) ~ p_c T[c, y],

and the second one, at c = y, is the probability that the label is right: its *trust*.

What keeps the model honest, where a free one runs away (p and T can trade the same noise between
them: a p that reproduces the noise with T = I is as likely as the clean p with the true T):

- T is not fitted. It is read off at *anchors*: among the samples that are most surely of class c,
  judged without their labels, the share of each label is row c of T. (So some samples of each class
  must be easy, and the right label must be the most frequent one.)
- Gaussians in high dimension are over-confident. The temperature tau makes them honest: it
  maximises the likelihood of the observed labels, given T.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln

from rehead._typing import Array

SAMPLED = 5_000
"""So many samples are enough to fit a noise model to."""
ANCHORS = (0.3, 0.1)
"""Share of the samples predicted as a class that serve as its anchors, and a smaller one."""
FEWEST_ANCHORS = 30
"""A class has at least so many anchors, or all samples that are predicted as it."""
BORROWED = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""How many anchors a class may borrow from all others; the counts themselves say which."""
LOG_TEMPERATURES = (-1.0, 6.0)
RIDGE = 5.0
"""Weight of the squared offsets, as if so many samples spoke against them."""


class NoiseModel(NamedTuple):
    """How labels came about.

    ``temperature`` makes scores honest, ``priors`` are the shares of the true classes,
    ``transition`` is T, ``anchors`` how many samples each of its rows was read off at, ``nll`` the
    mean of ``-log P(y | x)``, ``wrong`` the share of wrong labels, judged one by one.
    """

    temperature: float
    priors: Array
    transition: Array
    anchors: Array
    nll: float
    wrong: float

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], prefix: str) -> NoiseModel:
        """From the arrays of a file, named by fields."""
        found: dict[str, Any] = {f: arrays.get(prefix + f, np.array(np.nan)) for f in cls._fields}
        numbers = {f: float(found[f]) for f in ("temperature", "nll", "wrong")}
        noise = cls(**{**found, **numbers})
        return noise if np.isfinite(noise.wrong) else noise._replace(wrong=noise.rate)

    @property
    def rate(self) -> float:
        """Share of wrong labels that the matrix stands for, of any labels it makes."""
        return float(1.0 - (self.priors * np.diag(self.transition)).sum())

    @property
    def rate_error(self) -> float:
        """Standard error of the rate: what counting labels at so few anchors leaves open."""
        variance = _variance(np.diag(self.transition), self.anchors)
        return float(np.sqrt((self.priors**2 * variance).sum()))

    def posterior(self, scores: Array) -> Array:
        """``p_c``: what the sample is, judged without its label."""
        return softmax(scores / self.temperature + np.log(self.priors))

    def judged(self, scores: Array, codes: Array) -> Array:
        """``P(c | x, y)``: what the sample is, its label taken into account."""
        joint: Array = self.posterior(scores) * self.transition[:, codes].T
        joint /= np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return joint

    def trust(self, scores: Array, codes: Array) -> Array:
        """Probability that each label is right."""
        trust: Array = self.judged(scores, codes)[np.arange(len(codes)), codes]
        return trust

    def weights(self, scores: Array, codes: Array, power: float = 1.0) -> Array:
        """How much each sample should count in an estimate: trust, its odds to some power.

        A wrong label harms an estimate more than one more right label helps it, so doubtful ones
        may count for less than the probability that they are right.
        """
        trust = self.trust(scores, codes)
        weights: Array = trust**power / (trust**power + (1.0 - trust) ** power)
        return weights


def fit_noise(
    scores: Array,
    codes: Array,
    transition: Array | None = None,
    counts: Array | None = None,
) -> NoiseModel:
    """Transition matrix at anchors (or as given), then temperature and priors by likelihood.

    ``counts`` tells how often each sample counts.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> true = rng.integers(2, size=2000)
    >>> labels = np.where(rng.random(2000) < 0.3, 1 - true, true)
    >>> noise = fit_noise(8.0 * np.eye(2)[true], labels)
    >>> noise.transition.round(1)
    array([[0.7, 0.3],
           [0.3, 0.7]])
    """
    scores = scores.astype(np.float64)
    n_classes = scores.shape[1]
    counts = np.ones(len(codes)) if counts is None else counts
    share = counts / counts.sum()
    T, anchors = anchor_transition(scores, codes, counts)
    T = T if transition is None else transition
    of_label = T[:, codes].T
    priors = np.full(n_classes, 1.0 / n_classes)
    log_tau = 0.0
    for _ in range(3):

        def nll(log_tau: float, priors: Array = priors) -> float:
            p = softmax(scores / np.exp(log_tau) + np.log(priors))
            return float(-(share * np.log(np.maximum((p * of_label).sum(axis=1), 1e-12))).sum())

        least = minimize_scalar(nll, bounds=LOG_TEMPERATURES, method="bounded")
        log_tau = float(least.x)
        for _ in range(5):  # expectation-maximisation for the shares of the classes
            joint = softmax(scores / np.exp(log_tau) + np.log(priors)) * of_label
            joint /= np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            priors = np.maximum(share @ joint, 1e-4)
            priors = priors / priors.sum()
    found = NoiseModel(float(np.exp(log_tau)), priors, T, anchors, nll(log_tau, priors), 0.0)
    return found._replace(wrong=1.0 - float(share @ found.trust(scores, codes)))


def anchor_transition(
    scores: Array, codes: Array, counts: Array | None = None
) -> tuple[Array, Array]:
    """``T[c, k]``: how often the label is k among the samples that are most surely of class c.

    Also the number of anchors of each class; one that is never predicted has none, and is taken to
    be like the others.

    Anchors that are not of their class look like noise. Where classes overlap, there are fewer of
    those among fewer anchors: if more of their labels agree, clearly, these are taken.
    """
    counts = np.ones(len(codes)) if counts is None else counts
    seen = _labels_of_anchors(scores, codes, counts, ANCHORS[0])
    for share in ANCHORS[1:]:
        fewer = _labels_of_anchors(scores, codes, counts, share)
        if _clearly_purer(fewer, seen):
            seen = fewer
    seen[_disowned(seen)] = 0.0
    return dominant(_smoothed(seen)), seen.sum(axis=1)


def _labels_of_anchors(scores: Array, codes: Array, counts: Array, share: float) -> Array:
    """How often each label occurs among the anchors of each class."""
    n_classes = scores.shape[1]
    best = scores.argmax(axis=1)
    top_two = np.partition(scores, n_classes - 2, axis=1)[:, -2:]
    margin = top_two[:, 1] - top_two[:, 0]
    seen = np.zeros((n_classes, n_classes))
    for c in range(n_classes):
        rows = np.flatnonzero(best == c)
        total = counts[rows].sum()
        n = min(total, max(FEWEST_ANCHORS, int(share * total)))
        ranked = rows[np.argsort(-margin[rows], kind="stable")]
        before = np.cumsum(counts[ranked]) - counts[ranked]
        taken = np.clip(n - before, 0.0, counts[ranked])
        seen[c] = np.bincount(codes[ranked], weights=taken, minlength=n_classes)
    return seen


def _clearly_purer(few: Array, many: Array) -> bool:
    """Whether more labels of fewer anchors agree, class by class, by two standard errors."""
    share = many.sum(axis=1) / max(many.sum(), 1.0)
    (p, n), (q, _) = ((np.diag(s), s.sum(axis=1)) for s in (few, many))
    p, q = p / np.maximum(n, 1.0), q / np.maximum(many.sum(axis=1), 1.0)
    return bool(share @ (p - q) > 2.0 * np.sqrt(share**2 @ _variance(p, n)))


def _variance(share: Array, n: Array) -> Array:
    """Of shares that were counted; one more of each kind, so that it is never 0."""
    variance: Array = (share * (1.0 - share) * n + 1.0) / (n + 2.0) ** 2
    return variance


def _disowned(seen: Array) -> Array:
    """Classes whose anchors mostly carry the label of another class: they are samples of that one.

    It happens to a rare class whose label many samples of a frequent class carry. Its anchors say
    nothing about its own noise; taken at their word, the two classes would change places.
    """
    own = np.diag(seen)
    other = np.where(np.eye(len(seen), dtype=bool), 0.0, seen).max(axis=1)
    disowned: Array = other - own > np.sqrt(other + own)
    return disowned


def _smoothed(seen: Array) -> Array:
    """Shares from counts; classes borrow from each other as far as they are alike.

    How often a label is right, and which wrong label it is then, are smoothed one after the other:
    flip noise has the same rate in all classes and a wrong label for each of its own, uniform noise
    has both in common.
    """
    n_classes = len(seen)
    of_class, right = seen.sum(axis=1), np.diag(seen)
    # Half a right and half a wrong anchor more: not even all agreeing means certainty.
    usual = (right.sum() + 0.5) / (of_class.sum() + 1.0)
    share = _borrowed(np.column_stack([right, of_class - right]), np.array([usual, 1.0 - usual]))
    off = ~np.eye(n_classes, dtype=bool)
    wrong = seen[off].reshape(n_classes, n_classes - 1)
    T = np.diag(share[:, 0])
    even = np.full(n_classes - 1, 1.0 / (n_classes - 1))
    T[off] = (share[:, 1:] * _borrowed(wrong, even)).ravel()
    return T


def _borrowed(seen: Array, usual: Array) -> Array:
    """Shares of each row as if some more had been counted, spread as usual.

    How many more is what makes the counts most probable: rows are multinomial, and their
    probabilities come from a Dirichlet distribution around the usual ones.
    """
    n = seen.sum(axis=1, keepdims=True)

    def evidence(more: float) -> float:
        a = more * usual
        rows = (
            gammaln(more) - gammaln(more + n[:, 0]) + (gammaln(a + seen) - gammaln(a)).sum(axis=1)
        )
        return float(rows.sum())

    more = max(BORROWED, key=evidence)
    shares: Array = (seen + more * usual) / (n + more)
    return shares


def dominant(T: Array) -> Array:
    """No wrong label is more frequent than the right one: that is what "right" has to mean."""
    capped = np.minimum(T, np.diag(T)[:, None])
    dominant: Array = capped / capped.sum(axis=1, keepdims=True)
    return dominant


def corrected_nll(posterior: Array, codes: Array, transition: Array) -> Array:
    """``-log sum_c p_c T[c, y]`` of each sample: how unlikely its noisy label is."""
    likelihood = (posterior * transition[:, codes].T).sum(axis=1)
    nll: Array = -np.log(np.maximum(likelihood, np.finfo(float).tiny))
    return nll


class Calibration(NamedTuple):
    """``softmax(scores / temperature + offsets)`` as an honest posterior of the true class."""

    temperature: float
    offsets: Array

    def posterior(self, scores: Array) -> Array:
        """Apply it."""
        return softmax(scores.astype(np.float64) / self.temperature + self.offsets)


def calibrate(
    scores: Array, codes: Array, transition: Array, counts: Array | None = None
) -> Calibration:
    """Temperature and one offset a class that maximise ``mean log sum_c p_c T[c, y]``."""
    counts = np.ones(len(codes)) if counts is None else counts
    share = counts / counts.sum()
    scores = scores.astype(np.float64)
    scores = scores - scores.mean(axis=1, keepdims=True)
    of_label = transition[:, codes].T
    n_classes = scores.shape[1]
    ridge = RIDGE / counts.sum()

    def loss(v: Array) -> tuple[float, Array]:
        slope, offsets = np.exp(v[0]), v[1:]
        p = softmax(slope * scores + offsets)
        joint = p * of_label
        likelihood = np.maximum(joint.sum(axis=1), np.finfo(float).tiny)
        towards = (joint / likelihood[:, None] - p) * share[:, None]
        gradient = np.append((towards * scores).sum() * slope, towards.sum(axis=0))
        gradient[1:] -= 2 * ridge * offsets
        return float(-(share * np.log(likelihood)).sum() + ridge * (offsets**2).sum()), -gradient

    # Gaussians and networks are over-confident, not the other way round: where the noise is
    # overestimated, a lower temperature would make them certain.
    low, high = 0.0, LOG_TEMPERATURES[1]
    # Where scores are far too large the likelihood is flat, so look around before climbing.
    starts = [np.append(slope, np.zeros(n_classes)) for slope in np.linspace(-high, -low, 15)]
    start = min(starts, key=lambda v: loss(v)[0])
    # A class whose label does not occur is not known to be rare: it keeps its offset of 0.
    occurs = np.bincount(codes, weights=counts, minlength=n_classes) > 0
    bounds = [(-high, -low), *[(-10.0, 10.0) if o else (0.0, 0.0) for o in occurs]]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    offsets: Array = found.x[1:] - found.x[1:].mean()
    return Calibration(float(np.exp(-found.x[0])), offsets)


def softmax(scores: Array) -> Array:
    """Probabilities from scores, in double precision."""
    z = scores.astype(np.float64)
    z -= z.max(axis=1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=1, keepdims=True)
    return z
