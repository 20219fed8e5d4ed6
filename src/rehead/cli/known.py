"""What is known of the labels that `rehead clean` takes: checked first, and part of the folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rehead.audit.known import KnownRows, check_known_places, read_known
from rehead.files.cleaned import CleanedFolder, checksum, stored
from rehead.files.places import split_column
from rehead.files.samples import Source
from rehead.files.tables import is_table, read_table


def check_known_rows(known: Mapping[str, str | None], data: str) -> None:
    """Raise before the work if what is known of labels cannot be read, or is of other samples."""
    if not any(known.values()):
        return
    try:
        found = read_known(data, **known)
    except FileNotFoundError as error:
        if is_table(data):
            raise
        raise ValueError(
            f"{error} {data} is no table, so --trusted and --uncorrected are files, or "
            "FILE:COLUMN, with a row for each sample."
        ) from error
    parts = {"trusted": found.trusted, "uncorrected": found.uncorrected}
    lengths = {f"--{name} {known[name]}": len(v) for name, v in parts.items() if v is not None}
    if _is_file(data):
        lengths = {data: _n_rows(Path(data)), **lengths}
    (first, n), *others = lengths.items()
    for name, length in others:
        if length != n:
            raise ValueError(
                f"{name} has {length} rows, and {first} has {n}. Give a row for each sample, in "
                "their order."
            )


def _n_rows(table: Path) -> int:
    return len(next(iter(read_table(table).columns.values()), ()))


def known_places(
    known: Mapping[str, str | None], data: str | None, folder: CleanedFolder
) -> dict[str, str]:
    """Where it is, as the folder says it.

    A network's features have no columns: those of the table of inputs are named with the table.
    """
    columns = read_table(Path(data)).columns if data and _is_file(data) else ()
    places = {
        name: f"{data}:{place}" if place in columns else place
        for name, place in known.items()
        if place is not None
    }
    return {name: stored(place, folder.path) for name, place in places.items()}


def known_content(known: Mapping[str, str], folder: CleanedFolder) -> dict[str, str]:
    """Checksums of the files that it is read from, by place."""
    files = [split_column(folder.place(place))[0] for place in known.values()]
    return {stored(f, folder.path): checksum(Path(f)) for f in files if Path(f).is_file()}


def known_rows(folder: CleanedFolder) -> tuple[Source, Source | None, KnownRows]:
    """Training samples, held-out ones, and what is known of the former."""
    source = folder.source()
    known = read_known(source.data, **folder.known())
    check_known_places(known.places, source)
    source = source._replace(ignore=[*source.ignore, *known.columns])
    return source, folder.validation(), known


def _is_file(data: str) -> bool:
    return is_table(data) and Path(data).is_file()
