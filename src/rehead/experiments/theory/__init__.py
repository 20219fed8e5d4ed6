"""Theorem 1 of the paper as an experiment: what of it holds, with figures."""

from rehead.experiments.theory.drawing import draw_theorem
from rehead.experiments.theory.page import theorem_page
from rehead.experiments.theory.run import run_theorem
from rehead.experiments.theory.settings import TheoremSettings

__all__ = ["TheoremSettings", "draw_theorem", "run_theorem", "theorem_page"]
