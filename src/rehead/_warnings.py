"""Warnings that point at the user's own line, wherever in the library they come from."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

OURS = (str(Path(__file__).parent), contextlib.__file__)
"""Files that no user wrote; ours run inside of context managers too."""


class ReheadWarning(UserWarning):
    """The result is sensible, but there is something the user should know about it."""


def warn(message: str) -> None:
    """Warn; the warning names the line outside of rehead that led here."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ReheadWarning, stacklevel=level + 1)


@contextmanager
def warnings_merged(
    what: str,
) -> Iterator[Callable[[str], contextlib.AbstractContextManager[None]]]:
    """Say what several parts were warned about once, with the names of the parts."""
    said: dict[str, list[str]] = {}

    @contextmanager
    def of_part(name: str) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ReheadWarning)
            yield
        for w in caught:
            if issubclass(w.category, ReheadWarning):
                said.setdefault(str(w.message), []).append(name)
            else:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)

    yield of_part
    for text, names in said.items():
        plural = "s" if len(names) > 1 else ""
        warn(f"{what}{plural} {', '.join(names)}: {text}")
