"""Named members of an archive, read straight into memory: nothing is ever extracted to disk.

No more is unpacked than the archive is known to hold, whatever it claims.
"""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from rehead.data.files import DataFileError

LARGEST = 1 << 30
"""Bytes of one member; the largest that is needed, a part of ImageNet, has 400 MB."""


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what a damaged file makes its reader raise into one error that names the file."""
    try:
        yield
    except DataFileError:
        raise
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        KeyError,
        TypeError,
    ) as error:
        raise DataFileError(
            f"{path} cannot be read, it is damaged or incomplete ({error}). Delete it and load the "
            "data set again."
        ) from error


class _Bounded:
    """A stream that is read up to a limit: headers of an archive can be bombs too."""

    def __init__(self, stream: gzip.GzipFile, path: Path, most: int) -> None:
        self._stream, self._path, self._left = stream, path, most

    def read(self, n: int) -> bytes:
        """Read ``n`` bytes, if they are allowed."""
        block = self._stream.read(min(n, self._left + 1))
        self._left -= len(block)
        if self._left < 0:
            raise _too_large(self._path)
        return block


def read_tar(path: Path, names: Iterable[str], *, most: int) -> dict[str, bytes]:
    """Contents of the named members of a tar.gz file that unpacks to ``most`` bytes at most."""
    wanted, found = set(names), {}
    with (
        readable(path),
        gzip.open(path) as unpacked,
        # As a stream: everything that is read of it is counted.
        tarfile.open(fileobj=_Bounded(unpacked, path, most), mode="r|") as tar,  # type: ignore[call-overload]
    ):
        for member in tar:
            _check_member(path, member.name, member.size)
            if not (member.isreg() or member.isdir()):
                raise DataFileError(f"{path} was refused: {member.name!r} is a link or a device.")
            stream = tar.extractfile(member) if member.name in wanted else None
            if stream is not None:
                found[member.name] = stream.read()
    _check_complete(path, wanted, found)
    return found


def read_zip(path: Path, endings: Iterable[str], *, most: int) -> Iterator[bytes]:
    """Contents of the members with these file names, in this order, whatever their folder.

    All members together may have ``most`` bytes.
    """
    endings = list(endings)
    with readable(path), zipfile.ZipFile(path) as archive:
        check_sizes(path, archive, most=most)
        members = {PurePosixPath(info.filename).name: info for info in archive.infolist()}
        _check_complete(path, set(endings), members)
        for ending in endings:
            yield archive.read(members[ending])


def check_sizes(path: Path, archive: zipfile.ZipFile, *, most: int) -> None:
    """Refuse an archive that says it unpacks to more than expected.

    It cannot say less than it does: readers stop at the size that is said.
    """
    for info in archive.infolist():
        _check_member(path, info.filename, info.file_size)
    if sum(info.file_size for info in archive.infolist()) > most:
        raise _too_large(path)


def _too_large(path: Path) -> DataFileError:
    return DataFileError(f"{path} was refused: it unpacks to more than expected.")


def _check_member(path: Path, name: str, size: int) -> None:
    pure = PurePosixPath(name.replace("\\", "/"))
    if pure.is_absolute() or ".." in pure.parts or ":" in name:
        raise DataFileError(f"{path} was refused: {name!r} points out of the archive.")
    if size > LARGEST:
        raise DataFileError(f"{path} was refused: {name!r} has {size:,} bytes, more than expected.")


def _check_complete(path: Path, wanted: set[str], found: Iterable[str]) -> None:
    missing = sorted(wanted - set(found))
    if missing:
        raise DataFileError(
            f"{path} has no {', '.join(missing)}. Delete it and load the data set again."
        )
