"""Warnings that point at the user's own line, wherever in the library they come from."""

from __future__ import annotations

import contextlib
import inspect
import os
import threading
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

OURS = (f"{Path(__file__).parent}{os.sep}", contextlib.__file__)
"""Frames to pass over: those of rehead, and of the context managers that it runs in."""


SKLEARN = threading.RLock()
"""Held while scikit-learn checks something: it changes the warning filters of the whole process for
that time, and two threads at once would leave them changed for good."""


class ReheadWarning(UserWarning):
    """The result is sensible, but there is something the user should know about it."""


_prefix: ContextVar[str] = ContextVar("what warnings begin with", default="")


@contextlib.contextmanager
def prefixed(text: str) -> Iterator[None]:
    """Say in every warning of ours what it is about.

    ``warnings.catch_warnings`` could do that too, but it changes the filters of the whole process:
    two threads that use it at once may leave them changed for good.
    """
    token = _prefix.set(text)
    try:
        yield
    finally:
        _prefix.reset(token)


_held: ContextVar[list[str] | None] = ContextVar("warnings that wait", default=None)


@contextlib.contextmanager
def held_back() -> Iterator[list[str]]:
    """Collect warnings of ours in place of showing them: of what may not be kept."""
    said: list[str] = []
    token = _held.set(said)
    try:
        yield said
    finally:
        _held.reset(token)


def warn(message: str) -> None:
    """Warn; the warning names the line outside of rehead that led here."""
    held = _held.get()
    if held is not None:
        held.append(message)
        return
    message = _prefix.get() + message
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ReheadWarning, stacklevel=level)
