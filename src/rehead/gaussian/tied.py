"""Class Gaussians with one covariance: from their parameters to the linear posterior."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from rehead._typing import Array, Features
from rehead.gaussian.kernels import BLOCK, Factor
from rehead.gaussian.linear import LinearScores
from rehead.gaussian.moments import PooledMoments
from rehead.gaussian.probability import softmax
from rehead.gaussian.projections import FARTHEST_MEAN, Means, Projector
from rehead.gaussian.shrinkage import Shrinkage, invertible
from rehead.gaussian.threads import ordered_map, own_threads, ranges


@dataclass(frozen=True, eq=False)
class TiedGaussians:
    """The generative classifier of section 3.1.

    ``P(x | y=c) = N(x; mu_c, Sigma)`` and ``P(y=c) = beta_c``.

    Attributes
    ----------
    means : array of shape (C, d)
    covariance : array of shape (d, d)
    priors : array of shape (C,)
    factor : Factor
        Cholesky factor of the covariance, double precision.
    centre : array of shape (d,)
        Mean of the class means. Everything is computed relative to it.
    weights : array of shape (C, d)
        ``(mu_c - centre)' Sigma^-1``.
    norms : array of shape (C,)
        ``(mu_c - centre)' Sigma^-1 (mu_c - centre)``.
    shrunk : float
        Shrinkage that was needed on top of what was set, so that the inverse exists.
    estimated : float
        Share of the covariance that was estimated from samples: 1 without shrinkage, 0 where it was
        given.
    temperature, offsets : float, array of shape (C,) or None
        Calibration: scores are divided by the one, and the other is added.
    added : LinearScores or None
        What another linear classifier adds to the calibrated scores.

    Examples
    --------
    >>> import numpy as np
    >>> g = tied_gaussians(np.array([[0.0, 0.0], [2.0, 0.0]]), np.eye(2))
    >>> g.posterior(np.array([[1.0, 5.0]]))
    array([[0.5, 0.5]])
    """

    means: Array
    covariance: Array
    priors: Array
    factor: Factor
    centre: Array
    weights: Array
    norms: Array
    shrunk: float = 0.0
    estimated: float = 1.0
    temperature: float = 1.0
    offsets: Array | None = None
    added: LinearScores | None = None

    @property
    def fixed(self) -> bool:
        """Whether the covariance was given, not estimated from samples."""
        return self.estimated == 0.0

    def without_priors(self) -> TiedGaussians:
        """With equal priors: what samples look like, however common classes are."""
        return replace(self, priors=np.full(len(self.priors), 1.0 / len(self.priors)))

    @property
    def bias(self) -> Array:
        """``-mu_c' Sigma^-1 mu_c / 2 + log beta_c``, relative to the centre; calibrated."""
        bias = self._log_joint_bias / self.temperature
        bias = bias if self.offsets is None else bias + self.offsets
        return bias if self.added is None else bias + self.added.relative_to(self.centre).bias

    @property
    def slopes(self) -> Array:
        """``weights``, calibrated: the posterior is ``softmax((x - centre) slopes' + bias)``."""
        slopes = self.weights / self.temperature
        return slopes if self.added is None else slopes + self.added.weights

    @property
    def _log_joint_bias(self) -> Array:
        with np.errstate(divide="ignore"):
            bias: Array = np.log(self.priors) - 0.5 * self.norms
        return bias

    def scores(self, X: Features) -> Array:
        """``log beta_c + log N(x; mu_c, Sigma)`` up to a term that all classes share; calibrated.

        Linear in x, so a prediction costs one matrix product.
        """
        if self.added is None:
            scores = self._linear(X, self.weights)
            if self.temperature != 1.0:
                scores /= self.temperature
        else:
            scores = self._linear(X, self.slopes)
        scores += self.bias
        return scores

    def log_posterior(self, X: Features) -> Array:
        """Bayes' rule, in logarithms."""
        scores = self.scores(X)
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores

    def posterior(self, X: Features) -> Array:
        """``P(y=c | x)``, the softmax of a linear function of x.

        Never exactly 0, not even in float32, so that its logarithm is finite.
        """
        return softmax(self.scores(X), overwrite=True)

    def distances(self, X: Features) -> Array:
        """Squared Mahalanobis distance of each row to each class mean, shape (N, C)."""
        distances, norms = self._linear_and_norms(X)
        distances *= -2.0
        distances += self.norms
        distances += norms[:, None]
        return distances

    def log_density(self, X: Features) -> Array:
        """``log sum_c beta_c N(x; mu_c, Sigma)``: low for a sample unlike all classes."""
        linear, norms = self._linear_and_norms(X)
        log_scale = -0.5 * (X.shape[1] * np.log(2.0 * np.pi) + self.factor.log_det)
        density: Array = -0.5 * norms + log_scale + logsumexp(linear + self._log_joint_bias, axis=1)
        return density

    def projector(self, X: Features, weights: Array | None = None) -> Projector:
        """Rows on the class means (or other weights), block by block."""
        weights = self.weights if weights is None else weights
        return Projector(X, self.centre, Means(weights, self.norms), self.factor)

    @own_threads()
    def _linear(self, X: Features, weights: Array) -> Array:
        out, projector = np.empty((len(X), len(self.means)), X.dtype), self.projector(X, weights)

        def part(span: slice) -> None:
            for where, linear in projector.linear(span):
                out[where] = linear

        flops = 2.0 * len(X) * self.means.size
        for _ in ordered_map(part, ranges(len(X), flops, BLOCK), flops):
            pass
        return out

    @own_threads()
    def _linear_and_norms(self, X: Features) -> tuple[Array, Array]:
        out, projector = np.empty((len(X), len(self.means)), X.dtype), self.projector(X)
        norms = np.empty(len(X), X.dtype)

        def part(span: slice) -> None:
            for found in projector.both(span):
                out[found.where], norms[found.where] = found.linear, found.norms

        flops = float(len(X)) * X.shape[1] ** 2
        for _ in ordered_map(part, ranges(len(X), flops, BLOCK), flops):
            pass
        return out, norms


