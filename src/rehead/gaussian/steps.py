"""Steps of a fit whose results are remembered, so that a fit that was stopped need not repeat them.

What a step finds depends on its arguments alone, so these tell which step it is. What remembers it
is not here (``rehead/checkpoint.py``): the core touches no files. Without it, it is a plain call.

A step takes no random generator, which would not move on where its result is remembered. Steps
inside a step are part of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Memory(Protocol):
    """Remembers results of steps: arrays and numbers, in tuples."""

    def key(self, name: str, arguments: Any) -> str:
        """What tells a step from any other."""

    def has(self, key: str) -> bool:
        """Whether a result is remembered."""

    def recall(self, key: str) -> Any:
        """A result that is remembered; lists and named tuples come back as tuples."""

    def keep(self, key: str, result: Any, seconds: float) -> None:
        """Remember what a step has found in so many seconds, if that is worth it."""


_memory: ContextVar[Memory | None] = ContextVar("memory", default=None)


@contextmanager
def remembering(memory: Memory | None) -> Iterator[None]:
    """Meanwhile steps are remembered; ``None``: they are not."""
    token = _memory.set(memory)
    try:
        yield
    finally:
        _memory.reset(token)


def remembered(build: Callable[[Any], R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function a step. ``build`` makes its result from what is remembered of it.

    Examples
    --------
    >>> @remembered(float)
    ... def half(n: int) -> float:
    ...     return n / 2
    >>> half(3)
    1.5
    """

    def decorate(work: Callable[P, R]) -> Callable[P, R]:
        @wraps(work)
        def step(*args: P.args, **kwargs: P.kwargs) -> R:
            memory = _memory.get()
            if memory is None:
                return work(*args, **kwargs)
            key = memory.key(work.__qualname__, (args, kwargs))
            if memory.has(key):
                return build(memory.recall(key))
            began = time.monotonic()
            with remembering(None):
                result = work(*args, **kwargs)
            memory.keep(key, result, time.monotonic() - began)
            return result

        return step

    return decorate


class Each(NamedTuple):
    """Steps of the same kind: their name, what tells one from another, what makes its result."""

    name: str
    key: Callable[[Any], Any]
    build: Callable[[Any], Any]


def each_remembered(
    each: Each, work: Callable[[list[T]], Iterator[R]], items: list[T]
) -> Iterator[R]:
    """``work(items)``, a result for each item in their order, each of which is a step.

    ``work`` gets the items whose results are not remembered.
    """
    memory = _memory.get()
    if memory is None:
        yield from work(items)
        return
    keys = [memory.key(each.name, each.key(item)) for item in items]
    there = [memory.has(key) for key in keys]
    rest = work([item for item, known in zip(items, there, strict=True) if not known])
    seconds, done = 0.0, 0
    for key, known in zip(keys, there, strict=True):
        if known:
            yield each.build(memory.recall(key))
            continue
        began = time.monotonic()
        result = next(rest)
        # Those that others worked on meanwhile come at once: on average they took as long.
        seconds, done = seconds + time.monotonic() - began, done + 1
        memory.keep(key, result, seconds / done)
        yield result
