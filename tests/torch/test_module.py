"""Backbone and head as one module: the same predictions, wherever it goes."""

import inspect
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from rehead import noise
from rehead.gaussian.kernel_map import make_kernel_map
from rehead.torch import RobustHead
from rehead.torch.module import KernelLayer
from tests.torch.conftest import KINDS

# Heads here are fitted without held-out samples where their weights do not matter.
pytestmark = pytest.mark.filterwarnings("ignore:No held-out samples were given, so all members")


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
    twin(posterior(head.to_module(), case.x), head.predict_proba(case.x))


def test_stacked_layers(network, twin):
    case = network("resnet", 300)
    head = fitted(case, estimator=None, stack=True, random_state=None)
    assert head.ensemble_.members_ == ["stack"]
    twin(posterior(head.to_module(), case.x), head.predict_proba(case.x))


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
    module = head.to_module()
    assert module.classes == [0, 1, 2]
    twin(posterior(module, trained.x), head.predict_proba(trained.x))


class TestModes:
    def test_it_begins_in_evaluation_mode_with_the_network_it_shares(self, network):
        case = network("resnet", 90)
        head = fitted(case)
        case.net.train()
        statistics = case.net.layer1[0].bn1.running_mean.clone()
        module = head.to_module()
        assert module.backbone is case.net
        assert not module.training
        assert not case.net.training
        module(case.x)
        assert torch.equal(case.net.layer1[0].bn1.running_mean, statistics)

    def test_a_deep_copy_shares_nothing(self, network):
        case = network("mlp", 90)
        module = fitted(case).to_module()
        before = posterior(module, case.x)
        module(case.x)  # with gradients, of which nothing may stay behind
        copy = deepcopy(module)
        with torch.no_grad():
            for parameter in copy.parameters():
                parameter.zero_()
        assert torch.equal(posterior(module, case.x), before)
        assert not torch.equal(posterior(copy, case.x), before)

    def test_two_threads_do_not_get_into_each_others_way(self, network):
        case = network("resnet", 90)
        module = fitted(case).to_module()
        parts = [case.x[i : i + 3] for i in range(0, 90, 3)] * 4
        expected = [posterior(module, part) for part in parts]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda part: posterior(module, part), parts))
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)

    def test_compiled(self, network, twin):
        case = network("resnet", 90)
        head = fitted(case)
        compiled = torch.compile(head.to_module(), backend="eager")
        twin(posterior(compiled, case.x), head.predict_proba(case.x))


class TestSaved:
    @pytest.mark.parametrize("kind", KINDS)
    def test_as_a_whole(self, network, kind):
        case = network(kind, 90)
        module = fitted(case, softmax=True).to_module()
        module(case.x)
        file = BytesIO()
        torch.save(module, file)
        file.seek(0)
        again = torch.load(file, weights_only=False)
        assert torch.equal(posterior(again, case.x), posterior(module, case.x))
        assert again.classes == module.classes

    def test_as_a_state_dict(self, network):
        case = network("mlp", 90)
        module = fitted(case).to_module()
        case.y = case.y.flip(0)
        fresh = fitted(case).to_module()
        assert not torch.allclose(fresh(case.x), module(case.x))
        fresh.load_state_dict(module.state_dict())
        torch.testing.assert_close(fresh(case.x), module(case.x))

    def test_the_calibration_is_in_the_state(self, trained):
        head = RobustHead(trained.net, random_state=0).fit(trained.train, trained.held_out)
        module = head.to_module()
        fresh = head.to_module()
        fresh.temperature.fill_(9.0)
        fresh.offsets.fill_(1.0)
        fresh.load_state_dict(module.state_dict())
        torch.testing.assert_close(fresh(trained.x), module(trained.x))


