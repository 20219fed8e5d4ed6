"""Section 3.3 of the paper: how the layers of an ensemble are weighted.

``P(y = c | x) = sum_l alpha_l P(y = c | f_l(x))``, the weights chosen by the negative log
likelihood of a validation set. Its labels are noisy too, so only the half of it counts that is
nearest to the mean of its label (supplement, "Validation").
"""

from __future__ import annotations

import numpy as np

from rehead._typing import Array, Features
from rehead.ensemble.fitted import FittedEnsemble
from rehead.ensemble.problem import HeldOut
from rehead.ensemble.weights import authors_weights, mixture_weights
from rehead.fitted import FittedGaussians


def paper_weights(fitted: FittedEnsemble, held_out: HeldOut, *, authors: bool = False) -> Array:
    """Ensemble weights as in section 3.3: by the NLL of the nearer half of the held-out samples.

    ``authors``: by Adam, as in the released code, instead of to the optimum.
    """
    codes = held_out.codes
    X = fitted.features(fitted.density_member, held_out.layers)
    # Supplement, "Validation": Mahalanobis distances in the penultimate layer; half is kept.
    near = nearest_half(fitted.members[fitted.density_member], X, codes)
    posteriors = fitted.member_posteriors(held_out.layers)
    # Section 3.3: alpha minimises the negative log likelihood of the mixture.
    likelihoods = np.stack([p[near, codes[near]] for p in posteriors], axis=1)
    return authors_weights(likelihoods) if authors else mixture_weights(likelihoods)


def nearest_half(penultimate: FittedGaussians, X: Features, codes: Array) -> Array:
    """Rows whose squared distance to the mean of their label is in the smaller half."""
    distance = penultimate.distances(X)[np.arange(len(codes)), codes]
    return np.argsort(distance, kind="stable")[: -(-len(codes) // 2)]
