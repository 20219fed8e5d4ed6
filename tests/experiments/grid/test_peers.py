"""Peers side by side."""

from rehead.experiments.columns.registry import COLUMNS
from rehead.experiments.grid.page import peers_section
from rehead.experiments.grid.peers import (
    FIRST,
    SHOWN,
    cells_of_peers,
    columns_beside_peers,
    read_standings,
    standing_rows,
)
from rehead.experiments.grid.tasks import grid_cells
from rehead.experiments.plans import columns_of, source_of
from rehead.experiments.results import Measurement, Result, Results


def measurement(column, accuracy, **more):
    return Measurement(column, accuracy, 0.1, "0.9", "abc", "2026-01-01", **more)


def test_cells_are_seed_0_of_the_grid_on_the_same_networks():
    cells, grid = cells_of_peers(), grid_cells(seeds=[0])
    assert len(cells) == len(grid) == 44
    assert [source_of(c).what for c in cells] == [source_of(c).what for c in grid]
    assert not {c.key for c in cells} & {c.key for c in grid}


def test_columns_are_registered_and_frozen_features_have_one_layer():
    for cell in cells_of_peers():
        columns = columns_of(cell)
        assert columns == columns_beside_peers(cell)
        assert set(columns) <= set(COLUMNS)
        frozen = cell.network in ("efficientnet-lite0", "minilm")
        assert bool(set(FIRST) & set(columns)) != frozen


def test_the_better_layer_of_a_peer_counts_and_the_best_is_bold(tmp_path):
    results = Results(tmp_path)
    cell = cells_of_peers()[1]
    measured = (
        measurement("WANN", 0.5, auroc=0.6, f1=0.5, false_negatives=0.5),
        measurement("WANN, first", 0.7, auroc=0.65, f1=0.6, false_negatives=0.4),
        measurement("auto", 0.8, auroc=0.9, f1=0.8, false_negatives=0.2),
        measurement("oracle", 0.9),
    )
    results.write(Result(cell, measurements=measured))
    standings = read_standings(results)
    (row,) = standing_rows(standings, "accuracy, %")
    row = dict(zip(["task", "noise", *SHOWN], row, strict=True))
    assert (row["WANN"], row["auto"], row["oracle"]) == ("70.0", "**80.0**", "90.0")
    (missed,) = standing_rows(standings, "wrong labels missed at the true budget, %")
    assert "**20.0**" in missed
    section = "\n".join(peers_section(standings))
    assert "rehead 0.9" in section
    assert "| **0.900** |" in section


def test_nothing_measured_is_no_row(tmp_path):
    results = Results(tmp_path)
    results.write(Result(cells_of_peers()[0], measurements=(measurement("auto", 0.8),)))
    assert standing_rows(read_standings(results), "AUROC of wrong labels") == []
