"""A head on disk, without its network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from rehead._typing import Array
from rehead.audit import LabelReport
from rehead.ensemble import LayerEnsemble
from rehead.evaluation.outputs import ClassOutputs
from rehead.files import persist
from rehead.torch.fitting import FittedHead

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
        persist.write_model(path, KIND, arrays, settings)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read it, also as earlier versions wrote it."""
        arrays, settings = persist.read_model(path, KIND)

        def part(name: str) -> dict[str, Array]:
            prefix = f"{name}."
            return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

        def ensemble_of(name: str) -> LayerEnsemble:
            return LayerEnsemble.from_state(part(name), settings[name])

        ensemble = ensemble_of("ensemble")
        # Earlier files have no baselines, nothing about outputs, and the report's entries beside
        # the others.
        names = settings.get("baselines", [])
        of_report = settings.get("report", settings)
        read_as = settings.get("read_as")
        fitted = FittedHead(
            ensemble=ensemble,
            baselines={name: ensemble_of(f"baseline.{name}") for name in names},
            report=LabelReport.from_state(part("report"), of_report, ensemble),
            taps=settings.get("taps", settings["layers"]),
            n_outputs=settings.get("n_outputs"),
            read_as=None if read_as is None else ClassOutputs.from_json(read_as),
        )
        return cls(fitted, Settings.from_json(settings), settings["fingerprint"])


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
