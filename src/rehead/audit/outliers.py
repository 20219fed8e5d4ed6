"""Which samples are like nothing that the model was fitted on."""

from __future__ import annotations

from typing import Any

from rehead import _validation as check
from rehead._typing import Array
from rehead.audit.pipelines import as_judge
from rehead.audit.protocol import LabelJudge


def typicality(model: LabelJudge, X: Any, y: Any = None) -> Array:
    """How typical each sample is of the (trusted) training samples: a p-value, low for outliers.

    Of new samples that are like the training samples, a share p has a typicality of at most p: of
    these, ``typicality(...) < 0.01`` calls one in a hundred an outlier by mistake. What it measures
    are two squared Mahalanobis distances, relative to the nearest class in the plane of the class
    means and to all classes outside it; each ranked among training samples, then joined.
    ``gaussian/typical.py`` has the derivation.

    Parameters
    ----------
    model : RobustGaussianClassifier or LayerEnsemble
        Fitted.
    X : array-like of shape (n_samples, n_features), or mapping of layers for an ensemble
    y : array-like of shape (n_samples,), optional
        Labels, for samples that the model was fitted on: with the label they had then they are
        recognised, and judged by estimates that leave them out. Without it they would seem a little
        too typical. It has no other effect.

    Returns
    -------
    array of shape (n_samples,)
        In (0, 1].

    Notes
    -----
    In an ensemble that found a consensus, the judge decides. For other ensembles the result is the
    weighted harmonic mean of the members' p-values. Layers of one network depend on each other, so
    their p-values cannot be multiplied. Their harmonic mean stays about a p-value however they
    depend (it is exactly one where they are all the same). One layer that finds a sample strange is
    enough.

    Strange samples among the training samples make it milder, in proportion to the trust that they
    got, since they are then a part of what is usual.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, typicality
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=500)
    >>> X = rng.normal(size=(500, 3)) + 4 * y[:, None]
    >>> clf = RobustGaussianClassifier(random_state=0).fit(X, y)
    >>> typicality(clf, [[0, 0, 0], [4, 4, 4], [9, -9, 9], [2, 2, 2]]) < 0.02
    array([False, False,  True,  True])
    >>> bool((typicality(clf, X, y) < 0.1).mean().round(1) == 0.1)
    True
    """
    model = as_judge(model, "Typicality is judged", "See head.typicality(loader).")
    n = model.count_samples(X)
    codes = None
    if y is not None:
        codes = check.known_codes(check.check_labels(y, n), model.classes_)
    found = model.judge_typicality(X, codes)
    if found is None:
        raise ValueError(
            "This model does not know what is usual for it: it was saved by an older version of "
            "rehead, or it is a member of an ensemble that found a consensus. Fit it anew and save "
            "it again, or ask the ensemble."
        )
    return found
