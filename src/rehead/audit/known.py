"""What a user knows of labels in files: which are right, and what they were before.

A head remembers where this was read, so that an audit and a review do not forget it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

from rehead._typing import Array
from rehead._validation import CHOSEN, RANDOM, SUGGESTED
from rehead.audit.memory import (
    CHECKED,
    SAMPLES,
    TRUSTED,
    UNCORRECTED,
    codes_of,
    mark_of_numbers,
    mark_of_samples,
    memory_of,
    remembered_places,
)
from rehead.audit.report import LabelReport
from rehead.files.places import Place, locate
from rehead.files.samples import Source, check_beside
from rehead.files.tables import is_table, read_table


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

    def after_audit(self, changed: Array) -> Self:
        """What is known of rows when an audit has changed some labels: nobody checked these.

        Examples
        --------
        >>> known = KnownRows(np.array(["random", "", ""]))
        >>> known.after_audit(np.array([True, True, False])).trusted.tolist()
        ['random', 'suggested', '']
        """
        assert self.trusted is not None
        return self._replace(trusted=np.where(changed & ~self.is_trusted, SUGGESTED, self.trusted))

    def to_remember(
        self, layers: Mapping[str, Any], labels: Array, classes: Array
    ) -> dict[str, str]:
        """What a head remembers of it: where it was read, and marks of the samples and labels.

        Examples
        --------
        >>> known = KnownRows(np.array(["random", ""]), places={"trusted": "t.csv:checked"})
        >>> list(known.to_remember({"x": np.eye(2)}, np.array([0, 1]), np.array([0, 1])))
        ['trusted', 'samples', 'checked']
        """
        if self.trusted is None:
            return {}
        checked = mark_of_numbers(codes_of(labels, classes)[self.is_trusted])
        return {**self.places, SAMPLES: mark_of_samples(layers), CHECKED: checked}


def known_again(report: LabelReport, source: Source, layers: Mapping[str, Any]) -> KnownRows | None:
    """What a head was told of the labels of these samples, read again; None where it is not there.

    Columns of the table are of its own samples. Other files are of those that the fit had, in their
    order. Of these samples, labels that were checked must be what they were then.
    """
    places, told = remembered_places(report.model), memory_of(report.model)
    if TRUSTED not in places:
        return None
    try:
        check_known_places(places, source)
        known = read_known(source.data, places[TRUSTED], places.get(UNCORRECTED))
        parts = [part for part in (known.trusted, known.uncorrected) if part is not None]
        if any(len(part) != len(report) for part in parts):
            return None
        now = codes_of(report.given, report.classes)
        before = now if known.uncorrected is None else codes_of(known.uncorrected, report.classes)
    except (OSError, ValueError):
        return None
    of_the_fit = told.get(SAMPLES) == mark_of_samples(layers)
    if of_the_fit and told.get(CHECKED) != mark_of_numbers(now[known.is_trusted]):
        return None  # labels as they were before they were checked, say
    if not of_the_fit and len(known.columns) < len(parts):
        return None
    return known.after_audit(before != now)  # an earlier audit may have changed some


def check_known_places(places: Mapping[str, str | None], source: Source) -> None:
    """Raise if what is known of labels is of samples in another order."""
    for name, place in places.items():
        if place is not None:
            check_beside(place, source, f"{name} labels")


def read_known(
    data: str | Path, trusted: str | None = None, uncorrected: str | None = None
) -> KnownRows:
    """Which labels are known to be right, and what labels were before some were put right."""
    if uncorrected is not None and trusted is None:
        raise ValueError(
            "--uncorrected does nothing alone: it says what labels were before they were put "
            "right. Say which these are, with --trusted."
        )
    table = read_table(Path(data)) if is_table(data) else None
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
