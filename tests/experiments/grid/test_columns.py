"""Ways to predict of the grid are in the registry, and none is another one's double."""

from rehead.experiments.columns.registry import COLUMNS
from rehead.experiments.grid.columns import grid_columns
from rehead.experiments.grid.tasks import grid_cells
from rehead.experiments.plans import columns_of


def test_all_are_known():
    for cell in grid_cells():
        columns = grid_columns(cell)
        assert len(set(columns)) == len(columns) == 19
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
