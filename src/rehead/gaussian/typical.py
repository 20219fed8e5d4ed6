"""How typical samples are of what the Gaussians were estimated from, as calibrated p-values.

The squared distance to the nearest class alone is a poor judge: nearly all of it comes from
directions in which classes do not differ, where strange samples vary about as much as usual ones.
So it is taken apart. Relative to the centre of the class means, with P = Sigma^-1 and G the Gram
matrix of the means under P, the C distances D_k of a sample tell all that is needed:

    q   = x'Px           = mean_k (D_k - G_kk)              (the means sum to 0),
    l_k = x'P mu_k       = (q + G_kk - D_k) / 2,
    z   = Lambda^(-1/2) V' l     with G = V Lambda V'       (x in the plane of the means, whitened),

so D_k = |z - m_k|^2 + r with the *residual* r = q - |z|^2 outside the plane, the same for all
classes. Inside the plane a sample is compared with a background Gaussian that stands for anything,
of covariance tau I + Lambda / C (within plus between classes; tau is the temperature that
calibrated the posterior, as Sigma is too small in the directions that separate the classes):

    relative distance = min_k |z - m_k|^2 / tau - z' (tau I + Lambda / C)^-1 z,

minus twice the log likelihood ratio of the best class against the background, up to a constant.

Both become p-values p, r by their ranks among the training samples that are trusted, each of these
judged without itself. They are joined by Fisher's rule, ``2 log p + log r``: the relative distance
counts twice, as it finds strange samples that are near (another class), while the residual finds
those that are far in directions that no class uses. The rank of that sum, among the same training
samples, is the result: uniform on new samples of the same kind, whatever the two distances are like
and however they depend on each other.

With a kernel map, what is far is mapped to 0 and may be near the classes. There the residual is
instead how far a row is from its class before the map (``unmapped.py``).

Leave-one-out distances are those of ``leave_one_out.py``, exact; the plane is left as it is, which
for classes of thirty samples still makes no difference that can be seen in the p-values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from rehead._perrow import rows_where
from rehead._typing import Array, Features, MappedFeatures, some_rows
from rehead.gaussian.composition import Composition
from rehead.gaussian.kernel_map import KernelMap
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.leave_one_out import leave_one_out_scores
from rehead.gaussian.threads import own_threads
from rehead.gaussian.tied import TiedGaussians
from rehead.gaussian.unmapped import nearest_distances

QUANTILES = 1001
"""Quantiles that a distribution is kept as."""
REFERENCE_ROWS = 5000
"""Training samples that are enough for it."""
FEWEST_ROWS, SHARE_OF_ROWS = 500, 0.02
"""The number, or the share, of rows where the fit itself takes only two passes over the data."""
FLAT_DIRECTION = 1e-6
"""Directions in which the means differ so little, beside the widest one, are not of their plane."""
TAIL_QUANTILES = 50
"""The largest quantiles, which show how fast a tail falls: how many of them."""


Own = bool | Array


class Reference(NamedTuple):
    """What is usual: quantiles of both distances, and of the strangeness that joins them.

    ``size`` is the (effective) number of samples behind them.
    """

    relative: Array
    residual: Array
    strangeness: Array
    size: float

    def to_arrays(self, prefix: str) -> dict[str, Array]:
        """Its fields as the arrays of a file."""
        return {prefix + name: np.asarray(value) for name, value in self._asdict().items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], prefix: str) -> Reference:
        """From the arrays of a file, named by fields."""
        found: dict[str, Any] = {name: arrays[prefix + name] for name in cls._fields}
        return cls(**{**found, "size": float(found["size"])})

    def pvalues(self, distances: Array, own: Own = False) -> Array:
        """How typical samples are, from what :func:`distances_apart` says of them.

        ``own`` says which of them are among those that the quantiles were made of.
        """
        return tail(self.strangeness, self.strange(distances, own), self.size, own)

    def strange(self, distances: Array, own: Own = False) -> Array:
        """Fisher's rule, ``-2 log p - log r``."""
        p = log_tail(self.relative, distances[:, 0], self.size, own)
        r = log_tail(self.residual, distances[:, 1], self.size, own)
        strange: Array = -2.0 * p - r
        return strange


def tail(quantiles: Array, values: Array, size: float, own: Own = False) -> Array:
    """P-value of each value among ``size`` others that are given by their quantiles.

    The share of them that is at least as large, the value itself counted in: never 0. Where values
    are their ``own`` others, each is counted in already. To count it twice would make them look
    more usual than new ones.

    Examples
    --------
    >>> import numpy as np
    >>> tail(np.arange(4.0), np.array([-1.0, 2.0, 9.0]), size=4).tolist()
    [1.0, 0.6, 0.2]
    """
    as_large = 1.0 - np.searchsorted(quantiles, values, side="left") / len(quantiles)
    p: Array = (1.0 + size * as_large) / (1.0 + size)
    p = np.where(own, np.maximum(as_large, 1.0 / (1.0 + size)), p)
    return p


def log_tail(quantiles: Array, values: Array, size: float, own: Own = False) -> Array:
    """Logarithm of :func:`tail`, going on like an exponential beyond the largest of the others.

    Otherwise all that is larger would be alike, and one distance however large could be outweighed
    by another that is small.
    """
    top = quantiles[-TAIL_QUANTILES:]
    scale = max(float(top.mean() - top[0]), np.finfo(float).eps * abs(float(top[-1])))
    with np.errstate(over="ignore"):  # where all others are 0, anything else is infinitely far
        beyond = np.maximum(values - top[-1], 0.0) / max(scale, np.finfo(float).tiny)
    logs: Array = np.log(tail(quantiles, values, size, own)) - beyond
    return logs


