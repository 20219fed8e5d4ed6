"""Runs from names: noise, network, method, folder."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from rehead import data
from rehead.experiments import training
from rehead.experiments.noisy import TrainSettings
from rehead.experiments.training import open_run, run_training
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


def test_opening_a_run_does_not_make_its_noise_again(tmp_path: Path, monkeypatch):
    """A labeller may take an hour to train; its labels are in the folder."""
    asked = settings(noise="semantic", labeller="fcn", rate=0.1)
    result = run_training(asked, tmp_path / "run", progress=False)
    assert (tmp_path / "run" / "labeller" / "net.safetensors").is_file()
    monkeypatch.setattr(training, "noisy_task", lambda *_: pytest.fail("made again"))
    run = open_run(tmp_path / "run")
    np.testing.assert_array_equal(run.part("train").y, result.task.labels)
    np.testing.assert_array_equal(run.part("train").X, result.task.splits.train.X)


def test_a_run_whose_outside_images_have_changed_is_not_opened(tmp_path: Path):
    file = tmp_path / "elsewhere.npy"
    np.save(file, np.full((1500, 64), 7, np.float32))
    asked = settings(noise="open-set", rate=0.4, outside=[str(file)])
    result = run_training(asked, tmp_path / "run", progress=False)
    inputs = open_run(tmp_path / "run").part("train").X
    np.testing.assert_array_equal(inputs, result.task.splits.train.X)
    np.save(file, np.full((1500, 64), 8, np.float32))
    with pytest.raises(ValueError, match=r"not there any more.*elsewhere.npy have changed"):
        open_run(tmp_path / "run")


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_on_clean_data_the_noise_is_none_and_is_not_estimated(method, tmp_path: Path):
    result = run_training(settings(method=method), tmp_path / "run", progress=False)
    np.testing.assert_array_equal(result.trained.memory["transition"].numpy(), np.eye(10))
    assert not [f for f in (tmp_path / "run").iterdir() if f.is_dir()]
    plain = run_training(settings()).trained.net
    for mine, theirs in zip(result.trained.net.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=1e-4)


def test_a_class_without_samples_does_not_hinder_a_correction(monkeypatch):
    """Nothing is known of its noise, and nothing needs to be."""
    digits = data.load("digits")
    rows = digits.train.y != 3
    few = digits._replace(train=data.Split(*(column[rows] for column in digits.train)))
    monkeypatch.setattr(data, "load", lambda *_, **__: few)
    result = run_training(settings(method="forward", noise="uniform", rate=0.2))
    T = result.trained.memory["transition"].numpy()
    np.testing.assert_array_equal(T[3], np.eye(10)[3])


@pytest.mark.parametrize(("name", "first"), [("svhn", 1), ("SVHN", 1), ("digits", None)])
def test_methods_are_set_as_published_for_the_data_set(name, first, monkeypatch):
    digits = data.load("digits")
    monkeypatch.setattr(data, "load", lambda *_, **__: digits)
    seen = []

    def train(*_, method, **__):
        seen.append(method.settings["first"])
        raise InterruptedError

    monkeypatch.setattr("rehead.torch.training.train", train)
    with pytest.raises(InterruptedError):
        run_training(settings(data=name, method="d2l", epochs=6))
    assert seen == [first]


def test_a_fully_connected_network_takes_images(tmp_path: Path, monkeypatch):
    digits = data.load("digits")
    images = digits._replace(
        **{
            part: split._replace(X=(255 * split.X).astype(np.uint8).reshape(-1, 1, 8, 8))
            for part, split in zip(("train", "validation", "test"), digits[:3], strict=True)
        }
    )
    monkeypatch.setattr(data, "load", lambda *_, **__: images)
    result = run_training(settings(model="fcn", epochs=10), tmp_path, progress=False)
    assert result.accuracy > 0.85
    assert open_run(tmp_path).net.hidden1[0].in_features == 64


def test_what_was_put_right_is_not_counted_as_wrong():
    result = run_training(settings(noise="flip", rate=0.4, method="glc", trusted=0.5))
    assert result.task.rate == pytest.approx(0.2, abs=0.03)
    truth = result.task.splits.train.y
    np.testing.assert_array_equal(result.task.changed, result.task.labels != truth)


def test_an_image_from_elsewhere_is_never_trusted(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.full((1500, 64), 7, np.float32))
    asked = settings(
        noise="open-set", rate=0.6, outside=[str(tmp_path / "x.npy")], method="glc", trusted=0.3
    )
    result = run_training(asked)
    assert result.task.rate == pytest.approx(0.6, abs=0.01)


def test_the_user_is_told_about_the_labels_before_training():
    told = []
    run_training(settings(noise="semantic", rate=0.1), tell=told.append)
    labeller, validation = told[0].splitlines()
    assert labeller.startswith("The labeller, logistic, was taught on ")
    assert "of all training labels are wrong" in labeller
    assert validation == "The validation labels are noisy in the same way."


def test_an_unfinished_run_says_how_to_finish_it(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="rehead train"):
        open_run(tmp_path)


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
