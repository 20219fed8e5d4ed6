"""Rows in another order are noticed, though arrays have no names."""

import warnings

import numpy as np
import pandas as pd
import pytest

from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier, score_labels
from rehead.audit.samerows import check_judged

OTHER = r"not those that were judged, or are in another order.*score_labels\(model, X, y\)"


@pytest.fixture(scope="module")
def judged(blobs):
    X, y = blobs(sizes=(120, 90, 60), d=4)
    y = np.where(np.arange(270) % 11 == 0, (y + 1) % 3, y)
    return score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y), X, y


def test_the_rows_that_were_judged_are_taken_in_every_form(judged):
    report, X, _ = judged
    for same in (X, X.copy(), X.tolist(), pd.DataFrame(X), np.asfortranarray(X)):
        check_judged(report, same)
    check_judged(report, X.astype(np.float32))  # rounded: no longer recognised, but the same


@pytest.mark.parametrize("order", ["reversed", "by one", "within classes", "halves"])
def test_rows_in_another_order_are_an_error_that_names_the_fix(judged, tmp_path, order):
    report, X, y = judged
    rows = np.arange(len(X))
    if order == "within classes":  # the labels fit, the samples do not
        for c in range(3):
            rows[y == c] = np.roll(rows[y == c], 1)
    else:
        rows = {"reversed": rows[::-1], "by one": np.roll(rows, 1), "halves": np.roll(rows, 135)}[
            order
        ]
    with pytest.raises(ValueError, match=OTHER):
        report.to_html(tmp_path / "r.html", X[rows])
    with pytest.raises(ValueError, match=OTHER):
        report.neighbours(3, X[rows])
    assert list(tmp_path.iterdir()) == []


def test_new_samples_and_layers_and_other_models(blobs):
    X, y = blobs(sizes=(120, 90, 60), d=4)
    new, labels = X[200:], y[200:]
    layers, news = {"a": X[:200], "b": X[:200, :2]}, {"a": new, "b": new[:, :2]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReheadWarning)  # no held-out samples
        ensemble = LayerEnsemble(random_state=0).fit(layers, y[:200])
    for model, same, turned in (
        (ensemble, news, {name: F[::-1] for name, F in news.items()}),
        (RobustGaussianClassifier(preset="paper", random_state=0).fit(X[:200], y[:200]), new, -new),
        (RobustGaussianClassifier("sample").fit(X[:200], y[:200]), new, new[::-1]),
    ):
        report = score_labels(model, same, labels)
        check_judged(report, same)
        with pytest.raises(ValueError, match=OTHER):
            check_judged(report, turned)
    report = score_labels(ensemble, layers, y[:200], in_sample=False)
    check_judged(report, layers)


def test_labels_in_another_order_than_at_the_fit_are_a_warning(judged):
    report, X, y = judged
    shuffled = np.random.default_rng(0).permutation(y)
    with pytest.warns(
        ReheadWarning, match=r"fitted on these rows, but \d+ of \d+ .* another label"
    ):
        score_labels(report.model, X, shuffled)


def test_corrected_labels_and_new_samples_are_none(judged, blobs):
    report, X, _ = judged
    score_labels(report.model, X, report.corrected())  # warnings are errors here
    new, labels = blobs(sizes=(120, 90, 60), d=4, seed=1)
    score_labels(report.model, new + X.mean(axis=0), labels)
