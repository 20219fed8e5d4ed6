"""Whether trusted labels that are said to be drawn at random look like it, and look right.

Labels that were checked because they looked wrong say nothing about all others. Taken for a fair
sample, they would make next to every label seem wrong. What they were before they were corrected
gives them away: they look wrong far more often than labels that nobody checked.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import mannwhitneyu

from rehead._known import NO_CHANCE
from rehead._typing import Array
from rehead.fitted import FittedGaussians
from rehead.gaussian import ByClass
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.settings import SETTINGS


def doubt_about_draw(fitted: FittedGaussians, data: ByClass) -> str | None:
    """What to say where labels look as if they had been chosen, not drawn at random.

    Only labels before a correction can tell: corrected ones look right, however they were chosen.
    """
    drawn, others = _drawn_and_others(data)
    if data.uncorrected is None or fitted.noise is None or not len(drawn) or not len(others):
        return None
    of_drawn, of_others = (_nats(fitted, data, rows) for rows in (drawn, others))
    test = mannwhitneyu(of_drawn, of_others, method="asymptotic")
    if test.pvalue >= NO_CHANCE:
        return None
    wrong = test.statistic > 0.5 * len(drawn) * len(others)
    return (
        f"The {len(drawn)} trusted labels do not look drawn at random: before they were corrected, "
        f"they looked {'wrong' if wrong else 'right'} far more often than the others. They count "
        "as right, but choose nothing and say nothing about how many labels are wrong. Call rows "
        "'chosen' in trusted= that were checked because of how they looked."
    )


def doubt_about_trusted(fitted: FittedGaussians, data: ByClass) -> str | None:
    """What to say where most trusted labels look wrong, and others do not."""
    drawn, others = _drawn_and_others(data)
    if not len(drawn) or not len(others):
        return None
    wrong, usual = (_disagrees(fitted, data, rows).mean() for rows in (drawn, others))
    error = np.sqrt(0.25 / len(drawn) + 0.25 / len(others))
    if wrong < 0.5 or wrong < usual + SETTINGS.standard_errors * error:
        return None
    return (
        f"{wrong:.0%} of the trusted labels look wrong, and {usual:.0%} of the others. Trusted "
        "labels are believed whatever they look like. Check that they are right, and in the order "
        "of the rows."
    )


def number_of_checks(counts: Array, drawn: Array) -> float:
    """How many samples tell as much as those that were drawn, of which some may count more.

    Examples
    --------
    >>> number_of_checks(np.array([1.0, 1.0, 1.0, 3.0]), np.array([True, True, False, False]))
    2.0
    >>> round(number_of_checks(np.array([1.0, 3.0]), np.ones(2, bool)), 2)
    1.6
    """
    total = float(counts @ drawn)
    return total**2 / float(counts**2 @ drawn) if total else 0.0


def doubt_about_corrections(fitted: FittedGaussians, data: ByClass) -> str | None:
    """What to say where no checked label was wrong, and far more labels look so.

    Mostly the corrected labels were not put into y.
    """
    if data.drawn is None or data.uncorrected is None or fitted.noise is None:
        return None
    n = number_of_checks(data.counts, data.drawn)
    if not n or (data.noisy_codes != data.codes)[data.drawn].any():
        return None
    most = 1.0 - 0.025 ** (1.0 / n)  # that none of n is wrong is then no chance (as_checked)
    if not fitted.noise.least > most:
        return None
    return (
        f"None of the {n:.0f} trusted labels that were drawn at random was wrong before, but by "
        f"the features {fitted.noise.wrong:.0%} of all labels are. If some of the trusted ones "
        "were corrected, put the corrected labels into y. If all were right, believe them, not "
        "the features."
    )


def _drawn_and_others(data: ByClass) -> tuple[Array, Array]:
    """Rows whose labels were drawn at random, and some of those that nobody checked."""
    nothing = np.zeros(len(data.codes), bool)
    drawn = nothing if data.drawn is None else data.drawn
    trusted = nothing if data.trusted is None else data.trusted
    counted = (data.counts > 0) & data.near
    others = np.flatnonzero(counted & ~trusted)
    few = others[evenly_spaced(len(others), SETTINGS.noise_sample)]
    return np.flatnonzero(counted & drawn), few


def _nats(fitted: FittedGaussians, data: ByClass, rows: Array) -> Array:
    """How unlikely labels were before any was corrected, each row judged without itself."""
    noise = fitted.noise
    assert noise is not None
    p = noise.posterior(fitted.joint_scores(data, rows))
    return corrected_nll(p, data.noisy_codes[rows], noise.transition)


def _disagrees(fitted: FittedGaussians, data: ByClass, rows: Array) -> Array:
    """Whether each row is taken for another class than its label says, without itself."""
    best: Array = fitted.joint_scores(data, rows).argmax(axis=1) != data.codes[rows]
    return best
