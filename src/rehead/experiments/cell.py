"""A cell: one experiment, by name. Everything that is run, kept and shown is keyed by cells."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One experiment.

    Attributes
    ----------
    table : str
        "1" to "8", or another set of experiments: "accuracy".
    network, data, noise, method : str
        Names that :mod:`rehead.torch.models`, :mod:`rehead.data`, :mod:`rehead.noise` and
        :mod:`rehead.torch.training` know; "none" is no noise.
    rate : float
        Share of wrong labels. Of semantic noise: the share that the paper reports.
    seed : int
        Of noise, held-out samples and weights.
    profile : str
        How large: see :mod:`rehead.experiments.profiles`.
    labeller : str
        The network that makes the labels of semantic noise.
    source : str
        Where the images of open-set noise come from.
    variation : str
        What differs from the table's own setting, by name.

    Examples
    --------
    >>> from rehead.experiments.cell import Cell
    >>> cell = Cell("2", "resnet34", "cifar10", "uniform", 0.4)
    >>> cell.name
    'table2-cifar10-resnet34-uniform40-cross-entropy-0'
    >>> Cell.from_json(cell.to_json()) == cell
    True
    """

    table: str
    network: str
    data: str
    noise: str = "none"
    rate: float = 0.0
    method: str = "cross-entropy"
    seed: int = 0
    profile: str = "quick"
    labeller: str = ""
    source: str = ""
    variation: str = ""

    def __post_init__(self) -> None:
        # Cells that are equal have one key: that of 0 and of 0.0 would differ.
        object.__setattr__(self, "rate", float(self.rate))
        object.__setattr__(self, "seed", int(self.seed))
        strange = [text for text in vars(self).values() if "/" in str(text) or "\\" in str(text)]
        if strange:
            raise ValueError(f"{strange[0]!r} is no name: names of a cell are part of a file's.")

    @property
    def key(self) -> str:
        """A hash of all fields."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def kind(self) -> str:
        """The noise in a word: uniform40."""
        return self.noise if self.noise == "none" else f"{self.noise}{round(100 * self.rate)}"

    @property
    def name(self) -> str:
        """For people, and for files."""
        table = f"table{self.table}" if self.table.isdigit() else self.table
        extra = [self.labeller, self.source, self.variation]
        parts = [table, self.data, self.network, self.kind, *filter(None, extra), self.method]
        return "-".join([*parts, str(self.seed)])

    @property
    def group(self) -> Cell:
        """The cell of the first seed, which stands for all seeds."""
        return dataclasses.replace(self, seed=0)

    def to_json(self) -> dict[str, Any]:
        """All fields, by name."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Cell:
        """From what :meth:`to_json` gave."""
        return cls(**fields)
