"""Labels of samples that are unlike every class are not called wrong."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, noise, score_labels
from rehead.audit.strange import without_strange
from rehead.report.contents import headline_of


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    true = rng.integers(5, size=2000)
    means = np.random.default_rng(99).normal(size=(5, 10)) * 1.4
    X = rng.normal(size=(2000, 10)) + means[true]
    return X, noise.uniform(true, 0.1, random_state=0).labels, true


def test_missing_values_are_no_wrong_labels(samples):
    X, y, true = samples
    X[np.random.default_rng(1).random(X.shape) < 0.05] = -999
    model = RobustGaussianClassifier(random_state=0).fit(X, y)
    report = score_labels(model, X, y)
    ordinary, n = without_strange(report)
    assert n == (report.kind == "out of distribution").sum() > 600
    assert len(ordinary) == 2000 - n
    assert report.noise_rate > 0.3  # which counts them, as its documentation says
    assert abs(ordinary.noise_rate - model.noise_.wrong) < 0.03
    own = ordinary.quality * (1 - ordinary.quality)
    error = np.hypot(model.noise_.rate_error, np.sqrt(own.mean() / len(own)))
    assert ordinary.noise_rate_error == pytest.approx(error) != report.noise_rate_error
    assert headline_of(report).error == ordinary.noise_rate_error
    assert ordinary.noise_least <= (y != true).mean() <= ordinary.noise_most
    said = str(report).splitlines()
    assert said[0].startswith("2000 labels: about 1")
    assert said[0].endswith(f"; {n} are of samples unlike every class, and are not counted.")
    assert "labels may be right if their features are damaged. By their quality about" in said[2]
    assert f"{n} are of samples" in repr(report)
    assert f"{n} are of samples" in report._repr_html_()


def test_a_few_strange_samples_change_nothing(samples):
    X, y, _ = samples
    X[:5] = 999 * np.arange(1, 6)[:, None]
    report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
    assert (report.kind == "out of distribution").sum() >= 5
    found, n = without_strange(report)
    assert found is report
    assert n == 0
    assert "unlike every class" not in str(report)


def test_where_all_are_strange_nothing_is_left_out(samples):
    X, y, _ = samples
    model = RobustGaussianClassifier(random_state=0).fit(X, y)
    report = score_labels(model, X + 500, y)
    assert (report.kind == "out of distribution").all()
    assert without_strange(report) == (report, 0)


def test_what_is_said_of_clean_labels_holds_together(samples):
    """Missing values: the first line, the review and the page speak of the same labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 3)) + 6 * y[:, None]
    X[rng.random(X.shape) < 0.05] = -999
    report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
    said = str(report)
    assert "about clean" in said
    assert "of all wrong labels" not in said
    first = headline_of(report)
    assert first.rate < 0.01
    assert first.expected < 3
    assert (first.least, report.noise_least) == (0.0, 0.0)
