"""The page about Theorem 1, from a result and nothing else."""

from __future__ import annotations

from typing import Any

from rehead.experiments.markdown import table_lines
from rehead.experiments.theory import tables
from rehead.experiments.theory.markdown import evidence, figure, number

READINGS = {
    "printed": "as printed",
    "repaired": "repaired",
    "exact": "by quadrature",
    "squared": "as printed, with squared norms",
    "squared, exact": "by quadrature, with squared norms",
}


def theorem_page(result: dict[str, Any]) -> str:
    """A Markdown section about a result of :func:`run_theorem`."""
    lines = [
        "## Theorem 1, tried",
        "",
        *_settings(result),
        "",
        "### What holds",
        "",
        *_verdicts(result),
        "",
        *_statements(result),
    ]
    for title, text, make in SECTIONS:
        lines += [f"### {title}", "", text, "", *make(result), ""]
    return "\n".join(lines).rstrip() + "\n"


SECTIONS = (
    (
        "The worlds",
        "Two classes whose means lie on one axis, outliers about the origin. The MCD is the "
        "smallest determinant found from starts that include the clean samples; Algorithm 1 is as "
        "printed.",
        tables.worlds_table,
    ),
    (
        "The factor of truncation",
        "Clean Gaussians with sigma one. The factor is F(d + 2, q) / kept, F(k, .) being the "
        "chi-square distribution with k degrees of freedom and q the quantile with F(d, q) = kept.",
        tables.factor_table,
    ),
    (
        "Means: equation 3",
        "How far the mean of the second class is drawn towards that of the outliers, as a share of "
        "the way. Printed: delta_out for the sample estimator, zero for the MCD.",
        tables.means_table,
    ),
    (
        "Covariance of the MCD",
        "The tied variance across the axis. Printed: sigma squared. The factor is that of the "
        "share delta_mcd / (1 - delta_out), as if no outlier were kept. The last column has that "
        "of delta_mcd, which is all that can be had where delta_out is not known.",
        tables.covariance_table,
    ),
    (
        "Separation: equation 4",
        "The ratio with norms and with squared norms.",
        tables.ratio_table,
    ),
    (
        "The bound",
        "With squared norms, for the first worlds: at the fewest samples, and in the limit.",
        tables.bound_table,
    ),
    (
        "Bound and error",
        "Limits; the bound with squared norms and D zero, the error on clean samples.",
        tables.error_table,
    ),
    (
        "Breakdown",
        "Share of runs in which the mean is broken; in which the covariance is.",
        tables.breakdown_table,
    ),
    (
        "Breakdown, every subset tried",
        "Share of runs in which the mean is broken; in which the covariance is.",
        tables.exact_table,
    ),
    (
        "Counterexamples",
        "Worlds that satisfy the assumptions as printed. *Spike*: most outliers sit in a narrow "
        "spike, and a few so far out that A3 holds. *Small subset*: the same, and the kept share "
        "fits into the spike. *Hardly wider*: plain Gaussian outliers. Measured figures are "
        "corrected for their bias (jackknife), so that one close to zero may come out below it.",
        tables.counterexample_table,
    ),
)


def _settings(result: dict[str, Any]) -> list[str]:
    s = result["settings"]
    lines = [
        f"Settings `{s['name']}`, seed {s['seed']}: {len(s['worlds'])} worlds, "
        f"{', '.join(map(str, s['sizes']))} samples a class, {s['repeats']} repetitions. Limits "
        "are tested at the largest size, on the mean estimates of all repetitions; after ± stands "
        "the standard error. A true claim of a statement is rejected with a chance of "
        f"{number(result['level'])} for all its figures together (Bonferroni, Student's t)."
    ]
    if s["name"] == "tiny":
        lines += ["", "This is a smoke run: too few repetitions to decide anything."]
    return lines


def _verdicts(result: dict[str, Any]) -> list[str]:
    rows = [[s["says"], s["where"], f"**{s['verdict']}**"] for s in result["statements"]]
    return table_lines(["statement", "where", "verdict"], rows)


def _statements(result: dict[str, Any]) -> list[str]:
    lines = ["### Evidence", ""]
    for s in result["statements"]:
        lines.append(f"**{s['says']}** {s['verdict'].capitalize()}. {s['note']}".rstrip())
        lines.append("")
        points = [_tested(reading, found) for reading, found in s["tests"].items()]
        points += [evidence(entry) for entry in s["evidence"]]
        lines += [f"- {point}" for point in points]
        lines.append("")
    return lines


def _tested(reading: str, found: dict[str, Any]) -> str:
    worst = found["worst"]
    return (
        f"{READINGS[reading]}: accepted for {found['accepted']} of {found['of']} figures; "
        f"farthest off is `{worst['figure']}` in row {worst['world'] + 1} of its table, "
        f"{figure(worst['measured'])} where "
        f"{number(worst['claim'])} is claimed ({number(worst['deviation'])} standard errors)"
    )
