"""Samples from the files people have: .npy, .npz, tables, text and feature stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array, NamedFeatures
from rehead._warnings import warn
from rehead.files.columns import Roles, choose_features, refuse_copies
from rehead.files.npy import read_npy, read_npy_header
from rehead.files.npz import npz_headers, read_npz
from rehead.files.places import (
    Place,
    check_order,
    check_same,
    existing,
    locate,
    read_column,
    unknown_form,
)
from rehead.files.rows import can_be_stored, stored_file
from rehead.files.store import FeatureStore
from rehead.files.tables import Table, is_table, read_table, short_list

GIVEN = "given"
"""The column of labels as they were, beside those that an audit has corrected."""
FEATURES = "features"
"""The name of the only layer of a file that names none."""


class Source(NamedTuple):
    """Where samples are, as a user says it.

    Attributes
    ----------
    data : path
        Features: a store, .npy, .npz, .csv or .parquet.
    labels, ids : str, optional
        A column of the table ``data``, a file, or FILE:COLUMN.
    ignore : sequence of str
        Columns of the table that are not features; one text may name several, with commas.
    option : str
        What the option for labels is called, for messages.
    """

    data: str | Path
    labels: str | None = None
    ids: str | None = None
    ignore: Sequence[str] = ()
    option: str = "--labels"


@dataclass(frozen=True, eq=False)
class Samples:
    """Features by layer name, and what goes with them.

    Attributes
    ----------
    layers : dict of name to features
    labels : array or None
    ids : array or None
        None where they would only be row numbers.
    note : str
        Which columns of a table are features; empty elsewhere.
    left_out : list of str
        The other columns of the table, but for the ids.
    store : FeatureStore or None
        Where they come from, if it is a store.
    """

    layers: dict[str, Any]
    labels: Array | None = None
    ids: Array | None = None
    note: str = ""
    left_out: list[str] = field(default_factory=list)
    store: FeatureStore | None = None

    def __len__(self) -> int:
        return len(next(iter(self.layers.values()))) if self.layers else 0

    @property
    def outputs(self) -> Array | None:
        """The network's own, where a feature store has them; read when they are asked for."""
        return None if self.store is None else self.store.outputs

    @property
    def names(self) -> Array:
        """Ids, or row numbers where there are none."""
        return np.arange(len(self)) if self.ids is None else self.ids


def read_samples(
    source: Source, known: Sequence[str] | None = None, *, labelled: bool = True
) -> Samples:
    r"""Read features, labels and ids.

    Parameters
    ----------
    source : Source
    known : sequence of str, optional
        The columns that a head was fitted on, by which those of a table are matched.
    labelled : bool, default=True
        Whether samples cannot do without labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rehead.files.samples import Source, read_samples
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "flowers.csv"
    ...     _ = table.write_text("name,width,label\nx,0.5,rose\ny,0.7,tulip\n")
    ...     found = read_samples(Source(table, labels="label", ids="name"))
    >>> found.layers["features"].names, found.labels.tolist(), found.ids.tolist()
    (['width'], ['rose', 'tulip'], ['x', 'y'])
    """
    path = existing(source.data)
    table = read_table(path) if is_table(path) else None
    of_labels, of_ids = locate(source.labels, table), locate(source.ids, table)
    labels = None
    if labelled and of_labels is not None:
        labels = of_labels.read()
    elif labelled:
        labels = _labels_beside(path, table, source.option)
    if table is None:
        found = _of_arrays(path, source, known)
    else:
        found = _of_table(table, _roles(table, of_labels, of_ids, source.ignore), known)
    if table is not None and labels is not None and known is None:
        names = found.layers[FEATURES].names
        refuse_copies(table, names, {"the labels": labels, **_beside_labels(of_labels)})
    ids = found.ids if of_ids is None else of_ids.read(exact=True)
    if table is not None and of_ids is not None and ids is not None and of_ids.table is None:
        for name in table.names:
            column = of_ids.column or name
            check_same(f"The ids of {of_ids.file}", column, ids.astype(str), table.cells(name))
    if labels is not None and of_labels is not None and of_labels.table is None:
        if len(labels) != len(found):
            raise ValueError(
                f"{source.option} {of_labels.file} has {len(labels)} labels, and {path} has "
                f"{len(found)} rows. Give one label for each row, in their order."
            )
        check_order(of_labels, _names_of_samples(table, found.left_out, ids))
    return replace(found, labels=labels, ids=ids)


def check_beside(named: str, source: Source, what: str) -> None:
    """Raise if a column that a user names is of a table with these samples in another order.

    ``what`` is in the column, for people.
    """
    path = existing(source.data)
    place = locate(named, read_table(path) if is_table(path) else None)
    if place is not None and place.table is None:
        _check_beside(place, source, what)


def check_shown(source: Source, texts: str | None, table: str | None) -> None:
    """Raise if texts or rows to show would be taken in an order that is not that of the samples.

    Samples that have ids are found by them, in whatever order.
    """
    path = existing(source.data)
    named = path.is_dir() and not FeatureStore(path).numbered
    if source.ids is not None or named:
        return
    if texts is not None:
        check_beside(texts, source, "texts")
    if table is not None and not (path.is_file() and existing(table).samefile(path)):
        _check_beside(Place(table, ""), source, "rows")


