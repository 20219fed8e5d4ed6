"""LayerEnsemble: generative classifiers of several layers, as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rehead import _validation as check
from rehead._progress import steps
from rehead._typing import Array, Features
from rehead.checkpoint import bound_to
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble.alone import Weighting, fit_layers_alone
from rehead.ensemble.default import fit_default
from rehead.ensemble.fitted import Consensus, FittedEnsemble
from rehead.ensemble.inputs import (
    LayerInputs,
    check_held_out,
    check_not_shared,
    warn_of_absent_classes,
    warn_of_another_scale,
)
from rehead.ensemble.problem import STACK, Problem
from rehead.ensemble.saved import WEIGHTS, read_state
from rehead.files import persist
from rehead.gaussian import NoiseModel
from rehead.gaussian.options import DEFAULT, OPTIONS, Choice, resolve_options
from rehead.verdicts import LabelVerdicts

Layers = Mapping[str, Any]


class LayerEnsemble(ClassifierMixin, BaseEstimator):
    """One robust Gaussian classifier for each layer; their posteriors are averaged with weights.

    By default (``estimator="auto"``) the layers find a *consensus*: those that did not memorise the
    training labels judge them, and every layer is estimated from the labels that are trusted. The
    members (the layers, the stack of the judges, given posteriors) are calibrated, and mixed so
    that held-out noisy labels are most likely. ``explain()`` says what was found and chosen.

    With another estimator or a preset, layers are estimated on their own. The weights then follow
    the paper's rule: they minimise the negative log likelihood of held-out, noisy labels. Only the
    half of the held-out samples nearest to the mean of their given label is used (squared
    Mahalanobis distance in the penultimate layer), since the rest is more likely to be wrong.

    Validation samples must not be training samples: a network has memorised the labels it was
    trained on, in its deepest layers most of all.

    Parameters
    ----------
    estimator, preset, support_fraction, max_steps, n_starts, start, leave_one_out, shrinkage, \
