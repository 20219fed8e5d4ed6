"""A report in words."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, score_labels
from rehead.audit.summary import confusions, headline, summary


def test_a_summary(report):
    text = str(report)
    assert text.startswith("450 labels: ")
    assert "wrong, or too hard to tell by these features (" in text
    assert "error" not in text
    assert f"Review the {report.n_review()} worst" in text
    assert str(report.order[0]) in text
    assert "Most common confusions" in text
    assert len(report.summary(20).splitlines()) == len(text.splitlines()) + 15
    assert text == summary(report)


def test_one_line(report):
    assert repr(report) == headline(report)
    assert repr(report).startswith("LabelReport(450 labels")
    assert len(repr(report)) < 120


def test_of_clean_labels(blobs):
    X, y = blobs(sizes=(300, 300), distance=8.0)
    report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
    assert "about clean" in str(report)
    assert "Nothing to review" in str(report)
    assert "Worst" not in str(report)


def test_confusions_are_counted(report):
    suspect = report.suspect
    pairs = Counter(zip(report.given[suspect], report.suggested[suspect], strict=True))
    found = confusions(report)
    assert {(given, better): n for given, better, n in found} == pairs
    assert [n for *_, n in found] == sorted(pairs.values(), reverse=True)


def test_kinds_are_counted_in_a_fixed_order(report):
    n = Counter(report.kind.tolist())
    assert f"Kinds: {n['ok']} ok, {n['wrong label']} wrong label" in str(report)
    fine = replace(report, kind=np.full(450, "ok"))
    assert "Kinds: 450 ok." in str(fine)
    strange = replace(report, kind=np.full(450, "out of distribution"))
    assert "Kinds: 0 ok, 450 out of distribution." in str(strange)


def test_worst_labels_are_shown_by_id_worst_first(report):
    named = replace(report, ids=np.array([f"img{i}" for i in range(450)]))
    lines = named.summary(3).splitlines()
    top = lines.index("Worst:") + 1
    assert lines[top].split() == ["id", "given", "suggested", "quality", "kind"]
    shown = [line.split()[0] for line in lines[top + 1 : top + 4]]
    assert shown == [f"img{i}" for i in report.order[:3]]


@pytest.mark.parametrize(
    ("rate", "error", "words"),
    [
        (0.1, 0.02, "about 10% wrong, or too hard to tell by these features"),
        # Some labels are wrong beyond doubt.
        (0.03, 0.02, "about 3% wrong, or too hard to tell by these features"),
        (0.1, np.nan, "about 10% wrong by the posterior alone (the noise was not measured)"),
        (0.1, 0.06, "10% to 22% wrong, how many is unclear"),
    ],
)
def test_how_many_are_wrong(report, rate, error, words):
    nothing = {"noise_least": np.nan, "noise_most": np.nan}
    changed = replace(report, noise_rate=rate, noise_rate_error=error, **nothing)
    assert str(changed).startswith(f"450 labels: {words}.")
    assert repr(changed) == f"LabelReport(450 labels: {words})"


def test_about_clean_needs_a_small_rate_and_few_suspects(report):
    fine = replace(
        report,
        suggested=report.given,
        noise_rate=0.03,
        noise_rate_error=0.02,
        noise_least=np.nan,
        noise_most=np.nan,
    )
    assert headline(fine) == "LabelReport(450 labels: about clean)"
    assert "up to 15% wrong, how many is unclear" in headline(replace(fine, noise_rate_error=0.06))
    assert "about clean" not in headline(replace(fine, noise_rate=0.05))
    anything = replace(fine, noise_least=0.0, noise_most=0.9)
    assert "up to 90% wrong, how many is unclear" in headline(anything)


@pytest.mark.parametrize(
    ("least", "most", "error", "words"),
    [
        (0.05, 0.16, 0.02, "about 10% wrong, or too hard to tell by these features (5% to 16%)"),
        (0.0, 0.16, 0.02, "(at most 16%, or about clean)"),
        (0.05, 0.3, 0.06, "5% to 30% wrong, how many is unclear"),
        (0.0, 0.3, 0.06, "up to 30% wrong, how many is unclear"),
    ],
)
def test_a_range_is_said_where_there_is_one(report, least, most, error, words):
    ranged = replace(report, noise_rate=0.1, noise_rate_error=error)
    assert words in headline(replace(ranged, noise_least=least, noise_most=most))
