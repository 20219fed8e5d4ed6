"""Breakdown: how many samples must be replaced to carry an estimate beyond all bounds.

"Beyond all bounds" is a limit. Here what is put in lies at a distance of ``FAR``, where the clean
samples have a standard deviation of 1. A mean that keeps a single one of them among a hundred moves
by ``FAR`` / 100, one that keeps none by less than a few units: no threshold in between matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.experiments.theory.estimates import (
    PAPER,
    class_samples,
    informed_starts,
    mean_and_covariance,
    smallest,
)
from rehead.experiments.theory.exact import exact_mcd
from rehead.experiments.theory.repeats import Draws, generator, mean_figure
from rehead.gaussian.kernels import Subset
from rehead.gaussian.mcd import mcd, support_size
from rehead.gaussian.starts import deterministic_starts, random_start

FAR = 1e5
MOVED = 30.0
"""A mean that has moved this far is broken."""
LOG_MOVED = float(np.log(1e4))
"""A covariance is broken if the logarithm of an eigenvalue has moved this far, up or down."""

Attack = Callable[[Array, int, np.random.Generator], Array]
"""Clean samples and how many to replace; gives the samples with the last ones replaced."""

Choose = Callable[[Array, int, np.random.Generator], Subset]
"""Samples, how many of them were replaced (the last ones); gives the subset that is used."""


def scattered(X: Array, m: int, rng: np.random.Generator) -> Array:
    """Replaced by points in all directions."""
    directions = rng.normal(size=(m, X.shape[1]))
    far = FAR * (1.0 + rng.random((m, 1)))
    return _replaced(X, far * directions / np.linalg.norm(directions, axis=1, keepdims=True))


def one_cluster(X: Array, m: int, rng: np.random.Generator) -> Array:
    """Replaced by a cluster that is as wide as the clean samples."""
    centre = np.zeros(X.shape[1])
    centre[0] = FAR
    return _replaced(X, centre + rng.normal(size=(m, X.shape[1])))


def on_a_plane(X: Array, m: int, rng: np.random.Generator) -> Array:
    """Replaced by points on the plane through d clean ones, which then has m + d points."""
    d = X.shape[1]
    base, others = X[0], X[1:d] - X[0]
    return _replaced(X, base + FAR * rng.normal(size=(m, d - 1)) @ others)


ATTACKS: dict[str, Attack] = {"scattered": scattered, "one cluster": one_cluster}
EXACT_ATTACKS: dict[str, Attack] = {**ATTACKS, "on a plane": on_a_plane}


def all_samples(X: Array, m: int, rng: np.random.Generator) -> Subset:
    """The sample estimator."""
    return Subset(np.arange(len(X)))


def by_algorithm_1(X: Array, m: int, rng: np.random.Generator) -> Subset:
    """Algorithm 1 as printed."""
    k = support_size(*X.shape)
    return mcd(class_samples(X), k, random_start(rng, len(X), k), PAPER).subset


def by_deterministic_starts(X: Array, m: int, rng: np.random.Generator) -> Subset:
    """C-steps to the end from the library's deterministic starts."""
    k = support_size(*X.shape)
    return smallest(class_samples(X), k, deterministic_starts(X, k)).subset


def by_smallest_found(X: Array, m: int, rng: np.random.Generator) -> Subset:
    """C-steps to the end; one start has as few of the replaced samples as can be."""
    k = support_size(*X.shape)
    outlier = np.arange(len(X)) >= len(X) - m
    return smallest(class_samples(X), k, informed_starts(outlier, k, rng)).subset


def by_enumeration(X: Array, m: int, rng: np.random.Generator) -> Subset:
    """The exact MCD."""
    return exact_mcd(X, int(support_size(*X.shape)))


CHOICES: dict[str, Choose] = {
    "sample": all_samples,
    "algorithm_1": by_algorithm_1,
    "deterministic": by_deterministic_starts,
    "mcd": by_smallest_found,
}


class Case(NamedTuple):
    """What is drawn, of how many features, and how many samples are replaced."""

    draws: Draws
    d: int
    replaced: int


def printed_breakdown(n: int, d: int) -> int:
    """How many samples must be replaced, according to the paper: ``floor((n - d + 1) / 2)``."""
    return (n - d + 1) // 2


def breakdown_curve(draws: Draws, d: int, counts: Sequence[int]) -> list[dict[str, Any]]:
    """Share of repetitions in which each estimator is broken, for each attack and count."""
    return [
        {"attack": attack, "estimator": name, **_broken(Case(draws, d, m), ATTACKS[attack], choose)}
        for attack in ATTACKS
        for name, choose in CHOICES.items()
        for m in counts
    ]


def exact_breakdown(draws: Draws, d: int) -> list[dict[str, Any]]:
    """The same for the exact MCD of few samples, up to one more than breaks it by any attack."""
    most = draws.n - int(support_size(draws.n, d)) + 1
    return [
        {"attack": name, **_broken(Case(draws, d, m), attack, by_enumeration)}
        for name, attack in EXACT_ATTACKS.items()
        for m in range(1, most + 1)
    ]


def _broken(case: Case, attack: Attack, choose: Choose) -> dict[str, Any]:
    found = [_one(case, attack, choose, i) for i in range(case.draws.repeats)]
    return {
        "replaced": case.replaced,
        "mean_broken": mean_figure([mean for mean, _ in found]),
        "covariance_broken": mean_figure([covariance for _, covariance in found]),
    }


def _one(case: Case, attack: Attack, choose: Choose, i: int) -> tuple[bool, bool]:
    """Whether mean and covariance are broken in one repetition."""
    draws, d, m = case
    rng = generator(draws.seed, m, i)
    X = rng.normal(size=(draws.n, d))
    bad = attack(X, m, rng)
    mean, covariance = mean_and_covariance(X, choose(X, 0, rng))
    bad_mean, bad_covariance = mean_and_covariance(bad, choose(bad, m, rng))
    moved = np.log(_eigenvalues(bad_covariance)) - np.log(_eigenvalues(covariance))
    return bool(np.linalg.norm(bad_mean - mean) > MOVED), bool(np.abs(moved).max() > LOG_MOVED)


def _eigenvalues(covariance: Array) -> Array:
    """From the smallest on; one that rounding has made negative counts as tiny."""
    values: Array = np.linalg.eigvalsh(covariance)
    return np.maximum(values, np.finfo(np.float64).tiny)


def _replaced(X: Array, new: Array) -> Array:
    return np.concatenate([X[: len(X) - len(new)], new])
