"""The noise of the grid: semantic labels are those of a labeller with few clean samples."""

import numpy as np
import pytest

from rehead import noise as noises
from rehead.data import Split, Splits
from rehead.experiments.cache import Cache
from rehead.experiments.grid import noise
from rehead.experiments.grid.noise import grid_noise
from rehead.experiments.noisy import NoisyTask, TrainSettings, load_inputs, noisy_task


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


@pytest.mark.parametrize("kind", ["none", "uniform", "flip"])
def test_other_noise_is_that_of_every_run(kind, cache):
    settings = TrainSettings(noise=kind, rate=0.3, seed=1)
    found, expected = grid_noise(settings, cache), noisy_task(settings)
    for name in ("labels", "validation_labels", "changed"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_one_in_fifty_clean_samples_teaches_the_labeller(cache):
    settings = TrainSettings(noise="semantic", seed=3)
    task, splits = grid_noise(settings, cache), load_inputs(settings)
    rng = np.random.default_rng(np.random.SeedSequence([3, 5]))
    made = noises.semantic(splits.train.X, splits.train.y, clean=0.02, random_state=rng)
    np.testing.assert_array_equal(task.labels, made.labels)
    np.testing.assert_array_equal(task.validation_labels, made.label(splits.validation.X))
    np.testing.assert_array_equal(task.changed, task.labels != splits.train.y)
    assert task.rate == task.changed.mean()
    assert 0.1 < task.rate < 0.5


def test_images_are_labelled_by_other_features_of_theirs(cache, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    seen = rng.normal(size=(500, 5)) + 3 * np.tile([0, 1], 250)[:, None]
    sizes = []
    monkeypatch.setattr(
        noise, "image_features", lambda size, _: sizes.append(size) or {"train/features": seen}
    )
    ids = rng.permutation(400)
    images = np.zeros((400, 3, 32, 32), np.uint8)  # tell nothing
    part = Split(images, y[ids], ids)
    train, held_out = (Split(*(a[rows] for a in part)) for rows in (slice(300), slice(300, None)))
    splits = Splits(train, held_out, held_out, ["even", "odd"])
    clean = NoisyTask(splits, train.y, held_out.y, np.zeros(300, bool), 0.0, np.eye(2))
    monkeypatch.setattr(noise, "noisy_task", lambda settings: clean)
    task = grid_noise(TrainSettings(data="cifar10", noise="semantic"), cache)
    rng = np.random.default_rng(np.random.SeedSequence([0, 5]))
    made = noises.semantic(seen[train.ids], train.y, clean=0.05, random_state=rng)
    np.testing.assert_array_equal(task.labels, made.labels)
    np.testing.assert_array_equal(task.validation_labels, made.label(seen[held_out.ids]))
    assert (task.labels == train.y).mean() > 0.8
    assert sizes == [64]