class Plane(NamedTuple):
    """The plane of the class means: ``G = axes diag(lengths) axes'``.

    ``whole`` says that there are no other directions, and so no residuals.
    """

    axes: Array
    lengths: Array
    norms: Array
    temperature: float
    whole: bool


@own_threads()
def plane_of_means(g: TiedGaussians) -> Plane:
    """The plane of the class means of some Gaussians."""
    half = solve_triangular(g.factor.lower, (g.means - g.centre).T, lower=True)
    d, n_classes = half.shape
    # The smaller of the two Gram matrices has the same eigenvalues.
    lengths, vectors = np.linalg.eigh(half.T @ half if n_classes <= d else half @ half.T)
    used = lengths > FLAT_DIRECTION * max(lengths[-1], np.finfo(float).tiny)
    lengths, vectors = lengths[used], vectors[:, used]
    axes = vectors if n_classes <= d else half.T @ (vectors / np.sqrt(lengths))
    return Plane(axes, lengths, g.norms, g.temperature, len(lengths) == d)


def distances_apart(D: Array, plane: Plane) -> Array:
    """Relative distance and residual, from squared distances to all classes; shape (n, 2).

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian import tied_gaussians
    >>> g = tied_gaussians(np.array([[-3.0, 0.0], [3.0, 0.0]]), np.eye(2))
    >>> at_class, between, aside = np.array([[3.0, 0.0], [0.0, 0.0], [3.0, 5.0]])
    >>> D = g.distances(np.stack([at_class, between, aside]))
    >>> distances_apart(D, plane_of_means(g)).round(1) + 0.0
    array([[-0.9,  0. ],
           [ 9. ,  0. ],
           [-0.9, 25. ]])
    """
    D = D.astype(np.float64)
    q = (D - plane.norms).mean(axis=1)
    linear = (q[:, None] + plane.norms - D) / 2.0
    with np.errstate(over="ignore"):
        squares = (linear @ plane.axes) ** 2 / plane.lengths
    squares = np.where(np.isfinite(squares), squares, q[:, None])  # no part exceeds the whole
    residual = q - squares.sum(axis=1)
    tau = plane.temperature
    background = squares @ (1.0 / (tau + plane.lengths / len(plane.norms)))
    relative = (D.min(axis=1) - residual) / tau - background
    return np.column_stack([relative, np.zeros(len(D)) if plane.whole else residual])


class Map(NamedTuple):
    """A map, and Gaussians of the features as they are (not kept by early files)."""

    of_rows: KernelMap
    unmapped: TiedGaussians | None

    def how_far(self, X: Features, inside: Composition) -> Array:
        """How far rows are from everything, which the map hides; without themselves."""
        if self.unmapped is None:
            return self.of_rows.remoteness(X)
        return nearest_distances(self.unmapped, X, inside)


def strange_distances(
    g: TiedGaussians,
    X: Features,
    codes: Array,
    inside: Composition,
    mapped_by: Map | None = None,
) -> Array:
    """Relative distance and residual of each row, in blocks; shape (n, 2).

    Rows that the estimates contain are judged without themselves. Where the Gaussians are those of
    a map, which hides what is far, the residual is what its rows were before.
    """
    plane = plane_of_means(g)
    unit = replace(g, priors=np.ones(len(g.priors)))
    reduce = partial(_apart, plane)
    if mapped_by is None:
        return leave_one_out_scores(unit, X, codes, inside, reduce)
    mapped = MappedFeatures(X, mapped_by.of_rows)
    found = leave_one_out_scores(unit, mapped, codes, inside, reduce)
    found[:, 1] = mapped_by.how_far(X, inside)
    return found


def _apart(plane: Plane, scores: Array, _: Array) -> Array:
    return distances_apart(-2.0 * scores, plane)


def make_reference(
    g: TiedGaussians,
    X: Features,
    codes: Array,
    inside: Composition,
    weights: Array,
    *,
    measured: bool,
    mapped_by: Map | None = None,
) -> Reference:
    """What is usual among some of the training rows, which count by their ``weights``.

    Where these are not measured trust, all rows count alike: distances do not ask for labels, so a
    row with a wrong label is as usual as any. (Rows that an estimator kept, or whose nearest class
    is their label, lie nearer than new samples do, which would then seem strange.)
    """
    usable = weights > 0
    n = int(usable.sum())
    share = max(FEWEST_ROWS, min(REFERENCE_ROWS, int(SHARE_OF_ROWS * n)))
    sampled = rows_where(usable, evenly_spaced(n, REFERENCE_ROWS if measured else share))
    found = strange_distances(
        g, some_rows(X, sampled), codes[sampled], inside.take(sampled), mapped_by
    )
    relative, residual = found.T
    w = weights[sampled]
    size = float(w.sum() ** 2 / (w**2).sum())
    reference = Reference(quantiles(relative, w), quantiles(residual, w), np.empty(0), size)
    strange = reference.strange(found, True)
    return reference._replace(strangeness=quantiles(strange, w))


def quantiles(values: Array, weights: Array) -> Array:
    """``QUANTILES`` weighted quantiles, at the middles of as many equal steps."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    levels = (np.arange(QUANTILES) + 0.5) / QUANTILES * reached[-1]
    found: Array = values[order][np.searchsorted(reached, levels).clip(max=len(order) - 1)]
    return found