priors, feature_map, labels_from, random_state
        As for :class:`RobustGaussianClassifier`; used for every layer. In a consensus the class
        shares of the held-out samples stand for those of the training samples, and the map of the
        features is that of the judges; the other layers have none.
    penultimate : str, optional
        The layer whose distances choose the validation samples. Default: the last one.
    given : sequence of str, optional
        Names of layers that are posteriors already, as probabilities or logits of the classes in
        sorted order: the network's own softmax, for example. They are weighted, not estimated.
    weights : {"nll", "corrected", "equal"}, optional
        How layers that were each estimated on their own are weighted. Setting it switches off the
        consensus of "auto". "nll" is the paper's rule, and the default for other estimators; it
        needs validation samples (without any, members count equally, with a warning).
        "corrected" maximises the likelihood of the *noisy* labels of all validation samples,
        ``sum_c T[c, y] P(c | x)``, with a transition matrix T estimated from them: a layer is not
        rewarded for reproducing the noise. "equal" needs no validation data.
    stack : bool, default=False
        Join all layers into one feature vector and estimate one Gaussian classifier on it, which
        knows how layers are correlated. It needs more samples per class than features in all.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    layers_ : list of str
        The layers it was fitted on, given posteriors among them.
    members_ : list of str
        What is mixed: the layers, "stack" where some were joined, the given posteriors.
    estimators_ : dict of member name to fitted RobustGaussianClassifier
        With the settings of the ensemble. Members of a consensus were estimated from samples as its
        judges saw them, which fitting one of them alone does not do.
    weights_ : array of shape (n_members,), in the order of ``members_``
    transition_ : array of shape (n_classes, n_classes) or None
        The estimated transition matrix, for "auto" and for ``weights="corrected"``.
    consensus_ : Consensus or None
        For "auto": the layers' memorisation gaps, which of them judged the labels, the noise model
        and how much each training label counts (NaN for samples that had to be held out; not kept
        in files).
    noise_ : NoiseModel or None
        What was found out about the noise: by the judges of a consensus, or by all members on
        average where each of them measured it.
    fitted_ : FittedEnsemble
        All that was learned, as one value; what is above is read off it.

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
    >>> ens.members_
    ['early', 'late', 'stack']
    >>> float(ens.score(held_out, y[:50]))
    1.0
    >>> "about clean" in ens.explain()
    True
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
        feature_map: str | None = None,
        labels_from: str | None = None,
        random_state: Any = None,
        penultimate: str | None = None,
        given: Sequence[str] | None = None,
        weights: str | None = None,
        stack: bool = False,
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
        self.feature_map = feature_map
        self.labels_from = labels_from
        self.random_state = random_state
        self.penultimate = penultimate
        self.given = given
        self.weights = weights
        self.stack = stack

    def fit(
        self,
        layers: Layers,
        y: Any,
        validation: tuple[Layers, Any] | tuple[Layers, Any, Any] | None = None,
        *,
        ids: Any = None,
        trusted: Any = None,
        uncorrected: Any = None,
        groups: Any = None,
        progress: bool | None = None,
    ) -> Self:
        """Fit the classifier of each layer, then the weights.

        Parameters
        ----------
        layers : mapping of layer name to array-like of shape (n_samples, n_features of the layer)
            From the input to the output of the network.
        y : array-like of shape (n_samples,)
        validation : (mapping like ``layers``, labels) or (mapping, labels, ids), optional
            Held-out samples, with labels as noisy as the training ones.
        ids : array-like of shape (n_samples,), optional
            Ids of the training samples: you are warned if validation samples are among them.
        trusted : boolean array-like of shape (n_samples,), optional
            Samples whose label is known to be right, drawn at random; or "random", "chosen",
            "suggested" or "" for each, as for :class:`RobustGaussianClassifier`. Those that were
            drawn compare whole ensembles.
        uncorrected : array-like of shape (n_samples,), optional
            Labels before some were put right, as for :class:`RobustGaussianClassifier`.
        groups : array-like of shape (n_samples,), optional
            Samples that belong together (frames of a film, copies of a text). Where samples have to
            be held out because no ``validation`` is given, a group stays together.
        progress : bool, optional
            Show what is done. Default: in a terminal.

        Notes
        -----
        Layers may be features on disk: ``FeatureStore(path).rows(layer)``. With
        :func:`rehead.scale.run_on`, an executor works on them; with
        :func:`rehead.scale.checkpoint`, a fit that was killed goes on where it was.
        """
        choice = self.check_settings()
        check.check_layers(layers)
        if isinstance(self.given, str):
            raise ValueError(f"given must be a list of names, got {self.given!r}.")
        for name in self.given or ():
            check.check_choice(name, layers, "given")
        if STACK in layers:
            raise ValueError(f"A layer cannot be called {STACK!r}: that is what joined layers are.")
        check.check_aligned(
            layers, y=y, ids=ids, trusted=trusted, uncorrected=uncorrected, groups=groups
        )
        consensus = self.finds_consensus
        inputs = LayerInputs(list(layers), self.given or ())
        problem = self._problem(inputs, layers, y)
        n = len(problem.codes)
        known = check.check_known(trusted, uncorrected, problem.codes, problem.classes)
        held_out = None
        if validation is not None:
            held_out = check_held_out(validation, inputs, problem.classes, ids)
            check_not_shared(problem.layers, held_out.layers)
            warn_of_another_scale(problem.layers, held_out.layers)
            held_out = held_out.at_most(problem.most_held_out)
        problem = replace(
            problem, held_out=held_out, groups=check.check_groups(groups, n), **known._asdict()
        )
        rng = check.generator_from(self.random_state)
        weighting = None if consensus else self._weighting(problem)
        if consensus and held_out is not None:
            warn_of_absent_classes(held_out.codes, problem.classes)
        settings = self.get_params(deep=False)
        with steps("fit", show=progress), bound_to(settings, problem.facts, rng):
            if weighting is not None:
                fitted = fit_layers_alone(problem, choice, weighting, rng)
            else:
                fitted = fit_default(problem, choice, rng)
        return self._adopt(fitted, inputs)

    @property
    def finds_consensus(self) -> bool:
        """Whether the layers look for a consensus; settings of other methods switch that off."""
        own = self.weights is not None or self.penultimate is not None or self.stack
        return self.preset is None and self.estimator in (None, "auto") and not own

    def check_settings(self) -> Choice:
        """The estimator of the layers and its options; an error names what does not go together."""
        if self.weights is not None:
            check.check_choice(self.weights, WEIGHTS, "weights")
        return resolve_options(self.estimator, self.preset, self._options())

    def _options(self) -> dict[str, Any]:
        """What was set of the options of the estimator."""
        return {name: getattr(self, name) for name in OPTIONS if getattr(self, name) is not None}

    def _weighting(self, problem: Problem) -> Weighting:
        """How layers that are estimated alone are weighted."""
        if self.weights in ("corrected", "nll") and problem.held_out is None:
            raise ValueError(
                f"weights={self.weights!r} needs validation=(layers, labels) that were held out. "
                "Pass them, or weights='equal'."
            )
        if self.penultimate is not None and not self.stack:
            check.check_choice(self.penultimate, problem.layers, "penultimate")
        rule = self.weights or "nll"
        if rule == "nll" and self.preset == "authors":
            rule = "authors"
        return Weighting(rule, self.penultimate, self.stack)

    def _problem(self, inputs: LayerInputs, layers: Layers, y: Any) -> Problem:
        """Training layers and labels, checked."""
        features = inputs.first(layers)
        if not features:
            raise ValueError("All layers are given posteriors. Add one with features.")
        n = len(next(iter(features.values())))
        classes, codes = check.encode_labels(check.check_labels(y, n))
        return Problem(features, inputs.first_given(layers, len(classes)), codes, classes)

    def _adopt(self, fitted: FittedEnsemble, inputs: LayerInputs) -> Self:
        self.fitted_ = fitted
        self.inputs_ = inputs
        self.classes_ = fitted.classes
        self.layers_, self.members_ = inputs.names, fitted.names
        self.weights_ = fitted.weights
        self.transition_ = fitted.transition
        self.consensus_: Consensus | None = fitted.consensus
        self.noise_: NoiseModel | None = fitted.noise
        named = self.estimator or (DEFAULT if self.preset is None else None)
        params = {"estimator": named, "preset": self.preset, **self._options()}
        self.estimators_ = {
            name: RobustGaussianClassifier.from_fitted(member, inputs.columns(name), **params)
            for name, member in fitted.members.items()
        }
        return self

    def explain(self) -> str:
        """What was found out about the labels, and how the members are weighted, in words."""
        check_is_fitted(self)
        return self.fitted_.explain()

    def member_posteriors(self, layers: Layers) -> list[Array]:
        """Posterior of each member, in the order of ``members_``."""
        layers = self._checked(layers)
        return self.fitted_.member_posteriors(layers)

    def predict_proba(self, layers: Layers) -> Array:
        """``sum_l alpha_l P(y | f_l(x))``."""
        layers = self._checked(layers)
        return self.fitted_.posterior(layers)

    def predict(self, layers: Layers) -> Array:
        """The class with the highest posterior."""
        layers = self._checked(layers)
        labels: Array = self.classes_[self.fitted_.best(layers)]
        return labels

    def score(self, X: Layers, y: Any, sample_weight: Any = None) -> float:
        """Accuracy: the share of these labels that is predicted."""
        labels = check.check_labels(y, self.count_samples(X))
        return float(super().score(X, labels, sample_weight))

    def score_samples(self, layers: Layers) -> Array:
        """Log density: low for samples unlike all classes.

        In the joined layers where layers are joined ("stack" of ``members_``), else in the
        penultimate layer.
        """
        layers = self._checked(layers)
        return self.fitted_.log_density(layers)

    # What an audit asks of a model: rehead.audit.protocol.

    def count_samples(self, X: Layers) -> int:
        """How many samples there are; anything but the layers of the fit is an error."""
        check_is_fitted(self)
        check.check_layers(X, expected=self.inputs_.names)
        return check.count_rows(next(iter(X.values())))

    def inputs_of(self, layers: Layers) -> Layers:
        """What the model takes of features by layer name: all of them."""
        return layers

    def column_names(self, layer: str) -> Array | None:
        """The names of the columns that a layer was fitted on, where they had any."""
        check_is_fitted(self)
        return self.inputs_.columns(layer)

    def check_inputs(self, X: Layers) -> None:
        """Raise if some of the features cannot be used, and say which."""
        layers = self._checked(X)
        for name in self.inputs_.given:
            check.check_finite(layers[name], what=name)

    def judge_labels(self, X: Layers, codes: Array, leave_out: Array) -> LabelVerdicts:
        """Judge labels (codes of ``classes_``) by estimates that leave the row itself out.

        ``leave_out`` is a mask of the rows for which that is wanted; those that the ensemble was
        not fitted on are judged as new ones in any case.
        """
        X = self._checked(X)
        return self.fitted_.verdicts(X, codes, leave_out)

    def judge_typicality(self, X: Layers, codes: Array | None = None) -> Array | None:
        """How usual samples are, as p-values; None where the model does not know what is usual."""
        X = self._checked(X)
        return self.fitted_.typicality(X, codes)

    def judging_space(self, X: Layers) -> Array:
        """Samples in the space where Euclidean distances are those that labels are judged by."""
        X = self._checked(X)
        return self.fitted_.whitened(X)

    def _checked(self, layers: Any) -> dict[str, Features]:
        check_is_fitted(self)
        return self.inputs_.later(layers)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted ensemble to one file, without pickle; whole or not at all."""
        persist.write_model(path, type(self).__name__, *self.to_state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an ensemble that :meth:`save` wrote."""
        return persist.load_model(path, cls.__name__, cls.from_state)

    def to_state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Settings and all that was learned, as arrays and JSON."""
        check_is_fitted(self)
        arrays, settings = self.fitted_.to_state()
        params = persist.params_to_json(self.get_params(deep=False))
        settings["params"] = {**params, "given": list(self.given) if self.given else None}
        settings |= self.inputs_.to_json()
        self.from_state(arrays, settings)  # what is written can be read
        return arrays, settings

    @classmethod
    def from_state(cls, arrays: dict[str, Array], settings: dict[str, Any]) -> Self:
        """From :meth:`to_state`, or from what earlier versions wrote; each field is checked."""
        saved = read_state(arrays, settings, cls().get_params(deep=False))
        return cls(**saved.params)._adopt(saved.fitted, saved.inputs)
