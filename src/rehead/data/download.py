"""One file from the web: resumed where it broke off, checked, and moved into place whole.

What has arrived is in ``<name>.part`` beside the target. It stays there when the connection breaks,
for the next call to go on with, and is removed when its checksum is wrong or the disk is full.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import math
import os
import shutil
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from io import BufferedRandom
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit

from rehead._progress import progress_bar

try:
    import fcntl
except ImportError:  # Windows: two processes that fetch one file at a time are not kept apart
    fcntl = None  # type: ignore[assignment]

MIB = 1 << 20
TRIES = 3
"""Tries in a row that may bring nothing new."""
FIRST_PAUSE = 1.0
TIMEOUT = 30.0


class DownloadError(OSError):
    """A file that could not be downloaded. The message says how to get it by hand."""


class _UnlikeError(Exception):
    """What arrived, or is announced, is not the file that was asked for."""


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str,
    size: int | None = None,
    progress: bool | None = None,
) -> Path:
    """Download a file, check it, and only then give it its name.

    Parameters
    ----------
    url : str
        An http or https address.
    target : Path
        Folders above it are made. A file that is there already is left alone.
    sha256 : str
        Of the whole file; another one is deleted.
    size : int, optional
        In bytes, to tell early that the disk is too small or the file is another one.
    progress : bool, optional
        Show a bar; None: only in a terminal.

    Raises
    ------
    DownloadError
        No connection, a wrong checksum or a full disk.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"Only http and https addresses can be downloaded, got {url!r}.")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    with _locked(part) as file:
        if target.exists():  # another process was faster
            part.unlink(missing_ok=True)
            return target
        try:
            _check_space(part, size)
            _download(url, file, sha256, size, progress)
        except _UnlikeError as error:
            part.unlink(missing_ok=True)
            raise DownloadError(
                f"What {url} gave is not the file that was expected ({error}), and was deleted. "
                f"{manual_steps(url, target, sha256)}"
            ) from error
        except (OSError, HTTPException) as error:
            # A disk that is full needs the room; what a broken connection left is worth keeping.
            full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
            if full or not _length(file):
                part.unlink(missing_ok=True)
            if full:
                raise DownloadError(_full(part, size)) from error
            raise DownloadError(
                f"{target.name} could not be downloaded ({_reason(error)}). "
                f"{manual_steps(url, target, sha256)}"
            ) from error
        os.fsync(file.fileno())
        if os.name == "nt":
            file.close()  # Windows does not rename open files
        os.replace(part, target)
    return target


def manual_steps(url: str, target: Path, sha256: str) -> str:
    """What to do without this module."""
    return (
        f"To get it by hand, download {url} in a browser and save it as {target}; its sha256 must "
        f"be {sha256}."
    )


def _download(
    url: str, file: BufferedRandom, sha256: str, size: int | None, progress: bool | None
) -> None:
    """Fill the file until its checksum is right."""
    failures, farthest = 0, _length(file)
    begun_before = farthest > 0
    while True:
        try:
            _stream(url, file, size, progress)
            if _checksum(file) == sha256:
                return
            if not begun_before:
                raise _UnlikeError(f"sha256 {_checksum(file)}")
            begun_before = False  # perhaps with another file: once more, from the start
            file.truncate(0)
        except (OSError, HTTPException) as error:
            if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
                raise
            failures = 0 if _length(file) > farthest else failures + 1
            farthest = max(farthest, _length(file))
            hopeless = isinstance(error, HTTPError) and error.code in range(400, 500)
            if failures >= TRIES or hopeless:
                raise
            time.sleep(FIRST_PAUSE * 2 ** max(failures - 1, 0))


def _stream(url: str, file: BufferedRandom, size: int | None, progress: bool | None) -> None:
    """Ask for what is missing, and append it."""
    start = _length(file)
    headers = {"User-Agent": "rehead", **({"Range": f"bytes={start}-"} if start else {})}
    try:
        response = _opener().open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        if start and error.code == 416:  # nothing is missing, or it is another file
            return
        raise
    with response:
        if start and not _continues(response, start):
            file.truncate(0)
            start = 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else size
        if size is not None and total != size:
            raise _UnlikeError(f"{total} bytes, not {size}")
        name = Path(urlsplit(url).path).name
        steps = math.ceil(total / MIB) if total else None
        with progress_bar(f"{name}, MiB", steps, show=progress) as advance:
            advance(start // MIB)
            while block := response.read(MIB):
                write_block(file, block)
                advance(1)
    # A server that hangs up looks like the end of the file.
    if total is not None and _length(file) < total:
        raise ConnectionError(f"the connection ended after {_length(file)} of {total} bytes")


def _continues(response: HTTPResponse, start: int) -> bool:
    """Whether the server goes on from there; one that does not know ranges begins again."""
    sent = response.headers.get("Content-Range", "")
    return response.status == 206 and sent.startswith(f"bytes {start}-")


def _opener() -> urllib.request.OpenerDirector:
    """Web addresses only: the usual opener would follow a redirection to ftp."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


def write_block(file: BufferedRandom, block: bytes) -> None:
    """Append what has arrived, so that it is there if the next block never comes."""
    file.write(block)
    file.flush()


def _length(file: BufferedRandom) -> int:
    return os.fstat(file.fileno()).st_size


def _checksum(file: BufferedRandom) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def _check_space(part: Path, size: int | None) -> None:
    if size is not None and shutil.disk_usage(part.parent).free < size - part.stat().st_size:
        raise OSError(errno.ENOSPC, "too little space")


def _full(part: Path, size: int | None) -> str:
    needs = f"needs {math.ceil(size / MIB):,} MiB" if size else "needs more"
    free = shutil.disk_usage(part.parent).free // MIB
    return (
        f"The disk of {part.parent} is too full: {part.stem} {needs}, and {free:,} MiB are free. "
        "Make room, or let the environment variable REHEAD_DATA name a folder elsewhere."
    )


def _reason(error: Exception) -> str:
    inner = None if isinstance(error, HTTPError) else getattr(error, "reason", None)
    return str(inner or error) or type(error).__name__


@contextlib.contextmanager
def _locked(part: Path) -> Iterator[BufferedRandom]:
    """The open part file, for one process at a time.

    Training on several processes loads the same data set in each of them at the same moment.
    """
    while True:
        with open(part, "a+b") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            # Whoever had the lock may have renamed or removed what was opened here.
            try:
                same = os.path.samestat(os.fstat(file.fileno()), part.stat())
            except FileNotFoundError:
                same = False
            if same:
                yield file
                return
