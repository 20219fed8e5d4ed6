"""LabelScores: the numbers of a label report, without the ways to look at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rehead._typing import Array
from rehead.audit.protocol import LabelJudge
from rehead.files import persist

NUMBERS = ("noise_rate", "noise_rate_error")
LABELS = ("given", "suggested", "kind", "ids")
ARRAYS = ("quality", "suggested_probability", "typicality", "in_sample", "order", "transition")
"""The fields by how a file holds them."""


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
            settings[name] = None if value is None else persist.labels_to_json(value)
        return {name: getattr(self, name) for name in ARRAYS}, settings

    @classmethod
    def from_state(
        cls, arrays: Mapping[str, Array], settings: Mapping[str, Any], model: LabelJudge
    ) -> Self:
        """From :meth:`to_state`, with the model that judged."""
        labels = {
            name: None if settings[name] is None else persist.labels_from_json(settings[name])
            for name in LABELS
        }
        fields: dict[str, Any] = {name: arrays[name] for name in ARRAYS} | labels
        fields |= {name: settings[name] for name in NUMBERS}
        return cls(**fields, classes=model.classes_, model=model)
