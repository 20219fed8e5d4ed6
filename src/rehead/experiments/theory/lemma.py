"""Statements about single estimators: Lemma 1 and equation 3."""

from __future__ import annotations

from rehead.experiments.theory.verdicts import (
    ACCURACY,
    FAILS,
    HOLDS,
    Check,
    Result,
    Statement,
    contradicting,
    judge,
    outcome,
    shown,
    verdict_of,
)

PULLS = ("pull_1", "pull_2")
SHAPE = ("along", "across")


def sample_mean(result: Result) -> Statement:
    """Lemma 1, the sample mean."""
    tests = judge(result, "sample", PULLS, ("printed",))
    return Statement(
        "sample-mean",
        "Lemma 1, equation 3",
        "The sample mean is drawn towards the outliers, by the share delta_out of the way.",
        verdict_of(tests),
        tests,
        [],
    )


def sample_covariance(result: Result) -> Statement:
    """Lemma 1, the sample covariance."""
    tests = judge(result, "sample", SHAPE, ("printed",))
    return Statement(
        "sample-covariance",
        "Lemma 1",
        "The sample covariance tends to that of the mixture.",
        verdict_of(tests),
        tests,
        [],
    )


def mcd_mean(result: Result) -> Statement:
    """Lemma 1 and equation 3, the mean of the MCD."""
    tests = judge(result, "mcd", PULLS, ("printed", "exact"))
    wrong = contradicting(result, "pull_1", lambda pull: abs(pull) > ACCURACY)
    one_sided = result["skewed"]
    evidence = [
        *shown(result, "pull_1", wrong),
        {"what": "skewed clean samples, no outliers: mean of the MCD", **one_sided["mean"]},
        {"what": "the same (limit)", "value": one_sided["limit"]},
        {"what": "the same, as printed", "value": one_sided["printed"]},
    ]
    return Statement(
        "mcd-mean",
        "Lemma 1, equation 3",
        "The mean of the MCD tends to that of the clean samples.",
        FAILS if wrong else verdict_of(tests),
        tests,
        evidence,
        "Outliers within reach of the ellipsoid are kept, more of them on the side where they are "
        "denser. The bias is small where they are out of reach, and large in the counterexamples.",
    )


def no_outliers_kept(result: Result) -> Statement:
    """The proof of Lemma 1: q* = 0."""
    cells = [c for c in result["cells"] if c["world"]["delta_out"] > 0]
    limits = [c["claims"]["mcd"]["outliers_kept"]["exact"] for c in cells]
    wrong = contradicting(result, "outliers_kept", lambda share: share > ACCURACY)
    enumerated = result["enumerated"]
    evidence = [
        {"what": "outliers_kept, smallest of all worlds (limit)", "value": min(limits)},
        {"what": "outliers_kept, largest of all worlds (limit)", "value": max(limits)},
        *shown(result, "outliers_kept", wrong),
        {
            "what": f"spike, {enumerated['n']} samples, every subset tried: outliers_kept",
            **enumerated["outliers_kept"],
        },
    ]
    return Statement(
        "no-outliers-kept",
        "proof of Lemma 1",
        "The subset with the smallest determinant has no outliers (q* is zero).",
        FAILS if max(limits) > ACCURACY or wrong else HOLDS,
        {},
        evidence,
        "The proof takes every subset for a random draw of a mixture. That of the MCD is the "
        "opposite: it is chosen.",
    )


def mcd_covariance_clean(result: Result) -> Statement:
    """Lemma 1, the covariance of the MCD where there are no outliers."""
    rows = result["factor"]
    claimed = {"printed": [1.0] * len(rows), "repaired": [row["factor"] for row in rows]}
    tests = {
        reading: outcome(
            [Check(i, "scale", rows[i]["scale"], claim) for i, claim in enumerate(claims)],
            result["settings"]["factor_repeats"],
        )
        for reading, claims in claimed.items()
    }
    tests["repaired"]["differs"] = True
    return Statement(
        "mcd-covariance-clean",
        "Lemma 1",
        "Without outliers, the covariance of the MCD tends to sigma^2 I.",
        verdict_of(tests),
        tests,
        [],
        "The kept samples are the central ones, and less spread out. Divided by the factor of "
        "truncation the covariance tends to sigma^2 I. Predicted classes do not depend on the "
        "scale of a tied covariance; posteriors do.",
    )


def mcd_covariance(result: Result) -> Statement:
    """Lemma 1, the covariance of the MCD where there are outliers."""
    numbers = [i for i, c in enumerate(result["cells"]) if c["world"]["delta_out"] > 0]
    some = {**result, "cells": [result["cells"][i] for i in numbers]}
    tests = judge(some, "mcd", SHAPE, ("printed", "repaired", "exact"))
    for found in tests.values():
        found["worst"]["world"] = numbers[found["worst"]["world"]]
    return Statement(
        "mcd-covariance",
        "Lemma 1",
        "With outliers, the covariance of the MCD tends to sigma^2 I.",
        verdict_of(tests),
        tests,
        [],
        "The factor for the share delta_mcd / (1 - delta_out) of the clean samples repairs it "
        "where outliers are out of reach. Where some are kept, the quadrature has the limit.",
    )


def algorithm_1(result: Result) -> Statement:
    """Whether two C-steps from one random start inherit equation 3."""
    tests = judge(result, "algorithm_1", PULLS, ("printed", "exact"))
    shares = [
        c["claims"]["algorithm_1"][pull]["exact"] / c["world"]["delta_out"]
        for c in result["cells"]
        if c["world"]["delta_out"] > 0
        for pull in PULLS
    ]
    what = "bias of the mean as a share of the sample mean's, largest of all worlds (limit)"
    return Statement(
        "algorithm-1",
        "section 3.2: more than two steps would not help much",
        "The mean of Algorithm 1 tends to that of the clean samples.",
        verdict_of(tests),
        tests,
        [{"what": what, "value": max(shares)}],
        "A large random subset is like the whole. So Algorithm 1 is two C-steps away from the "
        "sample estimator, however many samples there are.",
    )
