"""The default for one layer: Gaussians of trusted samples, and a second opinion beside them.

(Whether the features are mapped first is found out before: ``choose_map.py``.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rehead._typing import Array
from rehead.gaussian.anchored import (
    Trusted,
    are_guesses,
    calibrated_fit,
    noise_with_guesses,
    stiff_gaussians,
    trusted_gaussians,
)
from rehead.gaussian.calibration import Priors
from rehead.gaussian.fit import Alone, Fit
from rehead.gaussian.machine import machine
from rehead.gaussian.options import MACHINE, Options
from rehead.gaussian.rows import ByClass
from rehead.gaussian.second import Joint, second_opinion
from rehead.gaussian.tied import TiedGaussians
from rehead.gaussian.training import TrainingRows, training_rows


def auto(data: ByClass, options: Options, rng: np.random.Generator) -> Fit:
    """Gaussians as "anchored" finds them; with logistic regression where that is clearly better.

    Labels that a machine made have another way.
    """
    if options.labels_from == MACHINE:
        return machine(data, options, rng)
    rows = training_rows(data, rng)
    found = trusted_gaussians(rows, options)
    fit = calibrated_fit(rows, found, options.priors)
    # A regression would follow guesses, which sit at the boundaries that it looks for.
    if are_guesses(found.noise):
        return fit
    joint = second_opinion(rows._replace(whole=None), found, rng)
    if joint is None:
        return fit
    if are_guesses(joint.noise):
        # It has shown that they are.
        noise = noise_with_guesses(rows, found.noise, found.scores, joint.noise.guessed)
        found = found._replace(noise=noise)
        return calibrated_fit(rows, stiff_gaussians(rows, found, options), options.priors)
    gaussians = _together(rows, found, joint, options.priors)
    alone = Alone(fit.gaussians, fit.noise)
    return fit._replace(gaussians=gaussians, noise=joint.noise, second=joint.opinion, alone=alone)


def _together(
    rows: TrainingRows, found: Trusted, joint: Joint, priors: str | Array
) -> TiedGaussians:
    """Gaussians to whose scores those of the regression are added."""
    of_classes = Priors.of(priors, joint.posterior, rows.sampled_counts)
    both = replace(
        found.gaussians,
        temperature=joint.opinion.temperature,
        offsets=joint.offsets,
        added=joint.opinion.regressions.whole,
    )
    return of_classes.given_to(both)
