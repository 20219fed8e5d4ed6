"""The tables of the page, each from a part of the result."""

from __future__ import annotations

from typing import Any

from rehead.experiments.markdown import table_lines
from rehead.experiments.theory.markdown import figure, number

Result = dict[str, Any]
COUNTEREXAMPLE_ROWS = {
    "pull_1": "pull of the first class",
    "outliers_kept": "outliers among the kept",
    "phi": "phi",
    "ratio": "ratio of equation 4",
    "ratio_squared": "ratio with squared norms",
    "terms_squared": "bound with squared norms, D zero",
}
"""Figures of the counterexamples, in words."""


def worlds_table(result: Result) -> list[str]:
    """What the worlds are."""
    names = ("d", "delta_out", "delta_mcd", "sigma", "sigma_out")
    rows = []
    for i, cell in enumerate(result["cells"], 1):
        world = cell["world"]
        means = ", ".join(number(p) for p in world["positions"])
        rows.append([str(i), *(number(world[name]) for name in names), means])
    return table_lines(["world", *names, "means at"], rows)


def factor_table(result: Result) -> list[str]:
    """The factor of truncation: closed form and Monte Carlo."""
    rows = [
        [
            str(row["d"]),
            number(row["alpha"]),
            number(row["factor"]),
            figure(row["scale"]),
            figure(row["repaired"]),
        ]
        for row in result["factor"]
    ]
    return table_lines(["d", "kept", "factor", "scale of the MCD", "scale / factor"], rows)


def means_table(result: Result) -> list[str]:
    """Equation 3: how far the means are drawn towards the outliers."""
    head = ["world"]
    columns = [("sample", "sample"), ("mcd", "MCD"), ("algorithm_1", "Algorithm 1")]
    for _, name in columns:
        head += [f"{name}, measured", f"{name}, limit"]
    rows = []
    for i, cell in enumerate(result["cells"], 1):
        row = [str(i)]
        for key, _ in columns:
            row.append(figure(cell["pooled"][key]["pull_2"]))
            row.append(number(cell["claims"][key]["pull_2"]["exact"]))
        rows.append(row)
    return table_lines(head, rows)


def covariance_table(result: Result) -> list[str]:
    """Lemma 1: the covariance of the MCD, across the axis of the means."""
    rows = []
    for i, cell in enumerate(result["cells"], 1):
        claims = cell["claims"]["mcd"]["across"]
        said = [number(claims[reading]) for reading in ("printed", "repaired", "exact")]
        repaired = [figure(cell["repaired_scale"][name]) for name in ("known", "unknown")]
        rows.append([str(i), figure(cell["pooled"]["mcd"]["across"]), *said, *repaired])
    head = ["world", "measured", "printed", "with the factor", "quadrature"]
    return table_lines([*head, "scale / factor", "the same, delta_out unknown"], rows)


def ratio_table(result: Result) -> list[str]:
    """Equation 4 under both readings."""
    rows = []
    for i, cell in enumerate(result["cells"], 1):
        claims, pooled = cell["claims"]["mcd"], cell["pooled"]["mcd"]
        norm = [number(claims["ratio"][r]) for r in ("printed", "repaired", "exact")]
        squared = [number(claims["ratio_squared"][r]) for r in ("printed", "exact")]
        rows.append(
            [str(i), figure(pooled["ratio"]), *norm, figure(pooled["ratio_squared"]), *squared]
        )
    head = ["world", "norms", "printed", "with 1 - delta", "quadrature"]
    return table_lines([*head, "squared norms", "printed", "quadrature"], rows)


def bound_table(result: Result) -> list[str]:
    """Both bounds with squared norms, at the fewest samples and in the limit."""
    rows = []
    for i, cell in enumerate(result["cells"][:3], 1):
        limits = {(b["reading"], b["constant"]): b for b in cell["bound_limits"]}
        for b in cell["runs"][0]["bounds"]:
            if b["reading"] == "squared":
                limit = limits["squared", b["constant"]]
                rows.append(
                    [
                        str(i),
                        number(b["constant"]),
                        *(figure(b[name]) for name in ("sample", "mcd", "mcd_smaller")),
                        number(limit["sample"]),
                        number(limit["mcd"]),
                    ]
                )
    head = ["world", "D", "sample", "MCD", "share of runs in which the MCD's is smaller"]
    return table_lines([*head, "sample, limit", "MCD, limit"], rows)


def error_table(result: Result) -> list[str]:
    """Limits of the error beside those of the bound with D = 0."""
    rows = []
    for i, cell in enumerate(result["cells"], 1):
        row = [str(i)]
        for name in ("terms_squared", "error"):
            row += [number(cell["claims"][e][name]["exact"]) for e in ("sample", "mcd")]
        rows.append(row)
    return table_lines(
        ["world", "bound, sample", "bound, MCD", "error, sample", "error, MCD"], rows
    )


def breakdown_table(result: Result) -> list[str]:
    """Share of runs in which mean and covariance are broken."""
    return _broken_table(
        result["breakdown"]["rows"], lambda row: f"{row['estimator']}, {row['attack']}"
    )


def exact_table(result: Result) -> list[str]:
    """The same where every subset is tried."""
    return _broken_table(result["exact_breakdown"]["rows"], lambda row: row["attack"])


def _broken_table(rows: list[dict[str, Any]], name: Any) -> list[str]:
    by_name: dict[str, dict[int, str]] = {}
    for row in rows:
        cell = f"{figure(row['mean_broken'])}; {figure(row['covariance_broken'])}"
        by_name.setdefault(name(row), {})[row["replaced"]] = cell
    counts = sorted({row["replaced"] for row in rows})
    lines = [[str(m), *(column.get(m, "") for column in by_name.values())] for m in counts]
    return table_lines(["replaced", *by_name], lines)


def counterexample_table(result: Result) -> list[str]:
    """What goes wrong where, measured and in the limit."""
    found = result["counterexamples"]
    rows = [
        [
            f"{said}, {kind}",
            *(
                number(c["limit"]["mcd"][name])
                if kind == "limit"
                else figure(c["measured"]["mcd"][name])
                for c in found.values()
            ),
        ]
        for name, said in COUNTEREXAMPLE_ROWS.items()
        for kind in ("measured", "limit")
    ]
    gap = [c["log_det_gap"] for c in found.values()]
    rows.append(["log determinant against the best clean subset", *map(figure, gap)])
    rows.append(["the same, limit", *(number(g["limit"]) for g in gap)])
    holds = [", ".join(a for a, true in c["assumptions"].items() if true) for c in found.values()]
    rows.append(["assumptions that hold", *holds])
    return table_lines(["MCD", *found], rows)
