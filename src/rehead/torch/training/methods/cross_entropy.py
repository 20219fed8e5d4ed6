"""Plain cross-entropy on the given labels."""

from __future__ import annotations

from rehead.torch.training.method import Method


def cross_entropy() -> Method:
    """Cross-entropy: the labels are taken as they are."""
    return Method("cross-entropy")
