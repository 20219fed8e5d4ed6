"""A folder for what can be made again: features of trained networks, labels of labellers."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.data.files import user_cache
from rehead.files.atomic import replacing
from rehead.files.lock import FolderLock, LockedError
from rehead.files.npz import npz_headers, read_npz

Arrays = dict[str, Array]
LIMIT = 20 * 10**9
"""Bytes that the arrays of a cache may take, unless another limit is asked for."""
PAUSE = 0.2
"""Seconds after which one looks again whether another process is done."""


def digest(content: Any) -> str:
    """A short hash of anything that can be JSON, or is an array."""
    text = json.dumps(content, sort_keys=True, default=_said)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _said(value: Any) -> Any:
    """What an array is, by all its values: its text leaves out those in the middle."""
    if not isinstance(value, np.ndarray) or value.dtype.hasobject:
        raise TypeError(f"{value!r} of type {type(value).__name__} has no lasting description.")
    content = hashlib.sha256(value.tobytes()).hexdigest()
    return {"array": content, "dtype": value.dtype.str, "shape": value.shape}


def default_folder() -> Path:
    """What the environment variable ``REHEAD_CACHE`` names, else a folder in the user's cache."""
    named = os.environ.get("REHEAD_CACHE")
    return Path(named).expanduser() if named else user_cache() / "experiments"


@dataclass(frozen=True)
class Cache:
    """Arrays by the description of what they are.

    What was used longest ago is deleted where the limit would be passed; what cannot be read is
    made again. Work in progress has folders of its own, :meth:`working`, which are deleted when it
    is done. Several processes may use a cache: what one of them makes, the others wait for.

    Attributes
    ----------
    folder : Path
    limit : int
        Bytes of all arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rehead.experiments.cache import Cache
    >>> with TemporaryDirectory() as folder:
    ...     cache = Cache(Path(folder))
    ...     made = cache.arrays({"what": "ones"}, lambda: {"x": np.ones(2)})
    ...     again = cache.arrays({"what": "ones"}, lambda: 1 / 0)
    >>> again["x"].tolist()
    [1.0, 1.0]
    """

    folder: Path
    limit: int = LIMIT

    @classmethod
    def default(cls) -> Cache:
        """In the usual place."""
        return cls(default_folder())

    def path(self, what: Mapping[str, Any]) -> Path:
        """Where arrays are, or would be."""
        return self.folder / "arrays" / f"{digest(what)}.npz"

    def has(self, what: Mapping[str, Any]) -> bool:
        """Whether arrays are there."""
        return self.path(what).exists()

    def arrays(self, what: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
        """Arrays of this description, made first if they are not there."""
        path = self.path(what)
        found = _read(path)
        if found is None:
            with self.alone(what):
                found = _read(path)  # another process may have made it meanwhile
                if found is None:
                    found = make()
                    _write(path, found)
            self._shrink(keep=path)
        return found

    @contextmanager
    def alone(self, what: Mapping[str, Any]) -> Iterator[None]:
        """Keep other processes from making the same; wait for one that does."""
        folder = self.folder / "locks" / digest(what)
        folder.mkdir(parents=True, exist_ok=True)
        lock = None
        while lock is None:
            try:
                lock = FolderLock(folder)
            except LockedError:
                time.sleep(PAUSE)
        try:
            yield
        finally:
            lock.release()

    def working(self, what: Mapping[str, Any]) -> Path:
        """A folder for work in progress, so that it goes on after it was killed."""
        return self.folder / "working" / digest(what)

    def finished(self, what: Mapping[str, Any]) -> None:
        """Forget the work in progress."""
        shutil.rmtree(self.working(what), ignore_errors=True)

    def _shrink(self, keep: Path) -> None:
        """Delete what was used longest ago, until the rest is within the limit."""
        files = []
        for path in keep.parent.glob("*.npz"):
            with contextlib.suppress(FileNotFoundError):  # another process may shrink it, too
                files.append((path.stat(), path))
        size = sum(stat.st_size for stat, _ in files)
        for stat, path in sorted(files, key=lambda file: file[0].st_mtime_ns):
            if size <= self.limit:
                return
            if path != keep:
                size -= stat.st_size
                path.unlink(missing_ok=True)


def _write(path: Path, arrays: Arrays) -> None:
    objects = [name for name, array in arrays.items() if array.dtype.hasobject]
    if objects:
        raise TypeError(f"{objects[0]} is an array of objects, which is not kept. Make it numbers.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _read(path: Path) -> Arrays | None:
    """Arrays, if they are there and whole; the time of use is noted."""
    try:
        os.utime(path)
        return read_npz(path, list(npz_headers(path)))
    except (FileNotFoundError, ValueError):
        return None
