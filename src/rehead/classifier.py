"""RobustGaussianClassifier: the robust generative classifier as a scikit-learn estimator."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rehead import _validation as check
from rehead._typing import Array, Features
from rehead._warnings import warn
from rehead.checkpoint import bound_to
from rehead.checkpoint import checkpoint as kept_in
from rehead.files import persist
from rehead.files.schema import check_fields
from rehead.fitted import FittedGaussians
from rehead.fittedfile import CLASSIFIER, check_params
from rehead.gaussian import NoiseModel, group_by_class
from rehead.gaussian.options import (
    DEFAULT,
    OPTIONS,
    FeatureMap,
    LabelsFrom,
    Start,
    name_estimator,
    resolve_options,
)
from rehead.gaussian.shrinkage import Shrinkage
from rehead.gaussian.tasks import run_on
from rehead.gaussian.threads import own_threads
from rehead.trusted import fit_with_trusted
from rehead.verdicts import LabelVerdicts


class RobustGaussianClassifier(ClassifierMixin, BaseEstimator):
    """Class Gaussians with a tied covariance, estimated so that wrong labels do little harm.

    Parameters
    ----------
    estimator : str, optional
        How means and covariance are estimated. Default: "auto". An option below that the estimator
        does not use is an error, which names the estimators that do.

        - "auto": the library's choice: "anchored", on a map of the features and with logistic
          regression as a second opinion, where the labels show that this is better;
        - "anchored": samples weighted by the probability that their label is right, the noise
          measured at the surest samples of each class; adapts to any amount of noise, and costs
          next to nothing on clean labels; posteriors are calibrated leave-one-out;
        - "agreement": samples whose leave-one-out prediction is their label;
        - "mixture": all samples, each counted for the classes that it may belong to; noise and
          Gaussians are fitted together by expectation-maximisation;
        - "mcd": the paper's RoG: in each class the samples whose covariance has the smallest
          determinant (Algorithm 1), then one covariance for all classes;
        - "posterior": in each class the samples whose label has the highest posterior under
          estimates that did not see them; finds wrong labels that distances do not;
        - "sample": all samples (equation 1), linear discriminant analysis, not robust;
        - "identity": sample means, covariance I; "lts": least trimmed squares means,
          covariance I (the ablation of figure 2a);
        - "trimmed-kmeans": the clustering baseline of table 8.
    preset : {"paper", "authors"}, optional
        All settings at once: Algorithm 1 as printed, or the variant of the paper's released code
        (70 % of each class, one selection step by a shared covariance). A preset together with any
        other argument but ``random_state`` is an error.
    support_fraction : float in (0, 1], optional
        Share of each class that is kept. Default: for "posterior" 0.5, otherwise the paper's
        ``floor((N_c + d + 1) / 2)`` samples; a larger share wastes fewer clean ones.
    max_steps : int, optional
        Rounds of estimating and selecting. Default 2, as in the paper; 3 for "posterior", 5 for
        "agreement", 20 for "mixture"; 8 for "anchored", with trust and with sharper trust.
    n_starts : int, optional
        Random starts of each class's MCD (default 1); the smallest determinant wins.
    start : {"random", "deterministic", "pooled"}, optional
        First subset of the MCD. Default "random", as in the paper. "deterministic": the starts of
        DetMCD, slower and less easily misled by wrong labels that form a cluster. "pooled": first
        distances use one covariance, better where classes have few samples for the features.
    leave_one_out : bool, optional
        Rank samples inside the MCD subset as if they were not in it (default False, as in the
        paper), so that a random start is left. The determinant no longer falls in every step.
    shrinkage : float in [0, 1] or "auto", optional
        Pull covariances towards a multiple of the identity (default 0). "auto": the closed form
        OAS. For "anchored" the default is "auto", and chooses by the likelihood of labels.
    priors : {"uniform", "empirical"} or array of shape (n_classes,), optional
        How common the classes are among the samples that are to be predicted. "empirical": as among
        the training samples; "auto", "anchored" and "mixture" take the noise out of these shares,
        and it is their default. The others count the samples that they keep, and their default is
        "uniform", as in the paper. Labels are judged by the shares of the training samples
        wherever the noise is measured, whatever the priors are.
    feature_map : {"auto", "none", "kernel"}, optional
        Whether features are mapped first. "kernel": each row becomes its similarities to landmarks,
        rows that are drawn (Nystroem's map of the Gaussian kernel of standardised features), so
        that boundaries between classes are not straight. "auto", the default of the estimator
        "auto": only where labels become clearly more likely. "none": default of all others.
    labels_from : {"people", "machine"}, optional
        "machine": another classifier made the labels. It is assumed then that classes are clusters,
        which labels only name: nothing tells its errors from the truth. For "auto".
    random_state : int, Generator, RandomState or None
        Seed of random draws.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    covariance_ : array of shape (n_features, n_features)
        Both of the mapped features where a map was taken, as ``coef_`` is:
        ``fitted_.kernel_map(X)``.
    priors_ : array of shape (n_classes,)
        How common the classes are for predictions.
    support_ : boolean array of shape (n_samples,)
        The training rows that were kept.
    trust_ : array of shape (n_samples,)
        How much each training label counts, from 0 to 1 (with sample weights, up to its weight).
        By the probability that it is right, or less, where the noise was measured
        (:func:`rehead.score_labels` has the probability). Otherwise 1 for what was kept.
    noise_ : NoiseModel or None
        What was found out about the noise. ``wrong``: share of labels that are wrong, or too hard
        to tell. ``transition``: T. ``rate``: share by T; ``rate_error``: its counting error only.
    n_iter_ : array of shape (n_classes,)
        Selection steps done for each class; 0 where there was nothing to trim.
    log_det_ : float
        Log determinant of the tied covariance.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,)
        The posterior is ``softmax(X @ coef_.T + intercept_)``, X mapped where a map was taken.
    fitted_ : FittedGaussians
        All that was learned, as one value; what is above is read off it.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    float32 features are worked on in float32 (float64 where the covariance asks for it, with a
    warning), in as many threads as BLAS may use (``OMP_NUM_THREADS``, or threadpoolctl). On one
    machine, results repeat to the last bit for the same ``random_state``, whatever the threads.

    References
    ----------
    Lee et al., "Robust Inference via Generative Classifiers for Handling Noisy Labels", ICML 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.normal(size=(400, 2)) + 4 * y[:, None]
    >>> noisy = np.where(rng.random(400) < 0.3, 1 - y, y)
    >>> clf = RobustGaussianClassifier(random_state=0).fit(X, noisy)
    >>> float(clf.score(X, y)) > 0.99
    True
    >>> bool(0.25 < clf.noise_.rate < 0.35)
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
        start: Start | None = None,
        leave_one_out: bool | None = None,
        shrinkage: Shrinkage | None = None,
        priors: str | Array | None = None,
        feature_map: FeatureMap | None = None,
        labels_from: LabelsFrom | None = None,
        random_state: Any = None,
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

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        trusted: Any = None,
        executor: Any = None,
        uncorrected: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Estimate the class Gaussians from features and labels, some of which are wrong.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            numpy, pandas, polars; or features on disk: ``FeatureStore(path).rows(layer)``.
        y : array-like of shape (n_samples,)
            Numbers or strings.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each sample counts.
        trusted : boolean array-like of shape (n_samples,), optional
            Samples whose label is known to be right, drawn at random: 20 or more of them choose how
            "auto" fits. Or, for each sample, "random", "chosen" (checked because it looked wrong:
            right, but it chooses nothing), "suggested" (a model changed it: not trusted, but it may
            differ from ``uncorrected``) or "". None that is trusted is trimmed.
        executor : concurrent.futures.Executor, optional
            Who works on features on disk. Default: threads. Results are the same to the last bit.
        uncorrected : array-like of shape (n_samples,), optional
            Labels before some were put right, or "suggested": the noise is read off these.
        checkpoint : path, optional
            Folder from which the same fit goes on after a kill: :func:`rehead.scale.checkpoint`.

        Returns
        -------
        self
        """
        choice = resolve_options(
            self.estimator, self.preset, {name: getattr(self, name) for name in OPTIONS}
        )
        known = {"trusted": trusted, "uncorrected": uncorrected}
        check.check_aligned(X, y=y, sample_weight=sample_weight, **known)
        checked = copy.copy(self)  # self is not changed before all has gone well
        X = check.check_features(checked, X, reset=True)
        classes, codes = check.small_codes(check.check_labels(y, len(X)))
        weights = check.check_weights(sample_weight, X, codes, classes)
        data = group_by_class(X, codes, len(classes), weights=weights)
        data = data.with_known(check.check_known(trusted, uncorrected, codes, classes))
        rng = check.generator_from(self.random_state)
        given = {"labels": [classes, codes, weights, *data.known], "features": X}
        with run_on(executor), kept_in(checkpoint), bound_to(self.get_params(), given, rng):
            fitted = fit_with_trusted(data, classes, choice, rng)
        for note in fitted.notes:
            warn(note)
        return self._adopt(fitted, getattr(checked, "feature_names_in_", None))

    @classmethod
    def from_fitted(
        cls, fitted: FittedGaussians, feature_names: Array | None = None, **params: Any
    ) -> Self:
        """A classifier around what was fitted elsewhere; ``params`` say how that was done."""
        return cls(**params)._adopt(fitted, feature_names)

    @own_threads()
    def _adopt(self, fitted: FittedGaussians, feature_names: Array | None = None) -> Self:
        g, dtype = fitted.gaussians, fitted.dtype
        self.fitted_ = fitted
        self.n_features_in_ = fitted.n_features
        if feature_names is not None:
            self.feature_names_in_ = feature_names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.classes_ = fitted.classes
        self.support_, self.trust_, self.n_iter_ = fitted.support, fitted.trust, fitted.n_iter
        self.noise_: NoiseModel | None = fitted.noise
        self.means_, self.covariance_ = g.means.astype(dtype), g.covariance.astype(dtype)
        self.priors_, self.log_det_ = g.priors, g.factor.log_det
        self.coef_ = g.slopes.astype(dtype)
        self.intercept_ = (g.bias - g.slopes @ g.centre).astype(dtype)
        return self

    def explain(self) -> str:
        """What was found out about the labels, in words."""
        said = self._known().explain()
        return " ".join(filter(None, [self._explain_labels(), said]))

    def _explain_labels(self) -> str:
        kept = f"{self.support_.sum()} of {len(self.support_)} samples count"
        if self.noise_ is None:
            # Only a member of a consensus says "auto" and has measured none.
            member = self.preset is None and self.estimator in (None, DEFAULT)
            who = "the ensemble it belongs to did" if member else "estimator='auto' does"
            return f"{kept}; it did not measure the noise ({who})."
        rounds = int(self.n_iter_.max())
        return f"{self.noise_.verdict()} {kept} for more than half, after {rounds} rounds."

    def decision_function(self, X: Any) -> Array:
        """Discriminant scores: the log posterior up to a term that all classes share.

        With two classes, the log odds of the second one, of shape (n_samples,).
        """
        scores = self._known().scores(self._checked(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class with the highest posterior."""
        labels: Array = self._known().classes[self.fitted_.best(self._checked(X))]
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities of the classes, in the order of ``classes_``."""
        return self._known().posterior(self._checked(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the posterior probabilities."""
        return self._known().log_posterior(self._checked(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy: the share of these labels that is predicted."""
        labels = check.check_labels(y, self.count_samples(X))
        return float(super().score(X, labels, sample_weight))

    def score_samples(self, X: Any) -> Array:
        """Log density of each sample under the mixture of all classes: low for outliers.

        With a map it is no density of the features, but can be compared all the same.
        """
        return self._known().log_density(self._checked(X))

    # What an audit asks of a model: rehead.audit.protocol.

    def count_samples(self, X: Any) -> int:
        """How many samples there are; layers where features belong are an error."""
        if isinstance(X, Mapping):
            raise ValueError(
                f"The model was fitted on one array of features, got a dict of {list(X)}. Pass the "
                "features themselves, or fit a LayerEnsemble."
            )
        return check.count_rows(X)

    def inputs_of(self, layers: Mapping[str, Any]) -> Any:
        """What the model takes of features by layer name: those of the only layer."""
        if len(layers) != 1:
            raise ValueError(
                "The model was fitted on one array of features, and there are several: "
                f"{list(layers)}. Give a file with one of them."
            )
        return next(iter(layers.values()))

    def column_names(self, layer: str) -> Array | None:
        """The names of the columns that it was fitted on, where they had any."""
        names: Array | None = getattr(self, "feature_names_in_", None)
        return names

    def check_inputs(self, X: Any) -> None:
        """Raise if some of the features cannot be used, and say which."""
        self._checked(X)

    def judge_labels(self, X: Any, codes: Array, leave_out: Array) -> LabelVerdicts:
        """Judge labels (codes of ``classes_``) by estimates that leave the row itself out.

        ``leave_out`` is a mask of the rows for which that is wanted; those that the model was not
        fitted on are judged as new ones in any case.
        """
        return self._known().verdicts(self._checked(X), codes, leave_out)

    def judge_typicality(self, X: Any, codes: Array | None = None) -> Array | None:
        """How usual samples are, as p-values; None where the model does not know what is usual."""
        return self._known().typicality(self._checked(X), codes)

    def judging_space(self, X: Any) -> Array:
        """Samples in the space where Euclidean distances are those that labels are judged by."""
        return self._known().whitened(self._checked(X))

    def _known(self) -> FittedGaussians:
        check_is_fitted(self)
        return self.fitted_

    def _checked(self, X: Any) -> Features:
        check_is_fitted(self)
        return check.check_features(self, X, reset=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file: safetensors with a JSON header, never pickle.

        The file appears whole or not at all.
        """
        arrays, settings = self._known().to_state()
        settings["params"] = persist.params_to_json(self.get_params(deep=False))
        names = getattr(self, "feature_names_in_", None)
        settings["feature_names"] = None if names is None else names.tolist()
        self.from_state(arrays, settings)  # what is written can be read
        persist.write_model(path, type(self).__name__, arrays, settings)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote. Predictions are the same to the last bit.

        Raises
        ------
        rehead.files.persist.ModelFileError
            If the file is damaged, of another kind, or of a newer version.
        """
        return persist.load_model(path, cls.__name__, cls.from_state)

    @classmethod
    def from_state(cls, arrays: dict[str, Array], settings: dict[str, Any]) -> Self:
        """From the arrays and the settings of a file; each field is checked."""
        own = {name: settings[name] for name in settings.keys() & CLASSIFIER.keys()}
        learned = {name: value for name, value in settings.items() if name not in CLASSIFIER}
        fitted = FittedGaussians.from_state(arrays, learned)
        check_fields(own, CLASSIFIER, {"d": fitted.n_features})
        params = name_estimator(own["params"], measured=fitted.noise is not None)
        check_params(params, cls().get_params(deep=False), fitted.classes)
        names = own["feature_names"]
        return cls.from_fitted(fitted, np.array(names, dtype=object) if names else None, **params)
