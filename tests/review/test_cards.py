"""What the page gets of a sample."""

import json

from rehead.review.cards import LONGEST_TEXT, brief, card, progress_card, sample
from rehead.review.draws import Shown


def test_cards_are_plain_json(desk):
    row = int(desk.subject.suspects[0])
    for value in (
        card(desk, Shown(row, "suspect")),
        brief(desk, row),
        progress_card(desk.progress()),
    ):
        assert json.loads(json.dumps(value)) == value


def test_earlier_decisions_are_shown_but_not_to_a_second_look(desk, decide):
    row = int(desk.subject.suspects[0])
    decide(desk, "suggestion", "Ann", Shown(row, "suspect"))
    assert card(desk, Shown(row, "disagreement"))["decisions"][0]["who"] == "Ann"
    assert card(desk, Shown(row, "second look"))["decisions"] == []
    assert card(desk, Shown(row, "random suspect"))["decisions"] == []


def test_long_texts_are_cut_and_it_is_said(desk):
    class Long:
        kind = "text"

        def text(self, name):
            return "x" * (LONGEST_TEXT + 1)

    object.__setattr__(desk.subject, "shown", Long())
    found = sample(desk, 0, LONGEST_TEXT)
    assert (len(found["text"]), found["cut"]) == (LONGEST_TEXT, True)
