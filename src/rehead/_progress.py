"""A progress bar with rate and time left, where someone is looking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Advance(Protocol):
    """Advances a bar, and may change what it says."""

    def __call__(self, n: int, text: str | None = None) -> None: ...


@contextmanager
def progress_bar(text: str, total: int | None, *, show: bool | None = None) -> Iterator[Advance]:
    """Yield a function that advances the bar. ``show=None``: only in a terminal."""
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda n, text=None: None
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
