"""Label noise, made on purpose: labels in, noisy labels out. The clean ones are never touched."""

from rehead.noise.random import NoisyLabels, flip, uniform

__all__ = ["NoisyLabels", "flip", "uniform"]
