"""LabelReport: numbers, and the ways to look at them, of which other files test the details."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from rehead import LabelReport, RobustGaussianClassifier, score_labels
from rehead.audit.scores import LabelScores


@pytest.fixture
def small():
    """Five labels; rows 1 and 4 are suspect."""
    return LabelReport(
        given=np.array(["a", "b", "a", "b", "a"]),
        quality=np.array([0.9, 0.2, 0.95, 0.6, 0.05]),
        suggested=np.array(["a", "a", "a", "b", "b"]),
        suggested_probability=np.array([0.9, 0.8, 0.95, 0.6, 0.95]),
        kind=np.array(["ok", "wrong label", "ok", "ambiguous", "wrong label"]),
        typicality=np.full(5, 0.5),
        order=np.array([4, 1, 3, 0, 2]),
        noise_rate=0.46,
        noise_rate_error=0.1,
        transition=np.array([[0.9, 0.1], [0.2, 0.8]]),
        classes=np.array(["a", "b"]),
        in_sample=np.zeros(5, bool),
    )


def test_the_suspects_are_named_worst_first(small):
    assert small.mislabelled().tolist() == [4, 1]
    named = replace(small, ids=np.array(list("vwxyz")))
    assert named.mislabelled().tolist() == ["z", "w"]


def test_the_worst_are_named(small):
    assert small.worst(3).tolist() == [4, 1, 3]
    assert small.worst(0).tolist() == []
    assert small.worst(99).tolist() == [4, 1, 3, 0, 2]
    assert replace(small, ids=np.arange(5) * 10).worst(2).tolist() == [40, 10]


def test_how_many_to_review_is_how_many_are_worst(small):
    # 0.95 of 2.3 wrong ones takes the first four: 0.95 + 0.8 + 0.4 + 0.1.
    assert small.n_review() == 4
    assert small.worst().tolist() == [4, 1, 3, 0]
    assert small.n_review(share=0.5) == 2
    assert small.n_review(one_in=2) == 2
    assert small.expected_wrong(2) == pytest.approx(1.75)
    assert small.expected_wrong() == pytest.approx(5 * small.noise_rate)


def test_it_is_its_scores_and_cannot_be_changed(small):
    assert isinstance(small, LabelScores)
    with pytest.raises(FrozenInstanceError):
        small.quality = np.ones(5)


def test_in_a_notebook_it_is_its_summary_with_nothing_unsafe(small, report):
    assert "-&gt;" in report._repr_html_()
    named = replace(small, ids=np.array([f"<b>{i}" for i in range(5)]))
    page = named._repr_html_()
    assert page.startswith("<pre>5 labels: 46% to 66% wrong, how many is unclear")
    assert "&lt;b&gt;4" in page
    assert "<b>" not in page


def test_neighbours_need_the_model(small):
    with pytest.raises(ValueError, match="lost its model"):
        small.neighbours(0, np.ones((5, 2)))


def test_bad_questions_about_neighbours(noisy, report):
    X = noisy[0]
    with pytest.raises(ValueError, match=r"450 rows; got 449"):
        report.neighbours(0, X[1:])
    with pytest.raises(ValueError, match="row number, 0 to 449"):
        report.neighbours(450, X)
    with pytest.raises(ValueError, match="row number"):
        report.neighbours("img", X)
    for k in (0, -1, 1.5):
        with pytest.raises(ValueError, match="k must be"):
            report.neighbours(0, X, k=k)
    with pytest.raises(ValueError, match="which must be"):
        report.neighbours([], X)
    with pytest.raises(ValueError, match="not fitted on these labels"):
        report.neighbours(0, X, train=(X, report.given.astype(str)))
    with pytest.raises(ValueError, match="450 samples and 2 ids"):
        report.neighbours(0, X, train=(X, report.given, ["a", "b"]))
    with pytest.raises(ValueError, match=r"train must be \(X, y\)"):
        report.neighbours(0, X, train=(X,))


def test_corrected_labels_are_in_the_order_of_the_input():
    rng = np.random.default_rng(0)
    true = np.array(["cat", "dog"])[rng.integers(2, size=2000)]
    X = rng.normal(size=(2000, 3)) + 6.0 * (true == "dog")[:, None]
    y = np.where(rng.random(2000) < 0.2, np.where(true == "cat", "dog", "cat"), true)
    report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
    corrected = report.corrected()
    assert (corrected == true).mean() > 0.98 > (y == true).mean()
    changed = corrected != y
    assert (report.suggested_probability[changed] >= 0.9).all()
    assert (report.corrected(1.0) != y).sum() <= changed.sum()
    with pytest.raises(ValueError, match="min_probability"):
        report.corrected(0)
