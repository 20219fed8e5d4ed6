"""Ways to predict of the grid are in the registry, and none is another one's double."""

from rehead.experiments.columns.registry import COLUMNS
from rehead.experiments.grid.columns import grid_columns
from rehead.experiments.grid.tasks import LISTS, grid_cells
from rehead.experiments.plans import columns_of


def test_all_are_known():
    for cell in grid_cells():
        columns = grid_columns(cell)
        told = 3 if cell.noise == "semantic" else 0
        assert len(set(columns)) == len(columns) == 19 + told
        assert set(columns) <= set(COLUMNS)
        assert columns_of(cell) == columns


def test_frozen_features_have_no_softmax(cell_of):
    frozen, trained = (grid_columns(cell_of(t)) for t in ("cifar10-frozen", "cifar10-resnet"))
    assert (frozen[0], trained[0]) == ("logistic regression", "softmax")
    assert frozen[1:] == trained[1:]
    assert "softmax" not in frozen


def test_the_papers_lda_is_not_the_shrunk_one(cell_of):
    columns = grid_columns(cell_of())
    assert "LDA" not in columns
    assert COLUMNS["LDA"] is not COLUMNS["LDA shrunk"]


def test_columns_of_other_lists_are_known_and_no_doubles():
    for cell in grid_cells([*LISTS["tabular"], *LISTS["many"]], [0]):
        columns = grid_columns(cell)
        assert columns_of(cell) == columns
        assert len(set(columns)) == len(columns)
        assert set(columns) <= set(COLUMNS)
        assert not any(name.endswith((", first", "stacked")) for name in columns)
        assert columns[-2:] == ["auto", "oracle"]
    assert all(task.frozen for name in ("tabular", "many") for task in LISTS[name].values())


def test_people_are_measured_beside_rivals_and_peers():
    for cell in grid_cells(LISTS["people"], [0]):
        columns = grid_columns(cell)
        assert columns_of(cell) == columns
        assert len(set(columns)) == len(columns)
        assert {"RoG", "WANN", "mixture", "auto", "oracle"} <= set(columns) <= set(COLUMNS)


def test_what_people_take_for_tables_is_there_alone_and_after_cleanlab():
    columns = grid_columns(grid_cells(["wine"])[0])
    assert columns[:6] == [
        "logistic regression",
        "k-NN",
        "boosting",
        "cleanlab, LR",
        "cleanlab, k-NN",
        "cleanlab, boosting",
    ]


def test_many_classes_have_every_peer_and_no_boosting():
    columns = grid_columns(grid_cells(["reuters52-frozen"])[0])
    assert {"WANN", "FINE, LDA", "agreement", "mixture", "cleanlab, k-NN", "RoG"} <= set(columns)
    assert not any("boosting" in name for name in columns)
