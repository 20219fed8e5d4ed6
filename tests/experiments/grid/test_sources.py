"""Features of the grid: all layers of a trained network, or those of a frozen encoder."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from rehead.data import Split, Splits
from rehead.experiments.cache import Cache, digest
from rehead.experiments.grid import sources
from rehead.experiments.grid.noise import grid_noise
from rehead.experiments.grid.sources import (
    FrozenImages,
    FrozenTexts,
    GridNetwork,
    PlainFeatures,
    grid_source,
)
from rehead.experiments.grid.tasks import all_tasks, grid_cells
from rehead.experiments.noisy import NoisyTask, TrainSettings
from rehead.experiments.plans import source_of
from rehead.experiments.results import Results
from rehead.experiments.running import is_same_source
from rehead.experiments.sources import TrainedNetwork, load_task

ROOT = Path(__file__).parents[3]
SMALL = TrainSettings(
    noise="uniform", rate=0.4, seed=1, epochs=2, model_options={"hidden": (9, 8), "gain": 2**0.5}
)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


def test_a_network_gives_its_input_and_all_its_layers(cache):
    task, facts = load_task(GridNetwork(SMALL), cache)
    names = ("input", "hidden1", "hidden2")
    assert tuple(task.train.layers) == task.taps == task.auto == names
    assert [task.test.layers[name].shape[1] for name in names] == [64, 9, 8]
    made = grid_noise(SMALL, cache)
    np.testing.assert_allclose(task.train.layers["input"], made.splits.train.X)
    np.testing.assert_array_equal(task.train.y, made.labels)
    np.testing.assert_array_equal(task.validation.y, made.validation_labels)
    np.testing.assert_array_equal(task.test.y, made.splits.test.y)
    np.testing.assert_array_equal(task.truth, made.splits.train.y)
    assert task.n_classes == task.train.outputs.shape[1] == 10
    assert facts["fitted"] == (task.train.outputs.argmax(axis=1) == task.train.y).mean()


def test_a_network_learns_the_labels_of_the_labeller(cache):
    settings = replace(SMALL, noise="semantic", rate=0.0)
    task, facts = load_task(GridNetwork(settings), cache)
    made = grid_noise(settings, cache)
    np.testing.assert_array_equal(task.train.y, made.labels)
    np.testing.assert_array_equal(task.validation.y, made.validation_labels)
    np.testing.assert_array_equal(task.changed, made.labels != task.truth)
    assert facts["fitted"] == (task.train.outputs.argmax(axis=1) == made.labels).mean()


def test_images_give_all_blocks(cache, monkeypatch):
    rng = np.random.default_rng(0)
    part = Split(
        rng.integers(256, size=(64, 3, 32, 32), dtype=np.uint8), np.arange(64) % 3, np.arange(64)
    )
    splits = Splits(part, part, part, ["a", "b", "c"])
    made = NoisyTask(splits, part.y, part.y, np.zeros(64, bool), 0.0, None)
    monkeypatch.setattr(sources, "grid_noise", lambda settings, cache: made)
    monkeypatch.setattr("rehead.experiments.training.noisy_task", lambda *_: made)
    settings = TrainSettings(data="cifar10", epochs=1, model_options={"width": 4})
    task, _ = load_task(GridNetwork(settings), cache)
    assert len(task.taps) == 6
    assert task.taps == task.auto == tuple(task.train.layers)
    assert [X.shape[1] for X in task.train.layers.values()] == [4, 4, 8, 8, 16, 16]


@pytest.fixture
def noisy():
    """Three parts of some data, ids in no order; two training inputs come from elsewhere."""
    rng = np.random.default_rng(0)
    ids = rng.permutation(30)
    parts = [Split(100 * i, i % 3, i) for i in (ids[:20], ids[20:], 30 + rng.permutation(10))]
    changed = np.zeros(20, bool)
    changed[[3, 7]] = True
    splits = Splits(*parts, ["a", "b", "c"])
    return NoisyTask(splits, parts[0].y + 1, parts[1].y + 2, changed, 0.1, None)


@pytest.mark.parametrize("kind", ["uniform", "open-set"])
def test_images_are_looked_up(kind, noisy, cache, monkeypatch):
    encoded = {
        "train/features": np.arange(30.0)[:, None],
        "test/features": 30 + np.arange(10.0)[:, None],
    }
    monkeypatch.setattr(sources, "grid_noise", lambda settings, cache: noisy)
    monkeypatch.setattr(sources, "image_features", lambda size, cache, name: encoded)
    monkeypatch.setattr(sources, "encode_images", lambda images, size: -images[:, None] + size)
    task, _ = load_task(FrozenImages(TrainSettings("cifar10", noise=kind, rate=0.1)), cache)
    expected = noisy.splits.train.ids.astype(float)
    if kind == "open-set":
        expected[noisy.changed] = 96 - 100 * expected[noisy.changed]
    assert task.train.layers["features"].ravel().tolist() == expected.tolist()
    for part, split in ((task.validation, noisy.splits.validation), (task.test, noisy.splits.test)):
        assert part.layers["features"].ravel().tolist() == split.ids.tolist()
    assert task.train.y.tolist() == noisy.labels.tolist()
    assert task.validation.y.tolist() == noisy.validation_labels.tolist()
    assert task.test.outputs is None
    assert task.taps == task.auto == ("features",)
    assert encoded["train/features"].ravel().tolist() == list(range(30))


def test_documents_are_looked_up_by_their_ids(noisy, cache, monkeypatch):
    order = np.random.default_rng(1).permutation(40)
    encoded = {"ids": order, "features": order[:, None] / 2}
    monkeypatch.setattr(sources, "grid_noise", lambda settings, cache: noisy)
    asked = []
    monkeypatch.setattr(
        sources, "document_features", lambda cache, name: asked.append(name) or encoded
    )
    task, _ = load_task(FrozenTexts(TrainSettings("reuters52")), cache)
    assert asked == ["reuters52"]
    for part, split in zip((task.train, task.validation, task.test), noisy.splits, strict=False):
        assert part.layers["features"].ravel().tolist() == (split.ids / 2).tolist()
    assert task.changed.tolist() == noisy.changed.tolist()


def test_a_table_is_taken_as_it_is(cache):
    settings = TrainSettings("wine", noise="flip", rate=0.3, seed=2)
    task, facts = load_task(PlainFeatures(settings), cache)
    made = grid_noise(settings, cache)
    for part, split in zip((task.train, task.validation, task.test), made.splits, strict=False):
        np.testing.assert_array_equal(part.layers["features"], split.X)
        assert part.outputs is None
    np.testing.assert_array_equal(task.train.y, made.labels)
    np.testing.assert_array_equal(task.validation.y, made.validation_labels)
    np.testing.assert_array_equal(task.test.y, made.splits.test.y)
    np.testing.assert_array_equal(task.changed, made.labels != made.splits.train.y)
    assert task.taps == task.auto == ("features",)
    assert facts == {}


def test_no_two_cells_have_the_same_features():
    cells = grid_cells(all_tasks())
    assert len({digest(grid_source(cell).what) for cell in cells}) == len(cells)


def test_a_cell_of_the_grid_gets_its_source_by_its_profile(cell_of):
    cell = cell_of("twitter-fcn", "flip", 0.4, seed=1)
    assert source_of(cell) == grid_source(cell)
    other = replace(cell, table="5", profile="quick")
    assert isinstance(source_of(other), TrainedNetwork)


@pytest.mark.parametrize("task", ["digits-mlp", "cifar10-frozen", "reuters8-frozen"])
def test_a_new_version_makes_everything_anew(task, cell_of, monkeypatch):
    cell = cell_of(task)
    before = digest(grid_source(cell).what)
    monkeypatch.setattr("rehead.experiments.sources.FEATURES_VERSION", 2)
    assert digest(grid_source(cell).what) != before


def test_the_number_of_threads_does_not_matter(cache, monkeypatch):
    def train(settings, folder):
        raise RuntimeError(f"{torch.get_num_threads()} threads")

    torch.set_num_threads(2)
    monkeypatch.setattr(sources, "train_network", train)
    with pytest.raises(RuntimeError, match=r"^1 threads"):
        GridNetwork(SMALL).make(cache)
    assert torch.get_num_threads() == 2


def test_kinds_of_sources():
    kinds = {cell.network: type(grid_source(cell)) for cell in grid_cells(all_tasks())}
    assert kinds == {
        "mlp": GridNetwork,
        "fcn": GridNetwork,
        "resnet-small": GridNetwork,
        "efficientnet-lite0": FrozenImages,
        "minilm": FrozenTexts,
        "table": PlainFeatures,
    }


def test_what_was_encoded_for_committed_cells_is_found(cell_of):
    """The digest of its features is in each of their results."""
    results = Results(ROOT / "results")
    for task in ("cifar10-frozen", "reuters8-frozen", "digits-mlp"):
        result = results.read(cell_of(task, "flip", 0.4))
        assert is_same_source(result, grid_source(result.cell))
