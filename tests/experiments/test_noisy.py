"""Noisy data sets from settings: who labels, what is replaced, what is known and said."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from rehead import data, noise
from rehead.experiments.noisy import TrainSettings, noisy_task
from rehead.torch.training import RECIPES


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def settings(**changes):
    return TrainSettings(**changes)


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


def test_a_data_set_has_one_name():
    """Recipes and published settings are found by it."""
    assert settings(data="CIFAR-100").data == "cifar100"
    with pytest.raises(ValueError, match="Did you mean 'digits'"):
        settings(data="digitz")


def test_clean_data_have_no_noise():
    np.testing.assert_array_equal(noisy_task(settings()).transition, np.eye(10))


def test_the_true_share_of_wrong_labels_is_reported_whatever_methods_are_told():
    truth = noisy_task(settings()).labels
    given = noise.flip(truth, 0.3, random_state=0).labels
    task = noisy_task(settings(labels=given, noise_rate=0.9))
    assert task.rate == pytest.approx(0.3, abs=0.01)
    assert task.notes == ("The validation labels are clean.",)
    np.testing.assert_array_equal(task.validation_labels, task.splits.validation.y)


def digits_as_images(monkeypatch, rows=slice(None)):
    """Digits as small images of three channels, in place of any data set."""
    digits = data.load("digits")
    parts = []
    for split in digits[:3]:
        grey = (255 * split.X).astype(np.uint8).reshape(-1, 1, 8, 8)
        images = grey.repeat(2, 2).repeat(2, 3).repeat(3, 1)
        parts.append(data.Split(images[rows], split.y[rows], split.ids[rows]))
    splits = data.Splits(*parts, digits.class_names)
    monkeypatch.setattr(data, "load", lambda *_, **__: splits)
    return splits


def test_a_network_labels_images(monkeypatch, tmp_path):
    """As in the paper; this one is small, and shortly trained."""
    digits_as_images(monkeypatch)
    short = replace(RECIPES["quick-labeller"], epochs=8, augment=())
    monkeypatch.setitem(RECIPES, "quick-labeller", short)
    asked = settings(data="cifar10", noise="semantic", rate=0.1)
    by_network = noisy_task(asked, tmp_path)
    assert "resnet-small" in by_network.notes[0]
    assert 0.0 < by_network.rate < 0.5
    assert f"{by_network.rate:.1%} of all training labels are wrong" in by_network.notes[0]
    assert (tmp_path / "net.safetensors").is_file()
    again = noisy_task(asked, tmp_path)  # from the checkpoint
    np.testing.assert_array_equal(again.labels, by_network.labels)


@pytest.mark.parametrize("name", ["logistic", "fcn"])
def test_the_labeller_is_chosen_by_name(name):
    task = noisy_task(settings(noise="semantic", labeller=name))
    assert f"The labeller, {name}, was taught on 61 clean samples" in task.notes[0]
    assert 0.05 < task.rate < 0.3
    assert (task.validation_labels != task.splits.validation.y).any()


def test_an_unknown_labeller_is_an_error():
    with pytest.raises(ValueError, match="Did you mean 'vgg13'"):
        noisy_task(settings(noise="semantic", labeller="vgg31"))


def test_a_labeller_of_data_that_lack_a_class():
    """Row numbers of classes are not those of the network's outputs then."""
    task = noisy_task(settings(noise="semantic", labeller="fcn", limit=60, rate=0.5))
    assert set(task.labels) <= set(task.splits.train.y)


@pytest.mark.parametrize(("name", "share"), [("cifar100", 0.2), ("cifar10", 0.05)])
def test_the_share_of_clean_samples_is_that_of_the_paper(monkeypatch, name, share):
    splits = digits_as_images(monkeypatch)
    task = noisy_task(settings(data=name, noise="semantic", labeller="logistic"))
    taught = int(task.notes[0].split("taught on ")[1].split()[0])
    assert taught == pytest.approx(share * len(splits.train.y), abs=10)
