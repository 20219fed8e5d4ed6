"""Each printed statement: what it says, whether it holds, and the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rehead.experiments.theory import lemma, separation
from rehead.experiments.theory.verdicts import FAILS, HOLDS, Result, Statement


def statements(result: Result) -> list[dict[str, Any]]:
    """All statements, judged by a result; ready for JSON."""
    return [make(result)._asdict() for make in STATEMENTS]


def sample_breakdown(result: Result) -> Statement:
    """Section 3.1: one sample ruins the sample estimator."""
    rows = [r for r in result["breakdown"]["rows"] if r["estimator"] == "sample"]
    fewest = min(r["replaced"] for r in rows)
    broken = _broken(rows, [fewest], min)
    return Statement(
        "sample-breakdown",
        "section 3.1",
        "The breakdown point of the sample estimator is zero: one sample can ruin it.",
        HOLDS if fewest == 1 and broken == 1.0 else FAILS,
        {},
        [
            {"what": "samples", "value": result["breakdown"]["n"]},
            {"what": "replaced", "value": fewest},
            {"what": "share of runs that this breaks", "value": broken},
        ],
    )


def mcd_breakdown(result: Result) -> Statement:
    """Section 3.1: the breakdown point of the MCD, where it can be had exactly."""
    exact = result["exact_breakdown"]
    rows, printed = exact["rows"], exact["printed"]
    before = _broken(rows, range(printed), max)
    at = {a: _broken([r for r in rows if r["attack"] == a], [printed], min) for a in _attacks(rows)}
    return Statement(
        "mcd-breakdown",
        "section 3.1",
        "The MCD breaks down when floor((N - d + 1) / 2) samples are replaced, and not before.",
        HOLDS if before == 0.0 and max(at.values()) == 1.0 else FAILS,
        {},
        [
            {"what": "samples, every subset tried", "value": exact["n"]},
            {"what": "floor((N - d + 1) / 2)", "value": printed},
            {"what": "share of runs that fewer break, at most", "value": before},
            *({"what": f"that many, {a}: share broken", "value": v} for a, v in at.items()),
        ],
        "That few are enough only if they lie on a plane with d of the clean samples.",
    )


def algorithm_1_breakdown(result: Result) -> Statement:
    """What the choice of K_c is for, but not what Algorithm 1 has."""
    curve = result["breakdown"]
    rows = [r for r in curve["rows"] if r["estimator"] == "algorithm_1"]
    first = {a: _first([r for r in rows if r["attack"] == a]) for a in _attacks(rows)}
    early = [m for m in first.values() if m is not None and m < curve["printed"]]
    return Statement(
        "algorithm-1-breakdown",
        "section 3.1: not printed, but what K_c is chosen for",
        "Algorithm 1 has the breakdown point of the MCD.",
        FAILS if early else HOLDS,
        {},
        [
            {"what": "samples", "value": curve["n"]},
            {"what": "floor((N - d + 1) / 2)", "value": curve["printed"]},
            *(
                {"what": f"fewest replaced that broke a run, {a}", "value": m}
                for a, m in first.items()
                if m is not None
            ),
        ],
        "Two C-steps from one random start do not leave a cluster behind. Deterministic starts do.",
    )


STATEMENTS: tuple[Callable[[Result], Statement], ...] = (
    sample_breakdown,
    mcd_breakdown,
    algorithm_1_breakdown,
    lemma.sample_mean,
    lemma.sample_covariance,
    lemma.mcd_mean,
    lemma.no_outliers_kept,
    lemma.mcd_covariance_clean,
    lemma.mcd_covariance,
    lemma.algorithm_1,
    separation.phi_to_one,
    separation.distances,
    separation.ratio,
    separation.ratio_at_least_one,
    separation.bound_as_printed,
    separation.bound_is_smaller,
)
"""In the order of the paper."""


def _broken(
    rows: Sequence[dict[str, Any]],
    counts: Sequence[int],
    pick: Callable[[list[float]], float],
) -> float:
    """Share of runs broken in mean or covariance, over the counts that were tried."""
    shares = [
        max(r["mean_broken"]["value"], r["covariance_broken"]["value"])
        for r in rows
        if r["replaced"] in counts
    ]
    return pick(shares)


def _first(rows: Sequence[dict[str, Any]]) -> int | None:
    """The fewest samples whose replacement broke a run."""
    broken = [r["replaced"] for r in rows if _broken([r], [r["replaced"]], max) > 0]
    return min(broken, default=None)


def _attacks(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(r["attack"] for r in rows))
