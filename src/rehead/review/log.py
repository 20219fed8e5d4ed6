"""The log of decisions: one SQLite file to which lines are only ever added.

A decision is on the disk before it is acknowledged (write-ahead log, ``synchronous=FULL``), and the
page's own id for it makes a repeated request harmless. An undo is a line too. The file belongs to
the samples that it was begun with: their ids and labels, and how the model ranked them.
"""

from __future__ import annotations

import errno
import json
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from rehead._typing import Array

VERSION = 1
"""Of the file's form."""
PATIENCE = 10.0
"""Seconds to wait for another writer."""
APPLICATION = 0x7268_6C67
"""Tells this file from other databases."""

SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE lines (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    client TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('decision', 'undo', 'setting')),
    sample TEXT NOT NULL,
    action TEXT NOT NULL,
    old TEXT,
    new TEXT,
    who TEXT NOT NULL,
    at TEXT NOT NULL,
    reason TEXT NOT NULL,
    probability REAL,
    batch INTEGER NOT NULL,
    undoes TEXT,
    head TEXT NOT NULL,
    UNIQUE (client, sample)
);
CREATE INDEX lines_by_reviewer ON lines (who, seq);
CREATE INDEX lines_that_undo ON lines (undoes) WHERE undoes IS NOT NULL;
CREATE TRIGGER lines_stay BEFORE UPDATE ON lines
    BEGIN SELECT RAISE(ABORT, 'the log is only added to'); END;
CREATE TRIGGER lines_remain BEFORE DELETE ON lines
    BEGIN SELECT RAISE(ABORT, 'the log is only added to'); END;
CREATE VIEW standing_decisions AS
    SELECT * FROM lines AS d
    WHERE kind = 'decision'
    AND NOT EXISTS (SELECT 1 FROM lines AS u WHERE u.undoes = d.client);
CREATE VIEW current AS
    SELECT * FROM standing_decisions AS d
    WHERE action != 'skip' AND NOT EXISTS (
        SELECT 1 FROM standing_decisions AS later
        WHERE later.sample = d.sample AND later.who = d.who
        AND later.action != 'skip' AND later.seq > d.seq
    );
"""
COLUMNS = (
    "client, kind, sample, action, old, new, who, at, reason, probability, batch, undoes, head"
)


class LogError(ValueError):
    """A file of decisions that cannot be used here; the message says why, and what to do."""


class Run(NamedTuple):
    """What decisions are about.

    Attributes
    ----------
    data : str
        Fingerprint of ids and given labels.
    head : str
        Fingerprint of the head.
    suspects : array of int
        Rows of the suspects, worst first, as the head ranked them when the log was begun.
    """

    data: str
    head: str
    suspects: Array


class Line(NamedTuple):
    """What is to be written about one sample; labels and the sample's id as JSON."""

    sample: str
    action: str
    old: str | None
    new: str | None
    reason: str
    probability: float | None = None


class Entry(NamedTuple):
    """What a client asks to be written, whole or not at all: a decision, a batch, an undo.

    An undo has no lines, and takes back the last entry of its reviewer.
    """

    client: str
    kind: str
    who: str
    lines: Sequence[Line]
    head: str


class Written(NamedTuple):
    """A line as it stands in the log."""

    seq: int
    client: str
    kind: str
    sample: str
    action: str
    old: str | None
    new: str | None
    who: str
    at: str
    reason: str
    probability: float | None
    batch: int
    undoes: str | None
    head: str


class Receipt(NamedTuple):
    """What became of an entry: the numbers of its lines, and what it took back (an undo).

    ``repeated`` says that it had been written before.
    """

    lines: tuple[int, ...]
    undone: str | None = None
    repeated: bool = False


DECISION, UNDO, SETTING = "decision", "undo", "setting"


