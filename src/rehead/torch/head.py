"""RobustHead: a trained network with a new head."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from torch import nn

from rehead._typing import Array
from rehead.audit import LabelReport, Neighbours, score_labels
from rehead.audit.abstention import Abstention, abstention_threshold, predict_or_abstain
from rehead.audit.outliers import typicality
from rehead.ensemble import LayerEnsemble
from rehead.evaluation.baselines import check_baselines, fit_baselines
from rehead.evaluation.comparison import (
    SOFTMAX,
    Comparison,
    columns_of_classes,
    compare_ensemble,
    own_softmax,
)
from rehead.files.persist import ModelFileError
from rehead.torch.features import Features, extract_features, network_fingerprint, pooling, pools_of
from rehead.torch.headfile import SavedHead
from rehead.torch.module import RobustModule
from rehead.torch.pooling import Pool
from rehead.torch.taps import INPUT, Layers, resolve_taps, unwrap


class RobustHead:
    """A robust generative classifier on the hidden layers of a trained network.

    The network is not trained again, and not changed. One pass over the training data extracts the
    features, then each layer gets its Gaussians and the layers their weights.

    Parameters
    ----------
    net : nn.Module
        Trained on noisy labels. Any device.
    layers : "auto", list of names, or mapping
        See :func:`extract_features`. "auto" takes the earliest hidden layer, the last blocks of the
        last stages, the input of the last linear layer and, for the default estimator, a witness
        that cannot have memorised labels: the raw input in a coarse form; ``layers_`` tells which.
        "hidden" leaves the witness out.
    estimator : str, optional
        See :class:`rehead.RobustGaussianClassifier`.
    pool : optional
        See :func:`extract_features`.
    softmax : bool, optional
        Make the network's own softmax a member of the ensemble, weighted like a layer. By default
        it is one where the estimator is "auto", the network's outputs are the classes, and ``fit``
        is given validation samples: labels that it was trained on it knows by heart.
    **options
        Of :class:`rehead.LayerEnsemble`: ``preset``, ``shrinkage``, ``random_state``, ...

    Attributes
    ----------
    layers_, classes_ : list of str, array
    ensemble_ : LayerEnsemble
        The numpy twin: the same predictions from extracted features.
    baselines_ : dict of name to LayerEnsemble
        Other ways to predict from the same hidden layers, where ``fit`` was asked for them.
    report_ : LabelReport
        The training labels, judged; ``report_.ids`` names the samples.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from rehead.torch import RobustHead
    >>> _ = torch.manual_seed(0)
    >>> y = torch.arange(200) % 2
    >>> x = torch.randn(200, 5) + 3 * y[:, None]
    >>> net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> train, held_out = (x[:150], y[:150]), (x[150:], y[150:])
    >>> head = RobustHead(net, random_state=0).fit(train, validation=held_out)
    >>> head.layers_
    ['input', '2.input']
    >>> head.predict_proba(x[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        net: nn.Module,
        layers: Layers | str = "auto",
        estimator: str | None = None,
        *,
        pool: Pool | Mapping[str, Pool] = "mean",
        softmax: bool | None = None,
        **options: Any,
    ) -> None:
        self.net = net
        self.layers = layers
        self.pool = pool
        self.softmax = softmax
        if "given" in options:
            raise ValueError("given= is for LayerEnsemble; here, softmax=True adds the softmax.")
        self.ensemble = LayerEnsemble(estimator, **options)  # settings; fit makes another one

    def fit(
        self,
        train: Any,
        validation: Any = None,
        *,
        trusted: Any = None,
        groups: Any = None,
        baselines: Sequence[str] | None = None,
        store: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
    ) -> Self:
        """Extract the features of the training data and estimate the head.

        Features are not kept, so the training labels are judged here too (``report_``). That
        costs a small part of what the fit does (docs/benchmarks.md has the figure).

        Parameters
        ----------
        train : loader of (x, y) or (x, y, id)
            The data the network was trained on, with their noisy labels, without augmentation.
        validation : loader, optional
            Samples the network was *not* trained on, with labels as noisy, for the weights of the
            layers, and to tell which layers memorised the training labels.
        trusted : boolean array-like, optional
            Training samples whose label is known to be right, in the order of the data set.
        groups : array-like, optional
            Which training samples belong together (frames of a film), in the order of the data set.
            Without ``validation``, a group is held out as a whole or not at all.
        baselines : sequence of str, optional
            Presets ("paper", "authors") or estimators ("sample", ...) to fit on the hidden layers
            as well, for :meth:`compare`.
        store : path, optional
            Keep the training features there; a run that was killed goes on from it.
        progress : bool, optional
            Show progress bars. Default: in a terminal.
        """
        baselines = baselines or ()
        check_baselines(baselines)
        names: Layers | str = self.layers
        if self.layers == "auto" and not self.ensemble.finds_consensus:
            names = "hidden"  # the paper has no witness
        features = self._extract(train, names, store, progress)
        labels = features.labels_for("training")
        hidden = [name for name in features.layers if name != INPUT]
        check_baselines(baselines, hidden)
        softmax = self._takes_softmax(features, np.unique(labels), validation is not None)
        taps = list(features.layers) if isinstance(self.layers, str) else self.layers
        inputs = _inputs(features, labels, softmax)
        held_out = None
        if validation is not None:
            of_validation = self._extract(validation, taps, None, progress)
            named = not (features.numbered or of_validation.numbered)
            held_out = (
                _inputs(of_validation, labels, softmax),
                of_validation.labels_for("validation"),
                of_validation.ids if named else None,
            )
        ensemble = LayerEnsemble(**self.ensemble.get_params(deep=False))
        ensemble.set_params(given=[SOFTMAX] if softmax else None)
        ensemble.fit(inputs, labels, held_out, ids=features.ids, trusted=trusted, groups=groups)
        others = fit_baselines(
            baselines,
            {name: inputs[name] for name in hidden},
            labels,
            held_out,
            ensemble.random_state,
            trusted,
        )
        report = _report_of(ensemble, features, inputs, labels)
        return self._adopt(ensemble, others, report, taps)

    def _takes_softmax(self, features: Features, classes: Array, held_out: bool) -> bool:
        """Whether the network's own softmax is to be a member."""
        known = columns_of_classes(features.outputs.shape[1], classes) is not None
        fits = self.ensemble.finds_consensus and known and held_out
        wanted = fits if self.softmax is None else self.softmax
        if wanted and SOFTMAX in features.layers:
            raise ValueError(
                f"A layer is called {SOFTMAX!r}, and so is the network's own softmax, which is a "
                f"member too. Rename the layer, {{'name': {SOFTMAX!r}}}, or pass softmax=False."
            )
        return wanted

    def _adopt(
        self,
        ensemble: LayerEnsemble,
        baselines: dict[str, LayerEnsemble],
        report: LabelReport,
        taps: Layers,
    ) -> Self:
        """What was fitted, all at once: a fit that fails leaves nothing behind."""
        self.ensemble_, self.baselines_, self.report_ = ensemble, baselines, report
        self.classes_ = ensemble.classes_
        self.layers_ = [name for name in ensemble.layers_ if name not in ensemble.inputs_.given]
        self._taps = taps
        self._fingerprint = network_fingerprint(unwrap(self.net))
        return self

    def predict_proba(self, loader: Any, *, progress: bool | None = None) -> Array:
        """Robust posterior of every sample, in the order of the data set."""
        features = self._features_of(loader, progress)
        return self.ensemble_.predict_proba(features)

    def predict(self, loader: Any, *, progress: bool | None = None) -> Array:
        """The class with the highest posterior."""
        features = self._features_of(loader, progress)
        return self.ensemble_.predict(features)

    def score(self, loader: Any, *, progress: bool | None = None) -> float:
        """Accuracy on samples with (clean) labels."""
        self._check_fitted()
        features = self._extract(loader, self._taps, None, progress)
        predicted = self.ensemble_.predict(self._inputs(features))
        return float((predicted == features.labels_for("test")).mean())

    def __repr__(self) -> str:
        net = type(unwrap(self.net)).__name__
        if not hasattr(self, "ensemble_"):
            return f"RobustHead({net}, layers={self.layers!r}), not fitted"
        return f"RobustHead({net}, layers={self.layers_}), fitted: {self.report_!r}"

    def score_samples(self, loader: Any, *, progress: bool | None = None) -> Array:
        """Log density in the penultimate layer: low for samples unlike all classes."""
        features = self._features_of(loader, progress)
        return self.ensemble_.score_samples(features)

    def typicality(self, loader: Any, *, progress: bool | None = None) -> Array:
        """How typical each sample is of the training samples; see :func:`rehead.typicality`."""
        features = self._features_of(loader, progress)
        return typicality(self.ensemble_, features)

    def abstention_threshold(
        self, loader: Any, *, progress: bool | None = None, **options: Any
    ) -> Abstention:
        """The confidence from which on predictions keep a promised error, on held-out samples.

        ``options`` are those of :func:`rehead.abstention_threshold`.
        """
        self._check_fitted()
        features = self._extract(loader, self._taps, None, progress)
        inputs = self._inputs(features)
        return abstention_threshold(
            self.ensemble_, inputs, features.labels_for("held-out"), **options
        )

    def predict_or_abstain(
        self,
        loader: Any,
        threshold: float | Abstention,
        abstain: Any = None,
        *,
        progress: bool | None = None,
    ) -> Array:
        """Predictions that are sure enough; see :func:`rehead.predict_or_abstain`."""
        features = self._features_of(loader, progress)
        return predict_or_abstain(self.ensemble_, features, threshold, abstain)

    def compare(self, loader: Any, *, progress: bool | None = None) -> Comparison:
        """Softmax and the baselines of ``fit`` beside the head, on samples with (clean) labels.

        Returns
        -------
        Comparison
            Accuracy, negative log likelihood and calibration error; ``print`` shows the table.
        """
        self._check_fitted()
        features = self._extract(loader, self._taps, None, progress)
        labels = features.labels_for("test")
        inputs = self._inputs(features)
        return compare_ensemble(self.ensemble_, inputs, labels, features.outputs, self.baselines_)

    def find_mislabelled(self) -> Array:
        """Ids of training samples whose label is probably wrong, worst first.

        Samples are named by the ids of the loader, or by their place in the data set.
        """
        self._check_fitted()
        return self.report_.mislabelled()

    def score_labels(self, loader: Any, *, progress: bool | None = None) -> LabelReport:
        """Judge the labels of other samples; those of the training samples are in ``report_``."""
        self._check_fitted()
        features = self._extract(loader, self._taps, None, progress)
        labels = features.labels_for("audited")
        return _report_of(self.ensemble_, features, self._inputs(features), labels)

    def neighbours(
        self, which: Any, train: Any, k: int = 5, *, progress: bool | None = None
    ) -> Neighbours:
        """The nearest training samples that have other labels than those in question.

        Parameters
        ----------
        which : id or sequence of ids
            As :meth:`find_mislabelled` names them.
        train : loader
            The training data again, in the same order: features are not kept.
        k : int, default=5
            So many neighbours.
        """
        features = self._features_of(train, progress)
        return self.report_.neighbours(which, features, k)

    def explain(self) -> str:
        """What was found out about layers and labels, and how the members are weighted."""
        self._check_fitted()
        return self.ensemble_.explain()

    def to_module(self) -> RobustModule:
        """Backbone and new head as one ``nn.Module``, for ``torch.export`` and ONNX.

        It returns log probabilities of the classes in the order of ``classes_``.
        """
        self._check_fitted()
        inner = unwrap(self.net)
        taps = resolve_taps(inner, self._taps)
        finish = pooling(inner, taps, pools_of(self.pool, taps))
        module = RobustModule(inner, taps, finish, self.ensemble_.fitted_)
        return module.train(inner.training)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the head, without the network, to one file; no pickle.

        Raises
        ------
        TypeError
            If layers or pooling are functions, which a file cannot hold.
        """
        self._check_fitted()
        saved = SavedHead(
            ensemble=self.ensemble_,
            baselines=self.baselines_,
            report=self.report_,
            taps=self._taps,
            layers=self.layers,
            pool=self.pool,
            softmax=self.softmax,
            fingerprint=self._fingerprint,
        )
        saved.write(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], net: nn.Module) -> Self:
        """Read a head that :meth:`save` wrote, for the network it was made for.

        Raises
        ------
        rehead.files.persist.ModelFileError
            If the file is damaged or of another kind, or the network has other weights.
        """
        saved = SavedHead.read(path)
        if saved.fingerprint != network_fingerprint(unwrap(net)):
            raise ModelFileError(
                f"{path} was made for a network with other weights. Load those weights into the "
                "network first, or fit a new head."
            )
        self = cls(net, saved.layers, pool=saved.pool, softmax=saved.softmax)
        self.ensemble.set_params(**{**saved.ensemble.get_params(deep=False), "given": None})
        return self._adopt(saved.ensemble, saved.baselines, saved.report, saved.taps)

    def _check_fitted(self) -> None:
        if not hasattr(self, "ensemble_"):
            raise NotFittedError("This RobustHead is not fitted yet. Call fit first.")

    def _extract(
        self,
        loader: Any,
        layers: Layers | str,
        store: str | os.PathLike[str] | None,
        progress: bool | None,
    ) -> Features:
        return extract_features(
            self.net, loader, layers, pool=self.pool, store=store, progress=progress
        )

    def _features_of(self, loader: Any, progress: bool | None) -> Mapping[str, Array]:
        self._check_fitted()
        return self._inputs(self._extract(loader, self._taps, None, progress))

    def _inputs(self, features: Features) -> Mapping[str, Array]:
        return _inputs(features, self.classes_, SOFTMAX in self.ensemble_.inputs_.given)


def _inputs(features: Features, labels: Array, softmax: bool) -> Mapping[str, Array]:
    """What the ensemble takes: the layers, and the softmax where it is a member."""
    if not softmax:
        return features.layers
    return {**features.layers, SOFTMAX: own_softmax(features.outputs, np.unique(labels))}


def _report_of(
    ensemble: LayerEnsemble, features: Features, inputs: Mapping[str, Array], labels: Array
) -> LabelReport:
    # Ids of a loader may repeat, which an audit of its own would refuse.
    return replace(score_labels(ensemble, inputs, labels), ids=np.array(features.ids))
