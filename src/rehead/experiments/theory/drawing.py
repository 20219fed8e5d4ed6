"""Theorem 1 in six panels, legible in print and without colours."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rehead._typing import Array
from rehead.experiments.checksums import mark_of
from rehead.experiments.theory.closed import truncation
from rehead.files.atomic import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

Style = dict[str, Any]
# Okabe and Ito's colours; each has a line and a marker of its own as well.
SAMPLE: Style = {"color": "#D55E00", "marker": "s", "linestyle": "--"}
MCD: Style = {"color": "#0072B2", "marker": "o", "linestyle": "-"}
ALGORITHM: Style = {"color": "#009E73", "marker": "^", "linestyle": "-."}
OTHER: Style = {"color": "#CC79A7", "marker": "D", "linestyle": (0, (1, 1))}
PRINTED: Style = {"color": "black", "linestyle": ":", "linewidth": 1.6}
ESTIMATORS = {"sample": SAMPLE, "mcd": MCD, "algorithm_1": ALGORITHM, "deterministic": OTHER}
NAMES = {
    "sample": "sample",
    "mcd": "MCD",
    "algorithm_1": "Algorithm 1",
    "deterministic": "deterministic starts",
}
DPI = 150


def draw_theorem(result: dict[str, Any], path: str | Path) -> None:
    """Draw a result of :func:`run_theorem`; the ending of the path says the format.

    The same result gives the same file.
    """
    import matplotlib as mpl

    path = Path(path)
    form = path.suffix.lstrip(".") or "png"
    about = {**mark_of(result), **({"Date": None} if form == "svg" else {})}
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "rehead"}):
        theorem_drawing(result).savefig(buffer, format=form, dpi=DPI, metadata=about)
    write_atomically(path, buffer.getvalue())


def theorem_drawing(result: dict[str, Any]) -> Drawing:
    """The same as a matplotlib figure."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(13.5, 8.2), layout="constrained")
    axes = drawing.subplots(2, 3).ravel()
    panels = (_factor, _means, _ratio, _breakdown, _bound, _counterexamples)
    for letter, ax, panel in zip("abcdef", axes, panels, strict=True):
        title = panel(ax, result)
        ax.set_title(f"({letter}) {title}", loc="left", fontsize=11)
        ax.grid(alpha=0.25)
    return drawing


def _factor(ax: Axes, result: dict[str, Any]) -> str:
    kept = np.linspace(0.3, 1.0, 141)
    dims = list(dict.fromkeys(row["d"] for row in result["factor"]))
    for d, style in zip(dims, (MCD, SAMPLE, ALGORITHM, OTHER), strict=False):
        _line(ax, kept, [truncation(d, a) for a in kept], style, f"d = {d}")
        rows = [row for row in result["factor"] if row["d"] == d]
        _points(ax, [row["alpha"] for row in rows], [row["scale"] for row in rows], style)
    ax.axhline(1.0, **PRINTED, label="printed")
    ax.set(xlabel="share kept", ylabel="scale / $\\sigma^2$")
    note = "markers measured,\nlines closed form"
    ax.legend(title=note, title_fontsize=8, fontsize=8, loc="lower right")
    return "Scale of the MCD, clean data"


def _means(ax: Axes, result: dict[str, Any]) -> str:
    cells = _by_delta_out(result)
    x = [c["world"]["delta_out"] for c in cells]
    for e in ("sample", "algorithm_1", "mcd"):
        limits = [c["claims"][e]["pull_2"]["exact"] for c in cells]
        _line(ax, x, limits, ESTIMATORS[e], NAMES[e])
        _points(ax, x, [c["pooled"][e]["pull_2"] for c in cells], ESTIMATORS[e])
    ax.axhline(0.0, **PRINTED, label="printed, MCD")
    ax.set(xlabel="share of outliers $\\delta_{out}$", ylabel="share of the way")
    ax.legend(title="markers measured, lines limits", title_fontsize=8, fontsize=8)
    return "Mean of class 2, drawn to the outliers"


def _ratio(ax: Axes, result: dict[str, Any]) -> str:
    cells = _by_delta_out(result)
    x = [c["world"]["delta_out"] for c in cells]
    claims = [c["claims"]["mcd"] for c in cells]
    ax.plot(x, [c["ratio"]["printed"] for c in claims], **PRINTED, label="with $(1-\\delta)^2$")
    one = {**PRINTED, "linestyle": "--"}
    ax.plot(x, [c["ratio"]["repaired"] for c in claims], **one, label="with $1-\\delta$")
    for name, style, label in (
        ("ratio_squared", SAMPLE, "squared norms, measured"),
        ("ratio", MCD, "norms, measured"),
    ):
        _points(ax, x, [c["pooled"]["mcd"][name] for c in cells], style, label=label)
    ax.set(xlabel="share of outliers $\\delta_{out}$", ylabel="ratio, MCD to sample")
    ax.legend(fontsize=8)
    return "Equation 4"


