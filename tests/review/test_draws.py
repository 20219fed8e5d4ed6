"""What is shown next."""

from collections import Counter
from itertools import islice

import numpy as np

from rehead.review.draws import (
    Candidates,
    Shares,
    draw_order,
    next_samples,
    turns_of,
)

SUSPECTS, OTHERS = np.arange(500), np.arange(500, 10_000)


def shown(shares=Shares(), n=400, who="Ann", start=0, disputed=(), second=()):  # noqa: B008
    above, below = draw_order(10_000, SUSPECTS, seed=1)
    candidates = Candidates(disputed, SUSPECTS, above, below, second)
    left = {"random suspect": 500, "random other": 9500}
    return list(islice(next_samples(candidates, shares, left, turns_of(7, who, start)), n))


def test_suspects_come_worst_first_and_no_sample_twice():
    found = shown()
    order = [s.row for s in found if s.reason == "suspect"]
    assert order == sorted(order)
    assert len({s.row for s in found}) == len(found)


def test_about_every_twentieth_is_random_and_from_below_the_cut():
    found = Counter(s.reason for s in shown())
    assert 8 <= found["random other"] <= 35
    assert 8 <= found["random suspect"] <= 35
    assert all(s.row >= 500 for s in shown() if s.reason == "random other")
    assert all(s.row < 500 for s in shown() if s.reason == "random suspect")


def test_turns_cannot_be_foretold_and_differ_between_reviewers():
    where = [[i for i, s in enumerate(shown(who=who)) if s.probability] for who in ("Ann", "Bo")]
    assert where[0] != where[1]
    assert len(set(np.diff(where[0]).tolist())) > 3


def test_the_probability_of_a_draw_is_one_in_those_that_are_left():
    drawn = [s.probability for s in shown(Shares(0.5)) if s.reason == "random other"]
    assert drawn[:3] == [1 / 9500, 1 / 9499, 1 / 9498]
    assert all(s.probability is None for s in shown() if s.reason == "suspect")


def test_the_share_can_be_raised_and_switched_off():
    assert Counter(s.reason for s in shown(Shares(0.25)))["random other"] > 70
    assert {s.reason for s in shown(Shares(0.0))} == {"suspect"}


def test_disagreements_come_first_and_second_looks_when_wanted():
    found = shown(Shares(0.0, 0.5), disputed=[7, 8], second=[400, 401])
    assert [(s.row, s.reason) for s in found[:2]] == [(7, "disagreement"), (8, "disagreement")]
    assert {s.row for s in found if s.reason == "second look"} == {400, 401}


def test_when_suspects_are_done_the_others_are_drawn():
    found = shown(n=10_000)
    assert len(found) == 10_000
    assert found[-1].reason == "random other"
    assert {s.reason for s in found[-5000:]} == {"random other"}


def test_the_order_of_draws_is_fixed_by_the_seed_and_fair():
    first = [draw_order(100, np.arange(10), seed)[1][0] for seed in range(600)]
    assert np.array_equal(
        draw_order(100, np.arange(10), 3)[1], draw_order(100, np.arange(10), 3)[1]
    )
    assert set(first) <= set(range(10, 100))
    assert Counter(first).most_common(1)[0][1] < 25
