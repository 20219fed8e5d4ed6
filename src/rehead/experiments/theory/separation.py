"""Statements that compare the estimators: equation 4 and the bound."""

from __future__ import annotations

from rehead.experiments.theory.bound import smaller_for_every_constant
from rehead.experiments.theory.verdicts import (
    ACCURACY,
    FAILS,
    HOLDS,
    SQUARED,
    UNDECIDED,
    Result,
    Statement,
    accepted,
    contradicting,
    judge,
    shown,
    verdict_of,
)


def phi_to_one(result: Result) -> Statement:
    """The proof of equation 4: phi of the MCD's covariance."""
    tests = judge(result, "mcd", ("phi",), ("printed", "exact"))
    wrong = contradicting(result, "phi", lambda value: value < 1 - ACCURACY)
    evidence = [
        {
            "what": "largest change of phi when a covariance is multiplied by a number",
            "value": result["phi_scale_change"],
        },
        {
            "what": "phi, smallest of all worlds (limit)",
            "value": min(c["claims"]["mcd"]["phi"]["exact"] for c in result["cells"]),
        },
        *shown(result, "phi", wrong),
    ]
    return Statement(
        "phi",
        "proof of equation 4",
        "phi of the MCD's covariance tends to one, its largest value.",
        FAILS if wrong else verdict_of(tests),
        tests,
        evidence,
        "phi does not depend on the scale, so the wrong scale in Lemma 1 does it no harm. Outliers "
        "that are kept do: they stretch the covariance towards their mean.",
    )


def distances(result: Result) -> Statement:
    """The proof of equation 4: how the distance of two sample means shrinks."""
    norms = judge(result, "sample", ("distance",), ("printed", "exact"))
    squares = judge(result, "sample", ("distance_squared",), ("exact",))
    tests = {"printed": norms["printed"], "repaired": norms["exact"], "squared": squares["exact"]}
    as_squares = accepted(tests["repaired"]) and accepted(tests["squared"])
    verdict = verdict_of(tests)
    return Statement(
        "distances",
        "proof of equation 4",
        "The distance between two sample means shrinks by (1 - delta_out)^2.",
        SQUARED if verdict not in (HOLDS, UNDECIDED) and as_squares else verdict,
        tests,
        [],
        "Both means shrink by 1 - delta_out, and so does the norm of their difference. The square "
        "of the norm shrinks by (1 - delta_out)^2.",
    )


def ratio(result: Result) -> Statement:
    """Equation 4, the limit."""
    norms = judge(result, "mcd", ("ratio",), ("printed", "repaired", "exact"))
    squares = judge(result, "mcd", ("ratio_squared",), ("printed", "exact"))
    tests = {**norms, "squared": squares["printed"], "squared, exact": squares["exact"]}
    verdict = verdict_of({"printed": norms["printed"], "exact": norms["exact"]})
    return Statement(
        "ratio",
        "equation 4",
        "The ratio tends to 1 / ((1 - delta_out)^2 phi(sample covariance)).",
        SQUARED if verdict == FAILS and accepted(tests["squared"]) else verdict,
        tests,
        [],
        "Norms take 1 - delta_out, squared norms its square. Where outliers are within reach, the "
        "bias of the MCD takes a little away from both.",
    )


def ratio_at_least_one(result: Result) -> Statement:
    """Equation 4, the inequality."""
    names = ("ratio", "ratio_squared")
    wrong = contradicting(result, "ratio", lambda value: value < 1 - ACCURACY)
    smallest = {
        name: min(c["claims"]["mcd"][name]["exact"] for c in result["cells"]) for name in names
    }
    evidence = [
        {"what": f"{name}, smallest of all worlds (limit)", "value": value}
        for name, value in smallest.items()
    ]
    below = min(smallest.values()) < 1 - ACCURACY
    return Statement(
        "ratio-at-least-one",
        "equation 4",
        "The ratio is at least one in the limit: the MCD separates classes better.",
        FAILS if wrong or below else HOLDS,
        {},
        [*evidence, *(row for name in names for row in shown(result, name, wrong))],
        "True under either reading where the MCD finds the clean samples, which the assumptions "
        "as printed do not guarantee.",
    )


def bound_as_printed(result: Result) -> Statement:
    """The bound after Theorem 1, as a bound."""
    rows = result["rescaled"]
    wrong = [row for row in rows if row["norm"] < row["error"]]
    as_squares = all(row["squared"] >= row["error"] for row in rows)
    evidence = [
        {"what": f"unit {row['scale']:g}: {what}", "value": row[key]}
        for row in wrong
        for key, what in (
            ("error", "error with exact means"),
            ("norm", "bound with the norm"),
            ("squared", "bound with the squared norm"),
        )
    ]
    return Statement(
        "bound-as-printed",
        "bound after Theorem 1",
        "The error is at most the bound, which has the norm over sigma^2 in its exponent.",
        HOLDS if not wrong else SQUARED if as_squares else FAILS,
        {},
        evidence,
        "A length over the square of a length depends on the unit, and the error does not. With "
        "exact means the part with D is zero, so no D helps.",
    )


def bound_is_smaller(result: Result) -> Statement:
    """The conclusion: the MCD has the better bound."""
    better = [
        smaller_for_every_constant(
            *({k: v["exact"] for k, v in c["claims"][e].items()} for e in ("mcd", "sample"))
        )
        for c in result["cells"]
    ]
    worse = [
        name
        for name, found in result["counterexamples"].items()
        if all(found["assumptions"].values())
        and not smaller_for_every_constant(found["limit"]["mcd"], found["limit"]["sample"])
    ]
    evidence = [
        {"what": "worlds", "value": len(better)},
        {"what": "worlds in which it is, for every D and reading (limit)", "value": sum(better)},
    ]
    for name in worse:
        for e in ("sample", "mcd"):
            terms = result["counterexamples"][name]["limit"][e]["terms_squared"]
            evidence.append({"what": f"{name}: bound with D zero, {e} (limit)", "value": terms})
    return Statement(
        "bound-is-smaller",
        "bound after Theorem 1",
        "The MCD has the smaller bound.",
        HOLDS if all(better) and not worse else FAILS,
        {},
        evidence,
        "True in the limit where the MCD finds the clean samples. A smaller bound is not a smaller "
        "error: where the means are equally far from that of the outliers, the errors are equal.",
    )
