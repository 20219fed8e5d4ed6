"""The eleven training methods of the paper's comparison, by name."""

from __future__ import annotations

from collections.abc import Callable

from rehead import _validation as check
from rehead.torch.training.method import Method
from rehead.torch.training.methods import (
    bootstrap,
    co_teaching,
    correction,
    cross_entropy,
    d2l,
    decoupling,
    gold,
    mentornet,
)

METHODS: dict[str, Callable[..., Method]] = {
    "cross-entropy": cross_entropy.cross_entropy,
    "bootstrap-hard": bootstrap.bootstrap_hard,
    "bootstrap-soft": bootstrap.bootstrap_soft,
    "forward": correction.forward,
    "backward": correction.backward,
    "forward-gold": gold.forward_gold,
    "glc": gold.glc,
    "d2l": d2l.d2l,
    "decoupling": decoupling.decoupling,
    "mentornet": mentornet.mentornet,
    "co-teaching": co_teaching.co_teaching,
}
"""Functions that take a method's settings and give the method."""


def find_method(method: str | Method) -> Method:
    """A method by name with its usual settings, or the method itself."""
    if isinstance(method, Method):
        return method
    check.check_choice(method, METHODS, "method")
    return METHODS[method]()
