"""Results of cells: one JSON file each. What was measured is never changed, only added to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rehead.experiments.cache import digest
from rehead.experiments.cell import Cell
from rehead.experiments.checksums import ChecksumError, with_checksum, without_checksum
from rehead.files.atomic import write_atomically
from rehead.files.schema import (
    FieldError,
    Fields,
    check_fields,
    count,
    each,
    mapping,
    nullable,
    number,
    one_of,
    optional,
    require,
    text,
)

FORMAT, VERSION = "rehead-result", 1
RAN, NO_DATA, NOT_RUN = "ran", "data not here", "not run"
NAME = re.compile(r".+-[0-9a-f]{8}\.json")
"""How the file of a result is called."""
FIX = "Delete it: what it held is then measured again."


class ResultError(ValueError):
    """A result file that is damaged, or not one."""


@dataclass(frozen=True)
class Measurement:
    """What one way to predict gave in a cell.

    Attributes
    ----------
    column : str
        Its name.
    accuracy : float
        On clean test labels.
    seconds : float
    rehead, commit, date : str
        What it was measured with, and when.
    noise_rate : float, optional
        The share of wrong labels, as it was estimated.
    auroc, f1, false_negatives : float, optional
        How well wrong labels are found; the latter two where as many are flagged as there are.
    calibration : float, optional
        Mean distance of a quality from the share of right labels.
    details : mapping
        Weights of layers, clean share among the kept, and the like.
    """

    column: str
    accuracy: float
    seconds: float
    rehead: str
    commit: str
    date: str
    noise_rate: float | None = None
    auroc: float | None = None
    f1: float | None = None
    false_negatives: float | None = None
    calibration: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A cell, and what was measured in it.

    Attributes
    ----------
    cell : Cell
    status : {"ran", "data not here", "not run"}
    reason : str
        Why it did not run, or which ways to predict failed.
    network : mapping
        About the training: share of labels it fits, seconds, parameters, noise that was made.
    measurements : tuple of Measurement
        In the order in which they were made; a later one of the same column counts.
    circumstances : mapping
        Hardware and versions.
    """

    cell: Cell
    status: str = RAN
    reason: str = ""
    network: Mapping[str, Any] = field(default_factory=dict)
    measurements: tuple[Measurement, ...] = ()
    circumstances: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, Measurement]:
        """The latest measurement of each way to predict."""
        return {m.column: m for m in self.measurements}

    def accuracy(self, column: str) -> float:
        """In per cent; NaN where it was not measured."""
        found = self.columns.get(column)
        return float("nan") if found is None else 100 * found.accuracy

    def with_more(self, measured: Iterable[Measurement]) -> Result:
        """The same with more measurements."""
        return replace(self, measurements=(*self.measurements, *measured))


@dataclass(frozen=True)
class Results:
    """A folder of results.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rehead.experiments.cell import Cell
    >>> from rehead.experiments.results import Result, Results
    >>> cell = Cell("2", "resnet34", "cifar10")
    >>> with TemporaryDirectory() as folder:
    ...     results = Results(Path(folder))
    ...     results.write(Result(cell, "not run", "no time"))
    ...     found = results.read(cell)
    >>> found.reason
    'no time'
    """

    folder: Path

    def path(self, cell: Cell) -> Path:
        """Where the result of a cell is, or would be."""
        table = f"table{cell.table}" if cell.table.isdigit() else cell.table
        return self.folder / cell.profile / table / f"{cell.name}-{cell.key[:8]}.json"

    def read(self, cell: Cell) -> Result | None:
        """The result of a cell, if there is one."""
        path = self.path(cell)
        if not path.exists():
            return None
        return self._read(path)

    def write(self, result: Result) -> None:
        """Keep a result; measurements that are there already must be among its own."""
        path, content = self.path(result.cell), encode(result)
        earlier, later = self.read(result.cell), decode(content, path)
        if earlier is not None and not set(_keys(earlier)) <= set(_keys(later)):
            raise ResultError(f"{path} has measurements that would be lost.")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)

    def __iter__(self) -> Iterator[Result]:
        """All results, sorted by their files' names; other JSON files may lie beside them."""
        for path in sorted(self.folder.rglob("*.json")):
            if is_result(path):
                yield self._read(path)

    def _read(self, path: Path) -> Result:
        """A result in its place: a copy under another name would count twice."""
        found = read_result(path)
        if self.path(found.cell) != path:
            raise ResultError(
                f"{path} is the result of another cell, {found.cell.name}. Give it its name back, "
                f"{self.path(found.cell)}, or delete it."
            )
        return found


