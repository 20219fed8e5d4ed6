"""Labels of samples that are unlike every class, apart from all others.

Their quality says that no class fits them, which is no measurement of their labels. Where many
features are damaged (missing values written as -999, say), nearly all of these may be right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rehead._typing import Array
from rehead.audit.kinds import OUTLIER
from rehead.audit.scores import LabelScores, variance_by_chance

FEW = 0.01
"""So small a share of strange samples changes nothing that is said."""


def without_strange(scores: LabelScores) -> tuple[LabelScores, int]:
    """What is found of all other labels, and how many were left out; none if they are few.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, score_labels
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.normal(size=(400, 3)) + 6 * y[:, None]
    >>> X[rng.random(X.shape) < 0.05] = -999  # missing
    >>> report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
    >>> ordinary, n_strange = without_strange(report)
    >>> n_strange, f"{report.noise_rate:.2f} -> {ordinary.noise_rate:.2f}"
    (72, '0.18 -> 0.00')
    """
    kept = scores.kind != OUTLIER
    n = int((~kept).sum())
    if n < FEW * len(scores) or not kept.any():
        return scores, 0
    rate = float(1.0 - scores.quality[kept].mean())
    least, most = scores.noise_least, scores.noise_most
    if not scores.checked and least <= scores.noise_rate <= most:  # as far from the rate as before
        shift = rate - scores.noise_rate
        least = max(least + shift, 0.0) if least > 0 else 0.0
        most = most if most >= 1.0 else max(most + shift, rate)
    ordinary = replace(
        scores,
        given=scores.given[kept],
        quality=scores.quality[kept],
        suggested=scores.suggested[kept],
        suggested_probability=scores.suggested_probability[kept],
        kind=scores.kind[kept],
        typicality=scores.typicality[kept],
        order=np.argsort(scores.quality[kept], kind="stable"),
        in_sample=scores.in_sample[kept],
        ids=None if scores.ids is None else scores.ids[kept],
        noise_rate=rate,
        noise_rate_error=_error_of(scores, kept),
        noise_least=least,
        noise_most=most,
    )
    return ordinary, n


def _error_of(scores: LabelScores, kept: Array) -> float:
    """The counting error of the rate among some labels; that of T is the same."""
    by_chance = variance_by_chance(scores.quality), variance_by_chance(scores.quality[kept])
    of_t = np.maximum(scores.noise_rate_error**2 - by_chance[0], 0.0)
    return float(np.sqrt(of_t + by_chance[1]))