class DecisionLog:
    """A log of decisions on disk.

    Parameters
    ----------
    path : path
        Made if there is none.
    run : Run
        What the decisions are about.
    other_head : bool, default=False
        Go on with decisions that were made with another head of the same data.

    Attributes
    ----------
    suspects : array of int
        As the run's, when the log was begun: later heads rank in another way.
    seed : int
        Of all random draws.
    secret : bytes
        Seals what the page carries and must not tell.

    Raises
    ------
    LogError
        If the file belongs to other data or another head, is of a newer version, or no log.
    OSError
        If it cannot be read or written.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> run = Run("data", "head", np.array([4, 2]))
    >>> line = Line("4", "keep", '"cat"', '"cat"', "suspect")
    >>> with TemporaryDirectory() as folder, DecisionLog(f"{folder}/d.sqlite", run) as log:
    ...     _ = log.append([Entry("a1", "decision", "Ann", [line], "head")])
    ...     repeated = log.append([Entry("a1", "decision", "Ann", [line], "head")])[0].repeated
    ...     log.append([Entry("a2", "undo", "Ann", [], "head")])[0].undone, repeated
    ('a1', True)
    """

    def __init__(self, path: str | Path, run: Run, *, other_head: bool = False) -> None:
        self.path = Path(path)
        self._lock, self._reading = threading.Lock(), threading.Lock()
        if not self.path.absolute().parent.is_dir():
            raise FileNotFoundError(f"There is no folder {self.path.parent} for the decisions.")
        with self._translated():
            _refuse_others(self.path)
            self._base = _connect(self.path)
            self._reader = _connect(self.path)  # who reads does not wait for the disk
        try:
            with self._translated():
                self._begin(run)
                self._check(run, other_head)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock, self._reading:
            self._base.close()
            self._reader.close()

    def append(self, entries: Sequence[Entry]) -> list[Receipt]:
        """Write entries, all in one transaction; when it returns, they are on the disk."""
        with self._lock, self._translated(), _transaction(self._base):
            return [self._write(entry) for entry in entries]

    def lines(self, after: int = 0) -> list[Written]:
        """All lines with a number above ``after``, oldest first."""
        with self._reading, self._translated():
            found = self._reader.execute(
                f"SELECT seq, {COLUMNS} FROM lines WHERE seq > ? ORDER BY seq", (after,)
            )
            return [Written(*row) for row in found]

    def _write(self, entry: Entry) -> Receipt:
        known = self._base.execute(
            "SELECT seq, undoes FROM lines WHERE client = ? ORDER BY seq", (entry.client,)
        ).fetchall()
        if known:
            return Receipt(tuple(seq for seq, _ in known), known[0][1], repeated=True)
        lines, undoes = list(entry.lines), None
        if entry.kind == UNDO:
            undoes = self._last_of(entry.who)
            if undoes is None:
                return Receipt(())
            lines = [Line("", UNDO, None, None, "")]
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        numbers = [self._insert(entry, line, at, undoes, len(lines) > 1) for line in lines]
        return Receipt(tuple(numbers), undoes)

    def _insert(self, entry: Entry, line: Line, at: str, undoes: str | None, batch: bool) -> int:
        start = (entry.client, entry.kind, *line[:4], entry.who, at)
        values = (*start, line.reason, line.probability, int(batch), undoes, entry.head)
        marks = ", ".join("?" * len(values))
        made = self._base.execute(f"INSERT INTO lines ({COLUMNS}) VALUES ({marks})", values)
        return int(made.lastrowid or 0)

    def _last_of(self, who: str) -> str | None:
        """The last decision or batch of a reviewer that was not taken back."""
        found = self._base.execute(
            "SELECT client FROM standing_decisions WHERE who = ? ORDER BY seq DESC LIMIT 1", (who,)
        ).fetchone()
        return None if found is None else str(found[0])

    def _begin(self, run: Run) -> None:
        """Make the tables of a file that has none."""
        with _transaction(self._base):
            tables = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables:
                return
            for statement in _statements(SCHEMA):
                self._base.execute(statement)
            about = {
                "version": VERSION,
                "data": run.data,
                "head": run.head,
                "suspects": np.asarray(run.suspects, "<i8").tobytes(),
                "seed": secrets.randbits(62),
                "secret": secrets.token_bytes(32),
            }
            self._base.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            self._base.execute(f"PRAGMA application_id = {APPLICATION}")

    def _check(self, run: Run, other_head: bool) -> None:
        about = dict(self._base.execute("SELECT name, value FROM about"))
        if about["version"] > VERSION:
            raise LogError(
                f"{self.path} was written by a newer rehead (form {about['version']}, this one "
                f"knows {VERSION}). Update rehead, or choose another file: --log."
            )
        if about["data"] != run.data:
            raise LogError(
                f"The decisions of {self.path} are about other samples or labels. Give the data "
                "that they were made on, or another file for new ones: --log."
            )
        if about["head"] != run.head and not other_head:
            raise LogError(
                f"The decisions of {self.path} were made with another head "
                f"({about['head']:.12}, not {run.head:.12}), on the same samples. To keep those of "
                "two heads apart, give this one a file of its own: --log FILE. To go on with those "
                "that there are: --other-head."
            )
        self.suspects = np.frombuffer(about["suspects"], "<i8").astype(np.int64)
        self.seed, self.secret = int(about["seed"]), bytes(about["secret"])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _in_words(error, self.path) from error


def label_to_json(label: Any) -> str:
    """A label or an id as it stands in the log."""
    return json.dumps(label.item() if isinstance(label, np.generic) else label, ensure_ascii=False)


def _refuse_others(path: Path) -> None:
    """Raise where a file is another program's database, before anything is changed in it."""
    if not path.exists():
        return
    base = sqlite3.connect(path, timeout=PATIENCE)
    try:
        tables = base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        mark = base.execute("PRAGMA application_id").fetchone()[0]
    finally:
        base.close()
    if tables and mark != APPLICATION:
        raise LogError(f"{path} is a database, but holds no decisions. Choose another file: --log.")


def _connect(path: Path) -> sqlite3.Connection:
    base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        base.execute("PRAGMA journal_mode = WAL").fetchone()
        base.execute("PRAGMA synchronous = FULL")
    except BaseException:
        base.close()
        raise
    return base


@contextmanager
def _transaction(base: sqlite3.Connection) -> Iterator[None]:
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
        base.execute("COMMIT")
    except BaseException:
        if base.in_transaction:  # SQLite may have rolled back by itself: a full disk
            base.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    """The statements of a script; ``executescript`` would commit before it begins."""
    found, part = [], ""
    for line in script.splitlines():
        part += line + "\n"
        if sqlite3.complete_statement(part):
            found.append(part)
            part = ""
    return found


def _in_words(error: sqlite3.Error, path: Path) -> Exception:
    """What a refusal of the database means to a reviewer."""
    said = str(error)
    if "disk is full" in said:
        return OSError(
            errno.ENOSPC,
            f"The disk is full: the decision was not saved in {path}. Make room; the page tries "
            "again, and what was saved before is safe.",
        )
    if "readonly" in said or "unable to open" in said:
        return OSError(
            errno.EACCES,
            f"{path} cannot be written: decisions would be lost. Make its folder writable (SQLite "
            "keeps two files beside it), or choose another place: --log FILE.",
        )
    if "not a database" in said or "malformed" in said:
        return LogError(
            f"{path} is no file of decisions, or it is damaged ({said}). Choose another: --log."
        )
    if "locked" in said:
        return OSError(
            errno.EAGAIN, f"{path} is held by another program for more than {PATIENCE:.0f} s."
        )
    return OSError(errno.EIO, f"{path}: {said}")
