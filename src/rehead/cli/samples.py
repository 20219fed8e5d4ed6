"""Samples that commands read; which columns of a table they are is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import typer

from rehead.audit.files import known_columns
from rehead.audit.protocol import SavedJudge
from rehead.files.samples import FEATURES, Samples, Source, read_samples
from rehead.files.tables import is_table


class Asked(NamedTuple):
    """What a command was told about its samples."""

    data: Path
    labels: str | None = None
    ids: str | None = None
    ignore: list[str] | None = None

    def source(self) -> Source:
        """Where they are."""
        return Source(self.data, self.labels, self.ids, tuple(self.ignore or ()))


def read_training(asked: Asked) -> Samples:
    """Training samples."""
    return _shown(read_samples(asked.source()))


def read_for(model: SavedJudge, asked: Asked, *, labelled: bool = True) -> Samples:
    """Samples for a model; columns are matched by their names."""
    return _shown(read_samples(asked.source(), known_columns(model), labelled=labelled))


def read_held_out(
    asked: Asked, training: Samples, validation: Path, labels: str | None
) -> tuple[Any, ...]:
    """Held-out samples, with columns as those of the training samples.

    Columns of labels and ids have the names they have there, where nothing else is said.
    """
    features = training.layers.get(FEATURES)
    tables = is_table(validation) and is_table(asked.data)
    of_table = asked.source() if tables else Source(asked.data)
    source = Source(
        validation,
        labels=labels or _plain_name(of_table.labels),
        ids=_plain_name(of_table.ids),
        option="--validation-labels",
    )
    samples = _shown(read_samples(source, getattr(features, "names", None)))
    held_out = (samples.layers, samples.labels)
    return held_out if samples.ids is None else (*held_out, samples.ids)


def _plain_name(source: str | None) -> str | None:
    """The name of a column, where it is no file."""
    return None if source is None or ":" in source or Path(source).exists() else source


def _shown(samples: Samples) -> Samples:
    if samples.note:
        typer.echo(samples.note)
    return samples
