"""How many labels to look at."""

import numpy as np
import pytest

from rehead.audit.review import expected_wrong, n_review


def test_the_wanted_share_is_found_in_expectation(report, noisy):
    n = report.n_review()
    assert report.expected_wrong(n) >= 0.95 * report.expected_wrong()
    assert report.expected_wrong(n - 1) < 0.95 * report.expected_wrong()
    assert noisy[2][report.order[:n]].sum() >= 0.9 * noisy[2].sum()
    np.testing.assert_array_equal(report.worst(), report.order[:n])
    np.testing.assert_array_equal(report.worst(3), report.order[:3])
    assert report.expected_wrong() == pytest.approx(report.noise_rate * len(report))


def test_the_expected_wrong_are_summed_from_the_worst_on():
    quality = np.array([0.9, 0.0, 0.5, 1.0])
    sums = [expected_wrong(quality, n) for n in range(6)]
    np.testing.assert_allclose(sums, [0.0, 1.0, 1.5, 1.6, 1.6, 1.6])
    assert expected_wrong(quality) == pytest.approx(1.6)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("one_in", [1.0, 3.0, 10.0, np.inf])
def test_the_rules_one_label_after_the_other(share, one_in):
    quality = np.random.default_rng(0).beta(3, 1, size=200)
    wrong, looked_at, found = np.sort(1 - quality)[::-1], 0, 0.0
    for chance in wrong:
        if found >= share * wrong.sum() - 1e-9 or chance < 1 / one_in:
            break
        looked_at, found = looked_at + 1, found + chance
    assert n_review(quality, share, one_in) == looked_at


def test_no_label_is_looked_at_that_is_hardly_wrong():
    assert n_review(np.full(10_000, 0.99)) == 0
    assert n_review(np.full(10_000, 0.99), one_in=np.inf) == 9500
    assert n_review(np.full(10, 0.9)) == 10  # one in ten is worth a look
    assert n_review(np.array([0.0, 1.0, 1.0])) == 1
    assert n_review(np.ones(5)) == 0


def test_more_is_never_less(report):
    shares = [report.n_review(share=s, one_in=1e9) for s in (0.1, 0.5, 0.9, 0.99, 1.0)]
    assert shares == sorted(shares)
    limits = [report.n_review(share=1.0, one_in=k) for k in (1.01, 2, 10, 100)]
    assert limits == sorted(limits)


@pytest.mark.parametrize("wrong", [{"share": 0}, {"share": 1.5}, {"one_in": 0.5}])
def test_bad_rules(report, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        report.n_review(**wrong)


@pytest.mark.parametrize("n", [-1, 1.5, "3"])
def test_bad_numbers(report, n):
    with pytest.raises(ValueError, match="n must be"):
        report.worst(n)
    with pytest.raises(ValueError, match="n must be"):
        report.expected_wrong(n)
