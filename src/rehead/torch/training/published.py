"""Settings of methods that were published for a data set."""

from __future__ import annotations

from typing import Any

FIRST_LID = {"svhn": 20 / 120, "cifar10": 40 / 120, "cifar100": 60 / 200}
"""Share of training before D2L looks for its turning point: its code has 20, 40 and 60 epochs, the
paper trains for 120 and 200."""
UNFILTERED = ("cifar100",)
"""Data sets for which anchor points are searched among all samples."""
ANCHORED = ("forward", "backward", "forward-gold")


def published_settings(method: str, data: str, epochs: int) -> dict[str, Any]:
    """What a method's own code sets for a data set, scaled to a number of epochs.

    Examples
    --------
    >>> from rehead.torch.training import published_settings
    >>> published_settings("d2l", "cifar100", epochs=200)
    {'first': 60}
    >>> published_settings("forward", "cifar100", epochs=200)
    {'percentile': None}
    >>> published_settings("co-teaching", "cifar10", epochs=200)
    {}
    """
    if method == "d2l" and data in FIRST_LID:
        return {"first": round(FIRST_LID[data] * epochs)}
    if method in ANCHORED and data in UNFILTERED:
        return {"percentile": None}
    return {}
