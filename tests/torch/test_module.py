"""Backbone and head as one module: the same predictions, wherever it goes."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from rehead.torch import RobustHead
from tests.torch.conftest import KINDS


def fitted(case, **options):
    options = {"estimator": "mcd", "shrinkage": "auto", "random_state": 0, **options}
    return RobustHead(case.net, **options).fit((case.x, case.y))


def posterior(module, *args):
    with torch.no_grad():
        return module(*args).exp()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("softmax", [False, True])
def test_the_module_predicts_as_the_head(network, twin, kind, softmax):
    case = network(kind, 90)
    head = fitted(case, softmax=softmax)
    twin(posterior(head.to_module().eval(), case.x), head.predict_proba(case.x))


def test_stacked_layers(network, twin):
    case = network("resnet", 300)
    head = fitted(case, estimator=None, stack=True, random_state=None)
    assert head.ensemble_.members_ == ["stack"]
    twin(posterior(head.to_module().eval(), case.x), head.predict_proba(case.x))


def test_a_consensus_with_a_calibrated_softmax(trained, twin):
    net = deepcopy(trained.net)
    with torch.no_grad():
        for parameter in net[-1].parameters():
            parameter *= 8  # far too sure
    head = RobustHead(net, random_state=0).fit(trained.train, trained.held_out)
    assert head.ensemble_.members_ == ["input", "2.input", "4.input", "stack", "softmax"]
    calibration = head.ensemble_.fitted_.given["softmax"]
    assert calibration.temperature > 1.5
    assert np.abs(calibration.offsets).max() > 0.05
    assert head.ensemble_.weights_.min() > 0.01
    module = head.to_module().eval()
    assert module.classes == [0, 1, 2]
    twin(posterior(module, trained.x), head.predict_proba(trained.x))


def test_the_backbone_is_shared_and_keeps_its_mode(network):
    case = network("mlp", 90)
    head = fitted(case)
    assert head.to_module().backbone is case.net
    assert not head.to_module().training
    case.net.train()
    assert head.to_module().training


@pytest.mark.parametrize("kind", ["resnet", "mlp", "transformer"])
def test_torch_export(network, twin, kind):
    case = network(kind, 90)
    head = fitted(case)
    module = head.to_module().eval()
    program = torch.export.export(module, (case.x[:10],))
    twin(posterior(program.module(), case.x[:10]), head.predict_proba(case.x[:10]))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("kind", ["resnet", "mlp"])
def test_onnx(network, twin, tmp_path, kind):
    pytest.importorskip("onnxscript", reason='needs pip install "rehead[onnx]"')
    onnxruntime = pytest.importorskip("onnxruntime")
    case = network(kind, 90)
    head = fitted(case)
    file = tmp_path / "robust.onnx"
    torch.onnx.export(head.to_module().eval(), (case.x[:10],), file, dynamo=True)
    session = onnxruntime.InferenceSession(file)
    (log_p,) = session.run(None, {session.get_inputs()[0].name: case.x[:10].numpy()})
    twin(np.exp(log_p), head.predict_proba(case.x[:10]))


def test_the_module_saves_as_a_state_dict(network):
    case = network("mlp", 90)
    module = fitted(case).to_module().eval()
    case.y = case.y.flip(0)
    fresh = fitted(case).to_module().eval()
    assert not torch.allclose(fresh(case.x), module(case.x))
    fresh.load_state_dict(module.state_dict())
    torch.testing.assert_close(fresh(case.x), module(case.x))


def test_a_network_with_more_outputs_than_the_labels_have_classes(trained):
    few = trained.noisy != 1
    split = len(few) // 2
    head = RobustHead(trained.net, random_state=0)
    train, held = (
        (trained.x[:split][few[:split]], trained.noisy[:split][few[:split]]),
        (trained.x[split:][few[split:]], trained.noisy[split:][few[split:]]),
    )
    head.fit(train, held)
    assert "softmax" in head.ensemble_.members_
    found = head.to_module().eval()(trained.x).exp().detach().numpy()
    np.testing.assert_allclose(found, head.predict_proba(trained.x), atol=1e-4)
