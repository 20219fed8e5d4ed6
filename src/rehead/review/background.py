"""Fitting the head again while a review goes on."""

from __future__ import annotations

import hashlib
import threading
from typing import Any, NamedTuple

from rehead._progress import silence
from rehead.review.desk import Desk
from rehead.review.refitting import gain_of, refit

IDLE, WORKING, DONE, FAILED = "idle", "working", "done", "failed"


class State(NamedTuple):
    """How far it is, and what it says."""

    state: str = IDLE
    said: str = ""


class Refitting:
    """Fits the head again in a thread, and has the desk go on with what it says.

    Parameters
    ----------
    desk : Desk
    validation : (layers, labels), optional
        Held-out samples.
    """

    def __init__(self, desk: Desk, validation: Any = None) -> None:
        self._desk, self._validation = desk, validation
        self._first = desk.subject
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.state = State()

    def start(self) -> State:
        """Begin, unless it is at work already."""
        with self._lock:
            if self.state.state != WORKING:
                self.state = State(WORKING, "The head is fitted again; go on meanwhile.")
                self._thread = threading.Thread(target=self._work, name="refit", daemon=True)
                self._thread.start()
            return self.state

    def wait(self) -> State:
        """Wait until it is done."""
        if self._thread is not None:
            self._thread.join()
        return self.state

    def _work(self) -> None:
        try:
            with silence():
                corrected = self._desk.corrected()
                made = refit(self._first, corrected, self._validation)
                gain = gain_of(self._first, corrected, made)
            mark = hashlib.sha256("".join(map(str, corrected.when)).encode()).hexdigest()
            self._desk.judge_by(self._first.with_report(made.report, f"refit {mark:.12}"))
            self.state = State(DONE, str(gain))
        except Exception as error:  # whatever it is, the reviewer is told, and the review goes on
            self.state = State(FAILED, f"The head could not be fitted again: {error}")
