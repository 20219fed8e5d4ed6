"""A head on disk, without its network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from torch import nn

from rehead._typing import Array
from rehead.audit import LabelReport
from rehead.audit.scores import LABELS, NUMBERS
from rehead.ensemble import LayerEnsemble
from rehead.evaluation.comparison import SOFTMAX
from rehead.evaluation.outputs import ClassOutputs
from rehead.files import persist
from rehead.files.persist import ModelFileError
from rehead.files.schema import (
    FieldError,
    Fields,
    anything,
    by_name,
    by_part,
    check_fields,
    count,
    each,
    either,
    flag,
    mapping,
    names,
    nullable,
    number,
    one_of,
    optional,
    record,
    require,
    text,
)
from rehead.gaussian.options import PRESETS, USAGE
from rehead.torch.fitting import FittedHead
from rehead.torch.pooling import POOLS
from rehead.torch.running import Pooling
from rehead.torch.taps import resolve_taps
from rehead.torch.weights import KnownWeights

KIND = "RobustHead"


class Settings(NamedTuple):
    """What the user set, beside the ensemble: names, where a file is to hold it, not functions."""

    layers: Any
    pool: Any
    softmax: bool | None
    class_names: list[Any] | None
    keys: Any

    def to_json(self) -> dict[str, Any]:
        """As JSON; functions and networks among the layers are a TypeError."""
        return {
            **self._asdict(),
            "layers": _only_text(self.layers, "layers"),
            "pool": _only_text(self.pool, "pool"),
            "keys": None if self.keys is None else dict(self.keys),
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """From :meth:`to_json`; earlier files have no class names and keys."""
        return cls(**{name: saved.get(name) for name in cls._fields})


class SavedHead(NamedTuple):
    """What a file holds of a head; ``fingerprint`` is of the network's weights."""

    fitted: FittedHead
    settings: Settings
    fingerprint: str

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it; functions and networks among the layers are a TypeError."""
        fitted = self.fitted
        settings: dict[str, Any] = {
            **self.settings.to_json(),
            "baselines": list(fitted.baselines),
            "taps": _only_text(fitted.taps, "layers"),
            "n_outputs": fitted.n_outputs,
            "read_as": None if fitted.read_as is None else fitted.read_as.to_json(),
            "fingerprint": self.fingerprint,
        }
        arrays: dict[str, Array] = {}
        parts: dict[str, LayerEnsemble | LabelReport] = {
            "ensemble": fitted.ensemble,
            "report": fitted.report,
            **{f"baseline.{name}": b for name, b in fitted.baselines.items()},
        }
        for name, part in parts.items():
            of_part, settings[name] = part.to_state()
            arrays |= {f"{name}.{key}": value for key, value in of_part.items()}
        self.from_state(arrays, settings)  # what is written can be read
        persist.write_model(path, KIND, arrays, settings)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read it, also as earlier versions wrote it."""
        return persist.load_model(path, KIND, cls.from_state)

    @classmethod
    def from_state(cls, arrays: dict[str, Array], settings: dict[str, Any]) -> Self:
        """From what :meth:`write` writes, or from what earlier versions wrote; all is checked."""
        # Earlier files have the report's entries beside the others.
        earlier = {name: settings[name] for name in REPORT if name in settings}
        own = {name: value for name, value in settings.items() if name not in earlier}
        check_fields({"baselines": own.get("baselines", [])}, {"baselines": BASELINES}, {})
        asked = own.get("baselines", [])
        check_fields(own, {**HEAD, **{f"baseline.{name}": mapping for name in asked}}, {})
        parts = by_part(arrays)
        require(parts.pop("") == {}, "it has arrays of no part.")
        ensemble = _ensemble("ensemble", parts.pop("ensemble", {}), own["ensemble"])
        of_baselines = by_part(parts.pop("baseline", {}))
        baselines = {
            name: _ensemble(name, of_baselines.pop(name, {}), own[f"baseline.{name}"])
            for name in asked
        }
        of_report = parts.pop("report", {})
        require(not parts and not any(of_baselines.values()), "it has arrays of unknown parts.")
        read_as = own.get("read_as")
        fitted = FittedHead(
            ensemble=ensemble,
            baselines=baselines,
            report=LabelReport.from_state(of_report, own.get("report", earlier), ensemble),
            taps=own.get("taps", own["layers"]),
            n_outputs=own.get("n_outputs"),
            read_as=None if read_as is None else ClassOutputs.from_json(read_as),
        )
        _check_together(fitted)
        class_names = own.get("class_names") or []
        require(len(set(class_names)) == len(class_names), "class_names has names twice.")
        return cls(fitted, Settings.from_json(own), own["fingerprint"])

    def check_network(
        self, path: str | os.PathLike[str], net: nn.Module, weights: KnownWeights
    ) -> None:
        """Raise unless this is the network that the head was made for."""
        if self.fingerprint != weights.fingerprint:
            raise ModelFileError(
                f"{path} was made for a network with other weights. Load those weights into the "
                "network first, or fit a new head."
            )
        try:
            Pooling.of(net, resolve_taps(net, self.fitted.taps), self.settings.pool)
        except ValueError as error:
            raise ModelFileError(f"{path} does not go with the network. {error}") from error


