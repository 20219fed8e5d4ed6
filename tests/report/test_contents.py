"""The numbers of a report are those of its labels."""

import numpy as np
import pytest

from rehead.report import contents


def test_the_headline(judged):
    report, _, _ = judged()
    found = contents.headline_of(report)
    assert found.n == 300
    assert sum(found.kinds.values()) == 300
    assert found.n_suspects == (report.given != report.suggested).sum()
    assert found.expected == pytest.approx(300 * report.noise_rate)
    assert found.n_review == report.n_review()
    assert found.measured
    assert found.noise in str(report)


def test_true_labels_may_be_missing_or_strange(judged):
    report, _, truth = judged(labels=["a", "b", "c"])
    given = truth.astype(object)
    given[[0, 1, 2, 3]] = [None, np.nan, " ", "of no class"]
    codes = contents.truth_codes(report, given)
    assert codes[:4].tolist() == [-1, -1, -1, -1]
    assert (report.classes[codes[4:]] == truth[4:]).all()
    numbers, _, truth = judged()
    assert (contents.truth_codes(numbers, truth.astype(str)) == truth).all()
    with pytest.raises(ValueError, match="one true label for each of the 300"):
        contents.truth_codes(report, truth[:9])


def test_how_right_labels_are(judged):
    report, _, truth = judged()
    outputs = np.eye(3)[report.given]  # a network that has learned its labels by heart
    found = contents.truth_of(report, contents.truth_codes(report, truth), outputs)
    right = report.given == truth
    assert found.given == found.softmax == right.mean()
    assert found.suggested == (report.suggested == truth).mean() > found.given
    assert found.found == report.suspect[~right].mean()
    assert found.precise == (~right)[report.suspect].mean()
    assert contents.truth_of(report, np.full(300, -1), None) is None
    assert np.isnan(contents.truth_of(report, np.zeros(300, int), None).softmax)


def test_class_by_class(judged):
    report, _, _ = judged(labels=["a", "b", "c"])
    rows = contents.class_rows(report)
    assert sum(row.n for row in rows) == 300
    assert sum(row.expected for row in rows) == pytest.approx(300 * report.noise_rate)
    assert [row.expected for row in rows] == sorted((r.expected for r in rows), reverse=True)
    for row in rows:
        mine = (report.given == row.name) & report.suspect
        assert row.n_suspects == mine.sum()
        counts = [(report.suggested[mine] == c).sum() for c in report.classes]
        assert row.looks_like_n == max(counts) == (report.suggested[mine] == row.looks_like).sum()


def test_pairs_and_what_is_left_out(judged):
    report, _, _ = judged(9, 900, rate=0.4)
    pairs, more = contents.pairs_of(report)
    assert len(pairs) == contents.MOST_PAIRS
    assert more > 0
    first = pairs[0]
    asked = (report.given == first.given_code) & (report.suggested == first.suggested_code)
    assert first.n == asked.sum()


def test_the_curve_ends_with_all_errors(judged):
    report, _, _ = judged()
    curve = contents.review_curve(report)
    assert curve.points[0] == (0.0, 0.0)
    assert curve.points[-1] == (1.0, pytest.approx(1.0))
    assert curve.n_review == report.n_review()
    total = report.expected_wrong()
    assert curve.share_found == pytest.approx(report.expected_wrong(curve.n_review) / total)
