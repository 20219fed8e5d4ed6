"""What scores and distances are made of, of any rows: products with the class means, and norms.

With ``x`` relative to the centre of the class means ``m_k`` and ``P = Sigma^-1``, these are
``x'P m_k`` and ``x'Px``. A row may be as large as the numbers go, and its squares are not. So a row
that is absurdly far away is moved towards the centre until it is only very far away. That changes
no posterior: out there it does not depend on the distance any more, only on the direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from rehead._typing import Array, Features
from rehead.gaussian.kernels import MIN_SLACK, Factor, Rows, squared_norms, whiten

FARTHEST = {"f": 1e18, "d": 1e145}
"""Squared distances from the centre, at most: products of two of them must not overflow."""
LARGEST = {"f": 1e37, "d": 1e145}
"""Products with class means, at most: the difference of two of them must not overflow."""
FARTHEST_MEAN = {"f": 1e14, "d": 1e140}
"""Squared distances of class means, at most: a row that is moved in must stay beyond them."""
SINGLE = (1e-15, 1e15)
"""Standard deviations whose squares and inverses single precision can hold."""

STRIPES = 4
"""Parts of a triangular product: the more, the less of it is nothing, but the smaller they are."""


class Projection(NamedTuple):
    """Of some rows: where they are, ``x'P m_k``, and ``x'Px`` where it was asked for."""

    where: slice
    linear: Array
    norms: Array


class Means(NamedTuple):
    """Class means under P: ``m_k' P``, of shape (C, d), and ``m_k' P m_k``."""

    weights: Array
    norms: Array


class Projector:
    """Rows on the class means of some Gaussians, block by block.

    In double precision where single cannot carry the inverse.

    Parameters
    ----------
    X : features of shape (n, d)
    centre : array of shape (d,)
    means : Means
        Of the classes, relative to the centre.
    factor : Factor
        Of the covariance.
    """

    def __init__(self, X: Features, centre: Array, means: Means, factor: Factor) -> None:
        self.X, self.centre = X, centre
        weights, norms = means
        deviations = np.diagonal(factor.lower)
        single = factor.slack >= MIN_SLACK["f"] and norms.max() <= FARTHEST_MEAN["f"]
        single &= bool(SINGLE[0] < deviations.min() and deviations.max() < SINGLE[1])
        self.dtype: Any = X.dtype if single else np.float64
        self.weights = weights.T.astype(self.dtype, copy=False)
        self.factor = factor
        self.farthest, self.largest = FARTHEST[X.dtype.char], LARGEST[X.dtype.char]

    def on(self, X: Features) -> Projector:
        """The same, of other rows of the same precision."""
        self._whitened  # noqa: B018 (once for all of them)
        other = object.__new__(Projector)  # copy() would leave out what is not sent
        vars(other).update(vars(self), X=X)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes; the rest is made there."""
        return {name: value for name, value in vars(self).items() if name != "_whitened"}

    def linear(self, span: slice) -> Iterator[tuple[slice, Array]]:
        """``x'P m_k`` of the rows of a span: one matrix product."""
        rows = Rows(self.X, self.dtype, most=span.stop - span.start)
        for where, block in rows.blocks(span, self.centre):
            with np.errstate(over="ignore", invalid="ignore"):
                linear = (block @ self.weights).astype(self.X.dtype, copy=False)
            beyond = ~(np.abs(linear).max(axis=1) <= self.largest)
            at = slice(span.start + where.start, span.start + where.stop)
            if beyond.any():
                linear[beyond] = self._moved_in(at, beyond) @ self.weights
            yield at, linear

    def both(self, span: slice) -> Iterator[Projection]:
        """``x'P m_k`` and ``x'Px`` of the rows of a span, in the working precision."""
        rows = Rows(self.X, self.dtype, most=span.stop - span.start)
        whitened = self._whitened
        for where, block in rows.blocks(span, self.centre):
            with np.errstate(over="ignore", invalid="ignore"):
                linear = block @ self.weights
                norms = squared_norms(whitened(block))
            beyond = ~(norms <= self.farthest)
            at = slice(span.start + where.start, span.start + where.stop)
            if beyond.any():
                linear[beyond] = self._moved_in(at, beyond) @ self.weights
                norms[beyond] = self.farthest
            yield Projection(at, linear, norms)

    @cached_property
    def _whitened(self) -> Callable[[Array], Array]:
        """Rows to ``L^-1 x``, prepared once for all spans.

        In single precision a product with the inverse (found in double precision) is as accurate as
        the numbers are, and faster than a triangular solve.
        """
        lower = self.factor.lower
        if self.dtype != np.float32:
            factor = self.factor._replace(lower=lower.astype(self.dtype, copy=False))
            return lambda block: whiten(block, factor)
        d = len(lower)
        inverse = solve_triangular(lower, np.eye(d), lower=True).T.astype(np.float32)
        edges = np.linspace(0, d, min(STRIPES, d) + 1).astype(int)

        def whitened(block: Array) -> Array:
            out = np.empty_like(block)
            for a, b in pairwise(edges):  # above the diagonal there is nothing
                np.matmul(block[:, :b], inverse[:b, a:b], out=out[:, a:b])
            return out

        return whitened

    def _moved_in(self, at: slice, beyond: Array) -> Array:
        """Some rows relative to the centre, moved towards it until they are within reach."""
        X = self.X[at][beyond].astype(np.float64)
        # Powers of two first: the difference to the centre may be too large for a number.
        size = np.maximum(np.abs(X).max(axis=1), np.abs(self.centre).max())
        down = np.ldexp(1.0, -np.frexp(size)[1])[:, None]
        x: Array = X * down - self.centre * down
        white = whiten(x.copy(), self.factor)
        size = np.abs(white).max(axis=1, keepdims=True)
        norms = size[:, 0] * np.sqrt(squared_norms(white / size))
        x *= (np.sqrt(self.farthest) / norms)[:, None]
        return x.astype(self.dtype, copy=False)
