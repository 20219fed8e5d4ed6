"""A part of the samples: what one of several processes, or machines, extracts features of."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from torch.utils.data import DataLoader, IterableDataset, Subset

from rehead.files.merge import PART
from rehead.torch.sources import (
    DEFAULT_BATCH,
    collate,
    is_array,
    is_data_set,
    loader_like,
    sampling,
)

ENVIRONMENT = "env"
"""What stands for the part that RANK and WORLD_SIZE say."""


class Part(NamedTuple):
    """A part of the samples: which one, from 1 on, and how many there are.

    Examples
    --------
    >>> Part(2, 4).rows(10)
    slice(2, 5, None)
    """

    number: int
    total: int

    def rows(self, n: int) -> slice:
        """The samples of it, of ``n``: one after the other, so that merged parts are in order."""
        return slice(n * (self.number - 1) // self.total, n * self.number // self.total)

    @property
    def order(self) -> str:
        """As a store says it."""
        return PART.format(self.number, self.total)


def read_part(text: str, environ: Mapping[str, str] = os.environ) -> Part:
    """A part as a user says it: "2/4"; or "env", for RANK and WORLD_SIZE as torchrun sets them.

    Examples
    --------
    >>> read_part("2/4"), read_part("env", {"RANK": "0", "WORLD_SIZE": "8"})
    (Part(number=2, total=4), Part(number=1, total=8))
    """
    if text == ENVIRONMENT:
        rank, world = environ.get("RANK", ""), environ.get("WORLD_SIZE", "")
        if not (rank.isdigit() and world.isdigit()):
            raise ValueError(
                "--shard env needs RANK and WORLD_SIZE, which torchrun sets: torchrun "
                "--nproc-per-node 4 --no-python rehead features ... Or give --shard 1/4, 2/4, ..."
            )
        part = Part(int(rank) + 1, int(world))
    else:
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if found is None:
            raise ValueError(f"--shard must be i/n, as 1/4, or env; got {text!r}.")
        part = Part(int(found[1]), int(found[2]))
    if not 1 <= part.number <= part.total:
        raise ValueError(f"Part {part.number} of {part.total}: parts are numbered from 1 to n.")
    return part


def samples_of(source: Any, part: Part | None) -> Any:
    """The samples of a part: of a data set, its loader, an array, or (X, y)."""
    if part is None:
        return source
    if isinstance(source, DataLoader):
        return _of_loader(source, part)
    if is_data_set(source):
        return DataLoader(_subset(source, part), batch_size=DEFAULT_BATCH, collate_fn=collate)
    if is_array(source):
        return _not_empty(source[part.rows(len(source))], part)
    if isinstance(source, tuple) and source and all(hasattr(c, "__getitem__") for c in source):
        rows = part.rows(len(source[0]))
        return tuple(_not_empty(column[rows], part) for column in source)
    raise _unknown(source)


def _of_loader(loader: DataLoader[Any], part: Part) -> DataLoader[Any]:
    sampler, batch_size, _ = sampling(loader)
    if isinstance(loader.dataset, IterableDataset) or batch_size is None:
        raise _unknown(sampler)
    return loader_like(loader, _subset(loader.dataset, part), batch_size)


def _subset(data: Any, part: Part) -> Subset[Any]:
    rows = part.rows(len(data))
    return Subset(data, _not_empty(range(rows.start, rows.stop), part))


def _not_empty(rows: Any, part: Part) -> Any:
    if not len(rows):
        raise ValueError(f"Part {part.number} of {part.total} has no samples. Take fewer parts.")
    return rows


def _unknown(source: Any) -> ValueError:
    return ValueError(
        f"Samples of a {type(source).__name__} come in an order of their own, so there is no part "
        "of them. Give a data set, or a DataLoader of one, whose samples have numbers."
    )
