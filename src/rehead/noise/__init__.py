"""Noise made on purpose: clean labels in, noisy ones out. What is given is never modified."""

from rehead.noise.labeller import SemanticLabels, semantic
from rehead.noise.labels import NoisyLabels
from rehead.noise.outside import OpenSetData, open_set
from rehead.noise.random import NOISES, flip, transition, uniform

__all__ = [
    "NOISES",
    "NoisyLabels",
    "OpenSetData",
    "SemanticLabels",
    "flip",
    "open_set",
    "semantic",
    "transition",
    "uniform",
]
