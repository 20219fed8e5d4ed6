"""Noisy data sets from settings: who labels, what is replaced, what is known and said."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from rehead import data, noise
from rehead.experiments.noisy import TrainSettings, noisy_task
from rehead.torch.training import RECIPES, classifier


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def settings(**changes):
    return TrainSettings(**changes)


@pytest.mark.parametrize("kind", [*noise.NOISES, *noise.INSTANCE_NOISES, "semantic"])
def test_labels_are_noisy_in_training_and_validation_and_clean_in_test(kind):
    task = noisy_task(settings(noise=kind, rate=0.3))
    truth = task.splits.train.y
    np.testing.assert_array_equal(task.labels != truth, task.changed)
    assert 0.02 < task.rate < 0.45
    assert (task.validation_labels != task.splits.validation.y).any()
    np.testing.assert_allclose(task.transition.sum(axis=1), 1)


@pytest.mark.parametrize("kind", list(noise.INSTANCE_NOISES))
def test_noise_by_the_inputs_of_vectors_and_of_pixels(kind, monkeypatch):
    task = noisy_task(settings(noise=kind, rate=0.4, seed=3))
    train, held_out = task.splits.train, task.splits.validation
    assert task.changed.sum() == int(0.4 * len(train.y))
    assert (task.validation_labels != held_out.y).mean() == pytest.approx(0.4, abs=0.1)
    assert task.transition.shape == (10, 10)
    assert task.notes[0] == f"Which labels are wrong depends on the inputs: {kind} noise."
    # The draws are those of every run: one generator for each part.
    seeds = np.random.SeedSequence([3, 2]).spawn(2)
    first, second = (np.random.default_rng(s) for s in seeds)
    made = noise.INSTANCE_NOISES[kind](train.X, train.y, 0.4, random_state=first)
    np.testing.assert_array_equal(made.labels, task.labels)
    expected = made.label(held_out.X, held_out.y, random_state=second)
    np.testing.assert_array_equal(expected, task.validation_labels)
    digits_as_images(monkeypatch)
    images = noisy_task(settings(data="cifar10", noise=kind, rate=0.2))
    assert images.splits.train.X.ndim == 4
    assert images.changed.sum() == int(0.2 * len(images.labels))
    assert (images.validation_labels != images.splits.validation.y).any()


@pytest.mark.parametrize("kind", list(noise.INSTANCE_NOISES))
def test_noise_by_the_inputs_where_there_is_no_held_out_part_or_it_has_other_classes(kind):
    task = noisy_task(settings(noise=kind, rate=0.3, limit=60))
    assert task.labels.shape == (60,)
    assert task.validation_labels.shape == (6,)
    none = noisy_task(settings(noise=kind, rate=0.3, validation=0))
    assert len(none.validation_labels) == 0


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


TEACHES = {"data": "digits32", "noise": "semantic", "labeller": "resnet34", "limit": 300}
SMALL = {"width": 4, "blocks": (1, 1, 1, 1), "variant": {"stem_stride": 2}}


@pytest.fixture
def _short_labeller(monkeypatch):
    short = replace(RECIPES["quick-labeller"], epochs=4, augment=())
    monkeypatch.setitem(RECIPES, "quick-labeller", short)


def spy_on_training(monkeypatch):
    """What labellers were taught with: inputs, labels, and how."""
    seen, train = [], classifier.train

    def spy(make_net, X, y, **options):
        seen.append((make_net, X, y, options["run"]))
        return train(make_net, X, y, **options)

    monkeypatch.setattr(classifier, "train", spy)
    return seen


@pytest.mark.usefixtures("_short_labeller")
def test_a_labeller_that_was_taught_on_other_samples(monkeypatch, tmp_path):
    seen = spy_on_training(monkeypatch)
    asked = settings(**TEACHES, labeller_samples=400, labeller_options=SMALL)
    task = noisy_task(asked, tmp_path)
    ((_, X, y, _),) = seen
    # It saw none of the samples that it labels, and their true labels.
    whole = data.load("digits32", validation=0)
    assert len(y) == 400
    by_picture = {x.tobytes(): label for x, label in zip(whole.train.X, whole.train.y, strict=True)}
    assert all(by_picture[x.tobytes()] == label for x, label in zip(X, y, strict=True))
    taken = {x.tobytes() for x in (*task.splits.train.X, *task.splits.validation.X)}
    tested = {x.tobytes() for x in task.splits.test.X}
    assert not {x.tobytes() for x in X} & (taken | tested)
    # All labels are its own.
    truth = task.splits.train.y
    np.testing.assert_array_equal(task.changed, task.labels != truth)
    assert task.rate == task.changed.mean()
    assert 0.02 < task.rate < 0.95
    assert task.validation_labels.shape == task.splits.validation.y.shape
    assert (task.validation_labels != task.splits.validation.y).any()
    counts = np.zeros((10, 10))
    np.add.at(counts, (truth, task.labels), 1)
    np.testing.assert_allclose(task.transition, counts / counts.sum(axis=1, keepdims=True))
    assert "taught on 400 other samples" in task.notes[0]
    assert f"{task.rate:.1%} of the labels that it gave are wrong" in task.notes[0]
    # A finished one is used again.
    np.testing.assert_array_equal(noisy_task(asked, tmp_path).labels, task.labels)


@pytest.mark.usefixtures("_short_labeller")
def test_options_of_the_labeller_reach_its_network(monkeypatch):
    seen = spy_on_training(monkeypatch)
    sizes = []
    for width in (4, 8):
        options = {**SMALL, "width": width}
        noisy_task(settings(**TEACHES, labeller_samples=100, labeller_options=options))
        sizes.append(sum(p.numel() for p in seen[-1][0]().parameters()))
    assert sizes[0] < sizes[1]


def test_a_labeller_does_not_begin_with_the_weights_of_the_network(monkeypatch):
    seen = spy_on_training(monkeypatch)
    for seed in (0, 0, 1):
        noisy_task(settings(noise="semantic", labeller="fcn", seed=seed))
    seeds = [run.seed for *_, run in seen]
    assert seeds[0] == seeds[1] != seeds[2]
    assert not {0, 1} & set(seeds)


def test_a_labeller_cannot_have_more_samples_than_there_are():
    with pytest.raises(ValueError, match=r"There are 1164 samples of digits32 besides .* Lower it"):
        noisy_task(settings(**TEACHES, labeller_samples=5000))
    with pytest.raises(ValueError, match="There are 0 samples of digits besides"):
        noisy_task(settings(noise="semantic", labeller="fcn", labeller_samples=10))


def test_other_samples_need_a_network():
    with pytest.raises(ValueError, match="needs a network as labeller"):
        noisy_task(settings(noise="semantic", labeller="logistic", labeller_samples=9, limit=99))


def test_open_set_noise_of_digits_is_made_of_scribbles():
    task = noisy_task(settings(data="digits32", noise="open-set", rate=0.6))
    scribbles = {x.tobytes() for x in data.scribbles().X}
    from_elsewhere = np.array([x.tobytes() in scribbles for x in task.splits.train.X])
    np.testing.assert_array_equal(from_elsewhere, task.changed)
    assert task.rate == pytest.approx(0.6, abs=0.01)


@pytest.mark.parametrize("kind", ["uniform", "flip"])
def test_noise_is_independent_of_the_split_drawn_with_the_same_seed(kind):
    """Else the wrong labels of a seed would sit in certain places of the data set."""
    tasks = [noisy_task(settings(noise=kind, rate=0.5, seed=s)) for s in range(20)]
    halves = [t.changed[: len(t.changed) // 2].mean() - 0.5 for t in tasks]
    assert abs(np.mean(halves)) < 0.02
    by_id = np.zeros(1797)
    for task in tasks:
        by_id[task.splits.train.ids] += task.changed
    assert by_id.max() < 20  # no sample is wrong with every seed
