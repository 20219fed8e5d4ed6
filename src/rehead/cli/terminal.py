"""Standard output that may be closed at the other end, as by ``rehead audit ... | head``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


class Patient:
    """A stream that is written to for as long as somebody reads it.

    Once the reader has left, what is said goes nowhere, and the work goes on: files that a command
    writes after its first words are not lost.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, if anyone reads."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        """Flush, if anyone reads."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._give_up()

    def _give_up(self) -> None:
        # Python flushes the stream once more when it ends, and would complain.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def patient_output() -> Iterator[None]:
    """Within it, a reader of standard output who leaves does not stop the work."""
    stream = sys.stdout
    sys.stdout = Patient(stream)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stdout = stream