def _check_beside(place: Place, source: Source, what: str) -> None:
    path = existing(source.data)
    table = read_table(path) if is_table(path) else None
    of_ids = locate(source.ids, table)
    ids = None if of_ids is None else of_ids.read(exact=True)
    if ids is None and table is None and path.is_dir():
        store = FeatureStore(path)
        ids = None if store.numbered else store.ids
    others = [] if table is None else table.names
    names = _names_of_samples(table, others, ids)
    check_order(place, names, what)
    if not names:  # then the table of the labels may say which sample is which
        check_order(place, _names_beside(locate(source.labels, table)), what)


def _names_beside(labels: Place | None) -> list[Array]:
    """Other columns of the table that labels come from."""
    if labels is None or not is_table(Path(labels.file)):
        return []
    table = read_table(existing(labels.file))
    return [table.cells(name) for name in table.names if name != labels.column]


def _beside_labels(labels: Place | None) -> dict[str, Array]:
    """The labels that an audit has corrected stand beside those that it was given."""
    if labels is None or labels.table is not None or not is_table(Path(labels.file)):
        return {}
    table = read_table(existing(labels.file))
    if GIVEN not in table.columns or labels.column == GIVEN:
        return {}
    return {f"the column {GIVEN!r} of {labels.file}": table.cells(GIVEN)}


def _names_of_samples(table: Table | None, others: list[str], ids: Array | None) -> list[Array]:
    """The ways in which samples are named: by ids, and by columns that are not features."""
    columns = [] if table is None else [table.cells(name) for name in others]
    return columns if ids is None else [ids.astype(str), *columns]


def _of_arrays(path: Path, source: Source, known: Sequence[str] | None) -> Samples:
    if source.ignore:
        raise ValueError(f"--ignore names columns of a table, and {path} is none.")
    layers = _named(read_layers(path), path, known)
    if not path.is_dir():
        return Samples(layers)
    store = FeatureStore(path)
    ids = None if store.numbered else store.ids
    return Samples(layers, ids=ids, store=store)


def _of_table(table: Table, roles: Roles, known: Sequence[str] | None) -> Samples:
    chosen = choose_features(table, roles, known)
    left_out = [name for name in chosen.left_out if name != roles.ids]
    return Samples({FEATURES: chosen.features}, note=chosen.note, left_out=left_out)


def _roles(table: Table, labels: Place | None, ids: Place | None, ignore: Sequence[str]) -> Roles:
    own = None if labels is None else labels.own(table)
    return Roles(
        labels=own,
        ids=None if ids is None else ids.own(table),
        ignored=_split_names(ignore, table),
        elsewhere=None if labels is None or own is not None else labels.column,
    )


def read_layers(path: str | Path) -> dict[str, Any]:
    """Features by layer name of a feature store, ``.npz`` or ``.npy`` file.

    A store and an ``.npz`` file hold several layers; ``.npy`` one, called "features". Those of a
    store, and floats in ``.npy``, are read when rows are asked for.
    """
    path = existing(path)
    if path.is_dir():
        store = FeatureStore(path)
        return {name: store.rows(name) for name in store.layers}
    if path.suffix == ".npz":
        headers = npz_headers(path)
        names = [name for name, found in headers.items() if len(found.shape) == 2]
        if not names:
            shapes = ", ".join(f"{name} {found.shape}" for name, found in headers.items())
            raise ValueError(
                f"{path} holds no features: they are arrays of two dimensions, a row for each "
                f"sample. It has {shapes or 'no arrays'}."
            )
        return dict(read_npz(path, names))
    if path.suffix == ".npy":
        stored = can_be_stored(read_npy_header(path))
        return {FEATURES: stored_file(path) if stored else read_npy(path, mmap=True)}
    raise unknown_form(path)


def _split_names(given: Sequence[str], table: Table) -> tuple[str, ...]:
    """Names of columns; commas separate them, but for those within a name."""
    names: list[str] = []
    for text in given:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        for name in [text] if text in table.columns else parts:
            names += table.unpacked(name)
    return tuple(dict.fromkeys(names))


def _labels_beside(path: Path, table: Table | None, option: str) -> Array:
    """Labels of a feature store or an .npz file; elsewhere they have to be given."""
    if table is not None:
        raise ValueError(
            f"Which column of {path} holds the labels? Give it with {option} COLUMN, or a file "
            f"with {option} FILE. The table has {short_list(table.names)}."
        )
    if not path.is_dir() and path.suffix != ".npz":
        raise ValueError(
            f"{path} holds features, and no labels are given. Give them with {option} FILE or "
            f"{option} FILE:COLUMN."
        )
    return read_column(path)


def _named(layers: dict[str, Any], path: Path, known: Sequence[str] | None) -> dict[str, Any]:
    """Features without column names, for a head that knows some: in their order."""
    X = layers.get(FEATURES)
    if known is None or X is None or len(X.shape) != 2 or X.shape[1] != len(known):
        return layers
    warn(
        f"The head was fitted on columns with names, and {path} names none: they are taken in "
        f"the order {short_list(list(known))}."
    )
    return {**layers, FEATURES: NamedFeatures(X, known)}
