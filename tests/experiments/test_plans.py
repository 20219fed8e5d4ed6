"""What a cell needs."""

from rehead.experiments.cell import Cell
from rehead.experiments.columns.registry import PAPER, TEXT
from rehead.experiments.plans import columns_of, source_of
from rehead.experiments.profiles import settings_of
from rehead.experiments.tables import table_cells


def test_table_5_is_taken_apart_by_more_ways_to_predict():
    for table in "12345678":
        found = columns_of(table_cells(table)[0])
        assert found[: len(PAPER)] == list(PAPER)
        assert set(TEXT) <= set(found) if table == "5" else not set(TEXT) & set(found)
        assert len(set(found)) == len(found)


def test_the_features_of_a_cell_are_those_of_its_network():
    cell = Cell("2", "resnet34", "cifar10", "uniform", 0.4, seed=2)
    assert source_of(cell).settings == settings_of(cell)
