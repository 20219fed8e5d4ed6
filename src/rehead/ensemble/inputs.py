"""What users pass to an ensemble: layers, given posteriors, held-out samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from rehead import _validation as check
from rehead._typing import Array
from rehead._warnings import warn
from rehead.ensemble.problem import HeldOut, Layers
from rehead.fingerprint import fingerprint
from rehead.gaussian.probability import softmax

FEW_SHARED = 0.02
"""So few may be alike by chance: copies in the data, samples to which a layer is silent."""


class Layer(BaseEstimator):
    """Remembers width and column names, as scikit-learn does for an estimator.

    Its name is what scikit-learn's messages call it.
    """

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
        self._features = {name: Layer() for name in names if name not in given}

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

    def columns(self, name: str) -> Array | None:
        """The column names of a layer, where it has any."""
        names: Array | None = getattr(self._features.get(name), "feature_names_in_", None)
        return names

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
    check.check_aligned(layers, y=labels, ids=rest[0] if rest else None)
    n = len(next(iter(found.values())))
    codes = check.known_codes(check.check_labels(labels, n), classes)
    return HeldOut(found, codes)


def check_not_shared(training: Layers, held_out: Layers) -> None:
    """Held-out samples must not be training samples; features tell, whatever the labels are.

    More than half of them is an error: then it is the wrong data. Fewer may be copies in the data.
    """
    n = len(next(iter(training.values())))
    shared = np.ones(len(next(iter(held_out.values()))), bool)
    for name, X in training.items():
        # In the precision of the training features, which are not copied: they may be large.
        seen, new = (
            fingerprint(of, np.zeros(len(of), np.int64), X.dtype) for of in (X, held_out[name])
        )
        shared &= np.isin(new, seen)
    if shared.mean() <= FEW_SHARED:
        return
    what = (
        f"{int(shared.sum())} of {len(shared)} validation samples have the features of training "
        f"samples (row {int(np.flatnonzero(shared)[0])} first; {n} training samples)."
    )
    if shared.mean() > 0.5:
        raise ValueError(
            f"{what} A network has memorised their labels, so they cannot tell which layers to "
            "trust. Pass samples that it was not trained on."
        )
    warn(f"{what} Leave them out: a network has memorised their labels.")


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
        first = np.asarray(held_out)[shared].tolist()[0]
        warn(
            f"{int(shared.sum())} of {len(shared)} validation samples are training samples (id "
            f"{first!r} first). A network has memorised their labels, so its deepest layers will "
            "get too much weight. Validate on samples it was not trained on."
        )
