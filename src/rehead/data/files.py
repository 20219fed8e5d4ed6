"""Where the files of a data set are, or will be put."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from rehead.data.download import DownloadError, fetch, manual_steps


class DataFileError(ValueError):
    """A file that is damaged, or not the one it should be."""


class DataMissingError(FileNotFoundError):
    """A file that is not there, and is not downloaded."""


@dataclass(frozen=True)
class Remote:
    """A file on the web, known by its checksum.

    ``note`` is said when it cannot be downloaded.
    """

    name: str
    url: str
    sha256: str
    size: int
    note: str = ""


def user_cache() -> Path:
    """Folder for what can be made or downloaded again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "rehead"


def places(folder: str | os.PathLike[str] | None) -> tuple[Path, ...]:
    """Folders to look in, first to last."""
    first = folder or os.environ.get("REHEAD_DATA")
    return (*([Path(first).expanduser()] if first else []), user_cache())


@dataclass(frozen=True)
class Files:
    """The files of one data set.

    Attributes
    ----------
    folders : tuple of Path
        Places to look in, first to last. Downloads go to the first that can be written to.
    remotes : tuple of Remote
    download : bool
        Whether missing files may be downloaded.
    progress : bool or None
    """

    folders: tuple[Path, ...]
    remotes: tuple[Remote, ...]
    download: bool
    progress: bool | None

    def find(self, name: str) -> Path | None:
        """A file by its name, if it is there."""
        return next((f / name for f in self.folders if (f / name).is_file()), None)

    def find_all(self, *names: str) -> list[Path] | None:
        """Files that belong together, if one folder has all of them."""
        for folder in self.folders:
            if all((folder / name).is_file() for name in names):
                return [folder / name for name in names]
        return None

    def get(self, name: str) -> Path:
        """A published file whose checksum is right, downloaded if need be."""
        remote = next(r for r in self.remotes if r.name == name)
        found = self.find(name)
        if found is not None:
            check_sum(found, remote.sha256)
            return found
        writable = next((folder for folder in self.folders if _can_write(folder)), None)
        target = (writable or self.folders[0]) / name
        if not self.download:
            looked = " or ".join(str(f) for f in self.folders)
            raise DataMissingError(
                f"There is no {name} in {looked}, and download=False. {remote.note}"
                f"{manual_steps(remote.url, target, remote.sha256)}"
            )
        if writable is None:
            raise DownloadError(
                f"{name} cannot be downloaded: {self.folders[0]} cannot be written to. Let the "
                "environment variable REHEAD_DATA name a folder that can."
            )
        try:
            return fetch(
                remote.url,
                target,
                sha256=remote.sha256,
                size=remote.size,
                progress=self.progress,
            )
        except DownloadError as error:
            if not remote.note:
                raise
            raise DownloadError(f"{remote.note}{error}") from error


def check_sum(path: Path, sha256: str) -> None:
    """Raise if a file is not the published one. Files that others put there are left alone."""
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise DataFileError(
            f"{path} is damaged or not the published file: its sha256 is {found}, expected "
            f"{sha256}. Delete it and load the data set again."
        )


def _can_write(folder: Path) -> bool:
    """Whether files can be put there, once the folder is made."""
    there = next(p for p in (folder, *folder.parents) if p.exists())
    # A superuser may write to folders that are marked read-only, but should not.
    return there.is_dir() and os.access(there, os.W_OK) and bool(there.stat().st_mode & 0o222)
