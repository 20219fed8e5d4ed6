"""What the package knows about a data set, and what a user asks of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rehead.data.files import Files, Remote
from rehead.data.splits import HoldOut, Splits


class Request(NamedTuple):
    """What the user asked for."""

    files: Files
    validation: Any = None
    random_state: Any = 0
    raw: bool = False

    @property
    def hold_out(self) -> HoldOut:
        """What the user asked to hold out, with the default of most data sets."""
        return HoldOut(self.validation, self.random_state)


@dataclass(frozen=True)
class DataSet:
    """A data set by name.

    Attributes
    ----------
    name : str
    summary : str
        One line, for help texts.
    read : callable
        From a request to splits.
    folder : str
        Where its files are, below the folder of data sets.
    remotes : tuple of Remote
        Its files on the web, if there are any.
    """

    name: str
    summary: str
    read: Callable[[Request], Splits]
    folder: str = ""
    remotes: tuple[Remote, ...] = ()
