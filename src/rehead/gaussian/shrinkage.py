"""Regularised covariance, for when a class or the whole set has few samples for its features."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.kernels import Factor, IllConditionedError, cholesky

Shrinkage = float | Literal["auto"]


def oas_intensity(covariance: Array, n: float) -> float:
    """Shrinkage intensity of the oracle approximating estimator (OAS).

    Closed form for Gaussian samples, from the two traces and the sample size alone, so it costs no
    pass over the data: Chen, Wiesel, Eldar, Hero, "Shrinkage algorithms for MMSE covariance
    estimation" (2010), equation 23, with the large-d simplification that scikit-learn uses.

    Only the lower triangle of ``covariance`` is read.

    Examples
    --------
    >>> import numpy as np
    >>> round(oas_intensity(np.diag([2.0, 1.0, 0.5]), n=100), 3)
    0.149
    """
    d = len(covariance)
    diagonal = np.einsum("ii->i", covariance).astype(np.float64)
    below = np.tril(covariance, -1)
    if (unit := float(diagonal.mean())) > 0:  # the scale does not matter, but squares overflow
        diagonal, below = diagonal / unit, below / unit
    trace_of_square = float((diagonal**2).sum() + 2.0 * np.einsum("ij,ij->", below, below))
    mu = float(diagonal.mean())
    alpha = trace_of_square / d**2
    denominator = (n + 1.0) * (alpha - mu**2 / d)
    return 1.0 if denominator <= 0 else min((alpha + mu**2) / denominator, 1.0)


def shrink(
    covariance: Array, shrinkage: Shrinkage, n: float, *, to_diagonal: bool = False
) -> Array:
    """``(1 - a) S + a tr(S)/d I``; ``shrinkage="auto"`` takes ``a`` from :func:`oas_intensity`.

    With ``to_diagonal``, towards ``diag(S)``, which does not mind features of different scale.
    """
    a = oas_intensity(covariance, n) if shrinkage == "auto" else float(shrinkage)
    if a == 0.0:
        return covariance
    shrunk: Array = (1.0 - a) * covariance
    diagonal = np.einsum("ii->i", shrunk)
    if to_diagonal:
        diagonal += a * np.einsum("ii->i", covariance)
        return shrunk
    mean_variance = np.einsum("ii->", covariance) / len(covariance)
    diagonal += a * (mean_variance if mean_variance > 0 else 1.0)
    return shrunk


class Regularised(NamedTuple):
    """A covariance that can be inverted and its factor.

    ``added`` says how much it had to be shrunk beyond what was asked for, ``estimated`` the share
    of the samples' own covariance that is left in it.
    """

    covariance: Array
    factor: Factor
    added: float
    estimated: float


def invertible(
    covariance: Array, shrinkage: Shrinkage, n: float, *, to_diagonal: bool = False
) -> Regularised:
    """Shrink as asked and, only where the result is singular in double precision, a little more.

    A covariance of fewer samples than features has no inverse; then the OAS intensity is used.
    Where there are enough samples (and features that are combinations of others), the smallest
    power of ten that helps.
    """
    intensity = oas_intensity(covariance, n) if shrinkage == "auto" else float(shrinkage)
    estimated = 1.0 - intensity
    covariance = shrink(
        covariance.astype(np.float64, copy=False), intensity, n, to_diagonal=to_diagonal
    )
    try:
        return Regularised(covariance, cholesky(covariance), 0.0, estimated)
    except IllConditionedError:
        pass
    powers = [10.0**e for e in range(-9, 0)]
    for a in powers if n > len(covariance) else [oas_intensity(covariance, n), *powers]:
        candidate = shrink(covariance, a, n)
        try:
            return Regularised(candidate, cholesky(candidate), a, (1.0 - a) * estimated)
        except IllConditionedError:
            continue
    identity = shrink(covariance, 1.0, n)
    return Regularised(identity, cholesky(identity), 1.0, 0.0)
