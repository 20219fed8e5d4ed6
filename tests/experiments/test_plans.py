"""What a cell needs."""

from pathlib import Path

from rehead.experiments.cell import Cell
from rehead.experiments.columns.registry import PAPER, TEXT
from rehead.experiments.grid.peers import cells_of_peers
from rehead.experiments.grid.tasks import FRESH_SEEDS, SEEDS, all_tasks, grid_cells
from rehead.experiments.plans import columns_of, source_of
from rehead.experiments.profiles import settings_of
from rehead.experiments.results import RAN, Results
from rehead.experiments.running import SOURCE, is_same_source
from rehead.experiments.tables import all_cells, table_cells

COMMITTED = Results(Path(__file__).parents[2] / "results")


def test_table_5_is_taken_apart_by_more_ways_to_predict():
    for table in "12345678":
        found = columns_of(table_cells(table)[0])
        assert found[: len(PAPER)] == list(PAPER)
        assert set(TEXT) <= set(found) if table == "5" else not set(TEXT) & set(found)
        assert len(set(found)) == len(found)


def test_the_features_of_a_cell_are_those_of_its_network():
    cell = Cell("2", "resnet34", "cifar10", "uniform", 0.4, seed=2)
    assert source_of(cell).settings == settings_of(cell)


def test_committed_results_are_of_the_settings_that_their_cells_have_now():
    """Pages would show others beside them without a word."""
    grid = grid_cells(all_tasks(), [*SEEDS, *FRESH_SEEDS])
    known = {*all_cells("quick"), *grid, *cells_of_peers()}
    shared = {}
    for result in COMMITTED:
        assert result.cell in known, result.cell.name
        if result.status == RAN:
            assert is_same_source(result, source_of(result.cell)), result.cell.name
            for name, m in result.columns.items():
                # Cells of several tables with one network have one accuracy.
                key = (result.network.get(SOURCE, result.cell), name)
                assert shared.setdefault(key, m.accuracy) == m.accuracy, result.cell.name
