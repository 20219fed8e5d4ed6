"""Trusted labels choose: a handful that was drawn at random, and found or made right.

Whether labels are a machine's, nothing in noisy labels tells. Labels that are known to be right do:
what is fitted as asked, and what would have been fitted otherwise (as a machine's labels, with a
map or without, without a second opinion), are compared by how likely they make these labels, each
judged without itself. With so few labels, chance chooses too. So what was asked for stays, unless
another way is better by a standard error. All this is done with the class shares of the training
samples, from which the labels were drawn. Other shares, where they were asked for, come last.

Labels that were checked because they looked wrong are not a fair sample. They are right, and count
as such in every fit, but they choose nothing. What is measured of the noise, or decided by how
likely labels are, counts them as any others: without them, what is left are labels that agree with
the model that chose, and would vouch for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaincinv

from rehead._typing import Array, Known, some_rows
from rehead.fairsample import (
    doubt_about_corrections,
    doubt_about_draw,
    doubt_about_trusted,
    number_of_checks,
)
from rehead.fitted import FittedGaussians
from rehead.fitting import fit_gaussians, shapes_in_order
from rehead.gaussian import ByClass, NoiseModel
from rehead.gaussian.calibration import Calibration, Priors
from rehead.gaussian.options import DEFAULT, MACHINE, Choice, resolve_options
from rehead.gaussian.probability import LEAST_PROBABILITY, softmax
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.training import clearly_better
from rehead.repeated import without_repetition
from rehead.verdicts import Told


def fit_with_trusted(
    data: ByClass, classes: Array, choice: Choice, rng: np.random.Generator
) -> FittedGaussians:
    """Fit as asked; where enough trusted labels were drawn at random, they choose the way.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian import group_by_class
    >>> from rehead.gaussian.options import resolve_options
    >>> rng = np.random.default_rng(0)
    >>> true = rng.integers(2, size=600)
    >>> X = rng.normal(size=(600, 2)) + 4 * true[:, None] * [1, 0]
    >>> y = (X @ [1.0, 1.0] > 2).astype(int)           # a machine with a boundary of its own
    >>> drawn = np.arange(600) < 100
    >>> y[drawn] = true[drawn]                         # checked by hand
    >>> data = group_by_class(X, y, 2, trusted=drawn, drawn=drawn)
    >>> choice = resolve_options(None, None, {})
    >>> fitted = fit_with_trusted(data, np.arange(2), choice, np.random.default_rng(0))
    >>> fitted.way, fitted.told
    ('mixture', 100)
    """
    if choice.estimator != DEFAULT or number_drawn(data) < SETTINGS.fewest_trusted:
        return fit_gaussians(data, classes, choice, rng)
    seed, own = int(rng.integers(2**31)), with_own_shares(choice)
    (asked, *otherwise), other = (
        shapes_in_order(data, classes, c, np.random.default_rng(seed))
        for c in (own, other_choice(own))
    )
    if (doubt := doubt_about_draw(asked, data)) is not None:
        chosen = data.with_known(data.known._replace(drawn=None))
        fitted = fit_gaussians(chosen, classes, choice, np.random.default_rng(seed))
        return replace(fitted, notes=(doubt, *fitted.notes))
    if asked.kernel_map is None and not otherwise and own.options.feature_map == "auto":
        mapped = own._replace(options=replace(own.options, feature_map="kernel"))
        otherwise = shapes_in_order(data, classes, mapped, np.random.default_rng(seed))
    shapes = [asked, *other, *otherwise]
    ways = [*shapes, *(shape.without_second() for shape in shapes if shape.second is not None)]
    # Copies of a sample are one that was checked.
    different = without_repetition(data).different
    seen = [judged(way, different) for way in ways]
    best = first_unless_better(seen)
    noise = as_checked(ways[best].noise, different.known, different.codes, different.counts)
    told = replace(ways[best], told=seen[best].number, noise=noise)
    doubts = doubt_about_trusted(told, data), doubt_about_corrections(asked, different)
    told = replace(told, notes=(*filter(None, doubts), *told.notes))
    told = with_slope(told, seen[best].slope())
    return with_shares(told, choice.options.with_priors(classes).priors)


def number_drawn(data: ByClass) -> int:
    """How many trusted labels were drawn at random, each as often as it counts."""
    return 0 if data.drawn is None else round(float(data.counts @ data.drawn))


def with_own_shares(choice: Choice) -> Choice:
    """The class shares of the training samples, whatever was asked for."""
    return choice._replace(options=replace(choice.options, priors="empirical"))


def with_shares(fitted: FittedGaussians, priors: str | Array) -> FittedGaussians:
    """For samples of other class shares than those of the training samples, if that is asked."""
    g = fitted.gaussians
    even = np.full(len(g.priors), 1.0 / len(g.priors))
    wanted = priors if not isinstance(priors, str) else g.priors if priors == "empirical" else even
    return replace(fitted, gaussians=Priors(wanted, g.priors).given_to(g))


def as_checked(
    noise: NoiseModel | None, known: Known, codes: Array, counts: Array
) -> NoiseModel | None:
    """The noise, as labels that were drawn at random tell it: how many of them were wrong.

    That is known where labels before their correction are. The bounds hold with a confidence of
    95 % (Clopper and Pearson, 1934), whatever the model thinks: its own bounds are not used, since
    checks are asked for where models are blind. Its estimate stays if it is within them. They are
    of the share of labels that are wrong now: those that were corrected are no more.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian.labelnoise import fit_noise
    >>> codes = np.arange(200) % 2
    >>> model = fit_noise(8.0 * np.eye(2)[codes], codes)     # to which all labels seem right
    >>> drawn = np.arange(200) < 100
    >>> before = np.where(np.arange(200) < 30, 1 - codes, codes)  # 30 of 100
    >>> found = as_checked(model, Known(drawn, drawn, before), codes, np.ones(200))
    >>> f"{found.wrong:.2f}: {found.least:.2f} to {found.most:.2f}"      # 15 % were put right
    '0.15: 0.06 to 0.25'
    """
    drawn, before, trusted = known.drawn, known.uncorrected, known.trusted
    if noise is None or drawn is None or before is None or trusted is None:
        return noise
    if float(counts @ drawn) < SETTINGS.fewest_trusted:
        return noise
    n = number_of_checks(counts, drawn)
    wrong = n * float(np.average((before != codes)[drawn], weights=counts[drawn]))
    before_least = 0.0 if wrong == 0 else betaincinv(wrong, n - wrong + 1, 0.025)
    before_most = 1.0 if wrong >= n else betaincinv(wrong + 1, n - wrong, 0.975)
    share = partial(np.average, weights=counts)
    # Of labels that were changed, but not checked, all may be right now; or as many as before.
    right_now, changed = share(trusted & (before != codes)), share(~trusted & (before != codes))
    unknown = share(~trusted)
    least = float(np.clip(before_least - right_now - changed, 0.0, unknown))
    middle = float(np.clip(wrong / n - right_now - changed, 0.0, unknown))
    most = float(np.clip(before_most - right_now, 0.0, unknown))
    if least <= noise.wrong <= most:
        middle = noise.wrong
    return noise._replace(wrong=middle, least=least, most=most, checked=n)


def other_choice(choice: Choice) -> Choice:
    """Labels by people where they were said to be a machine's, and the other way round.

    What else was asked for stays.
    """
    asked = {name: getattr(choice.options, name) for name in {*choice.asked, "priors"}}
    asked["labels_from"] = None if choice.options.labels_from == MACHINE else MACHINE
    return resolve_options(choice.estimator, None, asked)


class Judged(NamedTuple):
    """Scores of the trusted samples, each without itself; their labels; how often each counts."""

    scores: Array
    codes: Array
    counts: Array

    @property
    def number(self) -> int:
        """How many samples they stand for."""
        return round(float(self.counts.sum()))

    def nats(self, slope: float) -> Array:
        """How unlikely each label is under scores of this slope."""
        p = softmax(slope * self.scores)[np.arange(len(self.codes)), self.codes]
        nats: Array = -np.log(np.maximum(p, LEAST_PROBABILITY))
        return nats

    def slope(self) -> float:
        """The slope under which labels are most likely; few labels say that it is near 1."""
        prior = SETTINGS.trusted_prior

        def loss(log_slope: float) -> float:
            nats = float(self.counts @ self.nats(np.exp(log_slope)))
            return nats + 0.5 * prior * log_slope**2

        return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 1.0), method="bounded").x))


def judged(fitted: FittedGaussians, data: ByClass) -> Judged:
    """Trusted samples that were drawn at random, judged without their labels."""
    assert data.drawn is not None
    rows = np.flatnonzero(data.drawn & (data.counts > 0))
    X, codes, g = some_rows(data.X, rows), data.codes[rows], fitted.gaussians
    found, inside = fitted.recognise(X, codes)
    with np.errstate(divide="ignore"):
        of_classes = np.log(g.priors * len(fitted.classes)) / g.temperature
    of_classes = of_classes if g.offsets is None else of_classes + g.offsets
    slope = None if fitted.second is not None else g.temperature
    told, calibrated = Told(codes, found.folds), partial(_calibrated_scores, of_classes, slope)
    return Judged(fitted.leave_out(X, told, inside, calibrated), codes, data.counts[rows])


def _calibrated_scores(
    of_classes: Array, temperature: float | None, scores: Array, joint: Array, _: Array
) -> Array:
    """Joint scores are calibrated already; others have a temperature."""
    own = joint if temperature is None else scores / temperature
    z: Array = own.astype(np.float64) + of_classes
    return z


def first_unless_better(seen: Sequence[Judged]) -> int:
    """Which way makes trusted labels most likely; the first unless another is clearly better.

    Each has the temperature that suits it best.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.arange(40) % 2
    >>> right, vague = (
    ...     Judged(slope * np.eye(2)[codes], codes, np.ones(40)) for slope in (3.0, 0.0))
    >>> first_unless_better([vague, right]), first_unless_better([right, right])
    (1, 0)
    """
    nats, counts = [way.nats(way.slope()) for way in seen], seen[0].counts
    best, errors = int(np.argmin([counts @ n for n in nats])), SETTINGS.trusted_errors
    return best if clearly_better(nats[best], nats[0], counts, 0.0, errors) else 0


def with_slope(fitted: FittedGaussians, slope: float) -> FittedGaussians:
    """With scores of another slope: how sure it is of what it predicts."""
    even = Calibration(1.0 / slope, np.zeros(len(fitted.classes)))
    return replace(fitted, gaussians=even.applied_to(fitted.gaussians))
