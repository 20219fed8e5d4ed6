"""Samples from the files people have: .npy, .npz, tables, text and feature stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array, NamedFeatures
from rehead._warnings import warn
from rehead.files.columns import Roles, choose_features
from rehead.files.joined import Joined
from rehead.files.store import MANIFEST, FeatureStore
from rehead.files.tables import Table, is_table, near_names, read_table, short_list, typed

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
        Columns of the table that are no features; one text may name several, with commas.
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
    outputs : array or None
        The network's own, where a feature store has them.
    note : str
        Which columns of a table are features; empty elsewhere.
    left_out : list of str
        The other columns of the table, but for the ids.
    """

    layers: dict[str, Any]
    labels: Array | None
    ids: Array | None
    outputs: Array | None = None
    note: str = ""
    left_out: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(next(iter(self.layers.values()))) if self.layers else 0

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
    path = _existing(source.data)
    table = read_table(path) if is_table(path) else None
    of_labels = _locate(source.labels, table)
    of_ids = _locate(source.ids, table)
    labels = None
    if of_labels is not None:
        labels = of_labels.read()
    elif labelled:
        labels = _labels_beside(path, table, source.option)
    ids = None if of_ids is None else of_ids.read(exact=True)
    if table is None:
        if source.ignore:
            raise ValueError(f"--ignore names columns of a table, and {path} is none.")
        samples = Samples(_named(read_layers(path), path, known), labels, ids)
        return _with_store(samples, path) if path.is_dir() else samples
    roles = Roles(
        labels=None if of_labels is None else of_labels.own(table),
        ids=None if of_ids is None else of_ids.own(table),
        ignored=_split_names(source.ignore, table),
        elsewhere=None if of_labels is None else of_labels.column,
    )
    if roles.labels is not None:
        roles = roles._replace(elsewhere=None)
    chosen = choose_features(table, roles, known)
    return Samples(
        {FEATURES: chosen.features},
        labels,
        ids,
        note=chosen.note,
        left_out=[name for name in chosen.left_out if name != roles.ids],
    )


def read_layers(path: str | Path) -> dict[str, Any]:
    """Features by layer name of a feature store, ``.npz`` or ``.npy`` file.

    A store and an ``.npz`` file hold several layers; ``.npy`` one, called "features".
    """
    path = _existing(path)
    if path.is_dir():
        store = FeatureStore(path)
        parts = {name: store.shards(name) for name in store.layers}
        return {name: p[0] if len(p) == 1 else Joined(p) for name, p in parts.items()}
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            layers = {name: file[name] for name in file.files}
        return {name: a for name, a in layers.items() if a.ndim == 2}
    if path.suffix == ".npy":
        return {FEATURES: np.load(path, mmap_mode="r", allow_pickle=False)}
    raise _unknown(path)


def read_column(source: str | Path) -> Array:
    """One column: labels or ids.

    From ``.npy`` or ``.npz``, a table with one column, a named column of a table
    (``file.csv:label``), or a text file with one value a line.
    """
    return _Place(*split_column(str(source))).read()


def read_beside(column: str, data: str | Path, *, exact: bool = False) -> Array:
    """Labels or ids that a user names: a column of the table ``data``, a file, or FILE:COLUMN."""
    path = Path(split_column(str(data))[0])
    table = read_table(path) if path.exists() and is_table(path) else None
    place = _locate(column, table)
    assert place is not None
    return place.read(exact=exact)


def split_column(source: str) -> tuple[str, str | None]:
    """FILE and COLUMN of FILE:COLUMN; no column where there is a file of that name."""
    if ":" not in source or Path(source).exists():
        return source, None
    file, _, column = source.rpartition(":")
    return file, column


class _Place(NamedTuple):
    """Where a column is: a file, and its name in there."""

    file: str
    column: str | None
    table: Table | None = None

    def own(self, table: Table) -> str | None:
        """The name of the column, where it is one of this table."""
        return self.column if self.table is table else None

    def read(self, *, exact: bool = False) -> Array:
        """Its values; ``exact`` as in :meth:`Table.values`."""
        if self.table is not None and self.column is not None:
            return self.table.values(self.column, exact=exact)
        path = _existing(self.file)
        if is_table(path):
            return _of_table(read_table(path), self.column, exact)
        if path.is_dir():
            return _stored_labels(path)
        if path.suffix == ".npy":
            return _one_column(np.load(path, allow_pickle=False), path)
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as file:
                name = self.column or (file.files[0] if len(file.files) == 1 else "labels")
                check.check_choice(name, file.files, f"array in {path}")
                return _one_column(file[name], path)
        if path.suffix == ".txt":
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            return typed([line.strip() for line in lines], exact=exact)
        raise _unknown(path)


def _locate(source: str | None, table: Table | None) -> _Place | None:
    """Where a column is that a user names: in the table of the features, or in a file."""
    if source is None:
        return None
    file, column = split_column(source)
    if table is None:
        return _Place(file, column)
    if source in table.columns:
        if Path(source).exists():
            raise ValueError(
                f"{source!r} is a file, and a column of {table.path}. Say ./{source} or "
                f"{table.path}:{source}."
            )
        return _Place(str(table.path), source, table)
    if column is not None and Path(file).exists() and Path(file).samefile(table.path):
        table.check_columns([column])
        return _Place(file, column, table)
    if not Path(file).exists():
        raise ValueError(
            f"{source!r} is neither a column of {table.path} nor a file."
            f"{near_names(source, table.names)} The table has {short_list(table.names)}."
        )
    return _Place(file, column)


def _split_names(given: Sequence[str], table: Table) -> tuple[str, ...]:
    """Names of columns; commas separate them, but for those within a name."""
    names: list[str] = []
    for text in given:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        names += [text] if text in table.columns else parts
    return tuple(dict.fromkeys(names))


def _of_table(table: Table, column: str | None, exact: bool) -> Array:
    if column is None and len(table.columns) > 1:
        raise ValueError(
            f"{table.path} has several columns: {short_list(table.names)}. Say which: "
            f"{table.path}:NAME"
        )
    return table.values(table.names[0] if column is None else column, exact=exact)


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


def _stored_labels(path: Path) -> Array:
    labels = FeatureStore(path).labels
    if labels is None:
        raise ValueError(f"The feature store {path} holds no labels. Give a file of labels.")
    return labels


def _with_store(samples: Samples, path: Path) -> Samples:
    """With the outputs and ids of a feature store, but for ids that only number its samples."""
    store = FeatureStore(path)
    ids = samples.ids
    if ids is None and not store.numbered:
        ids = store.ids
    return replace(samples, ids=ids, outputs=store.outputs)


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


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    return path


def _unknown(path: Path) -> ValueError:
    where = f" (it has no {MANIFEST})" if path.is_dir() else ""
    known = ".npy, .npz, .csv, .parquet, .txt and feature stores"
    return ValueError(f"Cannot read {path}{where}. Known are {known}.")


def _one_column(values: Array, path: Path) -> Array:
    if values.ndim != 1:
        raise ValueError(f"{path} has shape {values.shape}; labels must be one column.")
    return values
