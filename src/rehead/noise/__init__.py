"""Noise made on purpose: clean labels in, noisy ones out. What is given is never modified."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rehead.noise.annotators import annotator
from rehead.noise.instance import InstanceLabels
from rehead.noise.labeller import SemanticLabels, semantic
from rehead.noise.labels import NoisyLabels
from rehead.noise.margins import polynomial_margin
from rehead.noise.outside import OpenSetData, open_set
from rehead.noise.parts import part_dependent
from rehead.noise.random import NOISES, flip, transition, uniform

INSTANCE_NOISES: Mapping[str, Callable[..., InstanceLabels]] = MappingProxyType(
    {
        "annotator": annotator,
        "part-dependent": part_dependent,
        "polynomial-margin": polynomial_margin,
    }
)
"""Noise that depends on the sample, by name, each called as ``(X, y, rate, *, classes=None,
random_state=None)``."""

__all__ = [
    "INSTANCE_NOISES",
    "NOISES",
    "InstanceLabels",
    "NoisyLabels",
    "OpenSetData",
    "SemanticLabels",
    "annotator",
    "flip",
    "open_set",
    "part_dependent",
    "polynomial_margin",
    "semantic",
    "transition",
    "uniform",
]
