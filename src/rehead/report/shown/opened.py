"""Open what a user names: images, texts or a table, as files or in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from rehead._typing import Array
from rehead.files.npy import read_npy
from rehead.files.places import existing, split_column
from rehead.report.shown.base import Shown, key_of
from rehead.report.shown.images import ImageArray, ImageFolder
from rehead.report.shown.tables import Known, rows_of, rows_of_file, texts_of, texts_of_file


class Looks(NamedTuple):
    """What to show of samples, as a user says it: one of these, or none.

    Attributes
    ----------
    images : folder, .npy file or array, optional
    texts : FILE:COLUMN, or sequence of str, optional
    table : file, DataFrame or mapping of columns, optional
    """

    images: Any = None
    texts: Any = None
    table: Any = None


def open_shown(
    names: Array,
    looks: Looks,
    *,
    numbered: bool = False,
    data: str | os.PathLike[str] | None = None,
) -> Shown | None:
    r"""What samples look like; None where nothing is given.

    Files are matched with ids: images by their path below the folder (with or without ending) or
    by their name; rows of tables by the column that holds the ids. Arrays, lists and frames are in
    the order of the samples.

    Parameters
    ----------
    names : array
        Ids of all samples (``report.names``).
    looks : Looks
    numbered : bool, default=False
        Whether ids are only row numbers (``report.ids is None``). Then the rows of a table that
        has no column "id" are taken in their order.
    data : path, optional
        Where the samples were read from. If that is the table to show, its rows are in order.

    Raises
    ------
    ValueError
        If ids do not match, or several files have the name that an id asks for.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "reviews.csv"
    ...     _ = table.write_text("name,text\nb,Bad!\na,Good.\n")
    ...     shown = open_shown(np.array(["a", "b"]), Looks(texts=f"{table}:text"))
    >>> shown.kind, shown.text("b")
    ('text', 'Bad!')
    """
    given = [name for name, value in looks._asdict().items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"Give one of images, texts and table; got {' and '.join(given)}.")
    if not given:
        return None
    keys = [key_of(name) for name in names.tolist()]
    if looks.images is not None:
        return _images(looks.images, keys)
    if looks.texts is not None:
        if not isinstance(looks.texts, (str, os.PathLike)):
            return texts_of(looks.texts, keys)
        file, column = split_column(str(looks.texts))
        path = existing(file)
        return texts_of_file(path, column, Known(keys, numbered, _same(path, data)))
    if isinstance(looks.table, (str, os.PathLike)):
        path = existing(Path(looks.table))
        return rows_of_file(path, Known(keys, numbered, _same(path, data)))
    return rows_of(looks.table, keys)


def _same(path: Path, data: str | os.PathLike[str] | None) -> bool:
    return data is not None and Path(data).exists() and path.samefile(data)


def _images(images: Any, keys: list[str]) -> Shown:
    if not isinstance(images, (str, os.PathLike)):
        return ImageArray(images, keys)
    if Path(images).suffix == ".npy" and Path(images).is_file():
        return ImageArray(read_npy(Path(images), mmap=True), keys)
    return ImageFolder(Path(images), keys)
