"""Claims about limits, tested on what was measured; a statement, and what speaks about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rehead.experiments.theory.repeats import Figure, critical, deviation

HOLDS, WITH_FACTOR = "holds", "holds with the factor"
SQUARED, FAILS = "holds for squared norms", "does not hold"
UNDECIDED = "undecided"
"""Too few repetitions: what is printed and what differs from it are both accepted."""

ACCURACY = 1e-6
"""Of limits by quadrature: differences from a printed limit that are larger are real."""


Result = dict[str, Any]
"""What an experiment gives, before its statements are judged."""


class Statement(NamedTuple):
    """A printed statement and what became of it.

    Attributes
    ----------
    id : str
    where : str
        Where in the paper.
    says : str
        What it says, in our words.
    verdict : str
    tests : dict
        By reading, what :func:`outcome` gives.
    evidence : list of dict
        ``what``, a ``value``, and where it was measured its ``se``.
    note : str
        Why.
    """

    id: str
    where: str
    says: str
    verdict: str
    tests: dict[str, Any]
    evidence: list[dict[str, Any]]
    note: str = ""


class Check(NamedTuple):
    """A figure in one world, and what it is said to be."""

    world: int
    name: str
    measured: Figure
    claim: float


def judge(
    result: Result, estimator: str, names: Sequence[str], readings: Sequence[str]
) -> dict[str, Any]:
    """For each reading, what becomes of its claims about some figures in all worlds."""
    of = {r: _tests(result, estimator, names, r) for r in readings}
    return {
        r: {
            **outcome(tests, result["settings"]["repeats"]),
            "differs": any(
                abs(a.claim - b.claim) > ACCURACY
                for a, b in zip(tests, of[readings[0]], strict=True)
            ),
        }
        for r, tests in of.items()
    }


def _tests(result: Result, estimator: str, names: Sequence[str], reading: str) -> list[Check]:
    return [
        Check(
            world,
            name,
            cell["pooled"][estimator][name],
            cell["claims"][estimator][name][reading],
        )
        for world, cell in enumerate(result["cells"])
        for name in names
    ]


def outcome(tests: Sequence[Check], repeats: int) -> dict[str, Any]:
    """How many claims are accepted, and the one that is farthest off; ready for JSON.

    In :func:`judge`, ``differs`` says that claims are not those of the first reading.

    Figures that never varied are left out: nothing can be tested with them.
    """
    tried = [(test, z) for test in tests if (z := deviation(test.measured, test.claim)) is not None]
    if not tried:
        raise ValueError("No figure varied, so nothing can be tested. Take more repetitions.")
    limit = critical(len(tried), repeats)
    worst, z = max(tried, key=lambda pair: abs(pair[1]))
    return {
        "accepted": sum(abs(z) <= limit for _, z in tried),
        "of": len(tried),
        "critical": limit,
        "worst": {
            "world": worst.world,
            "figure": worst.name,
            "measured": worst.measured,
            "claim": worst.claim,
            "deviation": z,
        },
    }


def accepted(found: dict[str, Any]) -> bool:
    """Whether every claim was."""
    return bool(found["accepted"] == found["of"])


def verdict_of(tests: dict[str, Any]) -> str:
    """As printed, with the factor, or not at all; undecided if a rival is accepted as well."""
    if accepted(tests["printed"]):
        rivals = [t for t in tests.values() if t.get("differs") and accepted(t)]
        return UNDECIDED if rivals else HOLDS
    return WITH_FACTOR if "repaired" in tests and accepted(tests["repaired"]) else FAILS


def contradicting(result: Result, name: str, wrong: Callable[[float], bool]) -> list[str]:
    """Counterexamples that satisfy A1 to A4, and in which the limit of a figure is wrong."""
    return [
        key
        for key, found in result["counterexamples"].items()
        if all(found["assumptions"].values()) and wrong(found["limit"]["mcd"][name])
    ]


def shown(result: Result, name: str, counterexamples: Sequence[str]) -> list[dict[str, Any]]:
    """A figure of the MCD in counterexamples: its limit, and as it was measured."""
    rows = []
    for key in counterexamples:
        found = result["counterexamples"][key]
        rows.append({"what": f"{key}: {name} (limit)", "value": found["limit"]["mcd"][name]})
        measured = found["measured"]["mcd"][name]
        rows.append({"what": f"{key}: {name}, {found['n']} samples a class", **measured})
    return rows
