"""Tables and cells by name."""

import pytest

from rehead.experiments.asked import (
    ALL,
    VARIED,
    Scope,
    check_asked,
    find_cells,
    names,
    some,
)
from rehead.experiments.tables import table_cells


def test_tables_by_name():
    assert find_cells("table2", Scope()) == table_cells("2")
    assert find_cells("table2", Scope(data="digits", profile="tiny")) == table_cells(
        "2", "tiny", data="digits"
    )
    assert len(find_cells("table7", Scope(seeds=2))) == 2 * len(
        find_cells("table7", Scope(seeds=1))
    )


def test_everything_is_all_tables_and_the_variations():
    every = find_cells(ALL, Scope())
    assert len(every) == sum(len(find_cells(name, Scope())) for name in names())
    assert len({cell.key for cell in every}) == len(every)
    assert every[0].table == "5"


@pytest.mark.parametrize("name", ["table2", "table5", *VARIED])
def test_a_cell_by_its_name(name):
    cell = find_cells(name, Scope())[-1]
    assert find_cells(cell.name, Scope()) == [cell]


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("tabel2", "'table2'"),
        ("Table 5", "'table5'"),
        ("theorm", "'theorem'"),
        ("table2-cifar10-resnet34-unifrm40-cross-entropy-0", "resnet34-uniform40"),
    ],
)
def test_near_matches_are_named(typed, near):
    with pytest.raises(ValueError, match="There is no") as error:
        find_cells(typed, Scope())
    assert near in str(error.value)


def test_some_cells_are_spread_over_the_table():
    cells = list(range(10))
    assert some(cells, None) == cells
    assert some(cells, 20) == cells
    assert some(cells, 1) == [5]
    assert some(cells, 2) == [2, 7]
    assert find_cells("table2", Scope(cells=1))[0].noise != "none"


def test_cells_of_figures():
    assert find_cells("figure1c", Scope()) == []
    (one,) = find_cells("figure1b", Scope())
    assert (one.network, one.rate) == ("densenet100", 0.2)
    assert len(find_cells("figure2a", Scope())) == 4
    assert len(find_cells("figure5", Scope(cells=1))) == 1
    (labelled,) = find_cells("figure3a", Scope())
    assert labelled.labeller == "resnet34"
    with pytest.raises(ValueError, match="Did you mean 'figure2"):
        find_cells("figure2d", Scope())


@pytest.mark.parametrize(
    ("what", "ignored"),
    [
        ("theorem", {"data": "digits"}),
        ("theorem", {"seeds": 2}),
        ("page", {"cells": 2}),
        ("figure1c", {"data": "digits"}),
        ("figure2a", {"seeds": 2}),
        ("table5-variations", {"data": "digits"}),
        ("table1-variations", {"seeds": 3}),
        ("table7-cifar10-densenet100-open-set60-cifar100-cross-entropy-0", {"cells": 2}),
    ],
)
def test_what_would_be_ignored_is_refused(what, ignored):
    with pytest.raises(ValueError, match=f"{next(iter(ignored))} has no effect on '{what}'"):
        check_asked(what, Scope(**ignored))
    assert check_asked(what, Scope()) == Scope()


def test_all_that_has_an_effect_is_taken():
    assert check_asked(ALL, Scope("tiny", "Digits", 2, 3)) == Scope("tiny", "digits", 2, 3)
    assert check_asked("figure2a", Scope(data="digits", cells=1)).cells == 1
    with pytest.raises(ValueError, match="Did you mean 'quick'"):
        check_asked("table2", Scope("qiuck"))
    with pytest.raises(ValueError, match="There is no 'figure9'"):
        check_asked("figure9", Scope())