def _breakdown(ax: Axes, result: dict[str, Any]) -> str:
    curve = result["breakdown"]
    shown = [("one cluster", e) for e in ("sample", "algorithm_1", "deterministic", "mcd")]
    for attack, e in [*shown, ("scattered", "algorithm_1")]:
        rows = [r for r in curve["rows"] if (r["attack"], r["estimator"]) == (attack, e)]
        style = dict(ESTIMATORS[e])
        if attack == "scattered":
            style.update(color="black", marker="x", linestyle=":")
        x = [100 * r["replaced"] / curve["n"] for r in rows]
        # A larger marker below a smaller one: lines that coincide can still be told apart.
        size = {"deterministic": 9, "mcd": 5}.get(e, 6)
        label = NAMES[e] if attack == "one cluster" else f"{NAMES[e]}, scattered"
        figures = [r["mean_broken"] for r in rows]
        _points(ax, x, figures, style, line=True, markersize=size, label=label)
    ax.axvline(100 * curve["printed"] / curve["n"], color="grey", linewidth=0.8)
    ax.set(xlabel="% replaced", ylabel="share of runs broken")
    ax.legend(title="outliers in one far cluster", title_fontsize=8, fontsize=8, loc=(0.03, 0.4))
    return "Breakdown of the mean"


def _bound(ax: Axes, result: dict[str, Any]) -> str:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    constant = sorted(result["settings"]["constants"])[-2]
    for cell in _first_and_cleanest(result):
        noisy = cell["world"]["delta_out"] > 0
        for e in ("sample", "mcd"):
            style = {**ESTIMATORS[e], "fillstyle": "full" if noisy else "none"}
            style["linestyle"] = style["linestyle"] if noisy else ":"
            figures = [_of_bound(run["bounds"], constant)[e] for run in cell["runs"]]
            label = f"{NAMES[e]}, $\\delta_{{out}}$ = {cell['world']['delta_out']:g}"
            x = [run["n"] for run in cell["runs"]]
            _points(ax, x, figures, style, line=True, label=label)
    ax.set(xlabel="samples a class", ylabel="bound on the error", xscale="log", yscale="log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.legend(fontsize=8)
    return f"Bound, squared norms, D = {constant:g}"


def _counterexamples(ax: Axes, result: dict[str, Any]) -> str:
    found = result["counterexamples"]
    labels = [*found, "spike, every\nsubset tried"]
    y = np.arange(len(labels))[::-1]
    kept = [c["measured"]["mcd"]["outliers_kept"] for c in found.values()]
    kept.append(result["enumerated"]["outliers_kept"])
    worlds = [c["world"] for c in [*found.values(), result["enumerated"]]]
    values, errors = ([k[key] for k in kept] for key in ("value", "se"))
    alone = {"linestyle": "none"}
    ax.plot([w["delta_out"] for w in worlds], y, **{**SAMPLE, **alone}, label="in the data")
    ax.errorbar(values, y, xerr=errors, capsize=3, **{**MCD, **alone}, label="kept by the MCD")
    ax.axvline(0.0, **PRINTED, label="kept, as printed")
    ax.set_yticks(y, labels)
    ax.set(xlabel="share of outliers", xlim=(-0.05, 1.05), ylim=(-1.5, len(labels) - 0.5))
    ax.legend(fontsize=8, loc="lower right")
    return "Counterexamples to Lemma 1"


def _line(
    ax: Axes, x: Sequence[float] | Array, y: Sequence[float], style: Style, label: str
) -> None:
    """A curve; its markers are seen in the legend only, as those drawn are measured points."""
    ax.plot(x, y, **style, markevery=[], label=label)


def _points(
    ax: Axes, x: Sequence[float], measured: Sequence[Mapping[str, float]], style: Style, **more: Any
) -> None:
    """Figures with their standard errors; ``line=True`` connects them."""
    line = style["linestyle"] if more.pop("line", False) else "none"
    values, errors = ([m[key] for m in measured] for key in ("value", "se"))
    ax.errorbar(x, values, yerr=errors, capsize=3, **{**style, "linestyle": line, **more})


def _by_delta_out(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The worlds that differ from the first in their share of outliers only, in its order."""
    first = {**result["cells"][0]["world"], "delta_out": None}
    cells = [c for c in result["cells"] if {**c["world"], "delta_out": None} == first]
    return sorted(cells, key=lambda c: float(c["world"]["delta_out"]))


def _first_and_cleanest(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The first world, and the same with the fewest outliers."""
    cells = _by_delta_out(result)
    return [result["cells"][0], *cells[:1]] if cells[0] is not result["cells"][0] else cells[:1]


def _of_bound(rows: Sequence[dict[str, Any]], constant: float) -> dict[str, Any]:
    return next(r for r in rows if r["reading"] == "squared" and r["constant"] == constant)
