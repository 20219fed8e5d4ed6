"""The demo's report: one HTML file with everything inside, no scripts from elsewhere."""

from __future__ import annotations

import base64
import io
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from rehead._typing import Array
from rehead.experiments.demo import DEFAULT, DemoResult, Run, Showcase
from rehead.files.persist import write_atomically

N_SUSPECTS = 24
MAP_SIZE = 460


def write_demo_report(result: DemoResult, path: str | os.PathLike[str], seconds: float) -> Path:
    """Write the report and return its path."""
    environment = Environment(
        loader=PackageLoader("rehead.report"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("demo.html.j2").render(
        settings=result.settings,
        kept_share=result.kept_share,
        charts=[_chart(result, kind) for kind in result.settings.noises],
        showcases=[_showcase(s, result) for s in result.showcases],
        layers=list(result.runs[0].clean_kept),
        seconds=seconds,
        versions={name: version(name) for name in ("rehead", "numpy", "scikit-learn", "torch")},
        python=platform.python_version(),
    )
    target = Path(path)
    write_atomically(target, page.encode())
    return target


def _chart(result: DemoResult, kind: str) -> dict[str, Any]:
    """Accuracy bars: mean and spread over seeds, in percent."""
    bars = []
    for method in result.methods():
        values = 100.0 * result.accuracies(kind, method)
        groups = {"softmax": "softmax", "RoG": "rog", "auto": "auto"}
        group = groups.get(method.split(",")[0], "other")
        bars.append(
            {
                "method": method,
                "mean": float(values.mean()),
                "low": float(values.min()),
                "high": float(values.max()),
                "std": float(values.std(ddof=1)) if len(values) > 1 else None,
                "group": group,
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
    worst = s.report.order[:N_SUSPECTS]
    runs = [run for run in result.runs if run.noise == s.noise]
    return {
        "noise": s.noise,
        "suspects": [_suspect(s, int(i)) for i in worst],
        "n_right": int(s.noisy.changed[worst].sum()),
        "points": _map_points(s),
        "n_wrong": int(s.noisy.changed.sum()),
        "n_train": len(s.noisy.labels),
        "fitted": _mean(runs, "fitted"),
        "noise_rate": _mean(runs, "noise_rate"),
        "noise_estimate": _mean(runs, "noise_estimate"),
        "clean_kept": {
            layer: float(np.mean([run.clean_kept[layer] for run in runs]))
            for layer in runs[0].clean_kept
        },
        "true_transition": s.noisy.transition.tolist(),
        "transition": s.report.transition.tolist(),
    }


def _mean(runs: list[Run], field: str) -> float:
    return float(np.mean([getattr(run, field) for run in runs]))


def _suspect(s: Showcase, i: int) -> dict[str, Any]:
    return {
        "image": _png(s.digits.train.X[i].reshape(8, 8)),
        "id": int(s.digits.train.ids[i]),
        "given": int(s.noisy.labels[i]),
        "suggested": int(s.report.suggested[i]),
        "probability": float(s.report.suggested_probability[i]),
        "true": int(s.digits.train.y[i]),
    }


def _png(pixels: Array) -> str:
    """A data URI of a digit, black on white."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray((255 * (1.0 - pixels)).astype(np.uint8)).save(buffer, "png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _map_points(s: Showcase) -> list[dict[str, Any]]:
    """The features on a plane, by t-SNE: each digit at its place, coloured by its given label."""
    from sklearn.manifold import TSNE

    scaled = s.features / (s.features.std(axis=0) + 1e-6)
    plane = TSNE(random_state=0, init="pca", max_iter=500, perplexity=30).fit_transform(scaled)
    low, high = plane.min(axis=0), plane.max(axis=0)
    xy = 12 + (plane - low) / (high - low) * (MAP_SIZE - 24)
    return [
        {
            "x": round(float(x), 1),
            "y": round(float(y), 1),
            "given": int(s.noisy.labels[i]),
            "true": int(s.digits.train.y[i]),
            "wrong": bool(s.noisy.changed[i]),
            "suspect": bool(s.report.suggested[i] != s.noisy.labels[i]),
        }
        for i, (x, y) in enumerate(xy)
    ]
