"""From extracted features to a fitted head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rehead import _validation as check
from rehead._typing import Array
from rehead._values import is_real
from rehead.audit import LabelReport, score_labels
from rehead.ensemble import LayerEnsemble
from rehead.evaluation.baselines import fit_baselines
from rehead.evaluation.comparison import SOFTMAX
from rehead.evaluation.outputs import ClassOutputs, match_outputs, read_outputs_as
from rehead.torch.extracted import Features
from rehead.torch.taps import INPUT, Layers


class Samples(NamedTuple):
    """What a head is fitted on: features of training and held-out samples, and what is known."""

    train: Features
    held_out: Features | None
    trusted: Any = None
    groups: Any = None
    uncorrected: Any = None


class Plan(NamedTuple):
    """What a fit is to do.

    ``taps`` are the layers that features were taken from, ``read_as`` tells how the network's
    outputs are read, where that is clear, ``softmax`` whether they are to be a member then.
    """

    taps: Layers
    read_as: ClassOutputs | None
    softmax: bool
    baselines: Sequence[str]


class FittedHead(NamedTuple):
    """What a fit makes.

    ``taps`` are the layers that features are taken from, ``n_outputs`` the width of the network's
    logits, and ``read_as`` tells which of them is which class, where that is clear.
    """

    ensemble: LayerEnsemble
    baselines: dict[str, LayerEnsemble]
    report: LabelReport
    taps: Layers
    n_outputs: int | None
    read_as: ClassOutputs | None

    @property
    def takes_softmax(self) -> bool:
        """Whether the network's own softmax is a member."""
        return SOFTMAX in self.ensemble.inputs_.given

    def inputs(self, features: Features) -> Mapping[str, Array]:
        """What the ensemble takes: the layers, and the softmax where it is a member."""
        read_as = self.read_as
        if self.takes_softmax and read_as is None:  # of an earlier file
            read_as = ClassOutputs.of_earlier(features.n_outputs, self.ensemble.classes_)
        return ensemble_inputs(features, read_as if self.takes_softmax else None)

    def report_of(self, features: Features, what: str) -> LabelReport:
        """The labels of these samples, judged."""
        return _report(self.ensemble, features, self.inputs(features), features.labels_for(what))


def check_validation(train: Any, validation: Any) -> None:
    """Say what held-out samples are, where labels or a share of the training samples were meant."""
    if hasattr(train, "shape") and len(getattr(validation, "shape", ())) == 1:
        raise ValueError(
            "The second argument of fit is held-out samples, and these look like labels. Pass "
            "samples and labels together: fit((X, y), validation=(X_held_out, y_held_out))."
        )
    if is_real(validation) or isinstance(validation, (bool, str)):
        raise ValueError(
            f"validation must be samples that the network was not trained on, got {validation!r}. "
            "A share of the training samples cannot stand for them: the network has memorised "
            "their labels. Pass a loader of samples that were held out of training, or leave it "
            "out."
        )


def wants_softmax(asked: bool | None, settings: LayerEnsemble, samples: Samples) -> bool:
    """Whether the network's own softmax is to be a member, where it can be read."""
    has_logits = samples.train.n_outputs > 0  # as an encoder of tokens has not
    default = settings.finds_consensus and samples.held_out is not None and has_logits
    wanted = default if asked is None else asked
    if wanted and SOFTMAX in samples.train.layers:
        raise ValueError(
            f"A layer is called {SOFTMAX!r}, and so is the network's own softmax, which is a "
            f"member too. Rename the layer, {{'name': {SOFTMAX!r}}}, or pass softmax=False."
        )
    return wanted


def fit_head(settings: LayerEnsemble, samples: Samples, plan: Plan) -> FittedHead:
    """Fit an ensemble with these settings, and the baselines, on features; judge the labels."""
    features, held_out = samples.train, samples.held_out
    labels = features.labels_for("training")
    member = plan.read_as if plan.softmax else None
    inputs = ensemble_inputs(features, member)
    validation = None
    if held_out is not None:
        # Without ids: those of two folders may be alike. Features tell which samples are.
        validation = (ensemble_inputs(held_out, member), held_out.labels_for("validation"))
    ensemble = LayerEnsemble(**settings.get_params(deep=False))
    ensemble.set_params(given=None if member is None else [SOFTMAX])
    known = {"trusted": samples.trusted, "uncorrected": samples.uncorrected}
    ensemble.fit(inputs, labels, validation, ids=features.ids, groups=samples.groups, **known)
    hidden = {name: inputs[name] for name in hidden_layers(features)}
    others = fit_baselines(
        plan.baselines, hidden, labels, validation, ensemble.random_state, samples.trusted
    )
    report = _report(ensemble, features, inputs, labels)
    return FittedHead(ensemble, others, report, plan.taps, features.n_outputs, plan.read_as)


def hidden_layers(features: Features) -> list[str]:
    """The layers without the raw input."""
    return [name for name in features.layers if name != INPUT]


def find_outputs(
    samples: Samples, class_names: Sequence[Any] | None, *, wanted: bool
) -> ClassOutputs | None:
    """Which output is which class, by held-out labels where there are some.

    Where that is not clear, a warning says so if it was ``wanted``.
    """
    labels = check.check_labels(samples.train.labels_for("training"), len(samples.train))
    classes, _ = check.encode_labels(labels)
    judged = samples.train if samples.held_out is None else samples.held_out
    what = "training" if samples.held_out is None else "validation"
    asked = (judged.outputs, judged.labels_for(what), classes, class_names)
    return read_outputs_as(*asked) if wanted else match_outputs(*asked).outputs


def ensemble_inputs(features: Features, read_as: ClassOutputs | None) -> Mapping[str, Array]:
    """The layers, and the network's own softmax where it is said how to read it."""
    if read_as is None:
        return features.layers
    return {**features.layers, SOFTMAX: read_as.posterior(features.outputs)}


def _report(
    ensemble: LayerEnsemble, features: Features, inputs: Mapping[str, Array], labels: Array
) -> LabelReport:
    # Ids of a loader may repeat, which an audit of its own would refuse.
    return replace(score_labels(ensemble, inputs, labels), ids=np.array(features.ids))
