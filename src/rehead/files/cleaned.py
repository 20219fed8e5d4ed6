"""The folder that `rehead clean` makes, and that `rehead review` and `rehead apply` take.

::

    cleaned/
      cleaning.json          what was asked for: data, labels, options, versions
      features/              feature store of the training samples (with a network)
      held-out-features/     the same of the held-out samples (with a network and --validation)
      head.safetensors       the head
      suspects.csv           all labels, worst first
      report.html            the report

Without a network, features are where the user has them, and ``cleaning.json`` says where. Every
file is written whole or not at all, so one that is there is finished. ``cleaning.json`` is the
first. Nothing in it changes but what samples look like, which may be said later.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from rehead.files.atomic import write_atomically
from rehead.files.places import split_column
from rehead.files.samples import Source

RECORD = "cleaning.json"
KIND, VERSION = "rehead cleaning", 1
INSIDE = "./"
"""Begins a place that is inside of the folder, which may be moved."""
PARTS = {
    "features": "features",
    "held_out": "held-out-features",
    "head": "head.safetensors",
    "suspects": "suspects.csv",
    "report": "report.html",
}
"""What a folder holds, by what it is called here."""
SOURCES = ("train", "validation")
KNOWN = ("trusted", "uncorrected")
"""What may be known of the labels of the training samples."""


class CleaningError(ValueError):
    """A folder that is not one of `rehead clean`, or of another run of it."""


@dataclass(frozen=True)
class Cleaning:
    """What `rehead clean` was asked to do. Places are as :func:`stored` gives them.

    Attributes
    ----------
    train, validation : dict
        Where features are: the fields of :class:`rehead.files.samples.Source`. None for a
        validation that there is not. Of training labels also where "trusted" and "uncorrected" are.
    looks : dict
        What samples look like: "images", "texts" or "table", with its place. May be empty.
    network : dict
        Of the network and its inputs: options of `rehead clean` by name. Empty without one.
    head : dict
        Options of the head, by the name that LayerEnsemble has for them.
    content : dict
        SHA-256 of the files that are read, by place, where there is no store that knows them.
    versions : dict
        Of rehead and of what it uses; they may differ when a run is continued.
    """

    train: Mapping[str, Any]
    validation: Mapping[str, Any] | None = None
    looks: Mapping[str, str] = field(default_factory=dict)
    network: Mapping[str, Any] = field(default_factory=dict)
    head: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


class CleanedFolder:
    """A folder of `rehead clean`: where its parts are, and what they were made from.

    Attributes
    ----------
    path : Path
    features, held_out, head, suspects, report : Path
        Its parts, whether they are there or not.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     folder = CleanedFolder(place)
    ...     folder.write(Cleaning(train={"data": "features.npy", "labels": "y.npy"}))
    ...     folder.source().labels, is_cleaned(place)
    ('y.npy', True)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.features = self.path / PARTS["features"]
        self.held_out = self.path / PARTS["held_out"]
        self.head = self.path / PARTS["head"]
        self.suspects = self.path / PARTS["suspects"]
        self.report = self.path / PARTS["report"]

    def is_begun(self) -> bool:
        """Whether it says what it was made from."""
        return is_cleaned(self.path)

    def has_parts(self) -> bool:
        """Whether something was made already."""
        return any((self.path / part).exists() for part in PARTS.values())

    def read(self) -> Cleaning:
        """What was asked for.

        Raises
        ------
        CleaningError
            If it is not a folder of `rehead clean`, or one of a later version.
        """
        return _read(self.path)

    def write(self, cleaning: Cleaning) -> None:
        """Say what is asked for, before the work begins."""
        self.path.mkdir(parents=True, exist_ok=True)
        content = {"kind": KIND, "version": VERSION, **asdict(cleaning)}
        write_atomically(self.path / RECORD, json.dumps(content, indent=1).encode() + b"\n")

    def source(self) -> Source:
        """Where the training samples are: features, labels, ids."""
        return self._source(self.read().train)

    def validation(self) -> Source | None:
        """Where the held-out samples are, if there are any."""
        given = self.read().validation
        if given is None:
            return None
        return self._source(given)._replace(option="--validation-labels")

    def known(self) -> dict[str, str]:
        """Where it is said what is known of the training labels: "trusted", "uncorrected"."""
        given = self.read().train
        return {name: self.place(given[name]) for name in KNOWN if given.get(name) is not None}

    def looks(self) -> dict[str, str]:
        """What samples look like, if that was said: a place for "images", "texts" or "table"."""
        return {name: self.place(value) for name, value in self.read().looks.items()}

    def place(self, stored: str) -> str:
        """A place that :func:`stored` gave, as it is found from here."""
        return str(self.path / stored[len(INSIDE) :]) if stored.startswith(INSIDE) else stored

    def _source(self, given: Mapping[str, Any]) -> Source:
        labels, ids = (given.get(name) for name in ("labels", "ids"))
        return Source(
            self.place(given["data"]),
            None if labels is None else self.place(labels),
            None if ids is None else self.place(ids),
            tuple(given.get("ignore", ())),
        )


def is_cleaned(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder of `rehead clean`."""
    return (Path(path) / RECORD).is_file()


def stored(given: str | os.PathLike[str], folder: str | os.PathLike[str]) -> str:
    """A place as ``cleaning.json`` holds it: found from any folder, and if either is moved along.

    ``given`` is a path, FILE:COLUMN, or the name of a column or module, which stays as it is.

    Examples
    --------
    >>> stored("species", "cleaned"), stored("/tmp", "/tmp/cleaned")
    ('species', '/tmp')
    """
    file, column = split_column(str(given))
    if not Path(file).exists():
        return str(given)
    place, root = Path(os.path.abspath(file)), Path(os.path.abspath(folder))
    inside = f"{INSIDE}{place.relative_to(root).as_posix()}" if place.is_relative_to(root) else ""
    return (inside or str(place)) + ("" if column is None else f":{column}")


def checksum(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _read(path: Path) -> Cleaning:
    if not path.is_dir():
        raise FileNotFoundError(f"There is no folder {path}.")
    if not is_cleaned(path):
        raise CleaningError(f"{path} has no {RECORD}: it was not made by `rehead clean`.")
    file = path / RECORD
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CleaningError(f"{file} is damaged ({error}). Choose another folder.") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise CleaningError(f"{file} was not written by `rehead clean`. Choose another folder.")
    if content.get("version") != VERSION:
        raise CleaningError(
            f"{file} has version {content.get('version')!r}, and this rehead knows {VERSION}. "
            "Use the rehead that made it, or choose another folder."
        )
    return Cleaning(**_fields(content, file))


def _fields(content: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """The fields of a record; an error tells which is not what it must be."""
    names = [f.name for f in fields(Cleaning)]
    strange = set(content) ^ {*names, "kind", "version"}
    if strange:
        raise CleaningError(f"{file} is damaged: see its field {min(strange)!r}.")
    for name in names:
        value = content[name]
        good = isinstance(value, dict) or (name == "validation" and value is None)
        if not good or (name in SOURCES and value is not None and not _is_source(value)):
            raise CleaningError(f"{file} is damaged: see its field {name!r}.")
    return {name: content[name] for name in names}


def _is_source(value: Mapping[str, Any]) -> bool:
    texts = [value.get(name) for name in ("labels", "ids", *KNOWN)]
    ignored = value.get("ignore", [])
    return (
        isinstance(value.get("data"), str)
        and all(text is None or isinstance(text, str) for text in texts)
        and isinstance(ignored, list)
        and all(isinstance(name, str) for name in ignored)
    )
