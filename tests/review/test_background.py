"""Fitting again while a review goes on."""

from rehead.review.background import Refitting
from rehead.review.cards import card
from rehead.review.draws import Shown


def test_the_desk_goes_on_with_the_new_head(desk, decide):
    before = desk.report
    for row in desk.subject.suspects[:5].tolist():
        decide(desk, "suggestion", shown=Shown(row, "suspect"))
    refitting = Refitting(desk)
    assert refitting.start().state == "working"
    assert refitting.wait().state == "done", refitting.state
    assert desk.report is not before
    assert desk.subject.head.startswith("refit")
    decide(desk)
    assert desk.log.lines()[-1].head.startswith("refit")
    assert desk.given is before.given
    for row in desk.log.suspects[:5].tolist():  # decided, and opened again
        found = card(desk, Shown(row, "browsed"))
        assert found["given"] != found["other"]
    desk.forget_progress()
    now = desk.progress()
    assert now.suspects - now.suspects_left >= 5  # what was done still counts


def test_a_failure_is_told_and_the_review_goes_on(desk, decide):
    for row in range(len(desk.given)):
        if desk.given[row] == "cat":
            decide(desk, "out of scope", shown=Shown(row, "suspect"))
    refitting = Refitting(desk)
    refitting.start()
    state = refitting.wait()
    assert state.state == "failed"
    assert "no samples left" in state.said
    decide(desk)
