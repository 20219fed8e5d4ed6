"""What the layers are to be fitted on: training samples, held-out ones, what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from rehead import _validation as check
from rehead._typing import Array
from rehead._warnings import warn
from rehead.gaussian import ByClass, group_by_class
from rehead.gaussian.probability import softmax
from rehead.gaussian.settings import SETTINGS

STACK = "stack"
"""What layers are called that were joined into one."""


class HeldOut(NamedTuple):
    """Layers (given posteriors among them) and noisy class codes of held-out samples."""

    layers: Mapping[str, Array]
    codes: Array

    def joined(self, names: Sequence[str]) -> Array:
        """Some layers side by side."""
        return join(self.layers, names)


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
    groups : array of shape (n_samples,) or None
        Codes of samples that belong together.
    """

    layers: Mapping[str, Array]
    given: Mapping[str, Array]
    codes: Array
    classes: Array
    held_out: HeldOut | None = None
    trusted: Array | None = None
    groups: Array | None = None

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @cached_property
    def grouped(self) -> dict[str, ByClass]:
        """Each layer's rows by class, grouped once; far rows are found once too."""
        return {n: group_by_class(X, self.codes, self.n_classes) for n, X in self.layers.items()}

    def joined(self, names: Sequence[str]) -> ByClass:
        """Some layers side by side, grouped by class."""
        if len(names) == 1:
            return self.grouped[names[0]]
        parts = [self.grouped[name] for name in names]
        shifts = np.concatenate([part.shifts for part in parts], axis=1)
        return replace(parts[0], X=join(self.layers, names), shifts=shifts)

    def different_layers(self) -> list[str]:
        """Layers without those that repeat another one: two copies are not two opinions."""
        different: list[str] = []
        for name, X in self.layers.items():
            same = [other for other in different if np.array_equal(self.layers[other], X)]
            if same:
                warn(
                    f"Layer {name} is identical to layer {same[0]}, and is not asked a second time."
                )
            else:
                different.append(name)
        return different

    def only(self, rows: Array) -> Problem:
        """The problem of some of the samples."""
        return replace(
            self,
            layers={name: X[rows] for name, X in self.layers.items()},
            given={name: p[rows] for name, p in self.given.items()},
            codes=self.codes[rows],
            trusted=None if self.trusted is None else self.trusted[rows],
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
        layers = {name: X[held] for name, X in {**self.layers, **self.given}.items()}
        return replace(self.only(kept), held_out=HeldOut(layers, self.codes[held]))

    def draw_held_out(self, rng: np.random.Generator) -> Array:
        """A mask of samples to hold out: of each class, or whole groups, none where few."""
        n, held = len(self.codes), np.zeros(len(self.codes), bool)
        one_in = SETTINGS.one_in_held_out
        if self.groups is None:
            for c in range(self.n_classes):
                rows = rng.permutation(np.flatnonzero(self.codes == c))
                held[rows[: len(rows) // one_in]] = True
            return held
        # Whole groups, at random, as long as they fit and leave something of every class.
        sizes = np.bincount(self.groups)
        for group in rng.permutation(len(sizes)):
            of_group = self.groups == group
            left = np.bincount(self.codes[~(held | of_group)], minlength=self.n_classes)
            if held.sum() + sizes[group] <= n / one_in and (left > 0).all():
                held |= of_group
        return held


def join(layers: Mapping[str, Array], names: Sequence[str]) -> Array:
    """Some layers side by side; a single one is not copied."""
    if len(names) == 1:
        return layers[names[0]]
    return np.concatenate([layers[name] for name in names], axis=1)


class LayerFeatures(BaseEstimator):
    """Remembers width and column names of a layer, as scikit-learn does for an estimator."""

    def to_json(self) -> dict[str, Any]:
        """What is remembered, as JSON."""
        names = getattr(self, "feature_names_in_", None)
        return {"width": self.n_features_in_, "names": None if names is None else names.tolist()}

    def remember(self, saved: Mapping[str, Any]) -> None:
        """Remember what :meth:`to_json` gave."""
        self.n_features_in_ = saved["width"]
        if saved["names"]:
            self.feature_names_in_ = np.array(saved["names"], dtype=object)


class LayerInputs:
    """What a fit remembers of its layers, so that later ones can be held to it.

    Parameters
    ----------
    names : list of str
        All layers, in order.
    given : list of str
        Those that are posteriors already.
    """

    def __init__(self, names: Sequence[str], given: Sequence[str]) -> None:
        self.names, self.given = list(names), list(given)
        self._features = {name: LayerFeatures() for name in names if name not in given}

    def first(self, layers: Mapping[str, Any]) -> dict[str, Array]:
        """Features of the fit, whose widths and column names are remembered."""
        return {name: self._of_layer(name, layers[name], reset=True) for name in self._features}

    def later(self, layers: Any) -> dict[str, Array]:
        """Features of other samples; given posteriors are passed on as they are."""
        check.check_layers(layers, expected=self.names)
        return {
            name: (
                np.asarray(layers[name])
                if name in self.given
                else self._of_layer(name, layers[name], reset=False)
            )
            for name in self.names
        }

    def _of_layer(self, name: str, X: Any, *, reset: bool) -> Array:
        known, shape = self._features[name], np.shape(X)
        width = getattr(known, "n_features_in_", None)  # earlier files may not know it
        if not reset and width is not None and len(shape) == 2 and shape[1] != width:
            raise ValueError(
                f"Layer {name} has {shape[1]} features, and had {width} in "
                "training: both must come from the same network."
            )
        try:
            return check.check_features(known, X, reset=reset)
        except ValueError as error:
            raise ValueError(f"Layer {name}: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {name: known.to_json() for name, known in self._features.items()}

    @classmethod
    def from_json(
        cls, names: Sequence[str], given: Sequence[str], saved: Mapping[str, Any]
    ) -> LayerInputs:
        """From :meth:`to_json`."""
        self = cls(names, given)
        for name, known in self._features.items():
            if name in saved:
                known.remember(saved[name])
        return self


def as_posterior(values: Any, n_classes: int, name: str) -> Array:
    """Probabilities from probabilities or logits."""
    p: Array = np.asarray(values)
    if p.ndim != 2 or p.shape[1] != n_classes:
        raise ValueError(
            f"The posterior {name!r} must have one column for each of the {n_classes} classes, "
            f"got shape {p.shape}."
        )
    p = p.astype(np.float64 if p.dtype == np.float64 else np.float32)
    check.check_finite(p, what=name)
    if (p >= 0).all() and np.allclose(p.sum(axis=1), 1.0, atol=1e-3):
        return p
    return softmax(p, overwrite=True)


def check_held_out(
    validation: Sequence[Any], inputs: LayerInputs, classes: Array, ids: Any
) -> HeldOut:
    """Held-out samples that look like the training samples; and what the user should know."""
    layers, labels, *rest = validation
    if rest:
        _warn_if_shared(ids, rest[0])
    found = inputs.later(layers)
    n = len(next(iter(found.values())))
    codes = check.known_codes(check.check_labels(labels, n), classes)
    return HeldOut(found, codes)


def warn_of_absent_classes(codes: Array, classes: Array) -> None:
    """Say so if held-out samples cannot speak for a class."""
    absent = classes[np.bincount(codes, minlength=len(classes)) == 0].tolist()
    if absent:
        warn(
            f"No held-out sample is labelled {check.first_few(absent)}, so nothing tells how often "
            "that is right. Hold out samples of every class."
        )


def _warn_if_shared(ids: Any, held_out: Any) -> None:
    """Warn if validation samples are training samples."""
    if ids is None or held_out is None:
        return
    shared = np.isin(np.asarray(held_out), np.asarray(ids))
    if shared.any():
        first = np.asarray(held_out)[shared][0]
        warn(
            f"{int(shared.sum())} of {len(shared)} validation samples are training samples (id "
            f"{first!r} first). A network has memorised their labels, so its deepest layers will "
            "get too much weight. Validate on samples it was not trained on."
        )
