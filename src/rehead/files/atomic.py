"""Files that are written whole or not at all.

A file is written beside its target and then moved there. What a process leaves behind that is
killed meanwhile, the next one removes that writes the same target. Whether a writer still lives is
told by a lock, which the system takes from it when it ends, however it ends. (A number of a process
would not do: numbers are used again, and those of another container mean nothing here.)
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # no such locks on Windows, so nothing is removed there
    fcntl = None  # type: ignore[assignment]

LONGEST_NAME = 200
"""Bytes of a target's name that go into that of the file beside it; systems allow 255."""


def write_atomically(target: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all; see :func:`replacing`."""
    with replacing(target) as file:
        file.write(content)


@contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of the target once all went well.

    A link is written through. A file that is replaced keeps its permissions; a new one has those
    that the umask allows. Pipes and devices are written to as they are.

    Raises
    ------
    OSError
        If the file cannot be written, with its name. What was there before is then untouched.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "numbers.txt") as file:
    ...     _ = file.write(b"1, 2, 3")
    >>> [p.name for p in folder.iterdir()]
    ['numbers.txt']
    """
    target = Path(target)
    real = Path(os.path.realpath(target))  # what a link points to is replaced, not the link
    if not real.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {real.parent}. Make it first.")
    special = target.exists() and not (target.is_file() or target.is_dir())
    try:
        with target.open("wb") if special else _beside(real) as file:
            yield file
    except OSError as error:
        code = () if error.errno is None else (error.errno,)
        text = f"Cannot write {target}: {error.strerror or error}. No file was changed"
        raise OSError(*code, text) from error


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    for wrong, code in ((target.is_dir(), errno.EISDIR), (target.is_symlink(), errno.ELOOP)):
        if wrong:
            raise OSError(code, os.strerror(code))
    _remove_leftovers(target)
    handle, temporary = _create(target)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            _keep_permissions(file.fileno(), target)
            if fcntl is not None:  # under the lock: unlocked, it would look like a leftover
                os.replace(temporary, target)
        if fcntl is None:  # Windows does not move a file that is open
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _create(target: Path) -> tuple[int, Path]:
    """A new file beside the target, locked by this process."""
    # The system takes the umask off; asking for the umask would change it for other threads.
    mode = stat.S_IMODE(target.stat().st_mode) & 0o777 if target.exists() else 0o666
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    while True:
        temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.rehead")
        handle = os.open(temporary, flags, mode)
        if fcntl is None:
            return handle, temporary
        # Where a disk has no locks, nothing is removed either.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, temporary
        os.close(handle)  # another process took it for a leftover, before it was locked


def _prefix(target: Path) -> str:
    return f".{target.name.encode()[:LONGEST_NAME].decode(errors='ignore')}."


def _keep_permissions(handle: int, target: Path) -> None:
    """Those of the file that is replaced; a private file must not become a public one."""
    if not target.exists() or not hasattr(os, "fchown"):
        return
    old, new = target.stat(), os.fstat(handle)
    mode = stat.S_IMODE(old.st_mode)
    if old.st_gid != new.st_gid:
        try:
            os.fchown(handle, -1, old.st_gid)
        except PermissionError:
            mode &= ~0o070  # they were meant for another group
    if old.st_uid != new.st_uid:
        with contextlib.suppress(PermissionError):
            os.fchown(handle, old.st_uid, -1)
    os.fchmod(handle, mode)


def _remove_leftovers(target: Path) -> None:
    """Remove what processes left beside a file that were killed while they wrote it."""
    if fcntl is None:
        return
    leftover = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{16}\.rehead")
    names = []
    with contextlib.suppress(PermissionError):  # of a folder that may be written but not read
        names = os.listdir(target.parent)
    for name in names:
        if leftover.fullmatch(name):
            _remove_unless_locked(target.with_name(name))


def _remove_unless_locked(path: Path) -> None:
    # What cannot be opened, locked or removed stays: its writer may live.
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(handle)
