"""What the layers are to be fitted on: training samples, held-out ones, what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array, Features, JoinedFeatures, Known, some_rows
from rehead.gaussian import ByClass, group_by_class
from rehead.gaussian.kernels import BLOCK, evenly_spaced
from rehead.gaussian.settings import SETTINGS

Layers = Mapping[str, Features]
MOST_HELD_OUT = 2**26
"""Entries of a table of held-out samples and classes: half a gigabyte, of several such tables."""
STACK = "stack"
"""What layers are called that were joined into one."""


class HeldOut(NamedTuple):
    """Layers (given posteriors among them) and noisy class codes of held-out samples.

    ``known`` are the classes of samples that were taken from the training samples, where their
    label is known to be right; -1 elsewhere.
    """

    layers: Layers
    codes: Array
    known: Array | None = None

    def evidence(self, n_classes: int) -> Array:
        """Codes of labels that are to be likely: noisy ones, and those that are known."""
        if self.known is None:
            return self.codes
        return np.where(self.known < 0, self.codes, self.known + np.int64(n_classes))

    def joined(self, names: Sequence[str]) -> Features:
        """Some layers side by side."""
        return join(self.layers, names)

    def at_most(self, n: int) -> HeldOut:
        """No more than ``n`` of the samples, evenly spaced: enough to weigh members by."""
        if len(self.codes) <= n:
            return self
        rows = evenly_spaced(len(self.codes), n)
        layers = {name: some_rows(X, rows) for name, X in self.layers.items()}
        known = None if self.known is None else self.known[rows]
        return HeldOut(layers, self.codes[rows], known)


@dataclass(frozen=True, eq=False)
class Problem:
    """Labelled samples, layer by layer.

    Attributes
    ----------
    layers : mapping of layer name to features
        Those that Gaussians are estimated on.
    given : mapping of name to posteriors
        Layers that are posteriors already, as probabilities or logits.
    codes : array of shape (n_samples,)
        Class codes of the noisy labels.
    classes : array of shape (n_classes,)
    held_out : HeldOut or None
    trusted : boolean array of shape (n_samples,) or None
        Samples whose label is known to be right.
    drawn : boolean array of shape (n_samples,) or None
        Those of them that were drawn at random.
    uncorrected : array of shape (n_samples,) or None
        Class codes of the labels before some were put right.
    groups : array of shape (n_samples,) or None
        Codes of samples that belong together.
    """

    layers: Layers
    given: Mapping[str, Array]
    codes: Array
    classes: Array
    held_out: HeldOut | None = None
    trusted: Array | None = None
    drawn: Array | None = None
    uncorrected: Array | None = None
    groups: Array | None = None

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_corrected(self) -> bool:
        """Whether labels that looked wrong were put right; held-out labels are noisier then.

        Not so where the labels before that are known: held-out ones are as noisy as these.
        """
        if self.trusted is None or self.uncorrected is not None:
            return False
        return self.drawn is None or bool((self.trusted & ~self.drawn).any())

    @property
    def facts(self) -> dict[str, Any]:
        """What a fit depends on, by name."""
        return {
            "labels": [self.classes, self.codes, *self.known],
            "features": [self.layers, self.given],
            "held-out samples": self.held_out,
            "groups": self.groups,
        }

    @property
    def known(self) -> Known:
        """What is known of the labels."""
        return Known(self.trusted, self.drawn, self.uncorrected)

    @cached_property
    def before_correction(self) -> Problem:
        """The problem as it was before any label was put right, where that is known."""
        if self.uncorrected is None:
            return self
        return replace(self, codes=self.uncorrected, trusted=None, drawn=None, uncorrected=None)

    @cached_property
    def grouped(self) -> dict[str, ByClass]:
        """Each layer's rows by class, grouped once; its far rows are found once too."""
        return {n: group_by_class(X, self.codes, self.n_classes) for n, X in self.layers.items()}

    def joined(self, names: Sequence[str]) -> ByClass:
        """Some layers side by side, grouped by class."""
        if len(names) == 1:
            return self.grouped[names[0]]
        parts = [self.grouped[name] for name in names]
        shifts = np.concatenate([part.shifts for part in parts], axis=1)
        return replace(parts[0], X=join(self.layers, names), shifts=shifts)

    def copies(self) -> dict[str, str]:
        """Layers that repeat an earlier one, and which: two copies are not two opinions."""
        copies: dict[str, str] = {}
        for name, X in self.layers.items():
            before = [n for n in self.layers if n not in copies]
            for other in before[: before.index(name)]:
                if same_features(self.layers[other], X):
                    copies[name] = other
                    break
        return copies

    def only(self, rows: Array) -> Problem:
        """The problem of some of the samples."""
        return replace(
            self,
            layers={name: some_rows(X, rows) for name, X in self.layers.items()},
            given={name: p[rows] for name, p in self.given.items()},
            codes=self.codes[rows],
            trusted=None if self.trusted is None else self.trusted[rows],
            drawn=None if self.drawn is None else self.drawn[rows],
            uncorrected=None if self.uncorrected is None else self.uncorrected[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def split(self, held: Array) -> Problem:
        """The problem in which a part of the samples is held out.

        Where there is no such part, a handful of samples must do for both.
        """
        if not held.any():
            held, kept = ~held, ~held
        else:
            kept = ~held
        layers: Layers = {
            **{name: some_rows(X, held) for name, X in self.layers.items()},
            **{name: p[held] for name, p in self.given.items()},
        }
        held_out = HeldOut(layers, self.codes[held])
        if self.uncorrected is not None and self.trusted is not None:
            known = np.where(self.trusted[held], self.codes[held], -1)
            held_out = HeldOut(layers, self.uncorrected[held], known)
        held_out = held_out.at_most(self.most_held_out)
        return replace(self.only(kept), held_out=held_out)

    @property
    def most_held_out(self) -> int:
        """Held-out samples that are looked at: their posteriors are all in memory."""
        return max(MOST_HELD_OUT // self.n_classes, 1)

    def draw_held_out(self, rng: np.random.Generator) -> Array:
        """A mask of samples to hold out: of each class, or whole groups, none where few.

        Samples with labels that were checked at random stay, if others do: these labels compare
        what was fitted, which held-out samples weigh and calibrate.
        """
        n, held = len(self.codes), np.zeros(len(self.codes), bool)
        one_in = SETTINGS.one_in_held_out
        drawn = np.zeros(n, bool) if self.drawn is None else self.drawn
        if self.groups is None:
            for c in range(self.n_classes):
                rows = rng.permutation(np.flatnonzero(self.codes == c))
                held[rows[~drawn[rows]][: len(rows) // one_in]] = True
            return held
        # Whole groups, at random, as long as they fit and leave something of every class.
        sizes, order = np.bincount(self.groups), rng.permutation(self.groups.max() + 1)
        has_drawn = np.bincount(self.groups, drawn) > 0
        for group in order[np.argsort(has_drawn[order], kind="stable")]:
            of_group = self.groups == group
            left = np.bincount(self.codes[~(held | of_group)], minlength=self.n_classes)
            if held.sum() + sizes[group] <= n / one_in and (left > 0).all():
                held |= of_group
        return held


def join(layers: Layers, names: Sequence[str]) -> Features:
    """Some layers side by side; none is copied."""
    if len(names) == 1:
        return layers[names[0]]
    return JoinedFeatures([layers[name] for name in names])


def same_features(a: Features, b: Features) -> bool:
    """Whether all values are the same; the first block mostly tells."""
    return a.shape == b.shape and all(
        np.array_equal(a[i : i + BLOCK], b[i : i + BLOCK]) for i in range(0, len(a), BLOCK)
    )