class TestInputs:
    def test_one_input_is_called_x(self, network):
        module = fitted(network("mlp", 90)).to_module()
        assert next(iter(inspect.signature(module.forward).parameters)) == "x"
        x = torch.randn(4, 5)
        assert torch.equal(module(x=x), module(x))

    def test_double_precision_is_cast(self, network, twin):
        case = network("mlp", 90)
        module = fitted(case).to_module()
        twin(posterior(module, case.x.double()), posterior(module, case.x))

    def test_other_precisions_of_the_whole(self, network, twin):
        case = network("mlp", 90)
        module = fitted(case, softmax=True).to_module()
        before = posterior(module, case.x)
        twin(posterior(deepcopy(module).double(), case.x), before)
        twin(posterior(deepcopy(module).bfloat16(), case.x), before, atol=0.1)

    def test_several_inputs_in_their_order_or_by_name(self, twin):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.out = nn.Linear(5, 8), nn.Linear(8, 3)

            def forward(self, left, right):
                return self.out(torch.relu(self.first(left - right)))

        torch.manual_seed(0)
        left, right, y = torch.randn(90, 5), torch.randn(90, 5), torch.arange(90) % 3
        batches = [((left, right), y)]
        head = RobustHead(Two(), estimator="mcd", shrinkage="auto", random_state=0).fit(batches)
        module, expected = head.to_module(), head.predict_proba(batches)
        twin(posterior(module, left, right), expected)
        with torch.no_grad():
            twin(module(left=left, right=right).exp(), expected)
            twin(module(left, right=right).exp(), expected)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
@pytest.mark.parametrize("ends_in_softmax", [False, True])
def test_outputs_in_any_order(trained, twin, order, ends_in_softmax):
    names = np.array(["ant", "bee", "cat"])[order]  # of the outputs
    train, held_out = ((x, names[y]) for x, y in (trained.train, trained.held_out))
    net = nn.Sequential(*trained.net, *[nn.Softmax(1)] * ends_in_softmax)
    head = RobustHead(net, class_names=names, random_state=0).fit(train, held_out)
    assert "softmax" in head.ensemble_.members_
    assert head.ensemble_.weights_[-1] > 0.01
    twin(posterior(head.to_module(), trained.x), head.predict_proba(trained.x))


@pytest.mark.parametrize("kind", ["resnet", "mlp", "transformer"])
def test_torch_export(network, twin, kind):
    case = network(kind, 90)
    head = fitted(case)
    module = head.to_module()
    program = torch.export.export(module, (case.x[:10],))
    twin(posterior(program.module(), case.x[:10]), head.predict_proba(case.x[:10]))


def test_torch_export_with_any_number_of_samples(network, twin):
    case = network("resnet", 90)
    head = fitted(case, softmax=True)
    batch = torch.export.Dim("batch")
    program = torch.export.export(
        head.to_module(), (case.x[:10],), dynamic_shapes={"x": {0: batch}}
    )
    for n in (1, 7, 90):
        twin(posterior(program.module(), case.x[:n]), head.predict_proba(case.x[:n]))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("kind", ["resnet", "mlp", "tuple"])
def test_onnx_with_any_number_of_samples(network, twin, tmp_path, kind):
    pytest.importorskip("onnxscript", reason='needs pip install "rehead[onnx]"')
    onnxruntime = pytest.importorskip("onnxruntime")
    case = network(kind, 90)
    head = fitted(case, softmax=True)
    file, batch = tmp_path / "robust.onnx", torch.export.Dim("batch")
    torch.onnx.export(
        head.to_module(), (case.x[:10],), file, dynamo=True, dynamic_shapes={"x": {0: batch}}
    )
    session = onnxruntime.InferenceSession(file)
    for n in (1, 10, 90):
        (log_p,) = session.run(None, {"x": case.x[:n].numpy()})
        twin(np.exp(log_p), head.predict_proba(case.x[:n]))


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
    found = head.to_module()(trained.x).exp().detach().numpy()
    np.testing.assert_allclose(found, head.predict_proba(trained.x), atol=1e-4)


