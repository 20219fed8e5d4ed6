"""The one writer of a log: entries that come at the same time share a transaction.

A commit waits for the disk. With one commit for all that came meanwhile, fifty reviewers wait no
longer than two.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from typing import Self

from rehead.review.log import DecisionLog, Entry, Receipt

MOST = 256
"""Entries in one transaction."""


class LogWriter:
    """A thread that writes entries to a log; each future is done once its entry is on the disk.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from rehead.review.log import DecisionLog, Entry, Line, Run
    >>> with TemporaryDirectory() as folder:
    ...     log = DecisionLog(f"{folder}/d.sqlite", Run("data", "head", np.array([4])))
    ...     with LogWriter(log) as writer:
    ...         line = Line("4", "keep", '"cat"', '"cat"', "suspect")
    ...         writer.submit(Entry("a1", "decision", "Ann", [line], "head")).result().lines
    ...     log.close()
    (1,)
    """

    def __init__(self, log: DecisionLog) -> None:
        self._log = log
        self._queue: queue.SimpleQueue[tuple[Entry, Future[Receipt]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="decision log", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def submit(self, entry: Entry) -> Future[Receipt]:
        """Have an entry written."""
        done: Future[Receipt] = Future()
        self._queue.put((entry, done))
        return done

    def close(self) -> None:
        """Write what is waiting, then stop."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        going = True
        while going:
            waiting = [self._queue.get()]
            while len(waiting) < MOST:
                try:
                    waiting.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            going = None not in waiting
            self._write([item for item in waiting if item is not None])

    def _write(self, waiting: list[tuple[Entry, Future[Receipt]]]) -> None:
        if not waiting:
            return
        try:
            receipts = self._log.append([entry for entry, _ in waiting])
        except Exception as error:  # each who waits is told
            for _, done in waiting:
                done.set_exception(error)
            return
        for (_, done), receipt in zip(waiting, receipts, strict=True):
            done.set_result(receipt)
