"""LayerEnsemble: generative classifiers of several layers, weighted (section 3.3 of the paper)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rehead import _validation as check
from rehead._typing import Array
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble.consensus import STACK, Judgement, fit_consensus
from rehead.ensemble.judges import HeldOut
from rehead.ensemble.members import log_of
from rehead.ensemble.weights import authors_weights, estimate_transition, layer_weights
from rehead.files import persist
from rehead.gaussian.labelnoise import Calibration
from rehead.gaussian.options import OPTIONS

Layers = Mapping[str, Any]


class LayerEnsemble(ClassifierMixin, BaseEstimator):
    """One robust Gaussian classifier for each layer; their posteriors are averaged with weights.

    By default (``estimator="auto"``) the layers find a *consensus*: those that did not memorise the
    training labels judge them, every layer is estimated from the labels that are trusted, and
    members (the layers, the stack of the judges, posteriors that are given) are calibrated and
    mixed as held-out noisy labels ask for. ``explain()`` tells what was found and chosen.

    With another estimator or a preset, layers are estimated on their own, and the weights minimise
    the negative log likelihood of held-out, noisy validation labels, of which only the half nearest
    to the mean of its given label is used (squared Mahalanobis distance in the penultimate layer),
    since the rest is more likely to be wrong (the paper's rule).

    Validation samples must not be training samples: a network has memorised the labels it was
    trained on, in its deepest layers most of all.

    Parameters
    ----------
    estimator, preset, support_fraction, max_steps, n_starts, start, leave_one_out, shrinkage, \
priors, random_state
        As for :class:`RobustGaussianClassifier`; used for every layer.
    penultimate : str, optional
        The layer whose distances choose the validation samples. Default: the last one.
    given : sequence of str, optional
        Names of layers that are posteriors already, as probabilities or logits of the classes in
        sorted order: the network's own softmax, for example. They are weighted, not estimated.
    weights : {"nll", "corrected", "equal"}, optional
        How layers that were each estimated on their own are weighted; setting it says no to the
        consensus of "auto". "nll" is the paper's rule, and the default for other estimators.
        "corrected" maximises the likelihood of the *noisy* labels of all validation samples,
        ``sum_c T[c, y] P(c | x)``, with a transition matrix T estimated from them: a layer is not
        rewarded for reproducing the noise. "equal" needs no validation data.
    stack : bool, default=False
        Join all layers into one feature vector and estimate one Gaussian classifier on it, which
        knows how layers are correlated. It needs more samples a class than features in all.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    layers_ : list of str
        Members of the ensemble, ``["stack"]`` and the given ones where layers were stacked.
    estimators_ : dict of layer name to fitted RobustGaussianClassifier
    weights_ : array of shape (n_members,), in the order of ``layers_``
    transition_ : array of shape (n_classes, n_classes) or None
        The estimated transition matrix, for "auto" and for ``weights="corrected"``.
    judgement_ : Judgement or None
        For "auto": the layers' memorisation gaps, which of them judged the labels, the noise model
        and how far each training label counts (NaN for samples that had to be held out; not kept
        in files).

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
    >>> ens.layers_
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
        groups: Any = None,
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
            Ids of the training samples: a warning tells if validation samples are among them.
        trusted : boolean array-like of shape (n_samples,), optional
            Samples whose label is known to be right.
        groups : array-like of shape (n_samples,), optional
            Samples that belong together (frames of a film, copies of a text). Where samples have to
            be held out because no ``validation`` is given, a group stays together.
        """
        if self.weights is not None:
            check.check_choice(self.weights, ("nll", "corrected", "equal"), "weights")
        check.check_layers(layers)
        self._inputs = list(layers)
        for name in self._given():
            check.check_choice(name, layers, "given")
        if STACK in list(layers):
            raise ValueError(f"A layer cannot be called {STACK!r}: that is what joined layers are.")
        self._stacked = [name for name in layers if name not in self._given()] if self.stack else []
        self._calibrations: dict[str, Calibration] = {}
        self.judgement_: Judgement | None = None
        if self._is_auto():
            return self._fit_auto(layers, y, validation, ids, trusted, groups)
        members = self._members(layers)
        estimated = [name for name in members if name not in self._given()]
        if not estimated:
            raise ValueError("All layers are given posteriors. Add one with features.")
        penultimate = self._penultimate(estimated)
        self._fit_members({name: members[name] for name in estimated}, y, trusted)
        self.layers_ = list(members)
        self.classes_ = self.estimators_[estimated[-1]].classes_
        self.weights_ = np.full(len(self.layers_), 1.0 / len(self.layers_))
        self.transition_: Array | None = None
        if validation is not None:
            held_out, labels, *rest = validation
            if rest:
                check.warn_if_shared(ids, rest[0])
            self._fit_weights(held_out, labels, penultimate)
        elif self.weights == "corrected":
            raise ValueError(
                "weights='corrected' needs validation=(layers, labels) that were held out."
            )
        return self

    def _given(self) -> list[str]:
        return list(self.given or [])

    def _penultimate(self, estimated: list[str]) -> str:
        if self.penultimate is None or self.stack:
            return estimated[-1]
        check.check_choice(self.penultimate, estimated, "penultimate")
        return self.penultimate

    def _members(self, layers: Layers) -> dict[str, Any]:
        """What the members are fitted on: the layers, some of them as a stack."""
        members = {} if self.stack else {n: X for n, X in layers.items() if n not in self._given()}
        if self._stacked:
            members[STACK] = np.concatenate([np.asarray(layers[n]) for n in self._stacked], axis=1)
        return {**members, **{name: layers[name] for name in self._given()}}

    def _is_auto(self) -> bool:
        """Whether the layers are to find a consensus; settings of the other ways say no."""
        own = self.weights is not None or self.penultimate is not None or self.stack
        name = (
            check.default_estimator(self._options()) if self.estimator is None else self.estimator
        )
        return self.preset is None and name == "auto" and not own

    def _options(self) -> dict[str, Any]:
        """What was set of the options of the estimator."""
        return {name: getattr(self, name) for name in OPTIONS if getattr(self, name) is not None}

    def _fit_auto(
        self, layers: Layers, y: Any, validation: Any, ids: Any, trusted: Any, groups: Any
    ) -> Self:
        """Consensus of the layers; see ``consensus.py``."""
        check.resolve_options("auto", None, self._options())  # for its errors
        checked = {
            n: check.check_features(RobustGaussianClassifier(), X, reset=True)
            for n, X in layers.items()
            if n not in self._given()
        }
        if not checked:
            raise ValueError("All layers are given posteriors. Add one with features.")
        given = {n: np.asarray(layers[n]) for n in self._given()}
        n = len(next(iter(checked.values())))
        self.classes_, codes = check.encode_labels(check.check_labels(y, n))
        rng = check.generator_from(self.random_state)
        held_out = None
        if validation is not None:
            of_layers, labels, *rest = validation
            if rest:
                check.warn_if_shared(ids, rest[0])
            check.check_layers(of_layers, expected=self._inputs)
            held = {n: self._held_out(n, of_layers[n], checked) for n in self._inputs}
            size = len(next(iter(held.values())))
            known = check.known_codes(check.check_labels(labels, size), self.classes_)
            check.warn_of_absent(known, self.classes_)
            held_out = HeldOut(held, known)
        together = check.check_groups(groups, n)
        trusted = check.check_mask(trusted, n, "trusted")
        found = fit_consensus(
            checked, given, codes, self.classes_, held_out, trusted, rng, together, self._options()
        )
        self.layers_, self.weights_ = found.names, found.weights
        self.estimators_: dict[str, RobustGaussianClassifier] = found.members
        self._calibrations = found.calibrations
        self._stacked, self.judgement_ = found.stacked, found.judgement
        self.transition_ = found.judgement.noise.transition
        return self

    def _held_out(self, name: str, X: Any, training: Layers) -> Array:
        """Held-out features of a layer, which must look like its training features."""
        if name in self._given():
            return np.asarray(X)
        held = check.check_features(RobustGaussianClassifier(), X, reset=True)
        if held.shape[1] != training[name].shape[1]:
            raise ValueError(
                f"Layer {name} has {held.shape[1]} features in validation and "
                f"{training[name].shape[1]} in training: both must come from the same network."
            )
        return held

    def _fit_members(self, members: Layers, y: Any, trusted: Any) -> None:
        own = ("penultimate", "given", "weights", "stack")
        params = {k: v for k, v in self.get_params(deep=False).items() if k not in own}
        rng = check.generator_from(params.pop("random_state"))
        self.estimators_ = {}
        with check.warnings_merged("layer") as of_layer:
            for name, X in members.items():
                seed = int(rng.integers(2**31))
                with of_layer(name):
                    member = RobustGaussianClassifier(**params, random_state=seed)
                    member.fit(X, y, trusted=trusted)
                self.estimators_[name] = member

    def _fit_weights(self, layers: Layers, y: Any, penultimate: str) -> None:
        posteriors = self.member_posteriors(layers)
        codes = check.known_codes(check.check_labels(y, len(posteriors[0])), self.classes_)
        if self.weights == "corrected":
            transition = estimate_transition(np.mean(posteriors, axis=0), codes)
            self.transition_, of_label = transition, transition[:, codes].T
            likelihoods = np.stack([(p * of_label).sum(axis=1) for p in posteriors], axis=1)
            self.weights_ = layer_weights(likelihoods)
        elif self.weights in (None, "nll"):
            near = self._nearest_half(layers, codes, penultimate)
            likelihoods = np.stack([p[near, codes[near]] for p in posteriors], axis=1)
            rule = authors_weights if self.preset == "authors" else layer_weights
            self.weights_ = rule(likelihoods)

    def _nearest_half(self, layers: Layers, codes: Array, penultimate: str) -> Array:
        """Rows whose squared distance to the mean of their label is in the smaller half."""
        last = self.estimators_[penultimate]
        X = check.check_features(last, self._members(layers)[penultimate], reset=False)
        distance = last._gaussians.distances(X)[np.arange(len(codes)), codes]
        return np.argsort(distance, kind="stable")[: -(-len(codes) // 2)]

    def member_posteriors(self, layers: Layers) -> list[Array]:
        """Posterior of each member, in the order of ``layers_``."""
        check_is_fitted(self)
        check.check_layers(layers, expected=self._inputs)
        members = self._members(layers)
        return [
            self._posterior_of_given(members[name], name)
            if name in self._given()
            else self.estimators_[name].predict_proba(members[name])
            for name in self.layers_
        ]

    def _posterior_of_given(self, values: Any, name: str) -> Array:
        posterior = check.as_posterior(values, len(self.classes_), name)
        if name not in self._calibrations:
            return posterior
        return self._calibrations[name].posterior(log_of(posterior))

    def judge(self, layers: Layers) -> tuple[RobustGaussianClassifier, Any]:
        """The member that judged the labels, and its features of some samples."""
        name = STACK if self._stacked else self.judgement_.judges[0]  # type: ignore[union-attr]
        return self.estimators_[name], self._members(layers)[name]

    def explain(self) -> str:
        """What ``estimator="auto"`` found and chose, in words."""
        check_is_fitted(self)
        if self.judgement_ is None:
            shares = ", ".join(
                f"{n} {w:.2f}" for n, w in zip(self.layers_, self.weights_, strict=True)
            )
            return f"Weights of the members: {shares}."
        return self.judgement_.explain(self.layers_, self.weights_)

    def predict_proba(self, layers: Layers) -> Array:
        """``sum_l alpha_l P(y | f_l(x))``."""
        posteriors = self.member_posteriors(layers)
        mixture: Array = sum(
            (a * p for a, p in zip(self.weights_, posteriors, strict=True)),
            start=np.zeros_like(posteriors[0]),
        )
        return mixture

    def predict(self, layers: Layers) -> Array:
        """The class with the highest posterior."""
        codes = self.predict_proba(layers).argmax(axis=1)
        labels: Array = self.classes_[codes]
        return labels

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted ensemble to one file, without pickle; whole or not at all."""
        persist.write_model(path, type(self).__name__, *self._state())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an ensemble that :meth:`save` wrote."""
        return cls._from_state(*persist.read_model(path, cls.__name__))

    def _state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        check_is_fitted(self)
        arrays: dict[str, Array] = {"weights": self.weights_}
        if self.transition_ is not None:
            arrays["transition"] = self.transition_
        for name, honest in self._calibrations.items():
            arrays[f"calibration.{name}"] = np.append(honest.temperature, honest.offsets)
        if self.judgement_ is not None:
            arrays |= {
                f"judgement.{k}": np.asarray(v) for k, v in self.judgement_.noise._asdict().items()
            }
        members = {}
        for i, (name, member) in enumerate(self.estimators_.items()):
            of_member, members[name] = member._state()
            arrays |= {f"{i}.{key}": value for key, value in of_member.items()}
        params = persist.params_to_json(self.get_params(deep=False))
        settings = {
            "params": {**params, "given": list(self.given) if self.given else None},
            "inputs": self._inputs,
            "layers": self.layers_,
            "members": members,
            "stacked": self._stacked,
            "judgement": None if self.judgement_ is None else self.judgement_.as_json(),
        }
        return arrays, settings

    @classmethod
    def _from_state(cls, arrays: dict[str, Array], settings: dict[str, Any]) -> Self:
        self = cls(**settings["params"])
        self._inputs, self.layers_ = settings["inputs"], settings["layers"]
        self.weights_, self.transition_ = arrays["weights"], arrays.get("transition")
        self._stacked = settings.get("stacked", [])
        self._calibrations = {
            key.removeprefix("calibration."): Calibration(float(v[0]), v[1:])
            for key, v in arrays.items()
            if key.startswith("calibration.")
        }
        self.judgement_ = Judgement.from_json(settings.get("judgement"), arrays)
        self.estimators_ = {}
        for i, (name, of_member) in enumerate(settings["members"].items()):
            prefix = f"{i}."
            own = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
            self.estimators_[name] = RobustGaussianClassifier._from_state(own, of_member)
            self.classes_ = self.estimators_[name].classes_
        return self

    def score_samples(self, layers: Layers) -> Array:
        """Log density: low for samples unlike all classes.

        In the joined layers where layers are joined ("stack" of ``layers_``), else in the
        penultimate layer.
        """
        check_is_fitted(self)
        name = self._penultimate(list(self.estimators_))
        return self.estimators_[name].score_samples(self._members(layers)[name])
