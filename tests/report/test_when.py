"""When RoG gains on texts."""

import pytest

from rehead.experiments.cell import Cell
from rehead.experiments.results import Results
from rehead.report.varied import text_tables
from rehead.report.when import correlations, memorised, when_text

from ..experiments.results_of import result_of

RATES = (0.2, 0.4, 0.6)
CHANGES = ("", "short", "long", "cosine")


def write(results, gains, **columns):
    """Rows of Reuters-8 whose networks memorise the more, the later their change is in the list."""
    for change, gain in zip(CHANGES, gains, strict=True):
        for rate in RATES:
            cell = Cell("5", "fcn", "reuters8", "uniform", rate, variation=change)
            fitted = 1 - rate + 0.05 * CHANGES.index(change)
            accuracy = {"softmax": 50.0, "RoG": 50.0 + gain, **columns}
            results.write(result_of(cell, fitted=fitted, noise_rate=rate, **accuracy))


def test_nothing_is_said_of_nothing(tmp_path):
    assert when_text(text_tables(Results(tmp_path), "quick")) == ""


def test_a_gain_that_goes_with_what_was_memorised(tmp_path):
    results = Results(tmp_path)
    write(results, (0.0, 1.0, 2.0, 3.0))
    tables = text_tables(results, "quick")
    assert correlations(tables[0]) == pytest.approx(dict.fromkeys(RATES, 1.0))
    said = when_text(tables)
    assert "Reuters-8: 1.00 (20%), 1.00 (40%), 1.00 (60%)." in said
    assert "helps the more" in said


def test_a_gain_that_does_not(tmp_path):
    results = Results(tmp_path)
    write(results, (3.0, 1.0, 2.0, 0.0))
    said = when_text(text_tables(results, "quick"))
    assert "Reuters-8: -0.80 (20%)" in said
    assert "helps the more" not in said


def test_few_settings_tell_nothing(tmp_path):
    results = Results(tmp_path)
    cell = Cell("5", "fcn", "reuters8", "uniform", 0.4)
    results.write(result_of(cell, softmax=50.0, RoG=55.0))
    assert correlations(text_tables(results, "quick")[0]) == {}


@pytest.mark.parametrize(("lda", "pays"), [(52.0, False), (49.0, True)])
def test_what_trimming_costs(lda, pays, tmp_path):
    results = Results(tmp_path)
    for data in ("reuters8", "twitter_pos"):
        cell = Cell("5", "fcn", data, "uniform", 0.4)
        results.write(result_of(cell, softmax=40.0, RoG=50.0, LDA_ensemble=lda))
    said = when_text(text_tables(results, "quick"))
    gain = f"{lda - 50:+.1f}"
    assert f"in place of the MCD {gain} (Reuters-8), {gain} (Twitter POS)" in said
    assert ("trimming does not pay" in said) == (not pays)


def test_a_network_that_fits_less_than_the_right_labels_has_memorised_nothing():
    cell = Cell("5", "fcn", "reuters8", "uniform", 0.4)
    assert memorised(result_of(cell, fitted=0.5, noise_rate=0.4)) == 0.0
    assert memorised(result_of(cell, fitted=0.7, noise_rate=0.4)) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("reuters", "twitter", "verdict"),
    [
        (1.0, 1.0, "it is not for want of trimming"),
        (9.0, 9.0, "since it trims too little"),
        (9.0, 1.0, None),
    ],
)
def test_what_small_classes_do(reuters, twitter, verdict, tmp_path):
    results = Results(tmp_path)
    for data, gain in (("reuters8", reuters), ("twitter_pos", twitter)):
        for rate in RATES:
            cell = Cell("5", "fcn", data, "uniform", rate)
            results.write(result_of(cell, LDA_ensemble=50.0, RoG=55.0))
            narrow = Cell("5", "fcn", data, "uniform", rate, variation="narrow")
            results.write(result_of(narrow, LDA_ensemble=50.0, RoG=50.0 + gain))
    said = when_text(text_tables(results, "quick"))
    assert f"Reuters-8: {reuters:+.1f}, as in the table +5.0" in said
    assert (" So " in said.split("*Small classes.*")[1]) == (verdict is not None)
    assert verdict is None or verdict in said
