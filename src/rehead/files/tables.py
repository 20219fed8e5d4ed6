"""Arrays from the files people have: .npy, .npz, CSV, Parquet, text and feature stores."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.files.persist import write_atomically
from rehead.files.store import MANIFEST, FeatureStore


def read_layers(path: str | Path, beside: Iterable[str | None] = ()) -> dict[str, Array]:
    """Features by layer name.

    A feature store and an ``.npz`` file hold several layers; ``.npy``, CSV and Parquet one, called
    "features". Every column of a table must be a number. Columns of it that are ``beside`` the
    features, as FILE:COLUMN of this very file (labels, ids), are left out.
    """
    path = _existing(path)
    if path.is_dir():
        store = FeatureStore(path)
        return {name: store.layer(name) for name in store.layers}
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            layers = {name: file[name] for name in file.files}
        return {name: a for name, a in layers.items() if a.ndim == 2}
    if path.suffix == ".npy":
        return {"features": np.load(path, mmap_mode="r", allow_pickle=False)}
    others = [_split(source) for source in beside if source is not None]
    names = {name for file, name in others if name is not None and _same(file, path)}
    columns = {name: c for name, c in _table(path).items() if name not in names}
    if not columns:
        raise ValueError(f"{path} holds no features beside {', '.join(sorted(names))}.")
    try:
        return {"features": np.column_stack([np.asarray(c, np.float64) for c in columns.values()])}
    except ValueError:
        bad = next(name for name, c in columns.items() if not _is_number(c))
        raise ValueError(
            f"Column {bad!r} of {path} is not a number. Keep only features in the file, and give "
            "labels with --labels."
        ) from None


def read_column(path: str | Path, column: str | None = None) -> Array:
    """One column: labels or ids.

    From ``.npy`` or ``.npz``, a table with one column, a named column of a table
    (``file.csv:label``), or a text file with one value a line.
    """
    if column is None:
        path, column = _split(str(path))
    path = _existing(path)
    if path.is_dir():
        labels = FeatureStore(path).labels
        if labels is None:
            raise ValueError(f"The feature store {path} holds no labels. Give a file of labels.")
        return labels
    if path.suffix == ".npy":
        return _one_column(np.load(path, allow_pickle=False), path)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            name = column or (file.files[0] if len(file.files) == 1 else "labels")
            check.check_choice(name, file.files, f"array in {path}")
            return _one_column(file[name], path)
    if path.suffix == ".txt":
        return _typed(path.read_text(encoding="utf-8").splitlines())
    columns = _table(path)
    if column is None and len(columns) > 1:
        raise ValueError(
            f"{path} has {len(columns)} columns ({', '.join(list(columns)[:5])} ...). Say which: "
            f"{path}:NAME"
        )
    name = column if column is not None else next(iter(columns))
    check.check_choice(name, columns, f"column of {path}")
    return np.asarray(columns[name])


def read_labels(labels: str | None, features: str | Path, option: str = "--labels") -> Array:
    """Labels from where they are said to be, or from where the features are."""
    if labels is not None:
        return read_column(labels)
    path = _existing(features)
    if not path.is_dir() and path.suffix != ".npz":
        raise ValueError(
            f"{path} holds features, and no labels are given. Give them with {option} FILE or "
            f"{option} FILE:COLUMN."
        )
    return read_column(path)


def read_ids(path: str | Path, n: int) -> Array:
    """Ids of the samples of a feature store; elsewhere row numbers."""
    return FeatureStore(path).ids if Path(path).is_dir() else np.arange(n)


def read_outputs(path: str | Path) -> Array | None:
    """The network's own outputs, where a feature store has them."""
    return FeatureStore(path).outputs if Path(path).is_dir() else None


def write_noisy_labels(path: Path, clean: Array, noisy: Array, changed: Array) -> None:
    """Write labels as ``.npy`` or ``.txt``, or a ``.csv`` table of what was changed."""
    if path.suffix == ".csv":
        rows = np.arange(len(noisy))
        write_csv(path, {"row": rows, "label": noisy, "clean": clean, "changed": changed})
    elif path.suffix == ".txt":
        write_atomically(path, "".join(f"{label}\n" for label in noisy.tolist()).encode())
    elif path.suffix == ".npy":
        content = io.BytesIO()
        np.save(content, noisy, allow_pickle=False)
        write_atomically(path, content.getvalue())
    else:
        raise ValueError(f"Cannot write labels to {path}: use .npy, .txt or .csv.")


def write_csv(path: Path, columns: Mapping[str, Array]) -> None:
    """Write columns of equal length, whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(c.tolist() for c in columns.values()), strict=True))
    write_atomically(path, text.getvalue().encode())


def _split(source: str) -> tuple[str, str | None]:
    """FILE and COLUMN of FILE:COLUMN; no column where there is a file of that name."""
    if ":" not in source or Path(source).exists():
        return source, None
    file, _, column = source.rpartition(":")
    return file, column


def _same(file: str, path: Path) -> bool:
    return Path(file).exists() and Path(file).samefile(path)


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    return path


def _table(path: Path) -> dict[str, Array]:
    readers: dict[str, Callable[[Path], dict[str, Array]]] = {
        ".csv": _read_csv,
        ".parquet": _read_parquet,
    }
    if path.suffix not in readers:
        known = ".npy, .npz, .csv, .parquet, .txt and feature stores"
        where = " (it has no " + MANIFEST + ")" if path.is_dir() else ""
        raise ValueError(f"Cannot read {path}{where}. Known are {known}.")
    return readers[path.suffix](path)


def _read_csv(path: Path) -> dict[str, Array]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if len(rows) < 2:
        raise ValueError(f"{path} holds no rows. The first line must name the columns.")
    header, body = rows[0], rows[1:]
    short = [i for i, row in enumerate(body) if len(row) != len(header)]
    if short:
        raise ValueError(
            f"Line {short[0] + 2} of {path} has {len(body[short[0]])} values, the header "
            f"{len(header)}."
        )
    return {name: _typed([row[i] for row in body]) for i, name in enumerate(header)}


def _read_parquet(path: Path) -> dict[str, Array]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ImportError(
            'Reading Parquet needs pyarrow. Install it with: pip install "rehead[parquet]"'
        ) from None
    table = parquet.read_table(path)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def _typed(values: list[str]) -> Array:
    """Whole numbers, numbers or text: the first that fits all values."""
    for kind in (np.int64, np.float64):
        try:
            return np.array(values, dtype=kind)
        except ValueError:
            continue
    return np.array(values)


def _is_number(column: Any) -> bool:
    return bool(np.asarray(column).dtype.kind in "biuf")


def _one_column(values: Array, path: Path) -> Array:
    if values.ndim != 1:
        raise ValueError(f"{path} has shape {values.shape}; labels must be one column.")
    return values
