"""The log, replayed."""

import numpy as np

from rehead.review.log import Written
from rehead.review.standings import Standings


def line(seq, client, sample, action="keep", who="Ann", kind="decision", undoes=None, new='"a"'):
    return Written(
        seq, client, kind, sample, action, '"a"', new, who, "t", "suspect", None, 0, undoes, "h"
    )


def standings():
    return Standings({'"x"': 0, '"y"': 1, '"z"': 2})


def test_decisions_stand_until_they_are_undone():
    found = standings()
    found.update([line(1, "c1", '"x"'), line(2, "c2", '"y"', "other", new='"b"')])
    assert found.wrong.tolist()[:2] == [0.0, 1.0]
    assert np.isnan(found.wrong[2])
    assert found.counts()["decided"] == 2
    found.update([line(3, "u1", "", kind="undo", undoes="c2")])
    assert found.answered.tolist() == [True, False, False]
    assert found.seen == 3
    assert [d.row for d in found.of_client("c2")] == [1]


def test_an_undo_brings_back_what_the_reviewer_had_said_before():
    found = standings()
    found.update([line(1, "c1", '"x"'), line(2, "c2", '"x"', "unsure")])
    assert found.standing(0).status == "unsure"
    found.update([line(3, "u1", "", kind="undo", undoes="c2")])
    assert found.standing(0).status == "decided"


def test_a_batch_is_undone_as_a_whole():
    found = standings()
    found.update([line(i, "batch", name) for i, name in enumerate(('"x"', '"y"', '"z"'), 1)])
    assert found.counts()["decided"] == 3
    found.update([line(4, "u1", "", kind="undo", undoes="batch")])
    assert found.counts()["undecided"] == 3
    assert found.touched() == []


def test_reviewers_are_counted_and_turns_never_go_back():
    found = standings()
    found.update([line(1, "c1", '"x"'), line(2, "c2", '"y"', who="Bo")])
    found.update([line(3, "u1", "", kind="undo", undoes="c2")])
    assert found.reviewers() == {"Ann": 1}
    assert found.turns == {"Ann": 1, "Bo": 1}
    assert found.rows_of("Ann") == {0}


def test_shares_are_lines_too():
    found = standings()
    found.update([line(1, "s1", "random", "setting", kind="setting", new="0.2")])
    assert found.shares.random == 0.2
