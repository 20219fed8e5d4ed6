import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from rehead import LayerEnsemble, ReheadWarning
from rehead.files.persist import ModelFileError
from rehead.torch import RobustHead, extract_features
from tests.torch.conftest import KINDS


@pytest.fixture
def task():
    """A network, clean and noisy labels, and held-out data."""
    torch.manual_seed(0)
    y = torch.arange(600) % 3
    x = torch.randn(600, 5) + 3.0 * torch.eye(3, 5)[y]
    noisy = torch.where(torch.rand(600) < 0.3, (y + 1) % 3, y)
    net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(150):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[:400]), noisy[:400]).backward()
        optimizer.step()
    return net, x, y, noisy


@pytest.fixture
def head(task):
    net, x, _, noisy = task
    ids = [f"sample {i}" for i in range(400)]
    train = [(x[i : i + 50], noisy[i : i + 50], ids[i : i + 50]) for i in range(0, 400, 50)]
    return RobustHead(net, estimator="posterior", random_state=0).fit(
        train, validation=(x[400:500], noisy[400:500])
    )


def test_three_lines_give_better_predictions_and_the_wrong_labels(task, head):
    _, x, y, noisy = task
    comparison = head.compare((x[500:], y[500:]))
    assert list(comparison.rows) == ["softmax", "2.input", "4.input", "robust"]
    assert comparison.rows["robust"].accuracy > 0.85
    assert comparison.rows["robust"].accuracy >= comparison.rows["softmax"].accuracy - 0.02
    suspects = [int(name.split()[1]) for name in head.find_mislabelled()]
    wrong = (noisy != y)[:400].numpy()
    assert wrong[suspects[:60]].mean() > 0.9
    assert "calibration" in str(comparison)


def test_the_numpy_twin_gives_the_same_numbers(task, head):
    net, x, _, noisy = task
    train, held_out = ((x[a:b], noisy[a:b]) for a, b in ((0, 400), (400, 500)))
    features, of_held_out = (
        extract_features(net, data, head.layers_) for data in (train, held_out)
    )
    twin = LayerEnsemble("posterior", random_state=0).fit(
        features.layers, features.labels, validation=(of_held_out.layers, of_held_out.labels)
    )
    of_test = extract_features(net, x[500:], head.layers_).layers
    np.testing.assert_array_equal(twin.predict_proba(of_test), head.predict_proba(x[500:]))
    np.testing.assert_array_equal(twin.predict(of_test), head.predict(x[500:]))
    np.testing.assert_array_equal(twin.score_samples(of_test), head.score_samples(x[500:]))


def test_a_shuffled_loader_without_ids_is_still_right(task):
    net, x, _, noisy = task
    dataset = TensorDataset(x[:400], noisy[:400])
    heads = [
        RobustHead(net, estimator="mcd", random_state=0).fit(
            DataLoader(dataset, batch_size=64, shuffle=shuffle)
        )
        for shuffle in (False, True)
    ]
    for h in heads:
        h.predict_proba(x[500:])
    np.testing.assert_array_equal(*(h.find_mislabelled() for h in heads))
    np.testing.assert_allclose(*(h.predict_proba(x[500:]) for h in heads))


def test_the_network_is_bit_identical(task):
    net, x, _, noisy = task
    before = {name: t.clone() for name, t in net.state_dict().items()}
    RobustHead(net, estimator="mcd").fit((x[:400], noisy[:400])).predict(x[400:])
    assert all(torch.equal(t, before[name]) for name, t in net.state_dict().items())


def test_the_softmax_can_be_a_member(task):
    net, x, _, noisy = task
    head = RobustHead(net, estimator="mcd", softmax=True, random_state=0)
    head.fit((x[:400], noisy[:400]), validation=(x[400:500], noisy[400:500]))
    assert head.ensemble_.layers_ == ["2.input", "4.input", "softmax"]
    assert head.ensemble_.weights_.shape == (3,)
    assert head.predict_proba(x[500:]).sum(axis=1) == pytest.approx(1.0)


