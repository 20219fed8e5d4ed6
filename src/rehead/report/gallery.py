"""Samples as cards: what they look like, the label that they have, and the one they should have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from rehead._typing import Array
from rehead._values import visible
from rehead.audit.scores import LabelScores
from rehead.report.drawing import class_name
from rehead.report.packed import data_uri
from rehead.report.shown import NotShown, Shown
from rehead.report.shown.base import IMAGE, TEXT
from rehead.report.shown.pictures import LOSSLESS, size_of

LARGEST = 128
"""Pixels of a side of a picture."""
BYTES = 1_500_000
"""Of pictures, in all."""
LONGEST_TEXT = 320
LONGEST_CELL, MOST_CELLS = 60, 8


class Card(NamedTuple):
    """A sample.

    ``picture``, ``text`` or ``cells`` is what it looks like, ``problem`` why that cannot be shown.
    ``true`` is the label that it has in truth, where that is known. A ``tiny`` picture is shown
    pixel by pixel.
    """

    row: int
    name: str
    given: str
    suggested: str
    probability: float
    quality: float
    kind: str
    typicality: float
    true: str | None = None
    picture: str = ""
    text: str = ""
    cells: list[tuple[str, str]] = []  # noqa: RUF012  (a default that nobody writes to)
    problem: str = ""
    tiny: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether the given label is known to be wrong."""
        return self.true is not None and self.true != self.given

    @property
    def is_right(self) -> bool:
        """Whether the given label is known to be right."""
        return self.true is not None and self.true == self.given


class Picture(NamedTuple):
    """The address that holds a picture, and whether it has few pixels."""

    uri: str
    tiny: bool


class Album:
    """Makes cards, as long as there is room for their pictures.

    Attributes
    ----------
    left_out : int
        Cards without their picture, for want of room.
    failed : int
        Cards whose sample cannot be shown.
    """

    def __init__(
        self, scores: LabelScores, shown: Shown | None, truth: Array, room: int = BYTES
    ) -> None:
        self._scores, self._shown, self._truth = scores, shown, truth
        self._room = room
        self._classes = scores.classes.tolist()
        self._pictures: dict[int, Picture | None] = {}
        self.left_out = self.failed = 0

    @property
    def kind(self) -> str:
        """What samples are, or nothing where they cannot be shown."""
        return "" if self._shown is None else self._shown.kind

    def cards(self, rows: Iterable[int]) -> list[Card]:
        """The cards of some samples."""
        return [self._card(int(row)) for row in rows]

    def _card(self, row: int) -> Card:
        s, code = self._scores, int(self._truth[row])
        return Card(
            row,
            cut(visible(s.names[row]), LONGEST_TEXT),
            class_name(s.given[row]),
            class_name(s.suggested[row]),
            float(s.suggested_probability[row]),
            float(s.quality[row]),
            str(s.kind[row]),
            float(s.typicality[row]),
            class_name(self._classes[code]) if code >= 0 else None,
            **self._look(row),
        )

    def _look(self, row: int) -> dict[str, Any]:
        if self._shown is None:
            return {}
        name = self._scores.names[row]
        try:
            if self._shown.kind == IMAGE:
                return self._picture(row, name)
            if self._shown.kind == TEXT:
                return {"text": cut(self._shown.text(name), LONGEST_TEXT) or "(blank)"}
            return {"cells": cells(self._shown.row(name))}
        except NotShown as reason:
            self.failed += 1
            return {"problem": cut(visible(reason), LONGEST_TEXT)}

    def _picture(self, row: int, name: Any) -> dict[str, Any]:
        assert self._shown is not None
        if row not in self._pictures:
            found = None
            if self._room > 0:
                content = self._shown.picture(name, LARGEST)
                found = Picture(data_uri(content), max(size_of(content)) <= LOSSLESS)
                if len(found.uri) > self._room:
                    found, self._room = None, 0
            self._room -= len(found.uri) if found else 0
            self._pictures[row] = found
        picture = self._pictures[row]
        if picture is None:
            self.left_out += 1
            return {"problem": "Left out, to keep the page small."}
        return {"picture": picture.uri, "tiny": picture.tiny}


def cut(text: str, most: int) -> str:
    """The beginning of a text."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cells(row: dict[str, str]) -> list[tuple[str, str]]:
    """The first cells of a row, and how many more there are."""
    told = [(cut(name, LONGEST_CELL), cut(cell, LONGEST_CELL)) for name, cell in row.items()]
    more = len(told) - MOST_CELLS
    return told if more <= 0 else [*told[:MOST_CELLS], ("…", f"{more} more columns")]
