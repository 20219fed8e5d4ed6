"""Checks of single values: choices, numbers, generators, matrices. An error names the fix."""

from __future__ import annotations

import difflib
import numbers
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from rehead._typing import Array

STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Kinds of characters that have no picture of their own: controls, directions, line ends."""
SHORTEST = 3
"""Names of fewer letters are not guessed from what looks like them."""


def check_choice(value: Any, choices: Iterable[str], name: str) -> None:
    """Raise if a value is not one of the choices, with the nearest one."""
    choices = list(choices)
    if isinstance(value, str) and value in choices:
        return
    # Very short names are all alike: 'I' is not what 'IV' was meant to be.
    long = [choice for choice in choices if len(choice) >= SHORTEST]
    near = difflib.get_close_matches(str(value), long, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name} must be one of {choices}, got {value!r}.{hint}")


def is_real(value: object) -> bool:
    """Whether a value is a number, and not just True or False."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def generator_from(random_state: Any) -> np.random.Generator:
    """A generator from None, an int, a numpy Generator or a RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is np.random:
        return np.random.default_rng(np.random.randint(2**31, size=4))
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if random_state is not None and not (whole and int(random_state) >= 0):
        raise ValueError(
            "random_state must be None, a whole number >= 0, a numpy Generator or a RandomState, "
            f"got {random_state!r}."
        )
    return np.random.default_rng(None if random_state is None else int(random_state))


def _numbers(T: Any, n: int) -> Array:
    """A matrix of real numbers in double precision; numpy would read text, and cut complex ones."""
    try:
        given = np.asarray(T)
        real = given.dtype.kind in "biufO" and not np.ma.is_masked(T)
        matrix: Array = np.asarray(given, np.float64) if real else np.empty(0)
    except (TypeError, ValueError):  # rows of different lengths, or objects that are no numbers
        real = False
    if not real:
        raise ValueError(f"A transition matrix must be {n} x {n} numbers, got {T!r:.80}.")
    return matrix


def check_transition(T: Any, classes: Array) -> Array:
    """A transition matrix: a row of probabilities for each true class, in double precision.

    ``T[i, j]`` is the probability of the label j for a sample of class i.
    """
    n = len(classes)
    matrix: Array = _numbers(T, n)
    if matrix.shape != (n, n):
        raise ValueError(
            f"The transition matrix must be {n} x {n}, one row for each true class and one column "
            f"for each label ({first_few(classes.tolist())}); got shape {matrix.shape}."
        )
    sums = matrix.sum(axis=1)
    for c, row in enumerate(matrix):
        where = f"row {c} (class {classes.tolist()[c]!r})"
        if not (np.isfinite(row) & (row >= 0)).all():
            raise ValueError(
                f"The transition matrix must not be negative, NaN or infinite: {where} is "
                f"{row.tolist()}."
            )
        # Loose enough for matrices in single precision or printed with six digits.
        if not abs(sums[c] - 1.0) <= 1e-5:
            columns = np.allclose(matrix.sum(axis=0), 1.0, atol=1e-5)
            hint = "Its columns do: pass T.T." if columns else "Divide each row by its sum."
            raise ValueError(
                f"Each row of the transition matrix must sum to 1: {where} sums to {sums[c]:.4g}. "
                f"{hint}"
            )
    shares: Array = matrix / sums[:, None]
    return shares


def visible(text: object) -> str:
    r"""Text as a terminal may show it: characters that steer it are written out.

    Examples
    --------
    >>> print(visible("cat\x1b[2J"))
    cat\x1b[2J
    """
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in STEERING else c
        for c in str(text)
    )


def first_few(names: list[Any]) -> str:
    """The first few names."""
    shown = ", ".join(repr(name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
