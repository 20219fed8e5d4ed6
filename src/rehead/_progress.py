"""A progress bar with rate and time left, where someone is looking; plain lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol

LINE_SECONDS = 5.0
"""A log gets no more than one line in this time."""


class Advance(Protocol):
    """Advances a bar, and may change what it says."""

    def __call__(self, n: int, text: str | None = None) -> None: ...


_LINES: ContextVar[bool] = ContextVar("lines", default=False)
_SILENT: ContextVar[bool] = ContextVar("silent", default=False)
_STEPS: ContextVar[Advance | None] = ContextVar("steps", default=None)


@contextmanager
def progress_bar(text: str, total: int | None, *, show: bool | None = None) -> Iterator[Advance]:
    """Yield a function that advances the bar. ``show=None``: only in a terminal."""
    if show is None and _SILENT.get():
        yield _say_nothing
        return
    if not (sys.stderr.isatty() if show is None else show):
        lines = show is None and _LINES.get()
        with _plain_lines() if lines else nullcontext(_say_nothing) as advance:
            yield advance
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(text, total=total, rate="")

        def advance(n: int, text: str | None = None) -> None:
            speed = progress.tasks[0].speed
            rate = f"{speed:,.0f}/s" if speed else ""
            progress.update(task, advance=n, rate=rate, description=text)

        yield advance


@contextmanager
def plain_lines() -> Iterator[None]:
    """Within it, what bars would say goes to a log line by line where there is no terminal."""
    token = _LINES.set(True)
    try:
        yield
    finally:
        _LINES.reset(token)


@contextmanager
def silence() -> Iterator[None]:
    """Within it, only those bars are shown that were asked for."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


@contextmanager
def steps(text: str, *, show: bool | None = None) -> Iterator[None]:
    """A bar for work that is done in steps which nobody can count beforehand; see :func:`step`."""
    with progress_bar(text, None, show=show) as advance:
        token = _STEPS.set(advance)
        try:
            yield
        finally:
            _STEPS.reset(token)


def step(text: str) -> None:
    """Say what is done next, to the bar that :func:`steps` has opened, if any."""
    advance = _STEPS.get()
    if advance is not None:
        advance(1, text)


def _say_nothing(n: int, text: str | None = None) -> None:
    """Nobody is looking."""


@contextmanager
def _plain_lines() -> Iterator[Advance]:
    """What is said, now and then; and what was said last."""
    written, left = float("-inf"), ""

    def advance(n: int, text: str | None = None) -> None:
        nonlocal written, left
        if text is None:
            return
        left = text
        if time.monotonic() - written >= LINE_SECONDS:
            _write_line(text)
            written, left = time.monotonic(), ""

    try:
        yield advance
    finally:
        if left:
            _write_line(left)


def _write_line(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
