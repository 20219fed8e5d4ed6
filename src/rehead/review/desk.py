"""The desk: what the page asks and tells, without the web.

It joins a subject (samples and what a head says of them), a log, and what stands in it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.audit.report import LabelReport
from rehead.review.corrected import Corrected, corrected_labels
from rehead.review.decisions import (
    ACTIONS,
    BROWSED,
    DISPUTED,
    KEEP,
    PAIR,
    RANDOM_OTHER,
    RANDOM_SUSPECT,
    RELABEL,
    SKIPPED,
    UNDECIDED,
)
from rehead.review.draws import Candidates, Shown, draw_order, next_samples, turns_of
from rehead.review.evidence import Evidence
from rehead.review.filters import Filter, rows_matching
from rehead.review.log import (
    DECISION,
    SETTING,
    UNDO,
    DecisionLog,
    Entry,
    Line,
    Receipt,
    label_to_json,
)
from rehead.review.standings import CODES, Standings
from rehead.review.stopping import Left, parts_of, wrong_left
from rehead.review.subject import Subject, suspects_of
from rehead.review.tickets import seal, unseal
from rehead.review.writer import LogWriter

FRESH = 0.25
"""Seconds for which an estimate of what is left is shown again."""
LONGEST_NAME, LARGEST_BATCH = 80, 5000


class AskedError(ValueError):
    """A request that makes no sense; the text says why."""


class Asked(NamedTuple):
    """A decision as the page sends it.

    Attributes
    ----------
    client : str
        The page's own id for it, the same if it is sent again.
    who : str
    action : str
    label : int or None
        Code of the new label, where the action is "other".
    """

    client: str
    who: str
    action: str
    label: int | None = None


class Progress(NamedTuple):
    """How far a review has come."""

    counts: dict[str, int]
    suspects: int
    suspects_left: int
    wrong: int
    left: Left
    reviewers: dict[str, int]
    share: float
    second_look: float


class Desk:
    """Hands out samples, takes decisions, keeps count.

    Parameters
    ----------
    subject : Subject
    path : path
        Of the log.
    other_head : bool, default=False
        Go on with decisions that were made with another head.

    Attributes
    ----------
    given, codes : array of shape (n_samples,)
        The labels under review, and their codes: those of the beginning, whatever head judges now.
    """

    def __init__(self, subject: Subject, path: str | Path, *, other_head: bool = False) -> None:
        self.log = DecisionLog(path, subject.run, other_head=other_head)
        self._lock = threading.RLock()
        self._n = len(subject)
        self._order = draw_order(self._n, self.log.suspects, self.log.seed)
        self._progress: tuple[float, Progress] | None = None
        self._first = subject.report
        self.given = subject.report.given
        self.codes = np.searchsorted(subject.report.classes, self.given)
        self.names = subject.names
        self.standings = Standings({name: row for row, name in enumerate(subject.names)})
        self.judge_by(subject)
        self.catch_up()
        self._writer = LogWriter(self.log)

    def close(self) -> None:
        """Write what is waiting, and let go of the log."""
        self._writer.close()
        self.log.close()

    @property
    def report(self) -> LabelReport:
        """What the head that is asked now says."""
        return self.subject.report

    def judge_by(self, subject: Subject) -> None:
        """Go on with what another head says of the same samples."""
        with self._lock:
            self.subject, self.evidence = subject, Evidence(subject)
            self._suspects = suspects_of(subject.report)

    def catch_up(self) -> None:
        """Take in what is new in the log, whoever wrote it."""
        with self._lock:
            self.standings.update(self.log.lines(after=self.standings.seen))

    def next(
        self, who: str, n: int, holding: Sequence[int] = (), wanted: Filter | None = None
    ) -> list[Shown]:
        """The next samples for a reviewer, those that the page holds already left out."""
        with self._lock:
            held = set(holding)
            if wanted is not None and wanted.active:
                rows = [r for r in self._undecided(wanted) if r not in held]
                return [Shown(int(row), BROWSED) for row in rows[:n]]
            candidates, left = self._candidates(who, held)
            turn = turns_of(self.log.seed, who, self.standings.turns[who] + len(held))
            return list(islice(next_samples(candidates, self.standings.shares, left, turn), n))

    def ticket(self, shown: Shown) -> str:
        """What the page has to bring back with a decision."""
        return seal(shown, self.log.secret)

    def rows(self, wanted: Filter) -> Array:
        """Rows that match a filter, worst first."""
        with self._lock:
            return rows_matching(wanted, self.report, self.standings, self.evidence)

    def pairs(self) -> list[tuple[int, int, int, int]]:
        """Confusions of suspects: given code, suggested code, how many, how many undecided."""
        with self._lock:
            rows, report = self._suspects, self.report
            given, suggested = self.codes[rows], self.evidence.suggested[rows]
            open_ones = self.standings.status[rows] == CODES[UNDECIDED]
        key = given * len(report.classes) + suggested
        pair, index = np.unique(key, return_inverse=True)
        n = np.bincount(index, minlength=len(pair))
        undecided = np.bincount(index, weights=open_ones, minlength=len(pair)).astype(int)
        ranked = np.lexsort((-n, -undecided))
        a, b = np.divmod(pair[ranked], len(report.classes))
        return [
            (int(i), int(j), int(m), int(u))
            for i, j, m, u in zip(a, b, n[ranked], undecided[ranked], strict=True)
        ]

    def decide(self, asked: Asked, ticket: str) -> Future[Receipt]:
        """Write a decision about the sample of a ticket; done when it is on the disk."""
        shown = unseal(ticket, self.log.secret)
        line = self._line(shown, asked)
        return self._submit(asked, DECISION, [line])

    def decide_all(self, asked: Asked, rows: Sequence[int]) -> Future[Receipt]:
        """Write the same decision about several samples: one batch, one undo."""
        if not rows or len(rows) > LARGEST_BATCH:
            raise AskedError(f"A batch has 1 to {LARGEST_BATCH} samples, not {len(rows)}.")
        if not all(0 <= row < self._n for row in rows):
            raise AskedError("A batch names samples that are not there.")
        lines = [self._line(Shown(row, PAIR), asked) for row in dict.fromkeys(rows)]
        return self._submit(asked, DECISION, lines)

    def undo(self, client: str, who: str) -> Future[Receipt]:
        """Take back the last decision or batch of a reviewer."""
        return self._submit(Asked(client, who, UNDO), UNDO, [])

    def set_share(self, client: str, who: str, name: str, value: float) -> Future[Receipt]:
        """Change how often samples are drawn at random, or shown to a second reviewer."""
        if name not in self.standings.shares._fields:
            raise AskedError(f"There is no share called {name!r}.")
        if not 0 <= value <= 0.5:
            raise AskedError(f"A share must be from 0 to 0.5, got {value}.")
        line = Line(name, SETTING, None, label_to_json(float(value)), "")
        return self._submit(Asked(client, who, SETTING), SETTING, [line])

    def progress(self) -> Progress:
        """How far the review has come, and how many wrong labels are left."""
        with self._lock:
            if self._progress is not None and self.counted_lately:
                return self._progress[1]
            found = self._count()
            self._progress = time.monotonic(), found
            return found

    @property
    def counted_lately(self) -> bool:
        """Whether :meth:`progress` answers at once."""
        return self._progress is not None and time.monotonic() - self._progress[0] < FRESH

    def corrected(self) -> Corrected:
        """Labels and weights after the decisions so far."""
        with self._lock:
            return corrected_labels(self._first, self.standings)

    def forget_progress(self) -> None:
        """Count anew when asked next."""
        self._progress = None

    def _count(self) -> Progress:
        answered, wrong = self.standings.answered, self.standings.wrong
        parts = parts_of(self.log.suspects, self._order, answered, wrong)
        shares = self.standings.shares
        # To a head that knows of a correction, the label looks right: it was a suspect before.
        ever = np.union1d(self.log.suspects[answered[self.log.suspects]], self._suspects)
        # Skipped ones come back.
        done = answered & (self.standings.status != CODES[SKIPPED])
        return Progress(
            counts=self.standings.counts(),
            suspects=len(ever),
            suspects_left=int((~done[ever]).sum()),
            wrong=int((wrong == 1).sum()),
            left=wrong_left(parts),
            reviewers=dict(self.standings.reviewers().most_common()),
            share=shares.random,
            second_look=shares.second_look,
        )

    def _undecided(self, wanted: Filter) -> Array:
        """What a filter leaves to be decided, unless it asks for what is decided."""
        if wanted.status is None and wanted.reviewer is None:
            wanted = wanted._replace(status=UNDECIDED)
        return self.rows(wanted)

    def _candidates(self, who: str, held: set[int]) -> tuple[Candidates, dict[str, int]]:
        status = self.standings.status
        free = status == CODES[UNDECIDED]
        skipped = self.standings.rows(SKIPPED)
        held_rows = np.fromiter(held, np.int64, len(held))
        free[held_rows[held_rows < self._n]] = False
        suspects = self._suspects[free[self._suspects]]
        later = [row for row in skipped.tolist() if row not in held]
        above, below = (rows[free[rows]] for rows in self._order)
        disputed = [row for row in self.standings.rows(DISPUTED).tolist() if row not in held]
        candidates = Candidates(
            disputed=disputed,
            suspects=suspects.tolist() if len(suspects) else later,
            random_suspects=above.tolist(),
            random_others=below.tolist(),
            second_look=self._of_others(who, held),
        )
        return candidates, {RANDOM_SUSPECT: len(above), RANDOM_OTHER: len(below)}

    def _of_others(self, who: str, held: set[int]) -> list[int]:
        if not self.standings.shares.second_look:
            return []
        mine = self.standings.rows_of(who) | held
        others = [row for row in self.standings.touched() if row not in mine]
        at_random = np.random.default_rng(self.log.seed).permutation(len(others))
        return [others[i] for i in at_random]

    def _line(self, shown: Shown, asked: Asked) -> Line:
        if asked.action not in ACTIONS:
            raise AskedError(f"The action must be one of {list(ACTIONS)}, got {asked.action!r}.")
        old, classes = self.given[shown.row], self.report.classes
        new = None
        if asked.action == KEEP:
            new = label_to_json(old)
        if asked.action in RELABEL:
            code = asked.label
            if code is None or not 0 <= code < len(classes):
                raise AskedError("There is no class of this number.")
            if classes[code] == old:
                raise AskedError("This is the label that the sample has: keep it.")
            new = label_to_json(classes[code])
        return Line(
            self.names[shown.row],
            asked.action,
            label_to_json(old),
            new,
            shown.reason,
            shown.probability,
        )

    def _submit(self, asked: Asked, kind: str, lines: Sequence[Line]) -> Future[Receipt]:
        who = asked.who.strip()
        if not who or len(who) > LONGEST_NAME:
            raise AskedError(f"A reviewer needs a name of at most {LONGEST_NAME} letters.")
        if not 8 <= len(asked.client) <= 64:
            raise AskedError("The id of a decision must have 8 to 64 letters.")
        return self._writer.submit(Entry(asked.client, kind, who, lines, self.subject.head))
