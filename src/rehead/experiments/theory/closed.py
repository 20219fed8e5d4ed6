"""Closed forms: the factor of truncation, phi, the error of the classifier, terms of its bound."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from scipy.stats import chi2, norm

from rehead._typing import Array


def truncation(d: int, alpha: float) -> float:
    """By how much the covariance of the central ``alpha`` of a spherical Gaussian is smaller.

    ``F_{d+2}(q) / alpha``, with F_k the chi-square distribution and ``F_d(q) = alpha`` (Butler,
    Davies and Jhun, 1993; Croux and Haesbroeck, 1999). For z standard normal in d dimensions,
    ``E[z z'; |z|^2 <= q] = I E[|z|^2; |z|^2 <= q] / d = I F_{d+2}(q)``, as x times the density of
    chi-square with d degrees is d times that with d + 2. Dividing by it repairs the scale.

    Examples
    --------
    >>> round(truncation(2, 0.5), 4), truncation(2, 1.0)
    (0.3069, 1.0)
    """
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must be in (0, 1], got {alpha}.")
    return float(chi2.cdf(chi2.ppf(alpha, d), d + 2) / alpha)


def phi(covariance: Array) -> float:
    """``4 t / (1 + t)^2``, t the condition number (Theorem 1): 1 for a multiple of I, else less.

    Examples
    --------
    >>> import numpy as np
    >>> phi(7.0 * np.eye(3)), phi(np.diag([1.0, 3.0]))
    (1.0, 0.75)
    """
    values = np.linalg.eigvalsh(covariance)
    t = values[-1] / values[0]
    return float(4.0 * t / (1.0 + t) ** 2)


def bound_terms(means: Array, covariance: Array, sigma: float, power: int) -> float:
    """The sum over pairs of classes in the bound that follows Theorem 1.

    ``sum_c sum_{c' != c} exp(-|mu_c - mu_c'|^power phi / (8 sigma^2))``. The paper prints
    ``power`` 1. With 2 it does not depend on the unit in which features are measured.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([[0.0, 0.0], [4.0, 0.0]])
    >>> round(bound_terms(two, np.eye(2), 1.0, power=2), 4)  # 2 exp(-16 / 8)
    0.2707
    """
    shape = phi(covariance)
    pairs = permutations(range(len(means)), 2)
    apart = np.array([np.linalg.norm(means[a] - means[b]) for a, b in pairs])
    return float(np.exp(-(apart**power) * shape / (8.0 * sigma**2)).sum())


def mean_errors(means: Array, true: Array) -> float:
    """``sum_c |mu_c - mean_c|_1``, what the constant D of the bound multiplies."""
    return float(np.abs(means - true).sum())


def lda_error(estimated: Sequence[Array], covariance: Array, true: Array, sigma: float) -> float:
    """Share of clean samples that two Gaussians with this tied covariance put into the wrong class.

    The classes are equally common, clean samples ``N(true_c, sigma^2 I)``: projected on the normal
    of the boundary they are normal in one dimension.

    Examples
    --------
    >>> import numpy as np
    >>> two = np.array([[0.0, 0.0], [2.0, 0.0]])
    >>> round(lda_error(two, np.eye(2), two, 1.0), 4)  # Phi(-1)
    0.1587
    """
    first, second = estimated
    normal = np.linalg.solve(covariance, first - second)
    margins = (true - 0.5 * (first + second)) @ normal / (sigma * np.linalg.norm(normal))
    return float(0.5 * (norm.cdf(-margins[0]) + norm.cdf(margins[1])))
