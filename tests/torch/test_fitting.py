"""From features to a head: which members it gets, and what it is told."""

import numpy as np
import pytest

from rehead import LayerEnsemble
from rehead.evaluation.outputs import ClassOutputs
from rehead.torch import Features, extract_features
from rehead.torch.fitting import (
    Plan,
    Samples,
    ensemble_inputs,
    find_outputs,
    fit_head,
    wants_softmax,
)


@pytest.fixture(scope="module")
def samples(trained):
    layers = ["2.input", "4.input"]
    train, held_out = (
        extract_features(trained.net, data, layers) for data in (trained.train, trained.held_out)
    )
    return Samples(train, held_out)


@pytest.mark.parametrize("asked", [None, False, True])
@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("estimator", [None, "mcd"])
def test_the_softmax_is_wanted_by_default_where_it_can_be_weighed(
    samples, asked, held_out, estimator
):
    given = samples if held_out else samples._replace(held_out=None)
    expected = (held_out and estimator is None) if asked is None else asked
    assert wants_softmax(asked, LayerEnsemble(estimator), given) == expected


def test_a_network_without_logits_has_no_softmax_unless_asked_for(samples):
    outputs = np.empty((400, 0), np.float32)
    train = samples.train
    bare = samples._replace(train=Features(train.layers, train.labels, train.ids, outputs))
    assert not wants_softmax(None, LayerEnsemble(), bare)
    assert wants_softmax(True, LayerEnsemble(), bare)


def test_the_head_is_the_ensemble_of_these_features(samples):
    reading = find_outputs(samples, None, wanted=True)
    assert reading.columns.tolist() == [0, 1, 2]
    plan = Plan(["2.input", "4.input"], reading, softmax=True, baselines=["sample"])
    fitted = fit_head(LayerEnsemble(random_state=0), samples, plan)
    inputs, held_out = (ensemble_inputs(f, reading) for f in samples[:2])
    twin = LayerEnsemble(random_state=0, given=["softmax"])
    twin.fit(inputs, samples.train.labels, (held_out, samples.held_out.labels))
    assert fitted.takes_softmax
    np.testing.assert_array_equal(fitted.ensemble.weights_, twin.weights_)
    assert fitted.baselines["sample"].layers_ == ["2.input", "4.input"]
    assert len(fitted.report.quality) == 400


def test_held_out_labels_tell_the_order_not_those_that_were_memorised(samples):
    held_out = samples.held_out
    turned = Features(
        held_out.layers, held_out.labels, held_out.ids, np.roll(held_out.outputs, 2, axis=1)
    )
    assert find_outputs(samples._replace(held_out=turned), None, wanted=False) is None
    assert find_outputs(samples._replace(held_out=None), None, wanted=False) is not None


def test_a_head_of_an_earlier_file_reads_outputs_as_it_did(samples):
    reading = ClassOutputs(np.arange(3), 3)
    plan = Plan(["2.input", "4.input"], reading, softmax=True, baselines=[])
    fitted = fit_head(LayerEnsemble(random_state=0), samples, plan)
    earlier = fitted._replace(read_as=None, n_outputs=None)
    one, other = (f.inputs(samples.held_out)["softmax"] for f in (fitted, earlier))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (np.array([0.0, 1.0, np.nan, 1.0] * 100), "NaN"),
        (np.array(["a", 1, "b", 2] * 100, dtype=object), "mix types"),
        (np.zeros(400, int), "one class only"),
    ],
)
def test_labels_that_cannot_be_used_are_told_as_everywhere(samples, labels, match):
    train = Features(samples.train.layers, labels, samples.train.ids, samples.train.outputs)
    with pytest.raises(ValueError, match=match):
        find_outputs(samples._replace(train=train), None, wanted=True)