@own_threads()
def tied_gaussians(
    means: Array,
    covariance: Array,
    priors: Array | None = None,
    *,
    shrinkage: Shrinkage = 0.0,
    to_diagonal: bool = False,
    n: float = np.inf,
) -> TiedGaussians:
    """Build the classifier from its parameters (uniform priors unless given).

    Only the lower triangle of ``covariance`` is read. ``n`` is the number of samples behind it,
    for ``shrinkage="auto"``.
    """
    C = len(means)
    priors = np.full(C, 1.0 / C) if priors is None else np.asarray(priors, np.float64)
    covariance, factor, added, estimated = invertible(
        covariance, shrinkage, n, to_diagonal=to_diagonal
    )
    lower = np.tril(covariance)
    covariance = lower + lower.T
    np.einsum("ii->i", covariance)[...] /= 2.0
    means = means.astype(np.float64)
    centre = means.mean(axis=0)
    # Relative to the centre the posterior is the same, and an offset common to all features no
    # longer costs digits.
    half = solve_triangular(factor.lower, (means - centre).T, lower=True)
    _check_apart(half)
    W = solve_triangular(factor.lower, half, lower=True, trans="T").T
    norms = np.einsum("dc,dc->c", half, half)
    return TiedGaussians(means, covariance, priors, factor, centre, W, norms, added, estimated)


def _check_apart(half: Array) -> None:
    """Raise if class means (whitened) are so far apart that squares of distances overflow."""
    most = np.abs(half).max(axis=1)
    if not most.max() <= np.sqrt(FARTHEST_MEAN["d"] / len(half)):
        feature = int(np.argmax(np.where(np.isfinite(most), most, np.inf)))
        raise ValueError(
            f"In feature {feature} the classes are {most[feature]:.0e} standard deviations apart, "
            "which is more than can be squared. Leave it out, or bring its large and its small "
            "values to a common scale."
        )


def from_moments(
    m: PooledMoments,
    *,
    priors: str | Array = "uniform",
    shrinkage: Shrinkage = 0.0,
    to_diagonal: bool = False,
) -> TiedGaussians:
    """Build the classifier from class moments.

    ``priors`` is "uniform" (the paper's appendix), "empirical" (the share of each class among the
    rows that were kept, equation 1) or an array.
    """
    if isinstance(priors, str):
        beta = m.weights / m.weights.sum() if priors == "empirical" else None
    else:
        beta = priors
    return tied_gaussians(
        m.means,
        m.covariance,
        beta,
        shrinkage=shrinkage,
        to_diagonal=to_diagonal,
        n=float(m.weights.sum()),
    )
