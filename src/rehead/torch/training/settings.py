"""Checks of methods' settings."""

from __future__ import annotations

import numbers


def check_share(name: str, value: float) -> None:
    """Raise unless a value is in [0, 1]."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value!r}.")


def check_count(name: str, value: int, least: int = 1) -> None:
    """Raise unless a value is a whole number of at least ``least``."""
    if not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def check_noise_rate(method: str, rate: float | None) -> float:
    """The share of wrong labels, which has to be given."""
    if rate is None:
        raise ValueError(
            f"{method!r} must know the share of wrong labels: METHODS[{method!r}](noise_rate=0.4). "
            "If it is unknown, rehead.score_labels(...).noise_rate estimates it."
        )
    if not 0 <= rate < 1:
        raise ValueError(f"noise_rate must be in [0, 1), got {rate!r}. For 40 % pass 0.4.")
    return float(rate)


def check_percentile(percentile: float | None) -> None:
    """Raise unless a value is a percentile or None."""
    if percentile is not None and not 1 < percentile <= 100:
        raise ValueError(
            f"percentile must be in (1, 100], in percent, or None, got {percentile!r}."
        )
