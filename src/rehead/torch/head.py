"""RobustHead: a trained network with a new head."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from torch import nn

from rehead._typing import Array
from rehead.audit import LabelReport, Neighbours, score_labels
from rehead.audit.abstention import Abstention, abstention_threshold, predict_or_abstain
from rehead.audit.outliers import typicality
from rehead.ensemble.estimator import LayerEnsemble
from rehead.evaluation.comparison import (
    SOFTMAX,
    Comparison,
    columns_of_classes,
    compare_ensemble,
    own_softmax,
)
from rehead.files import persist
from rehead.torch.features import Features, extract_features, network_fingerprint, pooling, pools_of
from rehead.torch.module import RobustModule
from rehead.torch.pooling import Pool
from rehead.torch.taps import INPUT, Layers, resolve_taps, unwrap

LABELS = ("given", "suggested", "kind", "ids")
"""What a file keeps of the report as text or whole numbers."""


class RobustHead:
    """A robust generative classifier on the hidden layers of a trained network.

    The network is not trained again, and not changed. One pass over the training data extracts the
    features, then each layer gets its Gaussians and the layers their weights.

    Parameters
    ----------
    net : nn.Module
        Trained on noisy labels. Any device.
    layers : "auto", list of names, or mapping
        See :func:`extract_features`. "auto" takes the last blocks of the last stages and the input
        of the last linear layer, and the raw input where that is one vector a sample (it cannot
        have memorised anything); ``layers_`` tells which.
    estimator : str, optional
        See :class:`rehead.RobustGaussianClassifier`.
    pool : optional
        See :func:`extract_features`.
    softmax : bool, optional
        Make the network's own softmax a member of the ensemble, weighted like a layer. By default
        it is one where the estimator is "auto" (and the network's outputs are the classes).
    **options
        Further arguments of :class:`rehead.LayerEnsemble`: ``preset``, ``shrinkage``,
        ``weights``, ``random_state``, ...

    Attributes
    ----------
    layers_ : list of str
    classes_ : array
    ensemble_ : LayerEnsemble
        The numpy twin: the same predictions from extracted features.
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
        self.ensemble = LayerEnsemble(estimator, **options)

    def fit(
        self,
        train: Any,
        validation: Any = None,
        *,
        trusted: Any = None,
        groups: Any = None,
        store: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
    ) -> Self:
        """Extract the features of the training data and estimate the head.

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
        store : path, optional
            Keep the training features there; a run that was killed goes on from it.
        progress : bool, optional
            Show progress bars. Default: in a terminal.
        """
        is_auto = self.ensemble._is_auto()
        names = "auto+input" if is_auto and self.layers == "auto" else self.layers
        features = self._extract(train, names, store, progress)
        self._layers = self.layers if self.layers != "auto" else list(features.layers)
        labels = _labels(features, "training")
        self._softmax = self.softmax
        if self.softmax is None:
            columns = columns_of_classes(features.outputs.shape[1], np.unique(labels))
            self._softmax = is_auto and columns is not None
        self.ensemble.set_params(given=[SOFTMAX] if self._softmax else None)
        held_out = None
        if validation is not None:
            of_validation = self._extract(validation, self._layers, None, progress)
            named = not (features.numbered or of_validation.numbered)
            held_out = (
                self._inputs(of_validation, labels),
                _labels(of_validation, "validation"),
                of_validation.ids if named else None,
            )
        inputs = self._inputs(features, labels)
        self.ensemble_ = self.ensemble.fit(
            inputs, labels, held_out, ids=features.ids, trusted=trusted, groups=groups
        )
        self.classes_ = self.ensemble_.classes_
        self.layers_ = list(features.layers)
        self._rog = self._paper(inputs, labels, held_out) if is_auto else None
        self.report_ = self._judged(features, inputs, labels)
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

    def score_samples(self, loader: Any, *, progress: bool | None = None) -> Array:
        """Log density in the penultimate layer: low for samples unlike all classes."""
        features = self._features_of(loader, progress)
        return self.ensemble_.score_samples(features)

    def typicality(self, loader: Any, *, progress: bool | None = None) -> Array:
        """How typical each sample is of the training samples; see :func:`rehead.typicality`."""
        return typicality(self.ensemble_, self._features_of(loader, progress))

    def abstention_threshold(
        self, loader: Any, *, progress: bool | None = None, **options: Any
    ) -> Abstention:
        """The confidence from which on predictions keep a promised error, on held-out samples.

        ``options`` are those of :func:`rehead.abstention_threshold`.
        """
        self._check_fitted()
        features = self._extract(loader, self._layers, None, progress)
        inputs = self._inputs(features, self.classes_)
        return abstention_threshold(
            self.ensemble_, inputs, _labels(features, "held-out"), **options
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
        """Softmax and the paper's RoG beside robust inference, on samples with (clean) labels.

        RoG is estimated from the same hidden layers when the default is fitted; a head that was
        loaded from a file has none.

        Returns
        -------
        Comparison
            Accuracy, negative log likelihood and calibration error; ``print`` shows the table.
        """
        self._check_fitted()
        features = self._extract(loader, self._layers, None, progress)
        labels = _labels(features, "test")
        inputs = self._inputs(features, self.classes_)
        return compare_ensemble(self.ensemble_, inputs, labels, features.outputs, self._rog)

    def find_mislabelled(self) -> Array:
        """Ids of training samples whose label is probably wrong, worst first.

        Samples are named by the ids of the loader, or by their place in the data set.
        """
        self._check_fitted()
        return self.report_.mislabelled()

    def score_labels(self, loader: Any, *, progress: bool | None = None) -> LabelReport:
        """Judge the labels of other samples; those of the training samples are in ``report_``."""
        self._check_fitted()
        features = self._extract(loader, self._layers, None, progress)
        inputs = self._inputs(features, self.classes_)
        return self._judged(features, inputs, _labels(features, "audited"))

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
        taps = resolve_taps(inner, self._layers)
        finish = pooling(inner, taps, pools_of(self.pool, taps))
        module = RobustModule(inner, taps, finish, self.ensemble_)
        return module.train(inner.training)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the head, without the network, to one file; no pickle.

        Raises
        ------
        TypeError
            If layers or pooling are functions, which a file cannot hold.
        """
        self._check_fitted()
        arrays, ensemble = self.ensemble_._state()
        report = self.report_
        of_report = {
            "quality": report.quality,
            "suggested_probability": report.suggested_probability,
            "typicality": report.typicality,
            "in_sample": report.in_sample,
            "order": report.order,
            "transition": report.transition,
        }
        settings = {
            "ensemble": ensemble,
            "layers": _only_text(self._layers, "layers"),
            "pool": _only_text(self.pool, "pool"),
            "softmax": self._softmax,
            "fingerprint": self._fingerprint,
            "features": self.layers_,
            "noise_rate": report.noise_rate,
            "noise_rate_error": report.noise_rate_error,
            "given": persist.labels_to_json(report.given),
            "suggested": persist.labels_to_json(report.suggested),
            "kind": persist.labels_to_json(report.kind),
            "ids": persist.labels_to_json(np.asarray(report.ids)),
        }
        named = {f"ensemble.{k}": v for k, v in arrays.items()}
        named |= {f"report.{k}": v for k, v in of_report.items()}
        persist.write_model(path, type(self).__name__, named, settings)

    @classmethod
    def load(cls, path: str | os.PathLike[str], net: nn.Module) -> Self:
        """Read a head that :meth:`save` wrote, for the network it was made for.

        Raises
        ------
        rehead.files.persist.ModelFileError
            If the file is damaged or of another kind, or the network has other weights.
        """
        arrays, settings = persist.read_model(path, cls.__name__)
        if settings["fingerprint"] != network_fingerprint(unwrap(net)):
            raise persist.ModelFileError(
                f"{path} was made for a network with other weights. Load those weights into the "
                "network first, or fit a new head."
            )

        def part(prefix: str) -> dict[str, Array]:
            return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

        self = cls(net, settings["layers"], pool=settings["pool"], softmax=settings["softmax"])
        self._softmax, self._rog = settings["softmax"], None
        self.ensemble_ = LayerEnsemble._from_state(part("ensemble."), settings["ensemble"])
        self.ensemble = self.ensemble_
        self.classes_, self.layers_ = self.ensemble_.classes_, settings["features"]
        self._layers, self._fingerprint = settings["layers"], settings["fingerprint"]
        labels = {k: persist.labels_from_json(settings[k]) for k in LABELS}
        fields: dict[str, Any] = {k: settings[k] for k in ("noise_rate", "noise_rate_error")}
        fields |= part("report.") | labels
        self.report_ = LabelReport(**fields, classes=self.classes_, model=self.ensemble_)
        return self

    def _judged(self, features: Features, inputs: Mapping[str, Array], y: Array) -> LabelReport:
        # Ids of a loader may repeat, which an audit of its own would refuse.
        report = score_labels(self.ensemble_, inputs, y)
        return replace(report, ids=np.array(features.ids))

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
        return self._inputs(self._extract(loader, self._layers, None, progress), self.classes_)

    def _paper(self, inputs: Any, labels: Array, held_out: Any) -> LayerEnsemble | None:
        """RoG of the hidden layers, to compare with."""
        hidden = [name for name in inputs if name not in (INPUT, SOFTMAX)]
        if not hidden:
            return None
        if held_out is not None:
            held_out = ({name: held_out[0][name] for name in hidden}, held_out[1])
        rog = LayerEnsemble(preset="paper", random_state=self.ensemble.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it cannot trim is not the user's concern here
            return rog.fit({name: inputs[name] for name in hidden}, labels, held_out)

    def _inputs(self, features: Features, labels: Array) -> Mapping[str, Array]:
        """What the ensemble takes: the layers, and the softmax where it is a member."""
        if not self._softmax:
            return features.layers
        softmax = own_softmax(features.outputs, np.unique(labels))
        return {**features.layers, SOFTMAX: softmax}


def _labels(features: Features, what: str) -> Array:
    if features.labels is None:
        raise ValueError(
            f"The {what} loader gives no labels. Its batches must be (x, y), (x, y, id) or dicts "
            "with 'labels'."
        )
    return features.labels


def _only_text(value: Any, what: str) -> Any:
    """Names as JSON can hold them; functions cannot be saved."""
    parts = (
        value.values()
        if isinstance(value, Mapping)
        else [value]
        if isinstance(value, str)
        else value
    )
    if callable(value) or not all(isinstance(p, str) for p in parts):
        raise TypeError(
            f"{what} holds functions or networks, which cannot be saved to a file. Save "
            "head.ensemble_ instead, and extract the features yourself."
        )
    return dict(value) if isinstance(value, Mapping) else value
