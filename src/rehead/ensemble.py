"""LayerEnsemble: generative classifiers of several layers, weighted (section 3.3 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rehead import _validation as check
from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier

Layers = Mapping[str, Any]


def layer_weights(likelihoods: Array, *, tol: float = 1e-9, max_iter: int = 100_000) -> Array:
    """Mixture weights that maximise the mean log likelihood, by EM from equal weights.

    The problem is convex on the simplex, but not strictly: of two equal layers any split is
    optimal. EM from equal weights treats equal layers alike, so the answer is unique. It stops
    when the optimality gap is below ``tol``: for the mixture m, no log likelihood is more than
    ``max_l mean(p_l / m) - 1`` better.

    Parameters
    ----------
    likelihoods : array of shape (n_samples, n_layers)
        ``P_l(y_i | x_i)``.

    Examples
    --------
    >>> import numpy as np
    >>> layer_weights(np.array([[0.9, 0.1], [0.8, 0.3], [0.7, 0.2]])).round(6)
    array([1., 0.])
    """
    p = np.maximum(likelihoods.astype(np.float64), np.finfo(np.float64).tiny)
    # A sample's scale does not change the optimum; it does change what floats can hold.
    p = p / p.max(axis=1, keepdims=True)
    alpha = np.full(p.shape[1], 1.0 / p.shape[1])
    for _ in range(max_iter):
        gain = (p / (p @ alpha)[:, None]).mean(axis=0)
        alpha = alpha * gain
        alpha /= alpha.sum()
        if gain.max() - 1.0 < tol:
            break
    return alpha


class LayerEnsemble(ClassifierMixin, BaseEstimator):
    """One robust Gaussian classifier for each layer; their posteriors are averaged with weights.

    The weights minimise the negative log likelihood of held-out, noisy validation labels, of which
    only the half nearest to the mean of its given label is used (squared Mahalanobis distance in
    the penultimate layer), since the rest is more likely to be wrong.

    Validation samples must not be training samples: a network has memorised the labels it was
    trained on in its deepest layers, so these would get all the weight. Without validation data
    the layers therefore get equal weights.

    Parameters
    ----------
    estimator, preset, support_fraction, max_steps, n_starts, start, leave_one_out, shrinkage, \
priors, random_state
        As for :class:`RobustGaussianClassifier`; used for every layer.
    penultimate : str, optional
        The layer whose distances choose the validation samples. Default: the last one.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    layers_ : list of str
    estimators_ : dict of layer name to fitted RobustGaussianClassifier
    weights_ : array of shape (n_layers,), in the order of ``layers_``

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import LayerEnsemble
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> early, late = rng.normal(size=(200, 3)), rng.normal(size=(200, 2)) + 3 * y[:, None]
    >>> layers = {"early": early, "late": late}
    >>> held_out = {name: X[:50] for name, X in layers.items()}
    >>> train = {name: X[50:] for name, X in layers.items()}
    >>> ens = LayerEnsemble(random_state=0).fit(train, y[50:], validation=(held_out, y[:50]))
    >>> ens.weights_.round(2)
    array([0., 1.])
    >>> float(ens.score(held_out, y[:50]))
    1.0
    """

    def __init__(
        self,
        estimator: str | None = None,
        *,
        preset: str | None = None,
        support_fraction: float | None = None,
        max_steps: int | None = None,
        n_starts: int | None = None,
        start: Any = None,
        leave_one_out: bool | None = None,
        shrinkage: Any = None,
        priors: Any = None,
        random_state: Any = None,
        penultimate: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.preset = preset
        self.support_fraction = support_fraction
        self.max_steps = max_steps
        self.n_starts = n_starts
        self.start = start
        self.leave_one_out = leave_one_out
        self.shrinkage = shrinkage
        self.priors = priors
        self.random_state = random_state
        self.penultimate = penultimate

    def fit(self, layers: Layers, y: Any, validation: tuple[Layers, Any] | None = None) -> Self:
        """Fit the classifier of each layer, then the weights.

        Parameters
        ----------
        layers : mapping of layer name to array-like of shape (n_samples, n_features of the layer)
            From the input to the output of the network.
        y : array-like of shape (n_samples,)
        validation : (mapping like ``layers``, labels), optional
            Held-out samples, with labels as noisy as the training ones.
        """
        check.check_layers(layers)
        penultimate = self.penultimate if self.penultimate is not None else list(layers)[-1]
        check.check_choice(penultimate, layers, "penultimate")
        params = self.get_params(deep=False)
        del params["penultimate"]
        rng = check.generator_from(params.pop("random_state"))
        self.estimators_ = {}
        with check.warnings_merged("layer") as of_layer:
            for name, X in layers.items():
                seed = int(rng.integers(2**31))
                with of_layer(name):
                    member = RobustGaussianClassifier(**params, random_state=seed).fit(X, y)
                self.estimators_[name] = member
        self.layers_ = list(layers)
        self.classes_ = self.estimators_[penultimate].classes_
        self.weights_ = np.full(len(self.layers_), 1.0 / len(self.layers_))
        if validation is not None:
            self.weights_ = self._weights(*validation, penultimate)
        return self

    def _weights(self, layers: Layers, y: Any, penultimate: str) -> Array:
        posteriors = self._posteriors(layers)
        last = self.estimators_[penultimate]
        X = check.check_features(last, layers[penultimate], reset=False)
        codes = check.known_codes(check.check_labels(y, len(X)), self.classes_)
        every = np.arange(len(codes))
        distance = last._gaussians.distances(X)[every, codes]
        near = np.argsort(distance, kind="stable")[: -(-len(codes) // 2)]
        return layer_weights(np.stack([p[near, codes[near]] for p in posteriors], axis=1))

    def _posteriors(self, layers: Layers) -> list[Array]:
        check_is_fitted(self)
        check.check_layers(layers, expected=self.layers_)
        return [self.estimators_[name].predict_proba(layers[name]) for name in self.layers_]

    def predict_proba(self, layers: Layers) -> Array:
        """``sum_l alpha_l P(y | f_l(x))``."""
        posteriors = self._posteriors(layers)
        mixture: Array = sum(a * p for a, p in zip(self.weights_, posteriors, strict=True))
        return mixture

    def predict(self, layers: Layers) -> Array:
        """The class with the highest posterior."""
        labels: Array = self.classes_[self.predict_proba(layers).argmax(axis=1)]
        return labels