class TestModule:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("softmax", [False, True])
    def test_the_module_predicts_as_the_head(self, network, twin, kind, softmax):
        case = network(kind, 90)
        head = RobustHead(
            case.net, estimator="mcd", shrinkage="auto", softmax=softmax, random_state=0
        )
        head.fit((case.x, case.y))
        with torch.no_grad():
            log_p = head.to_module().eval()(case.x)
        twin(log_p.exp(), head.predict_proba(case.x))

    def test_stacked_layers(self, network, twin):
        case = network("resnet", 300)
        head = RobustHead(case.net, stack=True, shrinkage="auto").fit((case.x, case.y))
        assert head.ensemble_.layers_ == ["stack"]
        with torch.no_grad():
            twin(head.to_module().eval()(case.x).exp(), head.predict_proba(case.x))

    @pytest.mark.parametrize("kind", ["resnet", "mlp", "transformer"])
    def test_torch_export(self, network, twin, kind):
        case = network(kind, 90)
        head = RobustHead(case.net, estimator="mcd", shrinkage="auto", random_state=0).fit(
            (case.x, case.y)
        )
        module = head.to_module().eval()
        program = torch.export.export(module, (case.x[:10],))
        twin(program.module()(case.x[:10]).detach().exp(), head.predict_proba(case.x[:10]))

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    @pytest.mark.filterwarnings("ignore::FutureWarning")
    @pytest.mark.parametrize("kind", ["resnet", "mlp"])
    def test_onnx(self, network, twin, tmp_path, kind):
        pytest.importorskip("onnxscript", reason='needs pip install "rehead[onnx]"')
        onnxruntime = pytest.importorskip("onnxruntime")
        case = network(kind, 90)
        head = RobustHead(case.net, estimator="mcd", shrinkage="auto", random_state=0).fit(
            (case.x, case.y)
        )
        file = tmp_path / "robust.onnx"
        torch.onnx.export(head.to_module().eval(), (case.x[:10],), file, dynamo=True)
        session = onnxruntime.InferenceSession(file)
        (log_p,) = session.run(None, {session.get_inputs()[0].name: case.x[:10].numpy()})
        twin(np.exp(log_p), head.predict_proba(case.x[:10]))

    def test_the_module_saves_as_a_state_dict(self, network, twin):
        case = network("mlp", 90)
        head = RobustHead(case.net, estimator="mcd", random_state=0).fit((case.x, case.y))
        module, other = (
            head.to_module().eval(),
            RobustHead(case.net, estimator="mcd").fit((case.x, case.y.flip(0))),
        )
        fresh = other.to_module().eval()
        fresh.load_state_dict(module.state_dict())
        torch.testing.assert_close(fresh(case.x), module(case.x))


class TestFiles:
    def test_save_and_load(self, head, task, tmp_path):
        net, x, *_ = task
        file = tmp_path / "head.safetensors"
        head.save(file)
        again = RobustHead.load(file, net)
        np.testing.assert_array_equal(again.predict_proba(x), head.predict_proba(x))
        np.testing.assert_array_equal(again.find_mislabelled(), head.find_mislabelled())
        assert again.report_.noise_rate == head.report_.noise_rate

    def test_another_network_is_refused(self, head, tmp_path, network):
        head.save(tmp_path / "head")
        with pytest.raises(ModelFileError, match="other weights"):
            RobustHead.load(tmp_path / "head", network("mlp").net)

    def test_functions_cannot_be_saved(self, task, tmp_path):
        net, x, _, noisy = task
        head = RobustHead(net, {"raw": lambda x: x, "last": "4.input"}, "mcd").fit((x, noisy))
        with pytest.raises(TypeError, match="cannot be saved"):
            head.save(tmp_path / "head")
        assert not list(tmp_path.iterdir())

    def test_features_go_through_a_store(self, task, tmp_path):
        net, x, _, noisy = task
        stored = RobustHead(net, estimator="mcd", random_state=0).fit(
            (x, noisy), store=tmp_path / "features"
        )
        plain = RobustHead(net, estimator="mcd", random_state=0).fit((x, noisy))
        np.testing.assert_array_equal(stored.predict_proba(x), plain.predict_proba(x))


