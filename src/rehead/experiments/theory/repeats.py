"""Repetitions into figures with standard errors, and figures of several sizes into a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from rehead._typing import Array

Figure = dict[str, float]
"""A ``value`` and its standard error ``se``: ready for JSON."""

LEVEL = 0.01
"""Chance that any true claim of a family is rejected."""


class Draws(NamedTuple):
    """How much is drawn: samples, repetitions, and the seed."""

    n: int
    repeats: int
    seed: int


def generator(seed: int, *key: int) -> np.random.Generator:
    """A generator for one draw, that depends on no other: the key says which."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def mean_figure(values: Sequence[float] | Array) -> Figure:
    """Mean of independent repetitions, with its standard error.

    Examples
    --------
    >>> mean_figure([1.0, 3.0])
    {'value': 2.0, 'se': 1.0}
    """
    v = np.asarray(values, np.float64)
    if len(v) < 2:
        raise ValueError(f"A standard error needs two repetitions or more, got {len(v)}.")
    return {"value": float(v.mean()), "se": float(v.std(ddof=1) / len(v) ** 0.5)}


def mean_figures(repeats: Sequence[Mapping[str, float]]) -> dict[str, Figure]:
    """The same, for each name."""
    return {name: mean_figure([r[name] for r in repeats]) for name in repeats[0]}


def extrapolate(sizes: Sequence[int], measured: Sequence[Figure]) -> Figure:
    """The limit for ever more samples: where a line in 1/N, fitted with weights, meets 0.

    The bias of smooth functions of means is of the order 1/N.

    Examples
    --------
    >>> at = {10: 1.3, 20: 1.15, 40: 1.075}  # 1 + 3/N
    >>> line = extrapolate(list(at), [{"value": v, "se": 0.1} for v in at.values()])
    >>> round(line["value"], 9), round(line["se"], 3)
    (1.0, 0.115)
    """
    value, se = (np.array([m[key] for m in measured]) for key in ("value", "se"))
    if len(value) < 2:
        raise ValueError("A line needs two sizes or more.")
    if not (se > 0).all():  # what does not vary at all, as outliers where there are none
        return dict(measured[-1])
    X = np.column_stack([np.ones(len(sizes)), 1.0 / np.asarray(sizes)]) / se[:, None]
    inverse = np.linalg.inv(X.T @ X)
    intercept = (inverse @ X.T @ (value / se))[0]
    return {"value": float(intercept), "se": float(inverse[0, 0] ** 0.5)}


def deviation(figure: Figure, claim: float) -> float | None:
    """How many standard errors a figure is away from what is claimed; None if it never varied."""
    return (figure["value"] - claim) / figure["se"] if figure["se"] > 0 else None


def critical(claims: int, repeats: int) -> float:
    """Deviation from which a claim is rejected, so that of a family of true ones hardly any is.

    Bonferroni's rule for ``claims`` two-sided tests at :data:`LEVEL` in all, Student's t.

    Examples
    --------
    >>> round(critical(1, 10_000), 2), round(critical(24, 40), 2)
    (2.58, 3.94)
    """
    return float(t.isf(LEVEL / (2 * claims), repeats - 1))
