"""Cells of the grid: 44 tasks with noise, three seeds, and what each trains; and other lists."""

from pathlib import Path

import pytest

from rehead.experiments.cell import Cell
from rehead.experiments.grid.tasks import (
    FRESH_SEEDS,
    LISTS,
    SEEDS,
    TASKS,
    all_tasks,
    grid_cells,
    settings_of,
    task_of,
)
from rehead.experiments.noisy import TrainSettings, noisy_task

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
    for task in all_tasks().values():
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


def test_names_of_tasks_are_their_own():
    assert list(all_tasks()) == [name for tasks in LISTS.values() for name in tasks]
    assert all(name == task.name for name, task in all_tasks().items())
    assert all(task.table == table for table, tasks in LISTS.items() for task in tasks.values())


def test_tables_are_measured_clean_and_with_a_third_of_noise():
    cells = grid_cells(LISTS["tabular"], [4])
    assert len(set(cells)) == len(cells) == 8 * 3
    assert {(c.table, c.profile, c.network, c.seed) for c in cells} == {
        ("tabular", "grid", "table", 4)
    }
    assert {c.kind for c in cells} == {"none", "uniform30", "flip30"}
    assert cells[3].name == "tabular-wine-table-none-cross-entropy-4"


def test_many_classes_are_measured_with_five_noises():
    cells = grid_cells(LISTS["many"], [0])
    assert [c.kind for c in cells[:5]] == ["none", "uniform20", "uniform40", "flip20", "flip40"]
    assert [(c.network, c.data) for c in cells[::5]] == [
        ("minilm", "reuters52"),
        ("efficientnet-lite0", "tinyimagenet32"),
        ("table", "twitter_pos"),
    ]
    assert len(set(cells)) == len(cells) == 15


def test_people_label_the_same_tasks():
    assert len(LISTS["people"]) == len(TASKS)
    for name, task in LISTS["people"].items():
        assert name == f"{TASKS[name.removesuffix('-people')].name}-people"
        kinds = [cell.kind for cell in task.cells(0)]
        assert kinds[:2] == ["annotator20", "annotator40"]
        boundary = ["part-dependent40", "polynomial-margin40"]
        assert kinds[2:] == (boundary if task.frozen or "fcn" in name else [])
        assert all(task_of(cell) == task for cell in task.cells(0))


def test_cells_of_the_grid_stay_what_they_were():
    """Their keys are part of the names of committed files."""
    named = {path.stem for path in (ROOT / "results/grid/accuracy").glob("*.json")}
    assert named
    cells = grid_cells(seeds=[*SEEDS, *FRESH_SEEDS])
    assert named <= {f"{cell.name}-{cell.key[:8]}" for cell in cells}


def test_of_twitter_a_part_is_a_table_and_the_whole_has_many_classes():
    part, whole = (grid_cells([name], [1])[0] for name in ("twitter-windows", "twitter-19"))
    assert settings_of(part) == TrainSettings("twitter_pos", limit=4000, seed=1)
    assert settings_of(whole) == TrainSettings("twitter_pos", seed=1)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("digits", 1347),
        ("wine", 113),
        ("breast-cancer", 358),
        ("moons", 2700),
        ("spirals", 2700),
        ("rings", 2700),
        ("clusters", 2700),
    ],
)
def test_tables_need_no_outside_data_and_are_small(name, rows):
    cell = grid_cells([name], [0])[1]
    task = noisy_task(settings_of(cell))
    assert len(task.labels) == rows
    assert abs(task.rate - 0.3) < 0.15
