"""Checks of the options that networks share. An error names what to pass instead."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any


def check_whole(value: Any, name: str) -> int:
    """A whole number of at least 1."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
    return int(value)


def check_counts(values: Any, name: str) -> tuple[int, ...]:
    """One whole number of at least 1 for each stage."""
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise ValueError(
            f"{name} must have one number for each stage, such as (2, 2, 2), got {values!r}."
        )
    return tuple(check_whole(value, f"each of {name}") for value in values)
