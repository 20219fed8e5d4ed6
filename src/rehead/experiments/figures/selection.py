"""Figure 2b: how many of the samples that the MCD estimator keeps have the right label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rehead._typing import Array
from rehead.experiments.figures import style
from rehead.experiments.figures.cells import (
    RATES,
    Content,
    NothingToDrawError,
    Request,
    caption,
    find_results,
    uniform_cells,
)
from rehead.experiments.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NETWORK, COLUMN = "resnet34", "RoG last layer"
WIDTH = 11.0
"""Of a bar, in per cent of noise."""


def collect(request: Request) -> dict[str, Any]:
    """Samples that are kept, and all samples: how many, and how many of them have right labels."""
    found = find_results(request, uniform_cells(request, NETWORK))
    measured = [r for r in found.results if COLUMN in r.columns]
    if not measured:
        raise NothingToDrawError(
            f"{COLUMN!r} was not measured in {found.cells[0].name}. Measure it there."
        )
    missing = [f"{COLUMN} in {r.cell.name}" for r in found.results if r not in measured]
    not_run = [*found.not_run, *missing]
    text = (
        f"Samples that the MCD estimator keeps of the penultimate layer of {NETWORK} on "
        f"{measured[0].cell.data} with uniform noise, in means over the seeds. Left: how many. "
        "Right: the share with the right label, among the kept and among all."
    )
    return {
        "caption": caption(text, request, [r.cell for r in measured], not_run),
        "not_run": not_run,
        "network": NETWORK,
        "data": measured[0].cell.data,
        "rates": list(RATES),
        **_counts(measured),
    }


def _counts(results: list[Result]) -> dict[str, list[list[int]]]:
    """For each rate and seed: all samples, right ones, kept ones, right ones of these."""
    counts: dict[str, list[list[int]]] = {
        name: [[] for _ in RATES] for name in ("all", "all_clean", "kept", "kept_clean")
    }
    for result in results:
        i = RATES.index(result.cell.rate)
        details = result.columns[COLUMN].details
        (kept,), (share,) = details["kept"].values(), details["clean_kept"].values()
        n = result.network["n_train"]
        counts["all"][i].append(n)
        counts["all_clean"][i].append(round(n * (1 - result.network["noise_rate"])))
        counts["kept"][i].append(kept)
        counts["kept_clean"][i].append(round(kept * share))
    return counts


def draw(content: Content, figure: Canvas) -> None:
    """Bars of numbers on the left, lines of shares on the right."""
    left, right = figure.subplots(1, 2)
    rates = 100 * np.array(content["rates"])
    mean = {name: _means(content[name]) for name in ("all", "all_clean", "kept", "kept_clean")}
    wrong = mean["kept"] - mean["kept_clean"]
    bars = left.bar(rates, mean["kept_clean"], WIDTH, color=style.SKY, label="right label")
    left.bar_label(bars, fmt="{:,.0f}", label_type="center")
    left.bar(
        rates,
        np.where(wrong > 0, wrong, np.nan),
        WIDTH,
        bottom=mean["kept_clean"],
        color="white",
        edgecolor=style.VERMILION,
        hatch="///",
        label="wrong label",
    )
    left.set_ylim(0, 1.25 * float(np.nanmax(mean["kept"])))
    left.yaxis.set_major_formatter("{x:,.0f}")
    left.set_ylabel("samples kept by the MCD")
    left.legend(loc="upper left", ncols=2)
    kept, every = (100 * mean[f"{n}_clean"] / mean[n] for n in ("kept", "all"))
    right.plot(rates, kept, label="kept by the MCD", **style.LINES[1].filled)
    right.plot(rates, every, label="all samples", **style.LINES[0]._replace(dash="--").filled)
    right.set_ylim(0, 104)
    right.set_ylabel("right labels, %")
    right.legend(loc="lower left")
    for axes in (left, right):
        _name_noise(axes, rates)
    figure.suptitle(f"{style.said(content['network'])}, {style.said(content['data'])}", size=10)


def _name_noise(axes: Axes, rates: Array) -> None:
    axes.set_xticks(rates)
    axes.set_xlabel("uniform noise, % of training labels")


def _means(values: list[list[int]]) -> Array:
    """Over seeds; NaN where there are none."""
    return np.array([np.mean(v) if v else np.nan for v in values])
