"""Named members of an archive, read straight into memory: nothing is ever extracted to disk."""

from __future__ import annotations

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


def read_tar(path: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Contents of the named members of a tar.gz file."""
    wanted, found = set(names), {}
    with readable(path), tarfile.open(path, "r:gz") as tar:
        for member in tar:
            _check_member(path, member.name, member.size)
            if not (member.isreg() or member.isdir()):
                raise DataFileError(f"{path} was refused: {member.name!r} is a link or a device.")
            stream = tar.extractfile(member) if member.name in wanted else None
            if stream is not None:
                found[member.name] = stream.read()
    _check_complete(path, wanted, found)
    return found


def read_zip(path: Path, endings: Iterable[str]) -> Iterator[bytes]:
    """Contents of the members with these file names, in this order, whatever their folder."""
    endings = list(endings)
    with readable(path), zipfile.ZipFile(path) as archive:
        members = {}
        for info in archive.infolist():
            _check_member(path, info.filename, info.file_size)
            members[PurePosixPath(info.filename).name] = info
        _check_complete(path, set(endings), members)
        for ending in endings:
            yield archive.read(members[ending])


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
