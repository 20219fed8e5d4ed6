"""Repetitions into figures with standard errors, and how far those are from a claim."""

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


def jackknife(whole: float, without: Sequence[float] | Array) -> Figure:
    """A function of means over repetitions, from its value ``without`` each repetition in turn.

    A function of the mean estimates has far less bias than the mean of the function. What is left
    of the first order is taken away. For a linear function it is :func:`mean_figure`.

    Examples
    --------
    >>> values = np.array([1.0, 3.0, 8.0])
    >>> without = [values[np.arange(3) != i].mean() for i in range(3)]
    >>> jackknife(values.mean(), without) == mean_figure(values)
    True
    """
    w = np.asarray(without, np.float64)
    r = len(w)
    value = r * whole - (r - 1) * w.mean()
    return {"value": float(value), "se": float(((r - 1) / r * ((w - w.mean()) ** 2).sum()) ** 0.5)}


def deviation(figure: Figure, claim: float) -> float | None:
    """How many standard errors a figure is away from what is claimed; None if it never varied."""
    return (figure["value"] - claim) / figure["se"] if figure["se"] > 0 else None


def critical(claims: int, repeats: int) -> float:
    """Deviation from which a claim is rejected, so that of a family of true ones hardly any is.

    Bonferroni's rule for ``claims`` two-sided tests at :data:`LEVEL` in all, Student's t.

    Examples
    --------
    >>> round(critical(1, 10_000), 2), round(critical(24, 40), 2)
    (2.58, 3.86)
    """
    return float(t.isf(LEVEL / (2 * claims), repeats - 1))
