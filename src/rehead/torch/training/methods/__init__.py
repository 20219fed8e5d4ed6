"""The eleven training methods of the paper's comparison, by name."""

from __future__ import annotations

from collections.abc import Callable

from rehead import _validation as check
from rehead.torch.training.method import Method
from rehead.torch.training.methods.bootstrap import bootstrap_hard, bootstrap_soft
from rehead.torch.training.methods.co_teaching import co_teaching
from rehead.torch.training.methods.correction import backward, forward
from rehead.torch.training.methods.cross_entropy import cross_entropy
from rehead.torch.training.methods.d2l import d2l
from rehead.torch.training.methods.decoupling import decoupling
from rehead.torch.training.methods.gold import forward_gold, glc
from rehead.torch.training.methods.mentornet import mentornet

METHODS: dict[str, Callable[..., Method]] = {
    "cross-entropy": cross_entropy,
    "bootstrap-hard": bootstrap_hard,
    "bootstrap-soft": bootstrap_soft,
    "forward": forward,
    "backward": backward,
    "forward-gold": forward_gold,
    "glc": glc,
    "d2l": d2l,
    "decoupling": decoupling,
    "mentornet": mentornet,
    "co-teaching": co_teaching,
}
"""Functions that take a method's settings and give the method."""


def find_method(method: str | Method) -> Method:
    """A method by name with its usual settings, or the method itself."""
    if isinstance(method, Method):
        return method
    check.check_choice(method, METHODS, "method")
    return METHODS[method]()