class TestErrors:
    def test_not_fitted(self, task):
        for method in ("predict", "predict_proba", "score_samples", "compare"):
            with pytest.raises(NotFittedError):
                getattr(RobustHead(task[0]), method)(task[1])
        with pytest.raises(NotFittedError):
            RobustHead(task[0]).find_mislabelled()

    def test_no_labels(self, task):
        with pytest.raises(ValueError, match="training loader gives no labels"):
            RobustHead(task[0]).fit(task[1])

    def test_labels_outside_the_fitted_classes(self, head, task):
        x = task[1]
        with pytest.raises(ValueError, match=r"not fitted on these labels: 7"):
            head.compare((x[:2], torch.tensor([0, 7])))

    def test_validation_samples_that_are_training_samples(self, task):
        net, x, _, noisy = task
        batch = [(x, noisy, torch.arange(600))]
        with pytest.warns(ReheadWarning, match="600 of 600 validation samples are training"):
            RobustHead(net, estimator="mcd").fit(batch, validation=batch)

    def test_outputs_that_are_not_the_classes(self, task):
        net, x, _, noisy = task
        labels = [f"c{i}" for i in (noisy % 2).tolist()]
        head = RobustHead(net, estimator="mcd").fit([(x, labels)])
        with pytest.raises(ValueError, match="3 outputs and there are 2 classes"):
            head.compare([(x, labels)])


def test_trusted_labels_and_groups_reach_the_ensemble(task):
    net, x, y, noisy = task
    trusted = np.arange(400) < 100
    labels = torch.where(torch.arange(600) < 100, y, noisy)
    head = RobustHead(net, random_state=0).fit(
        (x[:400], labels[:400]), validation=(x[400:500], noisy[400:500]), trusted=trusted
    )
    assert (head.ensemble_.consensus_.trust[:100] == 1).all()
    groups = np.arange(400) // 20
    with pytest.warns(ReheadWarning, match="held out"):
        alone = RobustHead(net, random_state=0).fit((x[:400], noisy[:400]), groups=groups)
    # Whole groups of 20 were held out.
    assert len(alone.ensemble_.consensus_.trust) % 20 == 0
    with pytest.raises(ValueError, match="trusted"):
        RobustHead(net).fit((x[:400], noisy[:400]), trusted=trusted[:3])


def test_the_default_is_compared_with_softmax_and_the_paper(task, tmp_path):
    net, x, y, noisy = task
    head = RobustHead(net, random_state=0).fit(
        (x[:400], noisy[:400]), validation=(x[400:500], noisy[400:500])
    )
    comparison = head.compare((x[500:], y[500:]))
    assert next(iter(comparison.rows)) == "softmax"
    assert list(comparison.rows)[-2:] == ["RoG (the paper)", "robust"]
    hidden = [name for name in head.layers_ if name != "input"]
    paper = RobustHead(net, layers=hidden, preset="paper", random_state=0).fit(
        (x[:400], noisy[:400]), validation=(x[400:500], noisy[400:500])
    )
    assert comparison.rows["RoG (the paper)"] == paper.compare((x[500:], y[500:])).rows["robust"]
    head.save(tmp_path / "head.safetensors")
    loaded = RobustHead.load(tmp_path / "head.safetensors", net)
    assert "RoG (the paper)" not in loaded.compare((x[500:], y[500:])).rows


def test_a_second_fit_decides_anew_about_the_softmax(task):
    net, x, _, noisy = task
    head = RobustHead(net, random_state=0)
    two = noisy[:400] % 2  # of three outputs: the softmax has no place
    with pytest.warns(ReheadWarning):
        head.fit((x[:400], two + 5))
    assert "softmax" not in head.ensemble_.layers_
    with pytest.warns(ReheadWarning):
        head.fit((x[:400], noisy[:400]))
    assert "softmax" in head.ensemble_.layers_
    with pytest.raises(ValueError, match="given= is for LayerEnsemble"):
        RobustHead(net, given=["input"])
