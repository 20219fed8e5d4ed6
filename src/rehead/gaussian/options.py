"""What an estimator can be told, and what it tells."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

from rehead._typing import Array
from rehead.gaussian.labelnoise import NoiseModel
from rehead.gaussian.shrinkage import Shrinkage
from rehead.gaussian.tied import TiedGaussians

Start = Literal["random", "deterministic", "pooled"]


@dataclass(frozen=True)
class Options:
    """Options of the estimators; each uses those that make sense for it.

    Attributes
    ----------
    support_fraction : float in (0, 1] or None
        Share of each class that is kept. ``None``: the estimator's own rule, for MCD the paper's
        ``floor((N_c + d + 1) / 2)``, which has the highest breakdown point. A larger share wastes
        fewer clean samples when the noise is known to be low.
    max_steps : int
        Rounds of "estimate, rank, keep the best". The paper uses 2.
    n_starts : int
        Random starts for each class; the one with the smallest determinant wins. One start can
        get stuck, above all when wrong labels form a cluster.
    start : {"random", "deterministic", "pooled"}
        "random" is the paper's. "deterministic" tries the starts of DetMCD: no luck involved, more
        robust against clustered wrong labels, slower. "pooled" ranks for the first time by one
        covariance for all classes, which is far better conditioned than a class's own when d is
        close to N_c (the released code of the paper does this).
    leave_one_out : bool
        Rank samples inside the subset as if they were not in it. Otherwise a random start looks
        closest to itself, and when d is not much smaller than N_c it is never left.
    shrinkage : float in [0, 1] or "auto"
        Pull the covariance towards a multiple of the identity. Needed when N_c is near d;
        "auto" uses the closed form OAS.
    priors : {"uniform", "empirical"} or array of shape (C,)
        The paper uses uniform ones: label noise and trimming both distort the class shares.
    """

    support_fraction: float | None = None
    max_steps: int = 2
    n_starts: int = 1
    start: Start = "random"
    leave_one_out: bool = False
    shrinkage: Shrinkage = 0.0
    priors: str | Array = "uniform"


OPTIONS = tuple(field.name for field in fields(Options))
"""Their names, which are also those of the classifiers' parameters."""


class Fit(NamedTuple):
    """An estimated classifier and how it came about.

    ``support`` tells for each row how much of it was kept (0 .. its weight), ``members`` to which
    class it was counted (-1: to none), ``n_iter`` the steps for each class, ``notes`` what the user
    should be warned about, ``noise`` what was found out about the labels.
    """

    gaussians: TiedGaussians
    support: Array
    members: Array
    n_iter: Array
    notes: list[str]
    noise: NoiseModel | None = None
