"""RobustHead: a trained network with a new head."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

from sklearn.exceptions import NotFittedError
from torch import nn

from rehead._typing import Array
from rehead._validation import known_codes
from rehead._values import is_real
from rehead._warnings import warn
from rehead.audit import LabelReport, Neighbours
from rehead.audit import abstention as abstaining
from rehead.audit.abstention import Abstention
from rehead.audit.outliers import typicality
from rehead.ensemble import LayerEnsemble
from rehead.evaluation.baselines import check_baselines
from rehead.evaluation.comparison import Comparison, compare_ensemble
from rehead.evaluation.outputs import check_class_names
from rehead.torch.batches import Keys, check_keys
from rehead.torch.extracted import Features
from rehead.torch.features import Wanted, extract
from rehead.torch.fitting import (
    FittedHead,
    Plan,
    Samples,
    check_validation,
    find_outputs,
    fit_head,
    hidden_layers,
    wants_softmax,
)
from rehead.torch.headfile import SavedHead, Settings
from rehead.torch.module import RobustModule, robust_module
from rehead.torch.outputs import class_names_of
from rehead.torch.pooling import Pool
from rehead.torch.running import Pooling
from rehead.torch.taps import Layers, resolve_taps, unwrap
from rehead.torch.weights import KnownWeights


class RobustHead:
    """A robust generative classifier on the hidden layers of a trained network.

    The network is not trained again, and not changed. One pass over the training data extracts the
    features, then each layer gets its Gaussians and the layers their weights.

    Parameters
    ----------
    net : nn.Module
        Trained on noisy labels. Any device.
    layers : "auto", "hidden", name, list of names, or mapping
        See :func:`extract_features`. "auto" takes the earliest hidden layer, the last blocks of the
        last stages, the input of the last linear layer and, for the default estimator, a witness
        that cannot have memorised labels: the raw input in a coarse form. ``layers_`` says which
        were taken. "hidden" leaves the witness out.
    estimator : str, optional
        See :class:`rehead.RobustGaussianClassifier`.
    pool : optional
        See :func:`extract_features`.
    softmax : bool, optional
        Make the network's own softmax a member of the ensemble, weighted like a layer. By default
        it is one where the estimator is "auto", it is clear which output is which class, and
        ``fit`` is given validation samples: it knows the labels it was trained on by heart.
    class_names : sequence, optional
        The label of each output of the network, in the order of the outputs. By default labels
        that are whole numbers are the numbers of the outputs; names are those of a Hugging Face
        configuration (``id2label``), or the outputs in sorted order. The labels, though
        noisy, must agree with that. Where they do not, the softmax is left out with a warning.
    keys : mapping, optional
        Entries of batches that are dicts; see :func:`extract_features`.
    **options
        Of :class:`rehead.LayerEnsemble`: ``preset``, ``labels_from``, ``random_state``, ...

    Attributes
    ----------
    layers_, classes_ : list of str, array
    ensemble_ : LayerEnsemble
        The numpy twin: the same predictions from extracted features.
    baselines_ : dict of name to LayerEnsemble
        Other ways to predict from the same hidden layers, as named in ``fit(baselines=...)``.
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
        class_names: Sequence[Any] | None = None,
        keys: Keys | None = None,
        **options: Any,
    ) -> None:
        self.net = net
        self.layers = layers
        self.pool = pool
        self.softmax = softmax
        self.class_names = check_class_names(class_names)
        self.keys = keys
        check_keys(keys)
        if "given" in options:
            raise ValueError("given= is for LayerEnsemble; here, softmax=True adds the softmax.")
        self.ensemble = LayerEnsemble(estimator, **options)  # settings; fit makes another one

    def fit(
        self,
        train: Any,
        validation: Any = None,
        *,
        trusted: Any = None,
        uncorrected: Any = None,
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
        train : loader or data set of (x, y) or (x, y, id)
            The data the network was trained on, with their noisy labels, without augmentation.
        validation : loader or data set, optional
            Samples the network was *not* trained on, with labels as noisy, for the weights of the
            layers, and to tell which layers memorised the training labels.
        trusted : mask, or "random", "chosen", "suggested" or "" for each sample, optional
            Training samples whose label is known to be right, as for :class:`rehead.LayerEnsemble`.
        uncorrected : array-like, optional
            Training labels before some were put right, as for :class:`rehead.LayerEnsemble`.
        groups : array-like, optional
            Which training samples belong together (frames of a film), in the order of the data set.
            Without ``validation``, a group is held out as a whole or not at all.
        baselines : sequence of str, optional
            Presets ("paper", "authors") or estimators ("sample", ...) to fit on the hidden layers
            as well, for :meth:`compare`.
        store : path, optional
            Keep the training features there; a killed run continues from it, and a second
            fit uses them again. Other data, layers or another network are a ``StoreError``.
        progress : bool, optional
            Show progress bars. Default: in a terminal.
        """
        self.ensemble.check_settings()
        baselines = baselines or ()
        check_baselines(baselines)
        check_validation(train, validation)
        names: Layers | str = self.layers
        if self.layers == "auto" and not self.ensemble.finds_consensus:
            names = "hidden"  # the paper has no witness
        wanted = Wanted(names, self.pool, self.keys)
        features = extract(self.net, train, wanted, store=store, progress=progress)
        check_baselines(baselines, hidden_layers(features))
        taps = list(features.layers) if isinstance(self.layers, str) else self.layers
        held_out = None
        if validation is not None:
            wanted = wanted._replace(layers=taps, n_outputs=features.n_outputs)
            held_out = extract(self.net, validation, wanted, progress=progress)
        samples = Samples(features, held_out, trusted, groups, uncorrected)
        softmax = wants_softmax(self.softmax, self.ensemble, samples)
        names_of_outputs = self._class_names(features.labels_for("training"))
        read_as = find_outputs(samples, names_of_outputs, wanted=softmax)
        fitted = fit_head(self.ensemble, samples, Plan(taps, read_as, softmax, baselines))
        return self._adopt(fitted, KnownWeights(unwrap(self.net)))

    def _class_names(self, classes: Array) -> list[Any] | None:
        return self.class_names or class_names_of(unwrap(self.net), classes)

    def _adopt(self, fitted: FittedHead, weights: KnownWeights) -> Self:
        """What was fitted, all at once: a fit that fails leaves nothing behind."""
        self._fitted, self._weights = fitted, weights
        self.ensemble_, self.baselines_ = fitted.ensemble, fitted.baselines
        self.report_ = fitted.report
        self.classes_ = fitted.ensemble.classes_
        given = fitted.ensemble.inputs_.given
        self.layers_ = [name for name in fitted.ensemble.layers_ if name not in given]
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
        features = self._extract(loader, progress)
        labels = features.labels_for("test")
        known_codes(labels, self.classes_)
        return float((self.ensemble_.predict(self.ensemble_inputs(features)) == labels).mean())

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
        """The lowest confidence at which predictions keep a promised error.

        It is proved on held-out samples. They were drawn at random and their labels checked
        (``checked=True``), or it is known how their labels go wrong (``transition=``). ``options``
        are those of :func:`rehead.abstention_threshold`.
        """
        self._check_fitted()
        abstaining.check_vouched(options)
        features = self._extract(loader, progress)
        inputs = self.ensemble_inputs(features)
        return abstaining.abstention_threshold(
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
        return abstaining.predict_or_abstain(self.ensemble_, features, threshold, abstain)

    def compare(self, loader: Any, *, progress: bool | None = None) -> Comparison:
        """Softmax and the baselines of ``fit`` beside the head, on samples with (clean) labels.

        Returns
        -------
        Comparison
            Accuracy, negative log likelihood and calibration error; ``print`` shows the table.
        """
        features = self._extract(loader, progress)
        labels = features.labels_for("test")
        return compare_ensemble(
            self.ensemble_,
            self.ensemble_inputs(features),
            labels,
            features.outputs,
            self.baselines_,
            class_names=self._class_names(self.classes_),
            read_as=self._fitted.read_as,
        )

    def find_mislabelled(self, loader: Any = None, *, progress: bool | None = None) -> Array:
        """Ids of samples whose label is probably wrong, worst first.

        Of the training samples, or of those of a loader. They are named by the ids of the loader,
        or by their place in the data set.
        """
        self._check_fitted()
        report = self.report_ if loader is None else self.score_labels(loader, progress=progress)
        return report.mislabelled()

    def score_labels(self, loader: Any, *, progress: bool | None = None) -> LabelReport:
        """Judge the labels of other samples; those of the training samples are in ``report_``."""
        features = self._extract(loader, progress)
        return self._fitted.report_of(features, "audited")

    def neighbours(
        self, which: Any, train: Any = None, k: int = 5, *, progress: bool | None = None
    ) -> Neighbours:
        """The nearest training samples whose labels differ from those in question.

        Parameters
        ----------
        which : id or sequence of ids
            As :meth:`find_mislabelled` names them.
        train : loader
            The training data again, in the same order: features are not kept.
        k : int, default=5
            How many neighbours.
        """
        self._check_fitted()
        if train is None or is_real(train):
            raise ValueError(
                "Features are not kept: pass the training data again, head.neighbours(ids, train)."
            )
        features = self._features_of(train, progress)
        return self.report_.neighbours(which, features, k)

    def explain(self) -> str:
        """What was found out about layers and labels, and how the members are weighted."""
        self._check_fitted()
        return self.ensemble_.explain()

    def to_module(self) -> RobustModule:
        """Backbone and new head as one ``nn.Module``, for ``torch.export`` and ONNX.

        It returns log probabilities of the classes in the order of ``classes_``. The network is
        shared, and in evaluation mode afterwards, as the module is; a module that shares nothing is
        ``copy.deepcopy(head.to_module())``.
        """
        self._check_fitted()
        self._check_weights()
        inner = unwrap(self.net)
        taps = resolve_taps(inner, self._fitted.taps)
        pooling = Pooling.of(inner, taps, self.pool)
        return robust_module(inner, taps, pooling, self.ensemble_.fitted_, self._fitted.read_as)

    def ensemble_inputs(self, features: Features) -> Mapping[str, Array]:
        """What ``ensemble_`` takes, from features that were extracted with ``layers_``.

        The layers, and the network's own softmax where it is a member.
        """
        self._check_fitted()
        return self._fitted.inputs(features)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the head, without the network, to one file; no pickle.

        Raises
        ------
        TypeError
            If layers or pooling are functions, or ids are neither numbers nor text: a file cannot
            hold them.
        """
        self._check_fitted()
        settings = Settings(self.layers, self.pool, self.softmax, self.class_names, self.keys)
        SavedHead(self._fitted, settings, self._weights.fingerprint).write(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], net: nn.Module) -> Self:
        """Read a head that :meth:`save` wrote, for the network it was made for.

        Raises
        ------
        rehead.files.persist.ModelFileError
            If the file is damaged or of another kind, or the network has other weights.
        """
        saved = SavedHead.read(path)
        weights = KnownWeights(unwrap(net))
        saved.check_network(path, unwrap(net), weights)
        self = cls(net, **saved.settings._asdict())
        ensemble = saved.fitted.ensemble
        self.ensemble.set_params(**{**ensemble.get_params(deep=False), "given": None})
        return self._adopt(saved.fitted, weights)

    def _check_fitted(self) -> None:
        if not hasattr(self, "ensemble_"):
            raise NotFittedError("This RobustHead is not fitted yet. Call fit first.")

    def _check_weights(self) -> None:
        if not self._weights.are_those_of(unwrap(self.net)):
            warn(
                "The network's weights have changed since the head was fitted, and its features "
                "with them. Fit the head again, or load the weights that it was fitted for."
            )

    def _extract(self, loader: Any, progress: bool | None) -> Features:
        """Features of other samples, as those of the fit were taken."""
        self._check_fitted()
        self._check_weights()
        fitted = self._fitted
        wanted = Wanted(fitted.taps, self.pool, self.keys, fitted.n_outputs)
        return extract(self.net, loader, wanted, progress=progress)

    def _features_of(self, loader: Any, progress: bool | None) -> Mapping[str, Array]:
        return self.ensemble_inputs(self._extract(loader, progress))
