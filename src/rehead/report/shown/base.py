"""Shown: one way to look at samples, whatever they are."""

from __future__ import annotations

from typing import Any, Protocol

IMAGE, TEXT, ROW = "image", "text", "row"
"""Kinds of samples."""


class NotShown(ValueError):  # noqa: N818  (it is an answer, not a fault of the program)
    """A sample that cannot be shown. Its text is the reason, in words for the page."""


class Shown(Protocol):
    """What samples look like to a person. Samples are asked for by their ids.

    Attributes
    ----------
    kind : {"image", "text", "row"}
        Which of the methods below answers; the others raise :class:`NotShown`.
    note : str
        How samples were found, and how many were not, for people. May be empty.
    """

    kind: str
    note: str

    def has(self, name: Any) -> bool:
        """Whether there is something to show of this sample, as far as is known unopened."""

    def picture(self, name: Any, largest: int) -> bytes:
        """The sample as WebP, no side longer than ``largest`` pixels; it is never made larger."""

    def text(self, name: Any) -> str:
        """The sample as text, all of it."""

    def row(self, name: Any) -> dict[str, str]:
        """The sample as the cells of its row by column, as they are written."""


class OfOneKind:
    """The answers that samples of other kinds give."""

    kind = ""
    note = ""

    def picture(self, name: Any, largest: int) -> bytes:
        raise NotShown(f"Samples are of the kind {self.kind}, not images.")

    def text(self, name: Any) -> str:
        raise NotShown(f"Samples are of the kind {self.kind}, not texts.")

    def row(self, name: Any) -> dict[str, str]:
        raise NotShown(f"Samples are of the kind {self.kind}, not rows of a table.")


def key_of(name: Any) -> str:
    """The id of a sample as text, by which files and tables name it.

    Examples
    --------
    >>> import numpy as np
    >>> key_of(np.int64(7)), key_of(np.str_("a/b.png"))
    ('7', 'a/b.png')
    """
    return str(name)
