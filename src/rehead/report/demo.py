"""The demo's page: accuracies of all ways to predict, then the report on each kind of noise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.evaluation.comparison import SOFTMAX
from rehead.experiments.demo import DEFAULT, DemoResult, Run, Showcase
from rehead.files.persist import write_atomically
from rehead.report.page import Beside, contents_of
from rehead.report.rendering import render, versions
from rehead.report.shown import Looks

TITLE = "A new head for a network that learned wrong labels"
STEPS = [
    ("Go through the suspects by keyboard, in a browser:", "rehead review demo"),
    ("The same for a table of your own:", "rehead clean flowers.csv --labels species -o cleaned"),
    (
        "Or for your own network and images:",
        "rehead clean mymodels:net --data photos --validation held-out -o cleaned",
    ),
]
GROUPS = {"softmax": "softmax", "RoG": "rog", "auto": "auto"}
"""Colours of the bars, by the first word of the way to predict."""


def write_demo_report(result: DemoResult, path: str | os.PathLike[str], seconds: float) -> Path:
    """Write the report and return its path."""
    target = Path(path)
    page = render(
        "demo.html.j2",
        title=TITLE,
        settings=result.settings,
        kept_share=result.kept_share,
        charts=[_chart(result, kind) for kind in result.settings.noises],
        showcases=[_showcase(s, result) for s in result.showcases],
        n_train=len(result.showcases[0].noisy.labels),
        steps=STEPS,
        seconds=seconds,
        versions=versions("torch"),
    )
    write_atomically(target, page)
    return target


def _chart(result: DemoResult, kind: str) -> dict[str, Any]:
    """Accuracy bars: mean and spread over seeds, in percent."""
    bars = []
    for method in result.methods():
        values = 100.0 * result.accuracies(kind, method)
        bars.append(
            {
                "method": method,
                "mean": float(values.mean()),
                "low": float(values.min()),
                "high": float(values.max()),
                "std": float(values.std(ddof=1)) if len(values) > 1 else None,
                "group": GROUPS.get(method.split(",")[0], "other"),
            }
        )
    by_method = {bar["method"]: bar for bar in bars}
    return {
        "noise": kind,
        "bars": bars,
        "before": by_method["softmax"]["mean"],
        "after": by_method[DEFAULT]["mean"],
    }


def _showcase(s: Showcase, result: DemoResult) -> dict[str, Any]:
    runs = [run for run in result.runs if run.noise == s.noise]
    looks = Looks(images=digit_images(s))
    beside = Beside(s.layers, looks, truth=s.digits.train.y, outputs=s.layers[SOFTMAX])
    return {
        "noise": s.noise,
        "contents": contents_of(s.report, beside),
        "fitted": _mean(runs, "fitted"),
        "noise_rate": _mean(runs, "noise_rate"),
        "noise_estimate": _mean(runs, "noise_estimate"),
        "clean_kept": {
            layer: float(np.mean([run.clean_kept[layer] for run in runs]))
            for layer in runs[0].clean_kept
        },
    }


def digit_images(s: Showcase) -> Array:
    """The training digits, black on white."""
    pixels: Array = (255 * (1.0 - s.digits.train.X)).astype(np.uint8).reshape(-1, 8, 8)
    return pixels


def _mean(runs: list[Run], field: str) -> float:
    return float(np.mean([getattr(run, field) for run in runs]))
