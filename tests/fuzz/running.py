"""Runs areas for a time, and counts what came of their cases."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

from .outcome import KINDS, NAN, OBSCURE, SILENT, Case, judge

AREAS: Mapping[str, str] = {
    "model files": "models",
    "feature stores": "stores",
    "tables": "tables",
    "functions": "functions",
    "networks": "networks",
}
"""By the name that the table says, the module with its cases."""
MOST_OBSCURE = 0.01
"""Share of the cases."""

Cases = Callable[[np.random.Generator, Path], Iterator[Case]]


@dataclass
class Tally:
    """Counts of an area, and the cases that went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, str]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return sum(self.counts.values())

    def to_json(self) -> dict[str, object]:
        """Counts by kind, and the faults."""
        counts = {kind: self.counts[kind] for kind in KINDS}
        return {"cases": self.cases, **counts, "faults": self.faults}


def run_area(name: str, seed: int, *, seconds: float, most: int | None = None) -> Tally:
    """Try cases of an area until the time is over, or so many were tried."""
    return tally(import_module(f"{__package__}.{AREAS[name]}").cases, seed, seconds, most)


def tally(cases: Cases, seed: int, seconds: float, most: int | None = None) -> Tally:
    """Judge cases until the time is over, or so many were judged."""
    found, start = Tally(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the good models that cases start from
        stream = cases(np.random.default_rng(seed), Path(folder))
        while (most is None or found.cases < most) and time.perf_counter() - start < seconds:
            case = next(stream)
            outcome = judge(case)
            found.counts[outcome.kind] += 1
            if outcome.kind in (SILENT, NAN, OBSCURE):
                said = outcome.said.replace(folder, "")
                found.faults.append({"case": case.name, "kind": outcome.kind, "said": said})
    found.seconds = time.perf_counter() - start
    return found


def is_good(tallies: Mapping[str, Tally]) -> bool:
    """Whether nothing was silent or NaN, and next to nothing obscure."""
    total = sum((t.counts for t in tallies.values()), Counter())
    wrong = total[SILENT] + total[NAN]
    return wrong == 0 and total[OBSCURE] <= MOST_OBSCURE * sum(total.values())
