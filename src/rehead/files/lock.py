"""One writer at a time in a folder."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from weakref import WeakSet

LOCK = ".lock"
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""What a file system says that has no locks."""
_TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
"""What a system says where another writer has the lock."""


class LockedError(OSError):
    """Another writer is at work in the folder."""


class FolderLock:
    """Keeps other writers out of a folder, until it is released or the process ends.

    The operating system holds the lock on an empty file, and lets go of it when the process dies,
    also by ``kill -9``. So there is no stale lock: the file alone means nothing, and stays.

    Parameters
    ----------
    folder : path
    name : str, default=".lock"
        The file. Locks of other names do not keep each other out.

    Attributes
    ----------
    works : bool
        False where the file system has no locks; then nothing keeps others out.

    Raises
    ------
    LockedError
        If another writer has it, in this process or another one.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from rehead.files.lock import FolderLock
    >>> with TemporaryDirectory() as folder:
    ...     lock = FolderLock(folder)
    ...     lock.release()
    """

    def __init__(self, folder: str | os.PathLike[str], name: str = LOCK) -> None:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(Path(folder) / name, flags, 0o666)
        self._file = os.fdopen(handle, "r+b", buffering=0)
        try:
            self.works = _lock(handle)
        except OSError:
            self._file.close()
            raise
        _held.add(self)

    def release(self) -> None:
        """Let others in. May be called twice."""
        self._file.close()


def _lock(handle: int) -> bool:
    """Take the lock; False where the file system has none."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return False
        if error.errno not in _TAKEN:
            raise
        raise LockedError(error.errno, "Another writer has the lock") from error
    return True


_held: WeakSet[FolderLock] = WeakSet()


def _let_go_in_child() -> None:
    """A child process has a copy of every open file, and would keep a lock of a killed parent."""
    for lock in list(_held):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)
