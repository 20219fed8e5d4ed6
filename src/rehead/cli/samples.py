"""Samples that commands read; which columns of a table they are is shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from rehead._labels import in_type_of
from rehead._typing import Array
from rehead.audit.files import check_network, known_columns, warn_of_strangers
from rehead.audit.protocol import SavedJudge
from rehead.files.samples import FEATURES, Samples, Source, read_samples
from rehead.files.tables import is_table


def read_training(source: Source) -> Samples:
    """Training samples."""
    return _shown(read_samples(source))


def read_for(model: SavedJudge, source: Source, *, labelled: bool = True) -> Samples:
    """Samples for a model; columns are matched by their names."""
    samples = read_samples(source, known_columns(model), labelled=labelled)
    check_network(model, samples)
    warn_of_strangers(model, samples)
    return _shown(_in_type_of(samples, model.classes_))


def read_held_out(
    source: Source, training: Samples, validation: Path, labels: str | None
) -> tuple[Any, ...]:
    """Held-out samples, with columns as those of the training samples.

    Columns of labels and ids have the names they have there, where nothing else is said.
    """
    both = is_table(validation) and is_table(source.data)
    held_out = Source(
        validation,
        labels=labels or (_plain_name(source.labels) if both else None),
        ids=_plain_name(source.ids) if both else None,
        option="--validation-labels",
    )
    known = getattr(training.layers.get(FEATURES), "names", None)
    samples = _shown(read_samples(held_out, known))
    if training.labels is not None:
        samples = _in_type_of(samples, training.labels)
    if training.store is not None and samples.store is not None:
        difference = training.store.difference(samples.store)
        if difference:
            raise ValueError(
                f"The store {validation} was written by {difference}, and does not go with "
                f"{source.data}. Extract both in the same way."
            )
    # Without ids: those of two files may be alike. Features tell which samples are.
    return samples.layers, samples.labels


def _in_type_of(samples: Samples, classes: Array) -> Samples:
    if samples.labels is None:
        return samples
    return replace(samples, labels=in_type_of(samples.labels, classes))


def _plain_name(source: str | None) -> str | None:
    """The name of a column, where it is no file."""
    return None if source is None or ":" in source or Path(source).exists() else source


def _shown(samples: Samples) -> Samples:
    if samples.note:
        typer.echo(samples.note)
    return samples
