"""The minimum covariance determinant of one class: Algorithm 1 of the paper, line by line.

Finding the K_c samples whose covariance has the smallest determinant is NP-hard. Algorithm 1
approaches it by *C-steps*: estimate mean and covariance of the subset, keep the K_c samples that
are closest under them, repeat. A C-step never raises the determinant (Rousseeuw and Van Driessen,
1999).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.kernels import Factor, Moments, Rows, Subset, cholesky, select_smallest
from rehead.gaussian.shrinkage import Shrinkage, invertible, shrink
from rehead.gaussian.split import mahalanobis, moments, with_rows


def support_size(n: float, d: int, fraction: float | None = None) -> float:
    """K_c, the number of samples that are kept.

    The paper's ``floor((N_c + d + 1) / 2)`` has the highest breakdown point. It exceeds N_c when
    ``N_c <= d + 1`` and is clamped: then nothing is trimmed. A ``fraction`` replaces the formula.

    Examples
    --------
    >>> support_size(5000, 512)
    2756.0
    >>> support_size(100, 512), support_size(100, 512, fraction=0.7)
    (100.0, 70.0)
    """
    # The small number keeps 0.29 * 100 from becoming 28.
    k = np.floor((n + d + 1) / 2) if fraction is None else np.floor(fraction * n + 1e-9)
    return float(min(max(k, 1.0), n))


class Estimate(NamedTuple):
    """Mean (relative to the shift) and factored covariance that distances are measured with.

    ``singular`` says that the covariance had no inverse and was shrunk a little.
    """

    mean: Array
    factor: Factor
    singular: bool = False


class McdResult(NamedTuple):
    """The kept subset of a class and its moments about the shift.

    ``log_dets`` has the log determinant of the covariance at the start and after each step,
    ``n_steps`` is the number of C-steps done, ``singular`` whether a covariance had no inverse.
    """

    subset: Subset
    moments: Moments
    log_dets: list[float]
    n_steps: int
    singular: bool = False


def estimate(m: Moments, shrinkage: Shrinkage = 0.0) -> Estimate:
    """Lines 3 and 7: mean and covariance of the subset (divided by K_c, as printed)."""
    covariance = m.scatter()
    covariance /= m.weight
    if covariance.dtype == np.float32:
        # Raises where single precision is not enough; the caller starts again in double.
        return Estimate(m.mean, cholesky(shrink(covariance, shrinkage, m.weight), overwrite=True))
    regularised = invertible(covariance, shrinkage, m.weight)
    return Estimate(m.mean, regularised.factor, regularised.added > 0)


def distances_without_self(distance: Array, k: float) -> Array:
    """Distances of samples inside a K-subset to the estimates *without* the sample itself.

    ``D_loo = K/(K-1) * D / (1 - D/(K-1))``, exact for a covariance divided by K. Samples inside
    the subset pull its mean and covariance towards themselves, so by the plain distance a random
    start looks closest to itself and is hardly ever left when d is not much smaller than K.
    """
    if k <= 1:
        return distance  # nothing is left of a single sample
    room = 1.0 - distance / (k - 1.0)
    eps = np.finfo(distance.dtype).eps
    left_out: Array = k / (k - 1.0) * distance / np.maximum(room, eps)
    return left_out


class ClassSamples(NamedTuple):
    """The samples ``X[row_numbers]`` of one class.

    ``shift`` is a point near the class, about which moments are formed; ``weights`` and ``trusted``
    have an entry for each sample, where there are any.
    """

    rows: Rows
    row_numbers: Array
    shift: Array
    weights: Array | None = None
    trusted: Array | None = None

    def moments(self, subset: Subset) -> Moments:
        """Moments of a subset about the shift."""
        return moments(self.rows, self.row_numbers[subset.positions], self.shift, subset.weights)


class CSteps(NamedTuple):
    """How the steps of Algorithm 1 are done.

    Attributes
    ----------
    most : int
        I_max. The paper finds that more than two steps do not help significantly.
    leave_one_out : bool
        Rank samples inside the subset by :func:`distances_without_self`. The determinant may then
        rise, so only an unchanged subset ends the loop early.
    shrinkage : float or "auto"
        Shrink the class covariance at each step.
    shortcuts : bool
        Update moments by the rows that changed, and stop when the subset no longer changes: the
        same result for less work. ``False`` computes everything again, for tests and benchmarks.
    """

    most: int = 2
    leave_one_out: bool = False
    shrinkage: Shrinkage = 0.0
    shortcuts: bool = True


def mcd(
    samples: ClassSamples,
    k: float,
    start: Subset,
    steps: CSteps = CSteps(),  # noqa: B008 (a constant)
    first_estimate: Estimate | None = None,
) -> McdResult:
    """Algorithm 1 for the samples of one class.

    Parameters
    ----------
    samples : ClassSamples
    k : float
        K_c; see :func:`support_size`.
    start : Subset
        Line 2: the initial subset, as positions in ``samples.row_numbers``.
    steps : CSteps
    first_estimate : Estimate, optional
        Used instead of the start's own mean and covariance for the first distances (the
        pooled-covariance start). The determinant is then compared from the second step on.

    Raises
    ------
    IllConditionedError
        If single precision is not enough. Call again with double precision rows.
    """
    rows, index, shift, weights, trusted = samples
    subset = start
    m = samples.moments(subset)  # line 3
    current = first_estimate or estimate(m, steps.shrinkage)
    own = first_estimate is None  # whether `current` comes from `subset`
    singular = current.singular
    log_dets = [current.factor.log_det if own else np.inf]
    step = 0
    for step in range(1, steps.most + 1):  # line 4
        distance = mahalanobis(rows, index, shift + current.mean, current.factor)  # line 5
        if steps.leave_one_out and own:
            inside = subset.positions
            distance[inside] = distances_without_self(distance[inside], k)
        if trusted is not None:
            distance[trusted] = -np.inf
        previous, subset = subset, select_smallest(distance, k, weights)  # line 6
        if steps.shortcuts and own and _same(previous, subset):
            log_dets.append(log_dets[-1])
            break
        m = _updated(samples, m, previous, subset) if steps.shortcuts else samples.moments(subset)
        current, own = estimate(m, steps.shrinkage), True  # line 7
        singular |= current.singular
        log_dets.append(current.factor.log_det)
        risen = not log_dets[-1] < log_dets[-2]
        if steps.shortcuts and not steps.leave_one_out and risen:  # line 8
            break
    return McdResult(subset, m, log_dets, step, singular)


LITTLE_LEFT = 0.1
"""If less of a feature's sum of squares than this remains, an update would cost digits."""


def _same(a: Subset, b: Subset) -> bool:
    return np.array_equal(a.positions, b.positions) and (
        a.weights is None or b.weights is None or np.array_equal(a.weights, b.weights)
    )


def _updated(samples: ClassSamples, m: Moments, previous: Subset, subset: Subset) -> Moments:
    """Moments of a subset, from those of the previous one where few rows changed."""
    rows, index, shift = samples.rows, samples.row_numbers, samples.shift
    if subset.weights is None:
        gone = np.setdiff1d(previous.positions, subset.positions, assume_unique=True)
        new = np.setdiff1d(subset.positions, previous.positions, assume_unique=True)
        if len(gone) + len(new) < len(subset.positions) // 2:
            before = np.diagonal(m.gram).copy()
            m = with_rows(rows, m, index[gone], shift, sign=-1.0)
            # Far outliers leave rounding errors behind that drown the rest: then start again.
            if (np.diagonal(m.gram) >= LITTLE_LEFT * before).all():
                return with_rows(rows, m, index[new], shift)
    return samples.moments(subset)
