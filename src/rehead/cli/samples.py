"""Samples that commands read; which columns of a table they are is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import typer

from rehead._labels import in_type_of
from rehead._typing import Array
from rehead._validation import CHOSEN, RANDOM, SUGGESTED
from rehead._warnings import warn
from rehead.audit.files import check_network, known_columns, warn_of_strangers
from rehead.audit.protocol import SavedJudge
from rehead.audit.report import LabelReport
from rehead.files.places import Place, locate
from rehead.files.samples import FEATURES, Samples, Source, check_beside, read_samples
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


class KnownRows(NamedTuple):
    """What is known of the labels of rows, where it was read, and which columns of the table it is.

    ``places`` are options by name, as they were typed.
    """

    trusted: Array | None = None
    uncorrected: Array | None = None
    columns: tuple[str, ...] = ()
    places: Mapping[str, str] = MappingProxyType({})

    @property
    def is_trusted(self) -> Array:
        """Rows that people have checked."""
        assert self.trusted is not None
        return np.isin(self.trusted, (RANDOM, CHOSEN))

    def after_audit(self, changed: Array) -> Array:
        """What is known of rows when an audit has changed some labels: nobody checked these."""
        assert self.trusted is not None
        words: Array = np.where(changed & ~self.is_trusted, SUGGESTED, self.trusted)
        return words


def known_again(report: LabelReport, source: Source) -> KnownRows | None:
    """What a head was told of the labels of these samples, read again; None where it is not there.

    Columns of the table are of its own samples. Other files are of those that the fit had.
    """
    places = getattr(getattr(report.model, "inputs_", None), "known_from", {})
    if "trusted" not in places:
        return None
    try:
        check_known_places(places, source)
        known = read_known(Path(source.data), places["trusted"], places.get("uncorrected"))
    except (OSError, ValueError):
        return None
    parts = [part for part in (known.trusted, known.uncorrected) if part is not None]
    if any(len(part) != len(report) for part in parts):
        return None
    same = len(known.columns) == len(parts) or 2 * report.in_sample.sum() > len(report)
    return known if same else None


def check_known_places(places: Mapping[str, str | None], source: Source) -> None:
    """Raise if what is known of labels is of samples in another order."""
    for name, place in places.items():
        if place is not None:
            check_beside(place, source, f"{name} labels")


def read_known(data: Path, trusted: str | None, uncorrected: str | None) -> KnownRows:
    """Which labels are known to be right, and what labels were before some were put right."""
    table = read_table(data) if is_table(data) else None
    right, before = locate(trusted, table), locate(uncorrected, table)
    columns = () if table is None else (place.own(table) for place in (right, before) if place)
    return KnownRows(
        None if right is None else _as_words(_cells(right)),
        None if before is None else before.read(),
        tuple(column for column in columns if column is not None),
        {
            name: place
            for name, place in (("trusted", trusted), ("uncorrected", uncorrected))
            if place is not None
        },
    )


def _cells(place: Place) -> Array:
    """As they are written: an empty one is a value too."""
    table = place.table
    if table is None and is_table(Path(place.file)) and place.column is not None:
        table = read_table(Path(place.file))
        table.check_columns([place.column])
    return place.read() if table is None or place.column is None else table.cells(place.column)


def _as_words(cells: Array) -> Array:
    """What is known of each row: "random", "chosen" or nothing; yes means "random"."""
    if cells.dtype.kind == "b":
        cells = np.where(cells, RANDOM, "")
    words = [_WORDS.get(str(cell).strip().lower(), str(cell).strip()) for cell in cells]
    strange = sorted(set(words) - {*_WORDS.values()})
    if strange:
        raise ValueError(
            f"--trusted has {strange[0]!r}. Write {RANDOM!r} (or yes, true, 1) for rows that were "
            f"drawn at random and checked, {CHOSEN!r} for rows that were checked because they "
            f"looked wrong, and nothing (or no, false, 0) for all others. {SUGGESTED!r} is for "
            "labels that a model changed and nobody checked."
        )
    return np.array(words)


_WORDS = {
    **dict.fromkeys((RANDOM, "true", "yes", "1", "1.0"), RANDOM),
    **dict.fromkeys(("", "false", "no", "0", "0.0", "nan", "none"), ""),
    CHOSEN: CHOSEN,
    SUGGESTED: SUGGESTED,
}


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
