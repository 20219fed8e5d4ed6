"""Our numbers beside the printed ones."""

import math

import pytest
from scipy.stats import spearmanr

from rehead.experiments.comparison import Comparison, Row, agreement, compare
from rehead.experiments.published import published
from rehead.experiments.results import Result, Results
from rehead.experiments.tables import cell_of, table_cells

from .results_of import result_of, write_seeds

COLUMNS = {"softmax": [50.0, 52.0], "RoG": [60.0, 61.0], "auto": [70.0, 72.0]}


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path)


def test_a_row_has_the_printed_numbers_and_ours(results):
    entry = published().of("2")[0]
    write_seeds(results, cell_of(entry), COLUMNS)
    row = compare("2", results, seeds=2).rows[0]
    assert row.printed == entry.accuracy
    assert row.ours("RoG").tolist() == [60.0, 61.0]
    assert row.mean("softmax") == pytest.approx(51)
    assert row.gain() == pytest.approx(9.5)
    assert row.printed_gain() == pytest.approx(entry.accuracy["RoG"] - entry.accuracy["softmax"])
    assert row.fitted == pytest.approx(0.9)
    assert row.status == "ran"


def test_seeds_that_were_not_asked_for_do_not_count(results):
    write_seeds(results, cell_of(published().of("2")[0]), COLUMNS)
    assert compare("2", results, seeds=1).rows[0].ours("RoG").tolist() == [60.0]


def test_rows_that_did_not_run_say_why(results):
    cells = table_cells("2")
    results.write(Result(cells[0], "data not here", "download it"))
    first, second = compare("2", results).rows[:2]
    assert (first.status, first.reason) == ("data not here", "download it")
    assert (second.status, second.reason) == ("not run", "not run yet")
    assert math.isnan(first.gain())
    assert first.ours("RoG").size == 0


def test_all_printed_entries_have_a_row(results):
    for table in "12345678":
        rows = compare(table, results).rows
        assert [r.printed for r in rows if r.printed] == [e.accuracy for e in published().of(table)]


def test_another_data_set_has_no_printed_numbers(results):
    rows = compare("2", results, data="digits").rows
    assert len(rows) == 12
    assert not any(row.printed for row in rows)


def rows_of(gains, printed_gains, auto=0.0):
    cell = table_cells("2")[0]
    return [
        Row(
            cell,
            {"softmax": 50.0, "RoG": 50.0 + p},
            [result_of(cell, softmax=40.0, RoG=40.0 + g, auto=40.0 + g + auto)],
            "ran",
            "",
        )
        for g, p in zip(gains, printed_gains, strict=True)
    ]


def test_agreement_counts_signs_and_ranks():
    ours, theirs = [1.0, -2.0, 3.0, 4.0], [0.5, 1.0, 2.0, -1.0]
    found = agreement(Comparison("2", "", rows_of(ours, theirs, auto=2.0)))
    assert (found.n, found.above, found.above_printed, found.same_sign) == (4, 3, 3, 2)
    assert found.rank_correlation == pytest.approx(spearmanr(ours, theirs).statistic)
    assert found.auto_above == 4
    assert found.auto_gain == pytest.approx(2.0)


def test_gains_are_of_seeds_that_have_both():
    cell = table_cells("2")[0]
    seeds = [result_of(cell, softmax=40.0, RoG=45.0), result_of(cell, softmax=70.0)]
    row = Row(cell, {}, seeds, "ran", "")
    assert row.gain() == pytest.approx(5.0)
    assert math.isnan(row.above("auto", "RoG"))


def test_a_column_that_failed_is_no_loss():
    rows = rows_of([1.0, 2.0, 3.0], [1.0, 2.0, -3.0], auto=2.0)
    failed = rows[2]._replace(results=[result_of(rows[2].cell, softmax=40.0)])
    found = agreement(Comparison("2", "", [*rows[:2], failed]))
    assert (found.n, found.above, found.same_sign, found.auto_above) == (2, 2, 2, 2)
    assert found.auto_gain == pytest.approx(2.0)


def test_agreement_of_nothing():
    found = agreement(Comparison("2", "", []))
    assert found.n == 0
    assert math.isnan(found.rank_correlation)
    assert math.isnan(found.auto_gain)


def test_equal_gains_have_no_rank_correlation():
    found = agreement(Comparison("2", "", rows_of([1.0] * 3, [1.0, 2.0, 3.0])))
    assert math.isnan(found.rank_correlation)


def test_deviations_are_named(results):
    rows = {(r.cell.data, r.cell.source): r for t in "257" for r in compare(t, results).rows}
    images = " ".join(rows["cifar10", ""].deviations)
    assert "5,000 training images" in images
    assert "smaller network" in images
    assert "embeddings" in " ".join(rows["twitter_pos", ""].deviations)
    assert "binary words" in " ".join(rows["reuters8", ""].deviations)
    assert "Tiny ImageNet stands in" in " ".join(rows["cifar10", "tinyimagenet32"].deviations)
    (digits,) = compare("7", results, data="digits").rows
    assert "digits32 in place of the paper's data" in digits.deviations
    assert "outside images that are generated" in digits.deviations
    printed = compare("2", results, "paper").rows
    assert not any(row.deviations for row in printed if row.printed)
