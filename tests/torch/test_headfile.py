"""A head on disk: all of it is there again, for the network it was made for and no other."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from torch import nn

from rehead import LayerEnsemble
from rehead.files.persist import ModelFileError
from rehead.torch import RobustHead
from rehead.torch.headfile import SavedHead

# Heads here are fitted without held-out samples where their weights do not matter.
pytestmark = pytest.mark.filterwarnings("ignore:No held-out samples were given, so all members")

EARLIER = Path(__file__).parents[1] / "files" / "written_by_0_1_0"


def saved_and_loaded(head, folder):
    head.save(folder / "head.safetensors")
    return RobustHead.load(folder / "head.safetensors", head.net)


def test_save_and_load(head, trained, tmp_path):
    again = saved_and_loaded(head, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(trained.x), head.predict_proba(trained.x))
    np.testing.assert_array_equal(again.find_mislabelled(), head.find_mislabelled())
    assert again.report_.noise_rate == head.report_.noise_rate
    assert again.layers_ == head.layers_


def test_a_loaded_head_compares_as_before(audited, tmp_path):
    head, new = audited.head, audited.loader(700, 900)
    before = head.compare(new)
    assert list(before.rows)[-3:] == ["RoG (the paper)", "sample", "robust"]
    after = saved_and_loaded(head, tmp_path).compare(new)
    assert list(after.rows) == list(before.rows)
    assert after.rows == before.rows
    assert str(after) == str(before)


def test_a_loaded_head_has_the_whole_report(audited, tmp_path):
    head, train = audited.head, audited.loader(0, 500)
    again = saved_and_loaded(head, tmp_path)
    for name in ("kind", "typicality", "in_sample", "classes", "ids", "quality"):
        np.testing.assert_array_equal(getattr(again.report_, name), getattr(head.report_, name))
    assert str(again.report_) == str(head.report_)
    one, two = (h.neighbours("img3", train).rows for h in (head, again))
    np.testing.assert_array_equal(one, two)


def test_a_loaded_head_has_the_same_settings_and_can_be_fitted_again(audited, tmp_path):
    head, new = audited.head, audited.loader(700, 900)
    again = saved_and_loaded(head, tmp_path)
    assert again.ensemble is not again.ensemble_
    assert again.ensemble.get_params() == head.ensemble.get_params()
    with pytest.raises(NotFittedError):
        again.ensemble.predict({})
    before = again.predict_proba(new)
    again.fit(audited.loader(0, 500), validation=audited.loader(500, 700))
    np.testing.assert_array_equal(again.predict_proba(new), before)


@pytest.mark.parametrize(
    ("layers", "pool"),
    [(["2", "4.input"], "mean"), ({"last": "4.input"}, {"last": "flatten"})],
    ids=["list", "mapping"],
)
def test_names_of_layers_and_ways_to_pool_are_kept(trained, tmp_path, layers, pool):
    head = RobustHead(trained.net, layers, "mcd", pool=pool, random_state=0).fit(trained.train)
    again = saved_and_loaded(head, tmp_path)
    assert (again.layers, again.pool) == (layers, pool)
    np.testing.assert_array_equal(*(h.predict_proba(trained.new) for h in (head, again)))


def test_another_network_is_refused(head, tmp_path, network):
    head.save(tmp_path / "head")
    with pytest.raises(ModelFileError, match="other weights"):
        RobustHead.load(tmp_path / "head", network("mlp").net)


def test_another_kind_of_file_is_refused(head, tmp_path):
    head.ensemble_.save(tmp_path / "ensemble")
    with pytest.raises(ModelFileError, match="holds a LayerEnsemble, not a RobustHead"):
        RobustHead.load(tmp_path / "ensemble", head.net)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"layers": {"raw": lambda x: x, "last": "4.input"}}, "layers"),
        ({"layers": {"other": nn.Linear(5, 4)}}, "layers"),
        ({"pool": lambda x: x}, "pool"),
        ({"pool": {"4.input": lambda x: x}}, "pool"),
    ],
    ids=["function", "network", "pool", "one pool"],
)
def test_functions_cannot_be_saved(trained, tmp_path, options, what):
    head = RobustHead(trained.net, **options, estimator="mcd").fit(trained.train)
    with pytest.raises(TypeError, match=f"{what} holds functions or networks"):
        head.save(tmp_path / "head")
    assert not list(tmp_path.iterdir())
    head.ensemble_.save(tmp_path / "ensemble")  # what the message says to do
    assert LayerEnsemble.load(tmp_path / "ensemble").layers_ == head.layers_


def test_a_head_of_version_0_1_0_is_read(tmp_path):
    expected = np.load(EARLIER / "expected.npz")
    net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 3))
    weights = {n: torch.from_numpy(expected[f"net.{n}"]) for n in net.state_dict()}
    net.load_state_dict(weights)
    head = RobustHead.load(EARLIER / "head.safetensors", net)
    X = expected["X"].astype(np.float32)
    np.testing.assert_allclose(head.predict_proba(X), expected["head"], atol=1e-6)
    np.testing.assert_array_equal(head.report_.quality, expected["head_quality"])
    np.testing.assert_array_equal(head.report_.ids, expected["head_ids"])
    assert head.baselines_ == {}
    again = saved_and_loaded(head, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), head.predict_proba(X))
    assert str(again.report_) == str(head.report_)


def test_how_outputs_are_read_is_kept(trained, tmp_path):
    names = np.array(["cat", "ant", "bee"])
    (x, y), (held, held_y) = trained.train, trained.held_out
    head = RobustHead(trained.net, class_names=names, random_state=0)
    head.fit((x, names[y]), (held, names[held_y]))
    again = saved_and_loaded(head, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(trained.x), head.predict_proba(trained.x))
    one, other = (h.to_module()(trained.x) for h in (head, again))
    assert torch.equal(one, other)


def test_ids_that_would_not_come_back_are_refused(trained):
    x, y = trained.train
    ids = [(i, "left") for i in range(len(x))]
    with pytest.raises(ValueError, match=r"ids of shape \(400, 2\); expected one a sample"):
        RobustHead(trained.net, estimator="mcd").fit([(x, y, ids)])


def test_layers_that_the_network_does_not_have_are_refused(head, tmp_path):
    path = tmp_path / "head"
    head.save(path)
    saved = SavedHead.read(path)
    taps = dict.fromkeys(head.layers_, "nowhere")
    odd = saved._replace(fitted=saved.fitted._replace(taps=taps))
    odd.write(path)
    with pytest.raises(ModelFileError, match=r"does not go with the network.*no layer 'nowhere'"):
        RobustHead.load(path, head.net)
