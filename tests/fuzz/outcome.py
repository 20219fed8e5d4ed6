"""What came of a case: judged by what was seen, and by what is known to be right."""

from __future__ import annotations

import contextlib
import linecache
import resource
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn

import rehead

CLEAR, SENSIBLE, SILENT, NAN, OBSCURE = KINDS = ("clear", "sensible", "silent", "NaN", "obscure")
MOST_SECONDS, MOST_BYTES = 20.0, 2**30
"""More than this is obscure, whatever comes of it."""
ROOMS = (Path(rehead.__file__).parent, Path(sklearn.__file__).parent)
"""Those who may refuse input in words of their own: rehead, and scikit-learn's checks."""
ALLOWED = (ValueError, TypeError, OSError, ImportError)
LEAKS = (UnicodeError, np.linalg.LinAlgError)
"""Subclasses of these that only tell what happened inside."""
FEWEST_WORDS = 4
"""No message that names a problem is shorter."""

Oracle = Callable[[Any], bool]
"""Whether a result is right."""


@dataclass(frozen=True)
class Case:
    """Something to try, and whether its result is right.

    ``right`` is called with the result: arrays, or tuples, lists and mappings of them. It says True
    where nothing more is known of the result than its form, False where anything but an error is
    wrong.
    """

    name: str
    run: Callable[[], Any]
    right: Oracle


class Said(NamedTuple):
    """What a command said that failed."""

    code: int
    text: str


@dataclass(frozen=True)
class Seen:
    """What running a case gave."""

    result: Any = None
    error: BaseException | None = None
    warned: bool = False
    seconds: float = 0.0
    grown: int = 0


class Outcome(NamedTuple):
    """One of KINDS, and what was said."""

    kind: str
    said: str = ""


class TooSlowError(BaseException):
    """Raised from outside into a case that does not end; nothing in between catches it."""


def judge(case: Case) -> Outcome:
    """Run a case and tell what came of it."""
    seen = observe(case.run)
    if seen.seconds > MOST_SECONDS or isinstance(seen.error, TooSlowError):
        return Outcome(OBSCURE, f"took more than {MOST_SECONDS:g} s")
    if seen.grown > MOST_BYTES:
        return Outcome(OBSCURE, f"took {seen.grown / 2**30:.1f} GiB")
    if seen.error is not None:
        return Outcome(CLEAR if is_clear(seen.error) else OBSCURE, describe(seen.error))
    if isinstance(seen.result, Said):
        return Outcome(CLEAR if is_clear_line(seen.result) else OBSCURE, seen.result.text)
    if not is_finite(seen.result):
        return Outcome(NAN, "the result is not finite")
    if case.right(seen.result):
        return Outcome(SENSIBLE)
    return Outcome(SENSIBLE, "with a warning") if seen.warned else Outcome(SILENT, "not right")


def observe(run: Callable[[], Any]) -> Seen:
    """Run it, and keep what can be seen from outside."""
    before, start = _peak(), time.perf_counter()
    result, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _limited(MOST_SECONDS):
                result = run()
        except KeyboardInterrupt:
            raise
        except BaseException as found:
            error = found
    warned = any(issubclass(w.category, rehead.ReheadWarning) for w in caught)
    return Seen(result, error, warned, time.perf_counter() - start, _peak() - before)


def is_clear(error: BaseException) -> bool:
    """Whether an error is of a documented kind, and somebody chose its words for a user.

    What a user's own network raises stays what it is; rehead notes what it was given.
    """
    if any(
        note.startswith("The network failed on a batch") for note in getattr(error, "__notes__", [])
    ):
        return True
    if not isinstance(error, ALLOWED) or isinstance(error, LEAKS):
        return False
    return len(str(error).split()) >= FEWEST_WORDS and _was_raised_on_purpose(error)


def _was_raised_on_purpose(error: BaseException) -> bool:
    """Whether the last line is a ``raise`` of rehead or scikit-learn.

    An error of numpy's C code, for example, ends in a line of rehead that calls numpy.
    """
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return False
    frame, line = frames[-1]
    file = Path(frame.f_code.co_filename)
    of_ours = any(file.is_relative_to(room) for room in ROOMS)
    return of_ours and linecache.getline(str(file), line).strip().startswith("raise")


def is_clear_line(said: Said) -> bool:
    """Whether a command failed with one line that is no accident's."""
    lines = [line for line in said.text.splitlines() if line.strip()]
    accident = "Traceback" in said.text or "rehead --traceback" in said.text
    return said.code in (1, 2) and len(lines) == 1 and not accident


def describe(error: BaseException) -> str:
    """Kind, first words and place of an error."""
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__)]
    ours = [f.f_code for f in frames if Path(f.f_code.co_filename).is_relative_to(ROOMS[0])]
    where = f" in {Path(ours[-1].co_filename).name}:{ours[-1].co_name}" if ours else ""
    return f"{type(error).__name__}: {str(error)[:160]}{where}"


def is_finite(result: Any) -> bool:
    """Whether no number in it is NaN or infinite."""
    if isinstance(result, Mapping):
        return all(map(is_finite, result.values()))
    if isinstance(result, (tuple, list)):
        return all(map(is_finite, result))
    if isinstance(result, (int, float, np.number, np.ndarray)):
        array = np.asarray(result)
        return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
    return True


def refused(_: Any) -> bool:
    """No result is right: the oracle of input that must be refused."""
    return False


def same(expected: Any, tolerance: float = 1e-6) -> Oracle:
    """The oracle of input that means the same as what gave ``expected``."""
    return lambda result: _equal(result, expected, tolerance)


def _equal(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(b, Mapping):
        fits = isinstance(a, Mapping) and list(a) == list(b)
        return fits and all(_equal(a[k], b[k], tolerance) for k in b)
    if isinstance(b, (tuple, list)):
        fits = isinstance(a, (tuple, list)) and len(a) == len(b)
        return fits and all(_equal(x, y, tolerance) for x, y in zip(a, b, strict=True))
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "fc" or b.dtype.kind in "fc":
        return a.dtype.kind in "iufcb" and np.allclose(a, b, rtol=tolerance, atol=tolerance)
    return a.tolist() == b.tolist()


def posterior_of(n: int, n_classes: int) -> Oracle:
    """The oracle where only the form is known: a posterior, alone or first of several results."""

    def right(result: Any) -> bool:
        p = np.asarray(result[0] if isinstance(result, tuple) else result)
        fits = p.shape == (n, n_classes) and bool((p >= 0).all())
        return fits and np.allclose(p.sum(axis=1), 1.0, atol=1e-5)

    return right


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End what takes longer, where signals can reach it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
