"""Theorem 1 of the paper as an experiment: what of it holds, with figures."""

from rehead.experiments.theory.run import run_theorem
from rehead.experiments.theory.settings import TheoremSettings

__all__ = ["TheoremSettings", "run_theorem"]