class TestMapped:
    """Heads whose features are mapped: distances to landmarks, exp, one matrix."""

    def head(self, trained, **options):
        head = RobustHead(trained.net, feature_map="kernel", random_state=0, **options)
        head.fit(trained.train, trained.held_out)
        assert any(m.kernel_map for m in head.ensemble_.fitted_.members.values())
        return head

    @pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
    @pytest.mark.parametrize(
        "options",
        [{}, {"stack": True}, {"estimator": "sample", "shrinkage": 0.1}],
        ids=["consensus", "stack", "alone"],
    )
    def test_the_module_predicts_as_the_head(self, trained, twin, options):
        head = self.head(trained, **options)
        module = head.to_module()
        twin(posterior(module, trained.x), head.predict_proba(trained.x))
        far = 1e30 * trained.x
        assert torch.isfinite(posterior(module, far)).all()

    def test_columns_that_were_weighed(self):
        X = np.random.default_rng(0).normal(size=(90, 3)).astype("f4")
        columns = np.array([1.0, 0.01, 0.3])
        rng = np.random.default_rng(0)
        kernel_map = make_kernel_map(X, 20, 3.0, rng, importance=columns)
        found = KernelLayer(kernel_map)(torch.from_numpy(X))
        np.testing.assert_allclose(found.numpy(), kernel_map(X), rtol=0, atol=1e-6)

    def test_other_precisions_of_the_whole(self, trained, twin):
        module = self.head(trained).to_module()
        before = posterior(module, trained.x)
        twin(posterior(deepcopy(module).double(), trained.x), before)
        found = posterior(deepcopy(module).bfloat16(), trained.x)
        assert (found.argmax(1) == before.argmax(1)).float().mean() > 0.8

    def test_the_map_is_in_the_state(self, trained):
        head = self.head(trained)
        module, fresh = head.to_module(), head.to_module()
        with torch.no_grad():
            for layer in fresh.maps.values():
                layer.landmarks.zero_()
        fresh.load_state_dict(module.state_dict())
        assert torch.equal(posterior(fresh, trained.x), posterior(module, trained.x))

    def test_saved_and_loaded(self, trained, tmp_path):
        head = self.head(trained)
        head.save(tmp_path / "head")
        again = RobustHead.load(tmp_path / "head", trained.net)
        assert again.ensemble.feature_map == "kernel"
        np.testing.assert_array_equal(again.predict_proba(trained.x), head.predict_proba(trained.x))
        np.testing.assert_array_equal(again.report_.quality, head.report_.quality)

    def test_onnx(self, trained, twin, tmp_path):
        pytest.importorskip("onnxscript", reason='needs pip install "rehead[onnx]"')
        onnxruntime = pytest.importorskip("onnxruntime")
        head = self.head(trained)
        file, batch = tmp_path / "robust.onnx", torch.export.Dim("batch")
        torch.onnx.export(
            head.to_module(), (trained.x[:10],), file, dynamo=True, dynamic_shapes={"x": {0: batch}}
        )
        session = onnxruntime.InferenceSession(file)
        for n in (1, 10, 90):
            (log_p,) = session.run(None, {"x": trained.x[:n].numpy()})
            twin(np.exp(log_p), head.predict_proba(trained.x[:n]))


class TestSecondOpinion:
    """Heads with logistic regression beside the Gaussians: one linear layer, as without it."""

    @pytest.fixture
    def skewed_net(self, skewed):
        X, true = skewed(1200)
        y = noise.flip(true, 0.2, random_state=0).labels
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
        x, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
        return SimpleNamespace(net=net, x=x, y=y)

    def head(self, case, feature_map):
        head = RobustHead(case.net, layers=["input"], feature_map=feature_map, random_state=0)
        head.fit((case.x[:900], case.y[:900]), (case.x[900:], case.y[900:]))
        members = head.ensemble_.fitted_.members
        assert any(m.second is not None for m in members.values())
        assert "second opinion" in head.ensemble_.explain()
        return head

    @pytest.mark.parametrize("feature_map", ["none", "kernel"])
    def test_the_module_predicts_as_the_head(self, skewed_net, twin, feature_map, tmp_path):
        head = self.head(skewed_net, feature_map)
        x = skewed_net.x
        module = head.to_module()
        twin(posterior(module, x), head.predict_proba(x))
        assert torch.isfinite(posterior(module, 1e30 * x)).all()
        head.save(tmp_path / "head")
        again = RobustHead.load(tmp_path / "head", skewed_net.net)
        np.testing.assert_array_equal(again.predict_proba(x), head.predict_proba(x))
        np.testing.assert_array_equal(again.report_.quality, head.report_.quality)
        assert torch.equal(posterior(again.to_module(), x), posterior(module, x))

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.filterwarnings("ignore::FutureWarning")
    @pytest.mark.parametrize("feature_map", ["none", "kernel"])
    def test_onnx(self, skewed_net, twin, feature_map, tmp_path):
        pytest.importorskip("onnxscript", reason='needs pip install "rehead[onnx]"')
        onnxruntime = pytest.importorskip("onnxruntime")
        head, x = self.head(skewed_net, feature_map), skewed_net.x
        file, batch = tmp_path / "robust.onnx", torch.export.Dim("batch")
        torch.onnx.export(
            head.to_module(), (x[:10],), file, dynamo=True, dynamic_shapes={"x": {0: batch}}
        )
        session = onnxruntime.InferenceSession(file)
        for n in (1, 10, 90):
            (log_p,) = session.run(None, {"x": x[:n].numpy()})
            twin(np.exp(log_p), head.predict_proba(x[:n]))
