"""A head on disk, without its network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from rehead._typing import Array
from rehead.audit import LabelReport
from rehead.ensemble import LayerEnsemble
from rehead.files import persist

KIND = "RobustHead"


class SavedHead(NamedTuple):
    """What a file holds of a head.

    ``taps`` are the layers that features are taken from; ``layers``, ``pool`` and ``softmax`` what
    the user set (names, not functions); ``fingerprint`` is of the network's weights.
    """

    ensemble: LayerEnsemble
    baselines: dict[str, LayerEnsemble]
    report: LabelReport
    taps: Any
    layers: Any
    pool: Any
    softmax: bool | None
    fingerprint: str

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it; functions and networks among the layers are a TypeError."""
        settings: dict[str, Any] = {
            "baselines": list(self.baselines),
            "taps": _only_text(self.taps, "layers"),
            "layers": _only_text(self.layers, "layers"),
            "pool": _only_text(self.pool, "pool"),
            "softmax": self.softmax,
            "fingerprint": self.fingerprint,
        }
        arrays: dict[str, Array] = {}
        parts: dict[str, LayerEnsemble | LabelReport] = {
            "ensemble": self.ensemble,
            "report": self.report,
            **{f"baseline.{name}": b for name, b in self.baselines.items()},
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
        # Earlier files have no baselines, and the report's entries beside the others.
        names = settings.get("baselines", [])
        of_report = settings.get("report", settings)
        return cls(
            ensemble=ensemble,
            baselines={name: ensemble_of(f"baseline.{name}") for name in names},
            report=LabelReport.from_state(part("report"), of_report, ensemble),
            taps=settings.get("taps", settings["layers"]),
            layers=settings["layers"],
            pool=settings["pool"],
            softmax=settings["softmax"],
            fingerprint=settings["fingerprint"],
        )


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
