"""What users pass to an ensemble: layers, given posteriors, held-out samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from rehead import _validation as check
from rehead._columns import as_column
from rehead._features import as_numbers
from rehead._rowhash import fingerprint
from rehead._typing import Array, Features, some_rows
from rehead._warnings import warn
from rehead.ensemble.problem import HeldOut, Layers
from rehead.files.schema import (
    Fields,
    by_name,
    check_fields,
    count,
    each,
    names,
    nullable,
    one_of,
    optional,
    record,
    require,
    text,
)
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.probability import softmax

FEW_SHARED = 0.02
"""So few may be alike by chance: copies in the data, samples to which a layer is silent."""
OTHER_SCALE = 10.0
"""Features of held-out samples are not so many times larger or smaller by chance."""
SCALE_ROWS = 500
"""Rows that tell the scale of features."""


PROBABILITIES, LOGITS = "probabilities", "logits"
FEATURES: Fields = {"width": count(1), "names": nullable(each(text))}
INPUTS: Fields = {
    "inputs": names,
    "features": by_name(record(FEATURES)),
    "given_as": optional(by_name(one_of(PROBABILITIES, LOGITS))),
    "network": optional(nullable(text)),
    "known_from": optional(by_name(text)),
}
"""What a file holds of the layers."""


class Layer(BaseEstimator):
    """Remembers width and column names, as scikit-learn does for an estimator.

    Its name is what scikit-learn's messages call it.
    """

    def to_json(self) -> dict[str, Any]:
        """What is remembered, as JSON."""
        names = getattr(self, "feature_names_in_", None)
        return {"width": self.n_features_in_, "names": None if names is None else names.tolist()}

    def remember(self, saved: Mapping[str, Any]) -> None:
        """Remember what :meth:`to_json` gave; earlier files may not know it."""
        if not saved:
            return
        self.n_features_in_ = saved["width"]
        if saved["names"]:
            fits = len(saved["names"]) == saved["width"]
            require(fits, f"features: there are {len(saved['names'])} names for {saved['width']}.")
            self.feature_names_in_ = np.array(saved["names"], dtype=object)


class LayerInputs:
    """What a fit remembers of its layers, so that later ones can be held to it.

    Parameters
    ----------
    names : list of str
        All layers, in order.
    given : list of str
        Those that are posteriors already.
    given_as : dict of str to str
        How these are read, "probabilities" or "logits". The fit finds out. Where an earlier file
        does not tell, every call does.
    network : str or None
        Fingerprint of the network that the layers are of, where it is known.
    known_from : dict of str to str
        Where "trusted" and "uncorrected" labels were read, as `rehead fit` was told; and marks by
        which the "samples", and their "checked" labels, are known again.
    """

    def __init__(self, names: Sequence[str], given: Sequence[str]) -> None:
        self.names, self.given = list(names), list(given)
        self.given_as: dict[str, str] = {}
        self.network: str | None = None
        self.known_from: dict[str, str] = {}
        self._features = {name: Layer() for name in names if name not in given}

    def first(self, layers: Mapping[str, Any]) -> dict[str, Features]:
        """Features of the fit, whose widths and column names are remembered."""
        return {name: self._of_layer(name, layers[name], reset=True) for name in self._features}

    def first_given(self, layers: Mapping[str, Any], n_classes: int) -> dict[str, Array]:
        """Given posteriors of the fit, as probabilities; how they are to be read is remembered."""
        found = {name: _checked_posterior(layers[name], n_classes, name) for name in self.given}
        self.given_as = {
            name: PROBABILITIES if _are_distributions(p, NEAR_ONE) else LOGITS
            for name, p in found.items()
        }
        return {name: read_posterior(p, self.given_as[name], name) for name, p in found.items()}

    def later(self, layers: Any) -> dict[str, Features]:
        """Features of other samples, and given posteriors as probabilities.

        Where an earlier file does not say how these are read, they are passed on as they are.
        """
        check.check_layers(layers, expected=self.names)
        return {name: self._later(name, layers[name]) for name in self.names}

    def _later(self, name: str, values: Any) -> Features:
        if name not in self.given:
            return self._of_layer(name, values, reset=False)
        given = _given(values, name)
        # What has no columns is refused where it is used.
        if name not in self.given_as or given.ndim != 2 or not given.shape[1]:
            return given
        p = _checked_posterior(given, given.shape[1], name)
        return read_posterior(p, self.given_as[name], name)

    def _of_layer(self, name: str, X: Any, *, reset: bool) -> Features:
        # Lists are looked at below: their rows may not go together.
        known = self._features[name]
        shape: tuple[int, ...] = getattr(X, "shape", ())
        width = getattr(known, "n_features_in_", None)
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
        features = {name: known.to_json() for name, known in self._features.items()}
        known: dict[str, Any] = {"given_as": self.given_as, "network": self.network}
        if self.known_from:  # else an earlier rehead can read the file
            known["known_from"] = self.known_from
        return {"inputs": self.names, "features": features, **known}

    @classmethod
    def from_json(
        cls, saved: Mapping[str, Any], given: Sequence[str], widths: Mapping[str, int]
    ) -> LayerInputs:
        """From :meth:`to_json`; each field is checked. ``widths`` are those of the members."""
        check_fields(saved, INPUTS, {})
        self = cls(saved["inputs"], given)
        for name, known in self._features.items():
            known.remember(saved["features"].get(name, {}))
            found = getattr(known, "n_features_in_", None)
            right = name not in widths or found == widths[name]
            require(right, f"features: {name!r} has not the width of its member.")
        self.given_as, self.network = saved.get("given_as", {}), saved.get("network")
        self.known_from = saved.get("known_from", {})
        require(set(self.given_as) <= set(given), "given_as has names that are not given.")
        return self


def _given(values: Any, name: str) -> Array:
    array: Array = np.asarray(as_numbers(values, name))
    if array.dtype.kind == "c":
        raise ValueError(f"The posterior {name!r} is complex. Pass probabilities or logits.")
    return array


NEAR_ONE = 1e-3
"""The sum of probabilities may be this far from 1, by rounding; ten times as far after the fit."""
NO_CHANCE = 10
"""This many rows of logits are not all distributions by chance."""


def as_posterior(values: Any, n_classes: int, name: str) -> Array:
    """Probabilities from probabilities or logits, whichever they look like."""
    p = _checked_posterior(values, n_classes, name)
    return p if _are_distributions(p, NEAR_ONE) else softmax(p, overwrite=True)


def read_posterior(p: Array, given_as: str, name: str) -> Array:
    """Probabilities from what is known to be probabilities or logits.

    What clearly is the other is an error: it would be misread without a word.
    """
    if given_as == PROBABILITIES:
        if not _are_distributions(p, 10 * NEAR_ONE):
            raise ValueError(
                f"The posterior {name!r} has rows that are not probabilities: they must not be "
                "negative and must sum to 1. The fit had probabilities, so pass probabilities."
            )
        return p
    if len(p) >= NO_CHANCE and _are_distributions(p, NEAR_ONE):
        raise ValueError(
            f"The posterior {name!r} holds probabilities; the fit had logits. Pass logits."
        )
    return softmax(p, overwrite=True)


def _checked_posterior(values: Any, n_classes: int, name: str) -> Array:
    """A copy with a column for each class, finite."""
    p = _given(values, name)
    if p.ndim != 2 or p.shape[1] != n_classes:
        raise ValueError(
            f"The posterior {name!r} must have one column for each of the {n_classes} classes, "
            f"got shape {p.shape}."
        )
    p = p.astype(np.float64 if p.dtype == np.float64 else np.float32)
    check.check_finite(p, what=name)
    return p


def _are_distributions(p: Array, near: float) -> bool:
    return bool((p >= 0).all() and (np.abs(p.sum(axis=1) - 1.0) <= near).all())


def check_held_out(
    validation: Sequence[Any], inputs: LayerInputs, classes: Array, ids: Any
) -> HeldOut:
    """Held-out samples that look like the training samples; and what the user should know."""
    # A mapping of two layers would pass for a pair, of their names.
    pair = isinstance(validation, (tuple, list)) and 2 <= len(validation) <= 3
    if not pair or not isinstance(validation[0], Mapping):
        raise ValueError(
            "validation must be a pair, (layers, labels) or (layers, labels, ids), of held-out "
            f"samples: layers by name, as in fit; got {_kind(validation)}. Pass "
            "validation=(layers, labels)."
        )
    layers, labels, *rest = validation
    if rest:
        _warn_if_shared(ids, rest[0])
    found = inputs.later(layers)
    check.check_aligned(layers, y=labels, ids=rest[0] if rest else None)
    n = len(next(iter(found.values())))
    codes = check.known_codes(check.check_labels(labels, n), classes)
    return HeldOut(found, codes)


def _kind(given: Any) -> str:
    """What was given, in words."""
    if isinstance(given, Mapping):
        return "layers without labels"
    if isinstance(given, (tuple, list)):
        return f"{len(given)} parts, {', '.join(type(part).__name__ for part in given[:3])} first"
    return type(given).__name__


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


def warn_of_another_scale(training: Layers, held_out: Layers) -> None:
    """Say so if held-out features are far larger or smaller: they were prepared in another way."""
    for name, X in training.items():
        here, there = _usual_size(X), _usual_size(held_out[name])
        if max(here, there) > OTHER_SCALE * min(here, there) > 0:
            warn(
                f"Held-out samples have another scale than training samples: the mean size of a "
                f"feature of {name} is {there:.3g} there and {here:.3g} here. Prepare both in the "
                "same way."
            )
            return


def _usual_size(X: Features) -> float:
    """Mean size of the features of a usual row; a few that are far off do not matter."""
    rows = some_rows(X, evenly_spaced(len(X), SCALE_ROWS))
    return float(np.median(np.abs(rows, dtype=np.float64).mean(axis=1)))


def warn_of_absent_classes(codes: Array, classes: Array) -> None:
    """Say so if held-out samples cannot speak for a class."""
    absent = classes[np.bincount(codes, minlength=len(classes)) == 0].tolist()
    if absent:
        warn(
            f"No held-out sample is labelled {check.first_few(absent)}, so nothing shows how often "
            "that is right. Hold out samples of every class."
        )


def _warn_if_shared(ids: Any, held_out: Any) -> None:
    """Warn if validation samples are training samples."""
    if ids is None or held_out is None:
        return
    known, asked = set(as_column(ids).tolist()), as_column(held_out)
    shared = np.array([name in known for name in asked.tolist()], bool)
    if shared.any():
        first = asked[shared].tolist()[0]
        warn(
            f"{int(shared.sum())} of {len(shared)} validation samples have ids of training samples "
            f"({first!r} first). If they are the same samples, a network has memorised their "
            "labels: validate on others."
        )
