"""LabelScores: the numbers of a label report, without the ways to look at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rehead._typing import Array
from rehead.audit.kinds import KINDS
from rehead.audit.protocol import LabelJudge
from rehead.files import persist
from rehead.files.schema import (
    ROUNDING,
    Fields,
    check_fields,
    floats,
    labels,
    mask,
    nullable,
    number,
    optional,
    permutation,
    require,
    share,
    simplex,
    whole,
    within,
)

NUMBERS: Fields = {
    "noise_rate": number(-ROUNDING, 1 + ROUNDING),
    "noise_rate_error": number(0, nan=True),
    "noise_least": optional(number(0, 1, nan=True)),
    "noise_most": optional(number(0, 1, nan=True)),
    "checked": optional(number(0)),
}
LABELS: Fields = {
    "given": labels("n"),
    "suggested": labels("n"),
    "kind": labels("n"),
    "ids": nullable(labels("n")),
}
ARRAYS: Fields = {
    "quality": floats("n", share),
    "suggested_probability": floats("n", share),
    "typicality": floats("n", within(-ROUNDING, 1 + ROUNDING, nan=True)),
    "in_sample": mask("n"),
    "order": whole("n", permutation),
    "transition": floats("C C", simplex),
}
"""What a file holds of a report, by how it does: C classes, n samples."""


def variance_by_chance(quality: Array) -> float:
    """Variance of a share of wrong labels, if each is right with its quality.

    Examples
    --------
    >>> variance_by_chance(np.array([0.5, 0.5, 1.0, 1.0]))
    0.03125
    """
    return float((quality * (1.0 - quality)).mean() / len(quality))


@dataclass(frozen=True, eq=False, repr=False)
class LabelScores:
    """What the model thinks of each given label, in the order of the input.

    :class:`rehead.LabelReport` says what the fields are.
    """

    given: Array
    quality: Array
    suggested: Array
    suggested_probability: Array
    kind: Array
    typicality: Array
    order: Array
    noise_rate: float
    noise_rate_error: float
    transition: Array
    classes: Array
    in_sample: Array
    ids: Array | None = None
    model: LabelJudge | None = None
    noise_least: float = np.nan
    noise_most: float = np.nan
    checked: float = 0.0

    def __len__(self) -> int:
        return len(self.given)

    @property
    def names(self) -> Array:
        """Ids of the samples, or row numbers where there are none."""
        return np.arange(len(self)) if self.ids is None else self.ids

    @property
    def suspect(self) -> Array:
        """Whether another label is more probable than the given one."""
        differs: Array = self.suggested != self.given
        return differs

    def to_state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """All but classes and model, which belong to the model's own file, as arrays and JSON."""
        settings: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        for name in LABELS:
            value = getattr(self, name)
            what = "Ids" if name == "ids" else "Labels"
            settings[name] = None if value is None else persist.labels_to_json(value, what)
        return {name: getattr(self, name) for name in ARRAYS}, settings

    @classmethod
    def from_state(
        cls, arrays: Mapping[str, Array], settings: Mapping[str, Any], model: LabelJudge
    ) -> Self:
        """From :meth:`to_state`, with the model that judged; each field is checked."""
        sizes = {"C": len(model.classes_)}
        check_fields(settings, {**NUMBERS, **LABELS}, sizes, "report.")
        check_fields(arrays, ARRAYS, sizes, "report.")
        known = {"given": model.classes_.tolist(), "suggested": model.classes_.tolist()}
        for name, choices in {**known, "kind": list(KINDS)}.items():
            strange = set(settings[name]["values"]) - set(choices)
            require(not strange, f"report.{name} has {list(strange)[:1]}, which it cannot have.")
        fields: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
        for name in LABELS:
            saved = settings[name]
            fields[name] = None if saved is None else persist.labels_from_json(saved)
        fields |= {name: settings.get(name, np.nan) for name in NUMBERS}
        fields["checked"] = settings.get("checked", 0.0)  # earlier files lack it
        return cls(**fields, classes=model.classes_, model=model)
