"""What a head tells about labels: of its training data, of others, and what speaks against them."""

import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch import RobustHead


@pytest.fixture(scope="module")
def task():
    """A network, and loaders with ids, in which a tenth of the labels are wrong."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    truth = np.arange(900) % 3
    x = torch.as_tensor(rng.normal(size=(900, 6)) + 4 * np.eye(3, 6)[truth], dtype=torch.float32)
    wrong = rng.random(900) < 0.1
    y = torch.as_tensor(np.where(wrong, (truth + 1) % 3, truth))
    ids = [f"img{i}" for i in range(900)]

    def loader(a, b):
        return [(x[i : i + 100], y[i : i + 100], ids[i : i + 100]) for i in range(a, b, 100)]

    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    head = RobustHead(net, random_state=0).fit(loader(0, 500), validation=loader(500, 700))
    return head, loader, wrong


def test_labels_of_other_samples_are_judged(task):
    head, loader, wrong = task
    report = head.score_labels(loader(700, 900))
    assert report.ids[0] == "img700"
    assert not report.in_sample.any()
    found = [int(name.removeprefix("img")) for name in report.mislabelled()]
    assert wrong[found].mean() > 0.8
    assert wrong[700:][~report.suspect].mean() < 0.03


def test_training_labels_are_judged_without_themselves(task):
    head, loader, _ = task
    assert head.report_.in_sample.all()
    again = head.score_labels(loader(0, 500))
    np.testing.assert_allclose(again.quality, head.report_.quality, atol=1e-6)


def test_neighbours_of_suspects(task):
    head, loader, _ = task
    suspects = head.find_mislabelled()[:5]
    found = head.neighbours(suspects, loader(0, 500), k=3)
    assert found.ids.shape == (5, 3)
    assert (found.labels != found.given[:, None]).all()
    np.testing.assert_array_equal(found.ids, head.report_.ids[found.rows])


def test_a_loaded_head_has_the_whole_report(task, tmp_path):
    head, loader, _ = task
    head.save(tmp_path / "head")
    again = RobustHead.load(tmp_path / "head", head.net)
    for name in ("kind", "typicality", "in_sample", "classes", "ids", "quality"):
        np.testing.assert_array_equal(getattr(again.report_, name), getattr(head.report_, name))
    assert str(again.report_) == str(head.report_)
    one, two = (h.neighbours("img3", loader(0, 500)).rows for h in (head, again))
    np.testing.assert_array_equal(one, two)


def test_a_head_is_not_a_model_for_score_labels(task):
    from rehead import score_labels

    with pytest.raises(TypeError, match=r"head.report_.*head.score_labels"):
        score_labels(task[0], np.ones((3, 6)), [0, 1, 2])


def test_not_fitted():
    head = RobustHead(nn.Linear(2, 2))
    for ask in (head.score_labels, lambda data: head.neighbours(0, data)):
        with pytest.raises(ValueError, match="not fitted"):
            ask((torch.ones(3, 2), torch.zeros(3)))
