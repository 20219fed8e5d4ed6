"""Polynomial-margin noise: the smaller the margin, the likelier the second class (Zhang, 2021)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead.noise.instance import InstanceLabels, asked, spread
from rehead.noise.labels import floor_of
from rehead.noise.posteriors import Judges, Teaching, check_classifier, cross_judged

FOLDS = 5
ROUNDING = 1e-9
Form = Literal["I", "II", "III"]
FORMS: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {
        "I": lambda m: 0.5 - 0.5 * m**2,
        "II": lambda m: 1.0 - m**3,
        "III": lambda m: 1.0 - (m**3 + m**2 + m) / 3.0,
    }
)
"""Probability of the second class, by the margin: tau of the paper, types I to III."""


@dataclass(frozen=True)
class Flips:
    """Labels that change to the second class.

    Attributes
    ----------
    judges : Judges
    form : str
    factor : float
        What the paper's probabilities are multiplied by. Those above 1 are cut.
    """

    judges: Judges
    form: Form
    factor: float

    def __call__(self, X: Any, codes: Array, rng: np.random.Generator) -> Array:
        """Probability of each label, if the posterior is that of any of the folds."""
        said = [flipped(p, codes, self.form, self.factor) for p in self.judges.posteriors(X)]
        mean: Array = np.mean(said, axis=0)
        return mean


def polynomial_margin(
    X: Any,
    y: Any,
    rate: float,
    *,
    form: Form = "I",
    classifier: Any = None,
    classes: Any = None,
    random_state: Any = None,
) -> InstanceLabels:
    """Change labels to the second class, the likelier the smaller the margin (Zhang et al., 2021).

    With m the posterior of the true class minus that of the next one, s, a label becomes s with
    probability c · (1 - m²) / 2 (type I), c · (1 - m³) (type II) or c · (1 - (m³ + m² + m) / 3)
    (type III): the polynomial-margin diminishing noise of "Learning with feature-dependent label
    noise". As there, the constant c is what the rate needs; what it lifts above 1 is cut to 1.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Inputs: features or images. numpy, torch, pandas, or a list.
    y : array-like of shape (n_samples,)
        True labels, as in :func:`uniform`.
    rate : float
        Share of wrong labels: ``floor(rate * n_samples)`` of them, in all classes together.
    form : "I", "II" or "III"
        The polynomial.
    classifier : object with ``fit``, ``predict_proba`` and ``classes_``, optional
        Gives the posterior, as in :func:`annotator`. It is taught on the true labels of four
        fifths of the samples, and judges the others, five times.
    classes : array-like, optional
        All classes, in order, if some of them may not occur in `y`.
    random_state : None, int, Generator or RandomState
        Draws the fifths and the labels. The order of rows matters.

    Returns
    -------
    InstanceLabels

    Notes
    -----
    The paper calls the top class of the posterior u. Here u is the true class, whose label is the
    one to change. Where the classifier prefers another class, that is s, and the margin counts
    as 0.

    Examples
    --------
    >>> from rehead import noise
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> noisy = noise.polynomial_margin(X, y, 0.2, form="II", random_state=0)
    >>> int(noisy.changed.sum()) == int(0.2 * len(y))
    True
    """
    check.check_choice(form, tuple(FORMS), "form")
    check_classifier(classifier)
    given = asked(X, y, rate, classes, random_state)
    codes = given.labels.codes
    teaching = Teaching(classifier, FOLDS, 1.0)
    posterior, judges = cross_judged(X, given.labels, teaching, given.rng)
    tau = FORMS[form](margins(posterior, codes)[0])
    factor = scale_to(tau, floor_of(rate, len(codes)))
    return given.noisy(flipped(posterior, codes, form, factor), Flips(judges, form, factor))


def flipped(posterior: Array, codes: Array, form: Form, factor: float) -> Array:
    """Probability of each label: c · tau for the second class, the rest for the true one."""
    margin, second = margins(posterior, codes)
    return spread(np.minimum(factor * FORMS[form](margin), 1.0), second, codes)


def margins(posterior: Array, codes: Array) -> tuple[Array, Array]:
    """The margin of the true class over the best other one, from 0 to 1, and that one as a mask.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.noise.margins import margins
    >>> margin, second = margins(np.array([[0.75, 0.0, 0.25], [0.7, 0.1, 0.2]]), np.array([0, 1]))
    >>> margin.tolist(), second.argmax(axis=1).tolist()
    ([0.5, 0.0], [2, 0])
    """
    rows = np.arange(len(codes))
    others = posterior.copy()
    others[rows, codes] = -1.0
    best = others.argmax(axis=1)
    margin: Array = np.clip(posterior[rows, codes] - posterior[rows, best], 0.0, 1.0)
    return margin, np.arange(posterior.shape[1]) == best[:, None]


def scale_to(tau: Array, n: int) -> float:
    """The factor c with which ``min(c * tau, 1)`` sums to n.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.noise.margins import scale_to
    >>> scale_to(np.array([0.8, 0.2, 0.2]), 2)
    2.5
    """
    if n == 0:
        return 0.0
    possible = int((tau > 0).sum())
    if n > possible:
        raise ValueError(
            f"{n} of {len(tau)} labels cannot be wrong: the posterior of {len(tau) - possible} "
            "samples leaves nothing to a second class. Lower rate, or pass a classifier that is "
            "less certain."
        )
    largest = np.sort(tau)[::-1]
    # With the m largest cut to 1, the others make up for what is left of n.
    factors = (n - np.arange(n)) / largest[::-1].cumsum()[::-1][:n]
    return float(factors[np.argmax(factors * largest[:n] <= 1.0 + ROUNDING)])
