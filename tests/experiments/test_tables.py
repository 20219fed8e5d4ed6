"""Tables as cells: as many as printed, none twice, and what they are on other data."""

from collections import Counter
from dataclasses import replace

import pytest

from rehead.experiments.plans import source_of
from rehead.experiments.profiles import settings_of
from rehead.experiments.published import published
from rehead.experiments.tables import (
    ORDER,
    TABLES,
    VARIED_TABLES,
    all_cells,
    cell_of,
    stand_ins,
    table_cells,
    varied_cells,
)
from rehead.experiments.variations import VARIATIONS


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_every_printed_cell_once_for_each_seed(table):
    cells = table_cells(table, seeds=2)
    printed = [cell_of(entry) for entry in published().of(table)]
    groups = Counter(cell.group for cell in cells)
    assert set(groups) == {*printed, *stand_ins(table, "quick")}
    assert set(groups.values()) == {2}
    assert len(set(printed)) == len(printed)


@pytest.mark.parametrize(("table", "seeds"), [("1", 3), ("2", 1), ("5", 5), ("8", 3)])
def test_the_quick_profile_has_several_seeds_where_that_is_cheap(table, seeds):
    assert {cell.seed for cell in table_cells(table)} == set(range(seeds))
    assert {cell.seed for cell in table_cells(table, "tiny")} == {0}


@pytest.mark.parametrize("profile", ["quick", "paper", "tiny"])
def test_no_two_cells_share_a_name_or_a_key(profile):
    cells = all_cells(profile)
    assert len({cell.name for cell in cells}) == len(cells)
    assert len({cell.key[:8] for cell in cells}) == len(cells)


def test_the_order_of_a_sweep_has_every_table_once():
    assert sorted(ORDER) == sorted(TABLES)
    assert all_cells()[0].table == ORDER[0]
    assert set(varied_cells()) <= set(all_cells())


def test_the_rate_of_semantic_noise_is_the_printed_one():
    """It is the share of wrong labels, not the share of clean samples that teach."""
    for cell in table_cells("6"):
        assert 0.3 < cell.rate < 0.4
        assert settings_of(cell).rate == 0.0
    for cell in table_cells("4"):
        assert settings_of(cell).rate == cell.rate


def test_stand_ins_have_no_printed_number():
    places = {cell_of(entry) for entry in published().entries}
    assert not places & {*stand_ins("2", "quick"), *stand_ins("7", "quick")}
    assert stand_ins("5", "quick") == []


@pytest.mark.parametrize("table", TABLES)
def test_on_digits_every_table_is_there_without_files(table):
    for cell in table_cells(table, "tiny", data="digits"):
        assert cell.data == ("digits" if cell.network == "fcn" else "digits32")
        assert cell.source == ""
        assert source_of(cell).settings.data == cell.data


def test_on_other_data_cells_that_differed_by_data_alone_are_one():
    cells = table_cells("2", "tiny", data="digits")
    assert len(cells) == len(set(cells)) == 12
    assert len(table_cells("7", "tiny", data="digits")) == 1


def test_on_other_data_a_labeller_does_not_err_as_often_as_in_the_paper():
    cells = table_cells("6", "tiny", data="digits")
    assert len(cells) == len({(cell.labeller, cell.method) for cell in cells}) == 18
    assert {cell.rate for cell in cells} == {0.0}
    # Rows of the paper's own data keep what it prints.
    printed = {cell_of(entry) for entry in published().of("6") if entry.data == "cifar10"}
    assert printed <= set(table_cells("6", data="CIFAR-10"))


def test_pictures_are_needed_but_for_text():
    assert {cell.data for cell in table_cells("5", data="Reuters-8")} == {"reuters8"}
    for data in ("reuters8", "twitter_pos", "reuters8_tfidf"):
        with pytest.raises(ValueError, match=f"Table 2 needs pictures, and {data} has none"):
            table_cells("2", data=data)


def test_a_variation_changes_cells_of_its_table_only():
    cells = [cell for table in VARIED_TABLES for cell in varied_cells(table=table)]
    assert {cell.variation for cell in cells} == set(VARIATIONS)
    assert all(cell.table in VARIATIONS[cell.variation].tables for cell in cells)
    for cell in cells:
        # Table 3 has D2L beside plain training: what it adds is the question there.
        beside = {"d2l"} if cell.table == "3" else set()
        assert cell.method in {VARIATIONS[cell.variation].method, *beside}
    assert {cell.data for cell in cells if cell.variation == "tf-idf"} == {"reuters8"}
    assert "none" not in {cell.noise for cell in cells if cell.variation == "with-true-class"}
    for cell in cells:
        assert source_of(cell).what != source_of(replace(cell, variation="")).what


def test_table_6_is_varied_with_each_labeller():
    cells = varied_cells(table="6")
    labellers = {"densenet100", "resnet34", "vgg13"}
    assert {(c.labeller, c.variation) for c in cells} == {
        (labeller, name) for labeller in labellers for name in ("augmented", "more-images")
    }
    assert {replace(cell, variation="") for cell in cells} <= set(table_cells("6"))


def test_wrong_tables_and_seeds_are_errors():
    with pytest.raises(ValueError, match="table must be one of"):
        table_cells("9")
    for seeds in (0, -1):
        with pytest.raises(ValueError, match="seeds must be at least 1"):
            table_cells("2", seeds=seeds)
