"""Robust estimation of class Gaussians. Needs numpy, scipy and threadpoolctl only."""

from rehead.gaussian.composition import Composition
from rehead.gaussian.estimators import ESTIMATORS, estimate
from rehead.gaussian.fit import Fit
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.mcd import support_size
from rehead.gaussian.options import Options
from rehead.gaussian.rows import ByClass, group_by_class
from rehead.gaussian.tied import TiedGaussians, tied_gaussians

__all__ = [
    "ESTIMATORS",
    "ByClass",
    "Composition",
    "Fit",
    "NoiseModel",
    "Options",
    "TiedGaussians",
    "estimate",
    "group_by_class",
    "support_size",
    "tied_gaussians",
]