def _keys(result: Result) -> list[str]:
    return [digest(asdict(m)) for m in result.measurements]


def encode(result: Result) -> bytes:
    """A result as it is written. What could not be read again is an error."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "key": result.cell.key,
        "cell": result.cell.to_json(),
        "status": result.status,
        "reason": result.reason,
        "network": dict(result.network),
        "measurements": [_without_none(asdict(m)) for m in result.measurements],
        "circumstances": dict(result.circumstances),
    }
    content = with_checksum(content)
    try:
        _check(content)
    except FieldError as error:
        raise ResultError(f"The result of {result.cell.name} cannot be kept: {error}") from error
    return json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n"


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value != {}}


CONTENT: Fields = {
    "format": one_of(FORMAT),
    "version": count(1),
    "key": text,
    "cell": mapping,
    "status": one_of(RAN, NO_DATA, NOT_RUN),
    "reason": text,
    "network": mapping,
    "measurements": each(mapping),
    "circumstances": mapping,
    "checksum": text,
}
CELL: Fields = {f.name: text for f in fields(Cell)} | {"rate": number(0, 1), "seed": count()}
MEASUREMENT: Fields = {
    "column": text,
    "accuracy": number(0, 1),
    "seconds": number(0),
    "rehead": text,
    "commit": text,
    "date": text,
    "noise_rate": optional(nullable(number(0, 1))),
    "auroc": optional(nullable(number(0, 1))),
    "f1": optional(nullable(number(0, 1))),
    "false_negatives": optional(nullable(number(0, 1))),
    "calibration": optional(nullable(number(0))),
    "details": optional(mapping),
}


def is_result(path: Path) -> bool:
    """Whether a JSON file is called like a result, or says that it is one; damaged or not."""
    return NAME.fullmatch(path.name) is not None or f'"{FORMAT}"'.encode() in path.read_bytes()


def read_result(path: Path) -> Result:
    """A result from its file.

    Raises
    ------
    ResultError
        If the file is damaged or something else. It is left where it is.
    """
    return decode(path.read_bytes(), path)


def decode(encoded: bytes, path: Path) -> Result:
    """A result from the content of its file; errors name the file."""
    try:
        content = json.loads(encoded)
        _check_version(content, path)
        _check(content)
    except ResultError:
        raise
    except (ValueError, RecursionError) as error:
        problem = str(error).rstrip(".")
        raise ResultError(f"{path} is no result, or a damaged one: {problem}. {FIX}") from error
    try:
        content = without_checksum(content)
    except ChecksumError as error:
        raise ResultError(f"{path} was changed or damaged: {error}. {FIX}") from error
    return Result(
        Cell.from_json(content["cell"]),
        content["status"],
        content["reason"],
        content["network"],
        tuple(Measurement(**entry) for entry in content["measurements"]),
        content["circumstances"],
    )


def _check(content: Any) -> None:
    """Raise a FieldError unless all fields are what they must be."""
    check_fields(content, CONTENT, {})
    check_fields(content["cell"], CELL, {}, "cell.")
    for entry in content["measurements"]:
        check_fields(entry, MEASUREMENT, {}, "measurements.")
    require(Cell.from_json(content["cell"]).key == content["key"], "key is not that of the cell.")


def _check_version(content: Any, path: Path) -> None:
    """What a newer rehead wrote is neither read nor called damaged."""
    version = content.get("version") if isinstance(content, dict) else None
    if isinstance(version, int) and version > VERSION and content.get("format") == FORMAT:
        raise ResultError(
            f"{path} was written by a newer rehead (format {version}, this one reads up to "
            f"{VERSION}). Upgrade with: pip install --upgrade rehead"
        )
