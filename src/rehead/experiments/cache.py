"""A folder for what can be made again: features of trained networks, labels of labellers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.data.files import user_cache
from rehead.files.atomic import replacing

Arrays = dict[str, Array]
LIMIT = 20 * 10**9
"""Bytes that a cache may hold, unless another limit is asked for."""


def digest(content: Any) -> str:
    """A short hash of anything that can be JSON."""
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def default_folder() -> Path:
    """What the environment variable ``REHEAD_CACHE`` names, else a folder in the user's cache."""
    named = os.environ.get("REHEAD_CACHE")
    return Path(named).expanduser() if named else user_cache() / "experiments"


@dataclass(frozen=True)
class Cache:
    """Arrays by the description of what they are.

    What was used longest ago is deleted where the limit would be passed. Work in progress has
    folders of its own, :meth:`working`, which are deleted when it is done.

    Attributes
    ----------
    folder : Path
    limit : int
        Bytes.

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
        if not path.exists():
            found = make()
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                np.savez(file, **found)  # type: ignore[arg-type]
            self._shrink(keep=path)
            return found
        os.utime(path)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}

    def working(self, what: Mapping[str, Any]) -> Path:
        """A folder for work in progress, so that it goes on after it was killed."""
        return self.folder / "working" / digest(what)

    def finished(self, what: Mapping[str, Any]) -> None:
        """Forget the work in progress."""
        shutil.rmtree(self.working(what), ignore_errors=True)

    def _shrink(self, keep: Path) -> None:
        """Delete what was used longest ago, until the rest is within the limit."""
        files = sorted(keep.parent.glob("*.npz"), key=lambda p: p.stat().st_mtime)
        size = sum(p.stat().st_size for p in files)
        for path in files:
            if size <= self.limit:
                return
            if path != keep:
                size -= path.stat().st_size
                path.unlink(missing_ok=True)
