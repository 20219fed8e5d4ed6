"""What holds where several have decided."""

import pytest

from rehead.review.decisions import (
    DECIDED,
    DISPUTED,
    NOTHING,
    OPEN,
    SKIPPED,
    Decision,
    outcome,
    standing_of,
)


def by(who, action, new=None, reason="suspect", seq=0):
    return Decision(seq, f"c{seq}", 7, action, "cat", new, who, "", reason)


def test_nothing_holds_before_anybody_decides():
    assert standing_of([]) == NOTHING
    assert NOTHING.wrong is None


def test_the_last_decision_of_a_reviewer_counts():
    found = standing_of([by("Ann", "keep"), by("Ann", "other", "dog")])
    assert (found.status, found.decision.new, found.wrong) == (DECIDED, "dog", True)


def test_two_who_choose_the_same_label_agree_however_they_did():
    agreed = [by("Ann", "suggestion", "dog"), by("Bo", "other", "dog")]
    assert standing_of(agreed).status == DECIDED
    assert outcome(agreed[0]) == outcome(agreed[1])


@pytest.mark.parametrize("other", ["out of scope", "suggestion"])
def test_two_who_differ_dispute_until_one_who_saw_both_settles_it(other):
    said = [by("Ann", "keep"), by("Bo", other, "dog")]
    assert standing_of(said).status == DISPUTED
    assert standing_of(said).wrong is None
    settled = standing_of([*said, by("Ann", "keep", reason="disagreement")])
    assert (settled.status, settled.wrong) == (DECIDED, False)


def test_a_decision_after_the_settlement_opens_the_dispute_again():
    said = [by("Ann", "keep"), by("Bo", "other", "dog"), by("Ann", "keep", reason="disagreement")]
    assert standing_of([*said, by("Cy", "other", "cow")]).status == DISPUTED


def test_who_is_unsure_contradicts_nobody_and_who_skips_says_nothing():
    assert standing_of([by("Ann", "unsure")]).status == OPEN
    assert standing_of([by("Ann", "skip")]).status == SKIPPED
    assert standing_of([by("Ann", "keep"), by("Bo", "unsure"), by("Bo", "skip")]).status == DECIDED
    assert standing_of([by("Ann", "keep"), by("Ann", "skip")]).status == DECIDED
