"""A store rewritten class by class, once: then each class is read without its neighbours."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from rehead._typing import Array
from rehead._validation import check_labels, encode_labels
from rehead.files.chunks import Copy, StoredChunks, write_copies
from rehead.files.manifest import StoreError
from rehead.files.store import SHARD_ROWS, FeatureStore


def partition_store(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    labels: Array | None = None,
    *,
    shard_rows: int = SHARD_ROWS,
) -> FeatureStore:
    """Write the rows of a store to another one, sorted by their labels.

    Rows of a class stay in the order that they had. Ids, outputs and hashes of inputs go along;
    ids that were only row numbers stay what they were. What is held in memory is a fixed number of
    bytes, and some for the label and the number of each row. The same call continues where one was
    killed.

    Parameters
    ----------
    source, target : folders
    labels : array of shape (n_samples,), optional
        In place of those of the store; the new store has them.
    shard_rows : int

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from rehead.files.store import Chunk, StoreWriter
    >>> with TemporaryDirectory() as folder:
    ...     with StoreWriter(folder + "/a", ["x"], fingerprint="") as writer:
    ...         X, y = np.arange(4.0)[:, None], np.array(["b", "a", "b", "a"])
    ...         writer.append(Chunk({"x": X}, y, np.arange(4), np.zeros((4, 0)), True))
    ...         writer.finish()
    ...     store = partition_store(folder + "/a", folder + "/b")
    ...     store.labels.tolist(), store.ids.tolist(), store.rows("x")[:].ravel().tolist()
    (['a', 'a', 'b', 'b'], [1, 3, 0, 2], [1.0, 3.0, 0.0, 2.0])
    """
    if Path(source).resolve() == Path(target).resolve():
        raise ValueError(
            f"A store cannot be partitioned in place: {source}. Choose another folder."
        )
    store = FeatureStore(source)
    given = store.labels if labels is None else labels
    if given is None:
        raise StoreError(f"The store {source} has no labels to partition it by. Give them.")
    given = check_labels(given, len(store))
    classes, codes = encode_labels(given)
    order = np.argsort(codes, kind="stable")
    origin = f"rows by class, of {store.files.manifest.checksum:.16}"
    if labels is not None:
        content = repr(classes.tolist()).encode() + codes.tobytes()
        origin += f", labels {hashlib.sha256(content).hexdigest():.16}"
    copy = Copy(StoredChunks(store), order, None if labels is None else given)
    write_copies(target, [copy], store, origin, shard_rows)
    return FeatureStore(target)
