"""Runs from names: noise, network, method, folder."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from rehead import data, noise
from rehead.experiments.training import TrainSettings, noisy_task, open_run, run_training
from rehead.torch.models import ResNetVariant
from rehead.torch.training import Pace

SMALL = {"hidden": (32,), "gain": 2**0.5}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def settings(**changes):
    return TrainSettings(**{"model_options": SMALL, "epochs": 3, **changes})


@pytest.mark.parametrize("kind", [*noise.NOISES, "semantic"])
def test_labels_are_noisy_in_training_and_validation_and_clean_in_test(kind):
    task = noisy_task(settings(noise=kind, rate=0.3))
    truth = task.splits.train.y
    np.testing.assert_array_equal(task.labels != truth, task.changed)
    assert 0.02 < task.rate < 0.45
    assert (task.validation_labels != task.splits.validation.y).any()
    np.testing.assert_allclose(task.transition.sum(axis=1), 1)


def test_open_set_noise_keeps_labels_and_replaces_images(monkeypatch):
    outside = data.load("digits").test._replace(X=np.full((1500, 64), 7, np.float32))
    monkeypatch.setattr(data, "outside_images", lambda name: outside)
    task = noisy_task(settings(noise="open-set", rate=0.4))
    assert (task.splits.train.X[task.changed] == 7).all()
    assert (task.splits.train.X[~task.changed] <= 1).all()
    np.testing.assert_array_equal(task.labels, task.splits.train.y)


def test_the_seed_decides_split_and_noise():
    a, b, c = (noisy_task(settings(noise="flip", rate=0.4, seed=s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(a.labels, b.labels)
    assert (a.splits.train.ids != c.splits.train.ids).any()


def test_a_run_can_be_opened_again(tmp_path: Path):
    asked = settings(noise="uniform", rate=0.4, method="co-teaching")
    result = run_training(asked, tmp_path / "run", progress=False)
    run = open_run(tmp_path / "run")
    for mine, theirs in zip(run.net.parameters(), result.trained.net.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    np.testing.assert_array_equal(run.part("train").y, result.task.labels)
    np.testing.assert_array_equal(run.part("validation").y, result.task.validation_labels)
    np.testing.assert_array_equal(run.part("test").y, result.task.splits.test.y)
    with pytest.raises(ValueError, match="part must be one of"):
        run.part("training")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["noise_rate"] == result.task.rate


def test_a_run_with_a_variant_and_a_pace_can_be_opened_again(tmp_path: Path, monkeypatch):
    """What users pass as values comes back from the folder as plain mappings."""
    images = data.load("digits")
    images = images._replace(
        **{
            part: split._replace(X=split.X[:96].reshape(-1, 1, 8, 8), y=split.y[:96])
            for part, split in zip(("train", "validation", "test"), images[:3], strict=True)
        }
    )
    monkeypatch.setattr(data, "load", lambda *_, **__: images)
    asked = settings(
        model="resnet-small",
        model_options={
            "width": 4,
            "blocks": (1, 1),
            "in_channels": 1,
            "variant": ResNetVariant(multiples=(1, 3)),
        },
        method="mentornet",
        method_options={"form": "mixture", "pace": Pace(burn_in=0.5)},
        epochs=1,
    )
    result = run_training(asked, tmp_path, progress=False)
    net = open_run(tmp_path).net
    assert net.classifier.in_features == 12
    for mine, theirs in zip(net.parameters(), result.trained.net.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_an_unfinished_run_says_how_to_finish_it(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="rehead train"):
        open_run(tmp_path)


def test_labels_of_ones_own_by_code_and_by_name():
    truth = noisy_task(settings()).labels
    given = noise.flip(truth, 0.3, random_state=0).labels
    by_code = noisy_task(settings(labels=given))
    by_name = noisy_task(settings(labels=given.astype(str)))
    np.testing.assert_array_equal(by_code.labels, by_name.labels)
    assert by_code.rate == pytest.approx((given != truth).mean())
    with pytest.raises(ValueError, match="one label for each"):
        noisy_task(settings(labels=given[1:]))
    with pytest.raises(ValueError, match="Unknown classes"):
        noisy_task(settings(labels=np.full(len(given), "zebra")))


def test_gold_methods_get_true_labels_for_their_trusted_samples():
    result = run_training(settings(noise="flip", rate=0.4, method="glc", trusted=0.1))
    right = (result.task.labels == result.task.splits.train.y).mean()
    assert right == pytest.approx(1 - 0.9 * 0.4, abs=0.02)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"noise": "salt"}, "noise must be one of"),
        ({"rate": 1.4}, "For 40 % pass 0.4"),
        ({"method": "coteaching"}, "Did you mean 'co-teaching'"),
        ({"model": "resnet35"}, "Did you mean 'resnet34'"),
        ({"recipe": "tabel2"}, "Did you mean"),
        ({"method_options": {"beta": 0.5}}, "has no option"),
    ],
)
def test_mistakes_name_the_fix(changes, match):
    with pytest.raises(ValueError, match=match):
        run_training(settings(**changes))


@pytest.mark.parametrize(
    ("method", "kind", "rate"), [("forward", "uniform", 0.6), ("co-teaching", "flip", 0.45)]
)
def test_methods_are_better_than_cross_entropy_where_their_papers_say_so(method, kind, rate):
    accuracies = [
        run_training(
            TrainSettings(
                method=name,
                noise=kind,
                rate=rate,
                epochs=60,
                model_options={"hidden": (128, 128), "gain": 2**0.5},
            )
        ).accuracy
        for name in ("cross-entropy", method)
    ]
    assert accuracies[1] > accuracies[0] + 0.05
