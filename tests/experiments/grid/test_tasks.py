"""Cells of the grid: 44 tasks with noise, three seeds, and what each trains."""

from pathlib import Path

import pytest

from rehead.experiments.cell import Cell
from rehead.experiments.grid.tasks import TASKS, grid_cells, settings_of, task_of
from rehead.experiments.noisy import TrainSettings

ROOT = Path(__file__).parents[3]
NETWORKS = {
    ("mlp", "digits"): 7,
    ("fcn", "reuters8"): 7,
    ("fcn", "twitter_pos"): 7,
    ("resnet-small", "cifar10"): 8,
    ("efficientnet-lite0", "cifar10"): 8,
    ("minilm", "reuters8"): 7,
}


def test_there_are_44_cells_for_each_seed():
    cells = grid_cells()
    assert len(set(cells)) == len(cells) == 132
    assert {(c.table, c.profile) for c in cells} == {("accuracy", "grid")}
    for seed in (0, 1, 2):
        found = [(c.network, c.data) for c in cells if c.seed == seed]
        assert {pair: found.count(pair) for pair in found} == NETWORKS


def test_only_images_come_from_elsewhere():
    assert {c.data for c in grid_cells() if c.noise == "open-set"} == {"cifar10"}


def test_cells_of_some_tasks():
    cells = grid_cells(["twitter-fcn", "digits-mlp"], [5])
    assert [c.data for c in cells] == ["twitter_pos"] * 7 + ["digits"] * 7
    assert {c.seed for c in cells} == {5}


def test_a_misspelt_task_is_an_error():
    with pytest.raises(ValueError, match="Did you mean 'digits-mlp'"):
        grid_cells(["digits_mlp"])


def test_every_cell_has_its_task():
    for task in TASKS.values():
        assert all(task_of(cell) is task for cell in task.cells(1))
    with pytest.raises(ValueError, match="no network 'resnet34' on 'cifar10'"):
        task_of(Cell("accuracy", "resnet34", "cifar10", profile="grid"))


@pytest.mark.parametrize(
    ("task", "settings"),
    [
        (
            "digits-mlp",
            {"data": "digits", "model_options": {"hidden": (128, 128), "gain": 2**0.5}},
        ),
        ("reuters8-fcn", {"data": "reuters8", "validation": 500}),
        ("twitter-fcn", {"data": "twitter_pos"}),
        ("cifar10-resnet", {"data": "cifar10", "limit": 9000, "model_options": {"width": 24}}),
        ("cifar10-frozen", {"data": "cifar10", "limit": 9000}),
        ("reuters8-frozen", {"data": "reuters8", "validation": 500}),
    ],
)
def test_settings(task, settings, cell_of):
    cell = cell_of(task, "uniform", 0.4, seed=2)
    assert settings_of(cell) == TrainSettings(noise="uniform", rate=0.4, seed=2, **settings)
