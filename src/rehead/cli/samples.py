"""Samples that commands read; which columns of a table they are is shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from rehead._labels import in_type_of
from rehead._typing import Array
from rehead._warnings import warn
from rehead.audit.files import check_network, known_columns, warn_of_strangers
from rehead.audit.protocol import SavedJudge
from rehead.files.places import locate
from rehead.files.samples import FEATURES, Samples, Source, read_samples
from rehead.files.tables import is_table, read_table

WEIGHT = "weight"
"""The column in which `rehead apply` gives samples that are out of scope the weight 0."""


def read_training(source: Source) -> Samples:
    """Training samples."""
    samples = _shown(read_samples(source))
    _warn_of_weights(source)
    return samples


def _warn_of_weights(source: Source) -> None:
    """A review may have found samples that belong to no class; a fit does not leave them out."""
    path = Path(source.data)
    place = locate(source.labels, read_table(path) if is_table(path) else None)
    if place is None or place.table is not None or not is_table(Path(place.file)):
        return
    table = read_table(Path(place.file))
    weights = table.cells(WEIGHT) if WEIGHT in table.columns else np.empty(0, str)
    n = int(np.isin(weights, ("0", "0.0")).sum())
    if n:
        warn(
            f"{place.file} gives {n} of {len(weights)} samples the weight 0: they are out of "
            "scope. This fit takes them with the labels that they had. `rehead apply --new-head` "
            "leaves them out."
        )


def read_for(model: SavedJudge, source: Source, *, labelled: bool = True) -> Samples:
    """Samples for a model; columns are matched by their names."""
    samples = read_samples(source, known_columns(model), labelled=labelled)
    check_network(model, samples)
    warn_of_strangers(model, samples)
    return _shown(_in_type_of(samples, model.classes_))


def held_out_source(source: Source, validation: str | Path, labels: str | None) -> Source:
    """Where held-out samples are.

    Columns of labels and ids have the names they have in the training samples, where nothing else
    is said.
    """
    both = is_table(validation) and is_table(source.data)
    return Source(
        validation,
        labels=labels or (plain_name(source.labels) if both else None),
        ids=plain_name(source.ids) if both else None,
        option="--validation-labels",
    )


def read_held_out(source: Source, training: Samples, held_out: Source) -> tuple[Any, ...]:
    """Held-out samples, with columns as those of the training samples."""
    known = getattr(training.layers.get(FEATURES), "names", None)
    samples = _shown(read_samples(held_out, known))
    if training.labels is not None:
        samples = _in_type_of(samples, training.labels)
    if training.store is not None and samples.store is not None:
        difference = training.store.difference(samples.store)
        if difference:
            raise ValueError(
                f"The store {held_out.data} was written by {difference}, and does not go with "
                f"{source.data}. Extract both in the same way."
            )
    # Without ids: those of two files may be alike. Features tell which samples are.
    return samples.layers, samples.labels


def _in_type_of(samples: Samples, classes: Array) -> Samples:
    if samples.labels is None:
        return samples
    return replace(samples, labels=in_type_of(samples.labels, classes))


def plain_name(source: str | None) -> str | None:
    """The name of a column, where it is no file."""
    return None if source is None or ":" in source or Path(source).exists() else source


def _shown(samples: Samples) -> Samples:
    if samples.note:
        typer.echo(samples.note)
    return samples
