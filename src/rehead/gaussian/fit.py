"""What an estimator gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.gaussian.composition import Composition
from rehead.gaussian.kernels import Subset
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.linear import SecondOpinion
from rehead.gaussian.rows import ByClass
from rehead.gaussian.tied import TiedGaussians


class Alone(NamedTuple):
    """Gaussians that are calibrated without a second opinion, and the noise that they see."""

    gaussians: TiedGaussians
    noise: NoiseModel | None


class Fit(NamedTuple):
    """Estimated Gaussians and how they came about.

    ``composition`` says how much of each row they contain, ``n_iter`` the steps for each class,
    ``notes`` what the user should be warned about, ``noise`` what was found out about the labels,
    ``second`` a second opinion beside the Gaussians, ``alone`` what they are without it,
    ``way`` how they were found where labels are a machine's (``machine.py``).
    """

    gaussians: TiedGaussians
    composition: Composition
    n_iter: Array
    notes: list[str]
    noise: NoiseModel | None = None
    second: SecondOpinion | None = None
    alone: Alone | None = None
    way: str = ""


def fit_of_subsets(
    data: ByClass,
    gaussians: TiedGaussians,
    subsets: list[Subset],
    n_iter: list[int] | None,
    notes: list[str],
) -> Fit:
    """What was found from a subset of each class."""
    steps = np.zeros(data.n_classes, np.int64) if n_iter is None else np.asarray(n_iter)
    return Fit(gaussians, Composition.from_subsets(data, subsets), steps, notes)
