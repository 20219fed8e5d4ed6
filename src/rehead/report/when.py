"""Table 5: when RoG gains, as far as changes of training and of inference tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import spearmanr

from rehead.experiments.columns.registry import ROG, SOFTMAX
from rehead.experiments.results import Result
from rehead.report.compared import named, signed
from rehead.report.methods import PLAIN
from rehead.report.varied import Rows

FEWEST = 4
"""Settings of training that a rank correlation needs to tell anything."""
CLEAR = 0.5
"""A rank correlation above this says that two things go together."""
INSTEAD = {
    "LDA ensemble": "sample estimates in place of the MCD",
    "RoG empirical priors": "empirical priors",
    "LDA ensemble empirical priors": "both",
}
"""Changes of inference that undo a choice of RoG."""


def when_text(tables: Sequence[Rows]) -> str:
    """Whether the gain goes with what was memorised; what trimming, priors and small classes do."""
    plain = [rows for rows in tables if rows.method == PLAIN]
    return " ".join(filter(None, (_memorised(plain), _undone(plain), _small_classes(plain))))


def _memorised(tables: Sequence[Rows]) -> str:
    found = {named(rows.data): correlations(rows) for rows in tables}
    known = {data: by_rate for data, by_rate in found.items() if by_rate}
    if not known:
        return ""
    said = "; ".join(
        f"{data}: " + ", ".join(f"{value:.2f} ({rate:.0%})" for rate, value in by_rate.items())
        for data, by_rate in known.items()
    )
    text = (
        "*When RoG gains.* A network that fits more labels than there are right ones has memorised "
        "wrong ones. Over the settings of training at one rate of noise, the gain of RoG over the "
        f"softmax and how much was memorised have these rank correlations: {said}."
    )
    if min(value for by_rate in known.values() for value in by_rate.values()) > CLEAR:
        text += " So on these texts RoG helps the more, the more a network has memorised."
    return text


def correlations(rows: Rows) -> dict[float, float]:
    """Rank correlation of gain and share memorised over settings of training, by rate of noise."""
    rates = sorted({r.cell.rate for r in rows.results if r.cell.noise != "none"})
    found = {}
    for rate in rates:
        settings = _by_variation([r for r in rows.results if r.cell.rate == rate])
        gains = [_mean([_gain(r, ROG, SOFTMAX) for r in of]) for of in settings.values()]
        shares = [_mean([memorised(r) for r in of]) for of in settings.values()]
        if len(settings) >= FEWEST and len(set(shares)) > 1 and len(set(gains)) > 1:
            found[rate] = float(spearmanr(gains, shares).statistic)
    return found


def memorised(result: Result) -> float:
    """Share of labels that a network fits beyond the right ones: at least so many wrong ones."""
    right = 1 - float(result.network["noise_rate"])
    return max(0.0, float(result.network["fitted"]) - right)


def _undone(tables: Sequence[Rows]) -> str:
    """What other ways to infer add to RoG, on the table's own networks with noise."""
    own = {
        named(rows.data): [
            r for r in rows.results if r.cell.noise != "none" and not r.cell.variation
        ]
        for rows in tables
    }
    gains = {
        column: {data: _mean([_gain(r, column, ROG) for r in found]) for data, found in own.items()}
        for column in INSTEAD
    }
    known = {c: by for c, by in gains.items() if by and not np.isnan(list(by.values())).any()}
    if not known:
        return ""
    said = "; ".join(
        f"{INSTEAD[column]} " + ", ".join(f"{signed(gain)} ({data})" for data, gain in by.items())
        for column, by in known.items()
    )
    text = f"*What trimming and priors do.* In place of RoG, under noise, on average: {said}."
    if min(known.get("LDA ensemble", {"": -1.0}).values()) > 0:
        text += " So trimming does not pay on average here."
    return text


def _small_classes(tables: Sequence[Rows]) -> str:
    """Whether RoG gains little since it trims little of classes with few samples."""
    both = {
        named(rows.data): [rows.gain(name, ROG, "LDA ensemble") for name in ("narrow", "")]
        for rows in tables
    }
    known = {data: pair for data, pair in both.items() if not np.isnan(pair).any()}
    if not known:
        return ""
    said = "; ".join(
        f"{data}: {signed(narrow)}, as in the table {signed(own)}"
        for data, (narrow, own) in known.items()
    )
    text = (
        "*Small classes.* Where a class has no more samples than features, the MCD keeps them all; "
        "where it has few more, most. With 64 features a layer in place of 256 more is trimmed of "
        "every class. RoG above the sample estimates of the same networks, mean with noise: "
        f"{said}."
    )
    if all(narrow <= own for narrow, own in known.values()):
        return f"{text} So it is not for want of trimming that RoG gains less than in the paper."
    if all(narrow > own for narrow, own in known.values()):
        return f"{text} So RoG gains less than in the paper partly since it trims too little."
    return text


def _by_variation(results: Sequence[Result]) -> dict[str, list[Result]]:
    names = dict.fromkeys(r.cell.variation for r in results)
    return {name: [r for r in results if r.cell.variation == name] for name in names}


def _gain(result: Result, column: str, over: str) -> float:
    return result.accuracy(column) - result.accuracy(over)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
