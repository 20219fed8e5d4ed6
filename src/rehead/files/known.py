"""Whether samples are those that a feature store was made from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.files.joined import Joined
from rehead.files.manifest import IDS, INPUTS, LABELS, Manifest, StoreError
from rehead.files.shards import ShardFiles, kind_of
from rehead.files.store import plain_column


class Rows(NamedTuple):
    """Some samples: ids, labels, a hash of what the network is given, and whether ids only count.

    The fields that are columns of a store have the names of these.
    """

    ids: Array
    labels: Array | None
    inputs: Array
    numbered: bool = False


class Difference(NamedTuple):
    """Columns that differ, and what the store was made from instead."""

    columns: list[str]
    text: str


class KnownRows:
    """The samples of a store, compared with those that come.

    Raises
    ------
    StoreError
        If the store does not tell what it was made from.
    """

    def __init__(self, files: ShardFiles) -> None:
        manifest: Manifest = files.manifest
        if INPUTS not in manifest.columns:
            raise StoreError(
                f"The store {files.folder} does not say which inputs it was made from. It can be "
                "read, but not used for this extraction: choose another folder, or delete this one."
            )
        self._numbered = manifest.numbered
        names = [name for name in (IDS, LABELS, INPUTS) if name in manifest.columns]
        self._columns = {name: Joined(files.mapped(name)) for name in names}
        self._n = manifest.n_rows

    def __len__(self) -> int:
        return self._n

    def difference(self, given: Rows, start: int) -> Difference | None:
        """What differs between samples and those of the store from a row on; None if nothing does.

        Samples beyond the end of the store are not compared.
        """
        n = min(len(given.ids), len(self) - start)
        labelled = LABELS in self._columns
        if given.numbered != self._numbered:
            was = "without ids" if self._numbered else "with ids"
            return Difference([IDS], f"samples {was}")
        if (given.labels is not None) != labelled:
            return Difference([LABELS], f"samples {'with' if labelled else 'without'} labels")
        texts = {}
        for name, column in self._columns.items():
            here = plain_column(getattr(given, name), name)[:n]
            there = column[start : start + n]
            where = np.flatnonzero(_differ(here, there))
            if len(where):
                texts[name] = _said(name, start + int(where[0]), there[where[0]], here[where[0]])
        if not texts:
            return None
        return Difference(list(texts), f"other {' and other '.join(texts.values())}")


def _differ(here: Array, there: Array) -> Array:
    """Where two columns differ; NaN does not differ from NaN."""
    if kind_of(here.dtype) != kind_of(there.dtype):
        return np.ones(len(here), bool)
    nothing = (here != here) & (there != there)
    different: Array = (here != there) & ~nothing
    return different


def _said(name: str, row: int, was: Any, now: Any) -> str:
    if name == INPUTS:
        return f"inputs (first at sample {row})"
    return f"{name} (first at sample {row}: {was.item()!r}, not {now.item()!r})"