REPORT = {**NUMBERS, **LABELS}
LAYERS = either(text, names, by_name(text))
POOL = either(one_of(*POOLS), by_name(one_of(*POOLS)))
OUTPUTS: Fields = {"n_outputs": count(1), "columns": each(count()), "probabilities": flag}
BASELINES = each(one_of(*PRESETS, *USAGE))
KEY = optional(either(text, names))
HEAD: Fields = {
    "ensemble": mapping,
    "fingerprint": text,
    "layers": LAYERS,
    "pool": POOL,
    "softmax": nullable(flag),
    "class_names": optional(nullable(each(either(text, number(), flag)))),
    "keys": optional(nullable(record({"inputs": KEY, "labels": KEY, "ids": KEY}))),
    "taps": optional(LAYERS),
    "n_outputs": optional(nullable(count())),
    "read_as": optional(nullable(record(OUTPUTS))),
    "baselines": optional(BASELINES),
    "report": optional(mapping),
    "features": optional(anything),  # of earlier files
}
"""What a file holds of a head, beside its ensemble ("ensemble.weights", ...), its baselines
("baseline.NAME.weights", ...) and the report ("report.quality", ...)."""


def _ensemble(name: str, arrays: dict[str, Array], settings: dict[str, Any]) -> LayerEnsemble:
    try:
        return LayerEnsemble.from_state(arrays, settings)
    except FieldError as error:
        raise FieldError(f"{name}: {error}") from error


def _check_together(fitted: FittedHead) -> None:
    """Raise a FieldError where parts do not go together."""
    ensemble, taps, read_as = fitted.ensemble, fitted.taps, fitted.read_as
    tapped = [taps] if isinstance(taps, str) else list(taps)
    inputs = ensemble.inputs_
    own = [name for name in inputs.names if name not in inputs.given]
    require(own == tapped, "taps are not the layers of the ensemble.")
    require(inputs.given in ([], [SOFTMAX]), "ensemble: given must be the softmax, or nothing.")
    for name, baseline in fitted.baselines.items():
        require(set(baseline.layers_) <= set(own), f"{name}: its layers are not those of the head.")
        same = np.array_equal(baseline.classes_, ensemble.classes_)
        require(same, f"{name}: its classes are not those of the head.")
    if read_as is not None:
        right = len(read_as.columns) == len(ensemble.classes_) == len(set(read_as.columns.tolist()))
        right = right and int(read_as.columns.max()) < read_as.n_outputs == fitted.n_outputs
        require(right, "read_as.columns are not outputs, one for each class.")


def _only_text(value: Any, what: str) -> Any:
    """Names as JSON can hold them; functions cannot be saved."""
    parts = (
        value.values()
        if isinstance(value, Mapping)
        else [value]
        if isinstance(value, str)
        else value
    )
    if callable(value) or not all(isinstance(p, str) for p in parts):
        raise TypeError(
            f"{what} holds functions or networks, which cannot be saved to a file. Save "
            "head.ensemble_ instead, and extract the features yourself."
        )
    return dict(value) if isinstance(value, Mapping) else value
