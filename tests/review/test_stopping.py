"""When to stop: the interval holds as promised, whatever the model believes."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, hypergeom

from rehead.review.stopping import Part, number_interval, parts_of, wrong_left

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import stopping

REPEATS = 150


def test_the_interval_is_that_of_the_definition():
    for size, drawn, wrong in [(30, 10, 0), (30, 10, 4), (30, 10, 10), (25, 24, 3)]:
        allowed = [
            m
            for m in range(size + 1)
            if hypergeom.cdf(wrong, size, m, drawn) > 0.05
            and hypergeom.sf(wrong - 1, size, m, drawn) > 0.05
        ]
        assert number_interval(size, drawn, wrong, 0.05) == (allowed[0], allowed[-1])


def test_many_samples_give_the_interval_of_clopper_and_pearson():
    low, high = number_interval(10**6, 60, 7, 0.05)
    assert low / 1e6 == pytest.approx(beta.ppf(0.05, 7, 54), abs=1e-3)
    assert high / 1e6 == pytest.approx(beta.ppf(0.95, 8, 53), abs=1e-3)


def test_ten_draws_without_an_error_still_allow_26_percent():
    left = wrong_left([Part(100_000, 10, 0, 0, 0, 99_990)])
    assert left.high / 100_000 == pytest.approx(0.26, abs=0.005)


def test_nothing_drawn_means_that_nothing_is_known():
    left = wrong_left([Part(50, 0, 0, 0, 3, 47)])
    assert (left.estimate, left.low, left.high) == (None, 0, 47)


def test_all_drawn_means_that_all_is_known():
    left = wrong_left([Part(50, 50, 8, 0, 8, 0)])
    assert (left.estimate, left.low, left.high) == (0.0, 0, 0)


def test_what_is_left_open_widens_the_interval_at_its_upper_end_only():
    closed = wrong_left([Part(500, 50, 5, 0, 5, 450)])
    opened = wrong_left([Part(500, 50, 5, 6, 5, 456)])
    assert opened.low == closed.low
    assert opened.high > closed.high
    done = wrong_left([Part(50, 50, 8, 4, 8, 4)])
    assert (done.low, done.high) == (0, 4)


def test_a_confidence_that_is_none_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        wrong_left([], 1.0)


def test_samples_beyond_the_first_unanswered_draw_do_not_count():
    suspects, order = np.array([0, 1]), (np.array([1, 0]), np.array([4, 2, 3, 5]))
    answered = np.array([True, False, False, True, True, True])
    wrong = np.array([1.0, np.nan, np.nan, 1.0, 0.0, 1.0])
    through, above, below = parts_of(suspects, order, answered, wrong)
    assert (through.size, through.found) == (1, 1)
    assert (above.size, above.drawn) == (1, 0)
    assert (below.drawn, below.wrong, below.found, below.unanswered) == (1, 0, 2, 1)


@pytest.fixture(scope="module", params=list(stopping.TASKS))
def labels(request):
    """Suspects, worst first, and which labels are wrong."""
    return stopping.TASKS[request.param]()


def test_the_interval_covers_the_truth_as_often_as_promised(labels):
    moments = [list(stopping.review(labels, seed, 0.15, (60, 200, 450))) for seed in range(REPEATS)]
    held = np.array([[moment.holds for moment in run] for run in moments])
    # Three standard errors of a share of 0.9.
    assert (held.mean(axis=0) >= 0.9 - 3 * np.sqrt(0.09 / REPEATS)).all(), held.mean(axis=0)


def test_the_estimate_has_no_bias_even_where_the_model_is_blind(labels):
    found = [next(stopping.review(labels, seed, 0.15, (450,))) for seed in range(REPEATS)]
    errors = np.array([m.left.estimate - m.truly for m in found if m.left.estimate is not None])
    truly = np.mean([m.truly for m in found])
    # What is clipped at 0 makes it a little too large where next to nothing is left.
    assert abs(errors.mean()) <= 4 * errors.std() / np.sqrt(len(errors)) + 0.03 * truly + 2


def test_the_guide_has_what_reviewed_labels_are_worth():
    import reviewed

    page = Path(__file__).parents[2] / "docs" / "how-to" / "review.md"
    found = json.loads(reviewed.RESULTS.read_text())
    assert reviewed.table(found) in page.read_text(encoding="utf-8")


def test_the_page_has_the_numbers_that_were_measured():
    found = json.loads(stopping.RESULTS.read_text())
    page = Path(__file__).parents[2] / "docs" / "how-to" / "when-to-stop.md"
    assert stopping.table(found) in page.read_text(encoding="utf-8")
