"""The bound that follows Theorem 1, for both estimators, and what it is worth.

``sum of terms + D sum_c |mu_c - mean_c|_1`` with a constant D that nobody knows. The index c of the
second part is bound by no sum in print; here it is added once for each class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rehead.experiments.theory.closed import bound_terms, lda_error
from rehead.experiments.theory.repeats import mean_figure

READINGS = {"norm": "terms", "squared": "terms_squared"}
"""How the norm in the exponent is read, and the figure that has the terms."""


def bound(figures: Mapping[str, float], reading: str, constant: float) -> float:
    """The bound from figures of an estimate, with ``constant`` for D."""
    return figures[READINGS[reading]] + constant * figures["mean_errors"]


def compare_bounds(
    repeats: Sequence[Mapping[str, Mapping[str, float]]], constants: Sequence[float]
) -> list[dict[str, Any]]:
    """Both bounds at a size, and in which share of the repetitions the MCD's is smaller."""
    rows = []
    for reading in READINGS:
        for constant in constants:
            of = {
                e: np.array([bound(r[e], reading, constant) for r in repeats])
                for e in ("sample", "mcd")
            }
            rows.append(
                {
                    "reading": reading,
                    "constant": constant,
                    "sample": mean_figure(of["sample"]),
                    "mcd": mean_figure(of["mcd"]),
                    "mcd_smaller": mean_figure(of["mcd"] < of["sample"]),
                }
            )
    return rows


def limiting_bounds(
    claims: Mapping[str, Mapping[str, Mapping[str, float]]], constants: Sequence[float]
) -> list[dict[str, Any]]:
    """Both bounds for ever more samples."""
    exact = {
        e: {name: claim["exact"] for name, claim in claims[e].items()} for e in ("sample", "mcd")
    }
    return [
        {
            "reading": reading,
            "constant": constant,
            "sample": bound(exact["sample"], reading, constant),
            "mcd": bound(exact["mcd"], reading, constant),
        }
        for reading in READINGS
        for constant in constants
    ]


def smaller_for_every_constant(mcd: Mapping[str, float], sample: Mapping[str, float]) -> bool:
    """Whether the MCD's bound is at most the sample estimator's, whatever D and the reading."""
    return all(mcd[name] <= sample[name] for name in (*READINGS.values(), "mean_errors"))


def rescaled(apart: float, scales: Sequence[float]) -> list[dict[str, float]]:
    """The same two classes in other units: the error, and the bound under both readings.

    The means are exact, so that no D can help. The classes are ``apart`` standard deviations from
    each other; in another unit both shrink alike, and the error does not change.

    Examples
    --------
    >>> metres, kilometres = rescaled(2.0, [1.0, 0.001])
    >>> metres["error"] == kilometres["error"], metres["squared"] == kilometres["squared"]
    (True, True)
    >>> kilometres["norm"] < kilometres["error"]
    True
    """
    rows = []
    for scale in scales:
        means, covariance = np.array([[0.0, 0.0], [apart * scale, 0.0]]), scale**2 * np.eye(2)
        error = lda_error(list(means), covariance, means, scale)
        norm, squared = (bound_terms(means, covariance, scale, power) for power in (1, 2))
        rows.append({"scale": scale, "error": error, "norm": norm, "squared": squared})
    return rows
