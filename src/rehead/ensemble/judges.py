"""Which layers know the training labels by heart, and which may judge them.

A layer gives itself away by its *memorisation gap*: how much more likely its leave-one-out
posterior makes the training labels than held-out ones, which are just as noisy.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead._validation import ReheadWarning
from rehead.gaussian import group_by_class
from rehead.gaussian.anchored import sane_rows
from rehead.gaussian.kernels import Subset
from rehead.gaussian.labelnoise import SAMPLED, corrected_nll, fit_noise
from rehead.gaussian.posterior import Kept, label_scores
from rehead.gaussian.rows import pooled_moments
from rehead.gaussian.tied import from_moments

GAP = 0.05
"""Layers whose gap is at most so much above the smallest one are judges."""
MEMORISED = 0.5
"""Gap in nats from which on a layer knows its labels by heart."""


class HeldOut(NamedTuple):
    """Layers (given posteriors among them) and noisy class codes of held-out samples."""

    layers: dict[str, Array]
    codes: Array


def memorisation_gap(
    X: Array, codes: Array, held_out: Array, held_out_codes: Array, trusted: Array | None = None
) -> float:
    """How much likelier training labels are than held-out ones, in nats a label.

    Training labels are judged leave-one-out, so a layer that knows nothing of them has a gap of
    about 0. Trusted labels are not as noisy as held-out ones, and are not compared with them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> honest, memorised = rng.normal(size=(400, 2)), rng.normal(size=(400, 2)) + 5 * y[:, None]
    >>> new, new_y = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    >>> abs(memorisation_gap(honest, y, new, new_y)) < 0.1
    True
    >>> memorisation_gap(memorised, y, new, new_y) > 0.5
    True
    """
    return seen_and_new(X, codes, held_out, held_out_codes, trusted).gap


class SeenAndNew(NamedTuple):
    """Nats a training label, judged leave-one-out, and nats of each held-out label."""

    seen: float
    new: Array

    @property
    def gap(self) -> float:
        """How much likelier training labels are."""
        return float(self.new.mean()) - self.seen


def seen_and_new(
    X: Array, codes: Array, held_out: Array, held_out_codes: Array, trusted: Array | None = None
) -> SeenAndNew:
    """How likely a layer makes labels, all of its parameters set by the training labels."""
    n_classes = int(max(codes.max(), held_out_codes.max())) + 1
    data = group_by_class(X, codes, n_classes)
    sane = sane_rows(data)
    subsets = [Subset(np.flatnonzero(sane[rows]), None) for rows in data.rows]
    gaussians = from_moments(pooled_moments(data, subsets, np.float64), shrinkage="auto")
    doubtful = sane if trusted is None or trusted.all() else sane & ~trusted
    rows = np.flatnonzero(doubtful)
    some = rows[np.linspace(0, len(rows) - 1, min(SAMPLED, len(rows))).astype(np.int64)]
    sizes = np.bincount(codes[sane], minlength=n_classes).astype(float)
    inside = Kept(np.ones(len(some)), codes[some], sizes)
    scores = label_scores(gaussians, X[some], codes[some], inside, lambda s, _: s)
    noise = fit_noise(scores, codes[some])
    posterior = noise.posterior(gaussians.scores(held_out))
    return SeenAndNew(noise.nll, corrected_nll(posterior, held_out_codes, noise.transition))


def choose_judges(gaps: Mapping[str, float]) -> list[str]:
    """Names of the layers that may judge the training labels."""
    limit = max(min(gaps.values()), 0.0) + GAP
    return [name for name, gap in gaps.items() if gap <= limit]


def more_judges(
    layers: dict[str, Array],
    codes: Array,
    held_out: HeldOut,
    gaps: Mapping[str, float],
    judges: list[str],
    trusted: Array | None = None,
) -> list[str]:
    """Judges, and the layers next to them in their gaps that have more to say.

    A weak judge takes samples for anchors that are none, and sees more noise than there is. Layers
    with a larger gap know more, if only they do not know the labels by heart. Held-out labels tell:
    they get likelier with what a layer knows, and less likely with what it has memorised, since all
    parameters are set by the training labels. Of what these labels cannot tell apart (two standard
    errors) the most layers are taken: over-confidence costs likelihood here, and is mended later.
    """
    order = [*judges, *sorted(set(gaps) - set(judges), key=lambda name: gaps[name])]

    def unlikely(n: int) -> Array:
        X, new = (
            np.concatenate([of[name] for name in order[:n]], axis=1)
            for of in (layers, held_out.layers)
        )
        return seen_and_new(X, codes, new, held_out.codes, trusted).new

    nats = {n: unlikely(n) for n in range(len(judges), len(order) + 1)}
    best = min(nats.values(), key=np.mean)
    most = max(n for n, of_n in nats.items() if not _clearly_more(of_n, best))
    return [name for name in gaps if name in order[:most]]


def _clearly_more(nats: Array, best: Array) -> bool:
    """Whether labels are less likely than at best, by two standard errors."""
    more = nats - best
    return bool(more.mean() > 2.0 * more.std() / np.sqrt(len(more)))


def warn_of_judges(gaps: dict[str, float], judges: list[str]) -> None:
    """Say so where even the best judge knows the training labels by heart."""
    smallest = min(gaps.values())
    if smallest > MEMORISED:
        warnings.warn(
            f"All layers have memorised their labels (the smallest memorisation gap is "
            f"{smallest:.2f} nats, of {judges[0]}), so none can judge them well. Add a layer that "
            "did not see the labels: the raw input, an earlier layer, or features of an encoder "
            "that was trained elsewhere.",
            ReheadWarning,
            stacklevel=5,
        )


def different(layers: Mapping[str, Array]) -> list[str]:
    """Layers without those that repeat another one: two copies are not two opinions."""
    kept: list[str] = []
    for name in layers:
        same = [k for k in kept if np.array_equal(layers[k], layers[name])]
        if same:
            warnings.warn(
                f"Layer {name} is identical to layer {same[0]}, and is not asked a second time.",
                ReheadWarning,
                stacklevel=5,
            )
        else:
            kept.append(name)
    return kept
