"""What holds for every sample: the log, replayed in memory and kept up to date."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.review.decisions import STATUSES, UNDECIDED, Decision, Standing, standing_of
from rehead.review.draws import Shares
from rehead.review.log import DECISION, SETTING, UNDO, Written

CODES = {status: code for code, status in enumerate(STATUSES)}
"""Statuses as numbers."""


class Standings:
    """Decisions that stand, by row, and what follows from them.

    Parameters
    ----------
    rows : mapping of str to int
        The row of each sample by its id as the log has it.

    Attributes
    ----------
    status : array of int of shape (n_samples,)
        Codes of ``STATUSES``.
    wrong : array of shape (n_samples,)
        1 where the given label was found wrong, 0 where it was found right, NaN where it is open.
    seen : int
        Number of the last line of the log that is in it.
    turns : Counter of str
        How many decisions each reviewer has made, also those that were undone.
    shares : Shares
    """

    def __init__(self, rows: Mapping[str, int]) -> None:
        self._row_of = rows
        self._decisions: dict[int, list[Decision]] = {}
        self._of_client: dict[str, list[Decision]] = {}
        self.status = np.zeros(len(rows), np.int8)
        self.wrong = np.full(len(rows), np.nan)
        self.turns: Counter[str] = Counter()
        self.shares = Shares()
        self.seen = 0

    def __len__(self) -> int:
        return len(self.status)

    def update(self, lines: Iterable[Written]) -> None:
        """Take in lines of the log that are new."""
        for line in lines:
            if line.kind == DECISION:
                self._add(self._decision(line))
            elif line.kind == UNDO and line.undoes is not None:
                self._take_back(line.undoes)
            elif line.kind == SETTING:
                self.shares = self.shares._replace(**{line.sample: json.loads(line.new or "0")})
            self.seen = line.seq

    def decisions(self, row: int) -> list[Decision]:
        """All decisions about a sample that stand, oldest first."""
        return list(self._decisions.get(row, ()))

    def standing(self, row: int) -> Standing:
        """What holds for a sample."""
        return standing_of(self._decisions.get(row, ()))

    def of_client(self, client: str) -> list[Decision]:
        """The decisions of one entry, whether they stand or were undone."""
        return list(self._of_client.get(client, ()))

    def rows(self, status: str) -> Array:
        """Rows of a status."""
        return np.flatnonzero(self.status == CODES[status])

    def touched(self) -> list[int]:
        """Rows with decisions that stand."""
        return sorted(row for row, found in self._decisions.items() if found)

    def reviewers(self) -> Counter[str]:
        """How many samples each reviewer has decided."""
        found: Counter[str] = Counter()
        for decisions in self._decisions.values():
            found.update({d.who for d in decisions})
        return found

    def rows_of(self, who: str) -> set[int]:
        """Rows that a reviewer has answered."""
        return {row for row, ds in self._decisions.items() if any(d.who == who for d in ds)}

    @property
    def answered(self) -> Array:
        """Samples that somebody has answered, be it that they are left open."""
        said: Array = self.status != CODES[UNDECIDED]
        return said

    def counts(self) -> dict[str, int]:
        """How many samples have each status."""
        found = np.bincount(self.status, minlength=len(STATUSES))
        return {status: int(n) for status, n in zip(STATUSES, found, strict=True)}

    def _decision(self, line: Written) -> Decision:
        return Decision(
            seq=line.seq,
            client=line.client,
            row=self._row_of[line.sample],
            action=line.action,
            old=_label(line.old),
            new=_label(line.new),
            who=line.who,
            at=line.at,
            reason=line.reason,
            probability=line.probability,
            batch=bool(line.batch),
        )

    def _add(self, decision: Decision) -> None:
        self._decisions.setdefault(decision.row, []).append(decision)
        self._of_client.setdefault(decision.client, []).append(decision)
        self.turns[decision.who] += 1
        self._settle(decision.row)

    def _take_back(self, client: str) -> None:
        for decision in self._of_client.get(client, ()):
            left = [d for d in self._decisions[decision.row] if d.client != client]
            self._decisions[decision.row] = left
            self._settle(decision.row)

    def _settle(self, row: int) -> None:
        found = self.standing(row)
        self.status[row] = CODES[found.status]
        self.wrong[row] = np.nan if found.wrong is None else float(found.wrong)


def _label(text: str | None) -> Any:
    return None if text is None else json.loads(text)
