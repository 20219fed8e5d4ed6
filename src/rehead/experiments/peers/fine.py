"""FINE: samples that are aligned with the main direction of their class are clean.

Kim, Ko, Cho, Choi and Yun, "FINE Samples for Learning with Noisy Labels", NeurIPS 2021.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from sklearn.mixture import GaussianMixture

from rehead._typing import Array
from rehead.experiments.peers.neighbours import unit_rows
from rehead.experiments.peers.verdict import Verdict


def fine(X: Array, y: Array, n_classes: int) -> Verdict:
    """Flag the samples that are badly aligned with their class.

    The alignment is ``|<v_c, x>|``, with v_c the first right singular vector of the (unit, not
    centred) samples of class c. A mixture of two normals is fitted to the alignments of each class;
    samples are kept that belong to the one with the larger mean with a probability above 0.5.
    The quality is the alignment.

    Parameters
    ----------
    X : array of shape (n, d)
    y : integer array of shape (n,)
        Class numbers.
    n_classes : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 0.1], [1, -0.1], [1, 0.0], [0.1, 1], [0, 1], [1, 0.2]])
    >>> fine(X, np.zeros(6, int), 1).flagged
    array([False, False, False,  True,  True, False])
    """
    U = unit_rows(X).astype(np.float64)
    clean, alignment = np.ones(len(y)), np.empty(len(y))
    for c in range(n_classes):
        rows = np.flatnonzero(y == c)
        if len(rows):
            alignment[rows] = np.abs(U[rows] @ main_direction(U[rows]))
            clean[rows] = clean_probability(alignment[rows])
    return Verdict(clean <= 0.5, alignment)


def main_direction(U: Array) -> Array:
    """The first right singular vector, from the smaller one of the two Gram matrices."""
    n, d = U.shape
    small = min(n, d) - 1
    gram = U @ U.T if n < d else U.T @ U
    vector: Array = eigh(gram, subset_by_index=[small, small])[1][:, 0]
    if n < d:
        vector = vector @ U
        vector /= np.linalg.norm(vector)
    return vector


def clean_probability(alignment: Array) -> Array:
    """How probably each value belongs to the larger one of two normals.

    Values that are too few, or too much alike, to be told apart are all clean.
    """
    if len(alignment) < 3 or np.ptp(alignment) < 1e-9:
        return np.ones(len(alignment))
    values = alignment[:, None]
    # The variance that is added to keep normals from collapsing must be small for these values.
    mixture = GaussianMixture(2, reg_covar=1e-4 * float(values.var()), random_state=0).fit(values)
    probability: Array = mixture.predict_proba(values)[:, mixture.means_.argmax()]
    return probability
