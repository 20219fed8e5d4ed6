"""The desk: samples out, decisions in."""

import numpy as np
import pytest

from rehead.review.desk import Asked, AskedError, Desk
from rehead.review.draws import Shown
from rehead.review.filters import Filter
from rehead.review.tickets import TicketError


def test_decisions_are_counted_and_not_shown_again(desk, decide):
    seen = [decide(desk).row for _ in range(20)]
    assert len(set(seen)) == 20
    desk.forget_progress()
    assert desk.progress().counts["decided"] == 20
    assert not set(seen) & {s.row for s in desk.next("Ann", 50)}


def test_what_the_page_holds_is_not_given_again(desk):
    held = [s.row for s in desk.next("Ann", 10)]
    assert not set(held) & {s.row for s in desk.next("Ann", 10, held)}


def test_a_restart_goes_on_where_it_was(subject, tmp_path, decide):
    first = Desk(subject, tmp_path / "d.sqlite")
    rows = [decide(first, "suggestion").row for _ in range(5)]
    following = first.next("Ann", 5)
    first.close()
    second = Desk(subject, tmp_path / "d.sqlite")
    assert second.next("Ann", 5) == following
    assert {second.standings.standing(row).status for row in rows} == {"decided"}
    second.undo("client-undo-1", "Ann").result()
    second.catch_up()
    assert second.standings.standing(rows[-1]).status == "undecided"
    second.close()


def test_two_desks_on_one_log_see_each_other(subject, tmp_path, decide):
    one, two = Desk(subject, tmp_path / "d.sqlite"), Desk(subject, tmp_path / "d.sqlite")
    row = decide(one).row
    two.catch_up()
    assert two.standings.standing(row).status == "decided"
    one.close()
    two.close()


def test_reviewers_who_disagree_are_shown_it_first_and_settle_it(desk, decide):
    row = int(desk.subject.suspects[0])
    decide(desk, "keep", "Ann", Shown(row, "suspect"))
    decide(desk, "suggestion", "Bo", Shown(row, "suspect"))
    for who in ("Ann", "Bo", "Cy"):
        first = desk.next(who, 1)[0]
        assert (first.row, first.reason) == (row, "disagreement")
    decide(desk, "keep", "Cy", desk.next("Cy", 1)[0])
    assert desk.standings.standing(row).wrong is False
    assert desk.next("Ann", 1)[0].row != row


def test_a_second_look_is_at_what_another_has_decided(desk, decide):
    rows = {decide(desk, "keep", "Ann").row for _ in range(10)}
    desk.set_share("client-share", "Ann", "second_look", 0.5).result()
    desk.catch_up()
    shown = [s for s in desk.next("Bo", 40) if s.reason == "second look"]
    assert shown
    assert {s.row for s in shown} <= rows
    assert not [s for s in desk.next("Ann", 40) if s.reason == "second look"]


def test_skipped_samples_come_back_at_the_end(desk, decide):
    skipped = decide(desk, "skip", shown=Shown(int(desk.subject.suspects[0]), "suspect")).row
    rows = [s.row for s in desk.next("Ann", len(desk.subject.suspects) - 1)]
    assert skipped not in rows
    for row in desk.subject.suspects[1:]:
        decide(desk, shown=Shown(int(row), "suspect"))
    assert skipped in [s.row for s in desk.next("Ann", 5)]


def test_a_batch_is_one_undo(desk):
    rows = desk.rows(Filter(status="undecided"))[:6].tolist()
    given = desk.given[rows]
    label = next(c for c in range(3) if desk.report.classes[c] not in set(given[:1]))
    same = [row for row in rows if desk.given[row] != desk.report.classes[label]]
    desk.decide_all(Asked("client-batch", "Ann", "suggestion", label), same).result()
    desk.catch_up()
    assert {desk.standings.standing(row).status for row in same} == {"decided"}
    desk.undo("client-undo", "Ann").result()
    desk.catch_up()
    assert {desk.standings.standing(row).status for row in same} == {"undecided"}


def test_pairs_count_what_is_undecided(desk, decide):
    given, suggested, n, undecided = desk.pairs()[0]
    assert n == undecided
    rows = desk.rows(Filter(given=given, suggested=suggested))
    assert len(rows) == n
    decide(desk, shown=Shown(int(rows[0]), "suspect"))
    assert (given, suggested, n, n - 1) in desk.pairs()
    assert sum(pair[2] for pair in desk.pairs()) == len(desk.subject.suspects)


def test_the_log_keeps_why_and_with_what_probability(desk, decide):
    desk.set_share("client-share", "Ann", "random", 0.3).result()
    desk.catch_up()
    for _ in range(30):
        decide(desk)
    lines = [line for line in desk.log.lines() if line.kind == "decision"]
    drawn = [line for line in lines if line.reason == "random other"]
    assert drawn
    assert all(0 < line.probability <= 1 / 100 for line in drawn)
    assert {line.head for line in lines} == {"head-1"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked("client-1", "Ann", "eat"), "action"),
        (Asked("client-1", "Ann", "other", 99), "no class"),
        (Asked("client-1", "Ann", "other", None), "no class"),
        (Asked("client-1", " ", "keep"), "name"),
        (Asked("client-1", "A" * 99, "keep"), "name"),
        (Asked("c", "Ann", "keep"), "id"),
    ],
)
def test_what_makes_no_sense_is_refused(desk, asked, said):
    with pytest.raises(AskedError, match=said):
        desk.decide(asked, desk.ticket(Shown(0, "suspect")))


def test_the_given_label_is_kept_not_changed_to(desk):
    code = int(np.searchsorted(desk.report.classes, desk.given[0]))
    with pytest.raises(AskedError, match="keep it"):
        desk.decide(Asked("client-1", "Ann", "other", code), desk.ticket(Shown(0, "suspect")))


def test_a_ticket_of_another_log_is_refused(desk):
    with pytest.raises(TicketError):
        desk.decide(Asked("client-1", "Ann", "keep"), "nonsense")


@pytest.mark.parametrize("rows", [[], [10**6], [-1], list(range(6000))])
def test_batches_of_what_is_not_there_are_refused(desk, rows):
    with pytest.raises(AskedError, match="batch"):
        desk.decide_all(Asked("client-1", "Ann", "keep"), rows)


@pytest.mark.parametrize(("name", "value"), [("random", 0.9), ("random", -1), ("other", 0.1)])
def test_shares_have_limits(desk, name, value):
    with pytest.raises(AskedError, match="share"):
        desk.set_share("client-1", "Ann", name, value)
