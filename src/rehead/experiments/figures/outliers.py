"""Figure 1c: what the minimum covariance determinant does, in two dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rehead._typing import Array
from rehead.experiments.figures import style
from rehead.experiments.figures.cells import Content, Request
from rehead.gaussian.kernels import Rows
from rehead.gaussian.mcd import ClassSamples, mcd, support_size
from rehead.gaussian.starts import random_start

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

N_CLEAN, N_OUTLIERS = 110, 40
MEAN = np.array([2.0, 1.5])
COVARIANCE = np.array([[1.6, 1.0], [1.0, 1.4]])
SPREAD = 3.0
"""Standard deviation of the outliers; their mean is zero, as in the paper's theorem."""
RADIUS = 2.45
"""Mahalanobis distance of the ellipses: 95 % of a Gaussian in two dimensions are within."""
ELLIPSES = (
    ("clean", "clean Gaussian", style.GREY, ":"),
    ("sample", "sample estimate", style.VERMILION, "--"),
    ("mcd", "MCD estimate", style.BLUE, "-"),
)


def collect(request: Request | None = None) -> dict[str, Any]:
    """Samples of a Gaussian, outliers, and the estimates of both kinds; results are not needed."""
    rng = np.random.default_rng(1)
    clean = rng.multivariate_normal(MEAN, COVARIANCE, N_CLEAN)
    outliers = SPREAD * rng.normal(size=(N_OUTLIERS, 2))
    X = np.concatenate([clean, outliers]).round(3)
    kept = keep(X, rng)
    estimates = {
        "clean": _gaussian(MEAN, COVARIANCE),
        "sample": _gaussian(X.mean(axis=0), np.cov(X.T, bias=True)),
        "mcd": _gaussian(X[kept].mean(axis=0), np.cov(X[kept].T, bias=True)),
    }
    return {
        "caption": (
            f"{N_CLEAN} samples of a Gaussian and {N_OUTLIERS} outliers. The MCD estimator "
            f"(Algorithm 1) keeps {len(kept)} of the {len(X)} samples. Ellipses are at Mahalanobis "
            f"distance {RADIUS}. That of the MCD is the smaller one by design: it is estimated "
            "from the inner half of the samples."
        ),
        "not_run": [],
        "X": X.tolist(),
        "outlier": [0] * N_CLEAN + [1] * N_OUTLIERS,
        "kept": kept.tolist(),
        "estimates": estimates,
    }


def keep(X: Array, rng: np.random.Generator) -> Array:
    """Row numbers of the samples that Algorithm 1 keeps."""
    n, d = X.shape
    k = support_size(n, d)
    samples = ClassSamples(Rows(X), np.arange(n), X.mean(axis=0))
    kept: Array = np.sort(mcd(samples, k, random_start(rng, n, k)).subset.positions)
    return kept


def _gaussian(mean: Array, covariance: Array) -> dict[str, Any]:
    return {"mean": mean.round(4).tolist(), "covariance": covariance.round(4).tolist()}


def ellipse(mean: Array, covariance: Array, radius: float = RADIUS) -> Array:
    """Points at a Mahalanobis distance, one a row.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.experiments.figures.outliers import ellipse
    >>> float(ellipse(np.zeros(2), 4 * np.eye(2), 1.0).max())
    2.0
    """
    angle = np.linspace(0, 2 * np.pi, 181)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    points: Array = (mean[:, None] + radius * np.linalg.cholesky(covariance) @ circle).T
    return points


def draw(content: Content, figure: Canvas) -> None:
    """Samples, which of them are kept, and the ellipses of the estimates."""
    axes = figure.subplots()
    X = np.array(content["X"])
    outlier = np.array(content["outlier"], bool)
    kept = np.zeros(len(X), bool)
    kept[content["kept"]] = True
    for which, marker, colour, label in (
        (~outlier & ~kept, "o", style.PALE, "left out"),
        (~outlier & kept, "o", style.SKY, "kept by the MCD"),
        (outlier & ~kept, "x", style.VERMILION, "outlier"),
        (outlier & kept, "x", style.BLUE, "outlier, kept"),
    ):
        if which.any():
            axes.plot(*X[which].T, marker, ms=4.5, color=colour, label=label)
    for name, label, colour, dash in ELLIPSES:
        found = content["estimates"][name]
        points = ellipse(np.array(found["mean"]), np.array(found["covariance"]))
        axes.plot(*points.T, color=colour, ls=dash, label=label)
        axes.plot(*found["mean"], marker="+", ms=9, mew=1.8, color=colour)
    axes.plot([], [], "+", ms=9, mew=1.8, color="black", label="their means")
    _finish(axes)


def _finish(axes: Axes) -> None:
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
