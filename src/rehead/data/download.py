"""One file from the web: resumed where it broke off, checked, and moved into place whole.

What has arrived is in ``<name>.part`` beside the target. It stays there when the connection breaks
or is too slow, for the next call to go on with, and is removed when its checksum is wrong or the
disk is full. No more is written than the file is known to have.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import math
import os
import queue
import shutil
import stat
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from io import BufferedRandom
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

from rehead._progress import Advance, progress_bar

try:
    import fcntl
except ImportError:  # Windows: two processes that fetch one file at a time are not kept apart
    fcntl = None  # type: ignore[assignment]

MIB = 1 << 20
TRIES = 3
"""Tries in a row that may bring nothing new."""
FIRST_PAUSE = 1.0
TIMEOUT = 30.0
"""Seconds in which a server must say something."""
ANSWER_SECONDS = 120.0
"""Seconds in which it must have said that a file follows."""
SLOW_SECONDS = 60.0
SLOWEST = 10 << 10
"""Bytes per second that must arrive on average, over this many seconds."""


class DownloadError(OSError):
    """A file that could not be downloaded. The message says how to get it by hand."""


class _UnlikeError(Exception):
    """What arrived, or is announced, is not the file that was asked for."""


class _SlowError(OSError):
    """A server that would take days."""


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str,
    size: int,
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
    size : int
        In bytes. More is not written, whatever the server sends; and a disk that is too small is
        noticed before the download.
    progress : bool, optional
        Show a bar; None: only in a terminal.

    Raises
    ------
    DownloadError
        No connection or too slow a one, a wrong checksum, a full disk, or something else in the
        place of the part.
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
            kept = " What has arrived is kept: the next try continues." if part.exists() else ""
            raise DownloadError(
                f"{target.name} could not be downloaded ({_reason(error)}).{kept} "
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


class _Pace:
    """Watches how fast bytes arrive, through all tries."""

    def __init__(self) -> None:
        self._start, self._arrived = time.monotonic(), 0

    def note(self, n: int) -> None:
        """Count bytes that arrived; too few in some time are an error."""
        self._arrived += n
        seconds = time.monotonic() - self._start
        if seconds < SLOW_SECONDS:
            return
        if self._arrived < SLOWEST * seconds:
            raise _SlowError(
                f"the server is too slow: {self._arrived:,} bytes in the last {seconds:.0f} s"
            )
        self._start, self._arrived = time.monotonic(), 0


def _download(
    url: str, file: BufferedRandom, sha256: str, size: int, progress: bool | None
) -> None:
    """Fill the file until its checksum is right."""
    failures, farthest, pace = 0, _length(file), _Pace()
    begun_before = farthest > 0
    while True:
        try:
            if _length(file) > size:
                file.truncate(0)
            if _length(file) < size:
                with progress_bar(_title(url), math.ceil(size / MIB), show=progress) as advance:
                    _stream(url, file, size, pace, advance)
            if _checksum(file) == sha256:
                return
            if not begun_before:
                raise _UnlikeError(f"sha256 {_checksum(file)}")
            begun_before = False  # perhaps with another file: once more, from the start
            file.truncate(0)
        except (OSError, HTTPException) as error:
            full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
            if full or isinstance(error, _SlowError):
                raise
            failures = 0 if _length(file) > farthest else failures + 1
            farthest = max(farthest, _length(file))
            hopeless = isinstance(error, HTTPError) and error.code in range(400, 500)
            if failures >= TRIES or hopeless:
                raise
            time.sleep(FIRST_PAUSE * 2 ** max(failures - 1, 0))
            pace.note(0)


def _stream(url: str, file: BufferedRandom, size: int, pace: _Pace, advance: Advance) -> None:
    """Ask for what is missing, and append it."""
    start = _length(file)
    headers = {"User-Agent": "rehead", **({"Range": f"bytes={start}-"} if start else {})}
    try:
        response = _answer(urllib.request.Request(url, headers=headers))
    except HTTPError as error:
        if start and error.code == 416:  # nothing is missing, or it is another file
            return
        raise
    with response:
        if start and not _continues(response, start):
            file.truncate(0)
            start = 0
        length = response.headers.get("Content-Length", "")
        if length.isdigit() and start + int(length) != size:
            raise _UnlikeError(f"{start + int(length)} bytes, not {size}")
        advance(start // MIB)
        # What is there so far, not a whole block: a slow server must be seen to be slow.
        while block := response.read1(MIB):
            if start + len(block) > size:
                raise _UnlikeError(f"more than {size} bytes")
            write_block(file, block)
            advance((start + len(block)) // MIB - start // MIB)
            start += len(block)
            pace.note(len(block))
    # A server that hangs up looks like the end of the file.
    if start < size:
        raise ConnectionError(f"the connection ended after {start} of {size} bytes")


def _answer(request: urllib.request.Request) -> HTTPResponse:
    """The server's answer, up to where the file begins; one that never comes to it is given up on.

    Limits of sockets are for one piece of data each: a header that comes letter by letter has no
    end. So somebody else waits for it.
    """
    answers: queue.Queue[Any] = queue.Queue()

    def ask() -> None:
        try:
            answers.put(_opener().open(request, timeout=TIMEOUT))
        except BaseException as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=ANSWER_SECONDS)
    except queue.Empty:
        raise _SlowError(f"the server gave no answer within {ANSWER_SECONDS:.0f} s") from None
    if isinstance(answer, BaseException):
        raise answer
    response: HTTPResponse = answer
    return response


def _title(url: str) -> str:
    return f"{Path(urlsplit(url).path).name}, MiB"


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


def _check_space(part: Path, size: int) -> None:
    if shutil.disk_usage(part.parent).free < size - part.stat().st_size:
        raise OSError(errno.ENOSPC, "too little space")


def _full(part: Path, size: int) -> str:
    needs, free = math.ceil(size / MIB), shutil.disk_usage(part.parent).free // MIB
    return (
        f"The disk of {part.parent} is too full: {part.stem} needs {needs:,} MiB, and {free:,} MiB "
        "are free. Make room, or let the environment variable REHEAD_DATA name a folder elsewhere."
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
        with _open_part(part) as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            # Whoever had the lock may have renamed or removed what was opened here.
            try:
                same = os.path.samestat(os.fstat(file.fileno()), part.lstat())
            except FileNotFoundError:
                same = False
            if same:
                yield file
                return


def _open_part(part: Path) -> BufferedRandom:
    """The part file, to be appended to; what leads to another file is refused."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(part, flags, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise DownloadError(_not_ours(part)) from error
        raise
    found = os.fstat(handle)
    # nlink is 0 where another process has just finished, and removed it.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or part.is_symlink():
        os.close(handle)
        raise DownloadError(_not_ours(part))
    return os.fdopen(handle, "a+b")


def _not_ours(part: Path) -> str:
    return (
        f"{part} is a link, or no file at all, and would be written to. Remove it, and try again."
    )
