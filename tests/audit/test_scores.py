"""LabelScores: what a file holds of it is what comes back."""

from dataclasses import fields

import numpy as np
import pytest

from rehead import LabelReport, RobustGaussianClassifier, score_labels
from rehead.audit.scores import ARRAYS, LABELS, NUMBERS, LabelScores
from rehead.files import persist

NAMES = np.array(["ant", "bee", "cat"])
IDS = {
    "no ids": None,
    "text": np.array([f"img{i}" for i in range(450)]),
    "numbers": np.arange(450) * 3 + 7,
}


@pytest.fixture(scope="module", params=["ints", "strings", "objects"])
def judged(request, noisy):
    """A model and its labels, of several types."""
    X, y, _ = noisy
    labels = {"ints": y, "strings": NAMES[y], "objects": NAMES.astype(object)[y]}[request.param]
    return RobustGaussianClassifier(random_state=0).fit(X, labels), X, labels


def assert_same(a, b):
    for field in fields(LabelScores):
        one, two = getattr(a, field.name), getattr(b, field.name)
        if isinstance(one, np.ndarray):
            assert two.dtype == one.dtype, field.name
            np.testing.assert_array_equal(two, one, err_msg=field.name)
        else:
            assert two is one or two == one or np.isnan([one, two]).all(), field.name


@pytest.mark.parametrize("ids", IDS)
def test_state_and_back(judged, ids):
    model, X, y = judged
    report = score_labels(model, X, y, ids=IDS[ids])
    assert_same(LabelScores.from_state(*report.to_state(), model), report)


@pytest.mark.parametrize("ids", IDS)
def test_by_way_of_a_file(judged, ids, tmp_path):
    model, X, y = judged
    report = score_labels(model, X, y, ids=IDS[ids])
    persist.write_model(tmp_path / "r", "Report", *report.to_state())
    assert_same(
        LabelReport.from_state(*persist.read_model(tmp_path / "r", "Report"), model), report
    )


def test_what_was_not_measured_stays_so(noisy, tmp_path):
    model = RobustGaussianClassifier("mcd", random_state=0).fit(*noisy[:2])
    report = score_labels(model, *noisy[:2])
    assert np.isnan(report.noise_rate_error)
    persist.write_model(tmp_path / "r", "Report", *report.to_state())
    again = LabelReport.from_state(*persist.read_model(tmp_path / "r", "Report"), model)
    assert_same(again, report)
    assert str(again) == str(report)


def test_a_report_comes_back_as_what_is_asked_for(report, model, noisy):
    again = LabelReport.from_state(*report.to_state(), model)
    assert type(again) is LabelReport
    assert type(LabelScores.from_state(*report.to_state(), model)) is LabelScores
    one, two = (r.neighbours([3, 8], noisy[0]) for r in (report, again))
    np.testing.assert_array_equal(two.rows, one.rows)


def test_every_field_is_in_the_state_but_those_of_the_model():
    held = {*NUMBERS, *LABELS, *ARRAYS}
    assert {field.name for field in fields(LabelScores)} - held == {"classes", "model"}


def test_names_are_ids_or_row_numbers(model, noisy, report):
    np.testing.assert_array_equal(report.names, np.arange(450))
    named = score_labels(model, *noisy[:2], ids=IDS["text"])
    np.testing.assert_array_equal(named.names, IDS["text"])
    assert len(named) == 450


def test_suspect_are_those_with_another_suggestion(report):
    np.testing.assert_array_equal(report.suspect, report.suggested != report.given)
    # There, another label is more probable; elsewhere the given one is the most probable.
    more = report.suggested_probability > report.quality
    np.testing.assert_array_equal(report.suspect, more)
