"""The judge of the fuzzing: a fake of every outcome is called what it is."""

import json
import time

import numpy as np
import pytest

from rehead import RobustGaussianClassifier
from rehead._warnings import warn

from . import outcome, page
from .outcome import CLEAR, NAN, OBSCURE, SENSIBLE, SILENT, Case, Said, judge, refused, same
from .running import is_good, tally

RIGHT = np.array([0.25, 0.75])


def fails(error):
    def run():
        raise error

    return run


def refuse():
    RobustGaussianClassifier().fit([[np.nan]], [0])


def warn_and_answer():
    warn("This is not exactly what was asked for.")
    return RIGHT[::-1]


def inner_error():
    """What numpy raises in a line of rehead is no error that rehead chose."""
    from rehead._validation import count_rows

    class Odd:
        shape = ("x",)

    return count_rows(Odd())


@pytest.mark.parametrize(
    ("run", "oracle", "kind"),
    [
        (lambda: RIGHT.copy(), same(RIGHT), SENSIBLE),
        (lambda: RIGHT.astype("f4"), same(RIGHT), SENSIBLE),
        (lambda: RIGHT[::-1], same(RIGHT), SILENT),
        (lambda: RIGHT[:1], same(RIGHT), SILENT),
        (lambda: RIGHT.astype(str), same(RIGHT), SILENT),
        (lambda: {"p": RIGHT}, same({"p": RIGHT}), SENSIBLE),
        (lambda: {"q": RIGHT}, same({"p": RIGHT}), SILENT),
        (lambda: (RIGHT, ["a"]), same((RIGHT, ["b"])), SILENT),
        (lambda: RIGHT, refused, SILENT),
        (warn_and_answer, same(RIGHT), SENSIBLE),
        (lambda: np.array([np.nan, 1.0]), same(RIGHT), NAN),
        (lambda: (RIGHT, {"x": [np.inf]}), lambda _: True, NAN),
        (refuse, refused, CLEAR),
        (RobustGaussianClassifier().explain, refused, CLEAR),
        (inner_error, refused, OBSCURE),
        (fails(ValueError("This is not raised by rehead at all.")), refused, OBSCURE),
        (fails(KeyError("x")), refused, OBSCURE),
        (fails(np.linalg.LinAlgError("Singular matrix in some place")), refused, OBSCURE),
        (fails(MemoryError()), refused, OBSCURE),
        (fails(SystemExit(1)), refused, OBSCURE),
        (lambda: Said(1, "There is no file x.csv.\n"), refused, CLEAR),
        (lambda: Said(1, "Traceback (most recent call last):"), refused, OBSCURE),
        (lambda: Said(1, "KeyError: 'x'. `rehead --traceback ...` shows where."), refused, OBSCURE),
        (lambda: Said(1, "one line\nand another\n"), refused, OBSCURE),
    ],
)
def test_a_fake_of_every_outcome(run, oracle, kind):
    assert judge(Case("a fake", run, oracle)).kind == kind


def test_what_takes_too_long_or_too_much_is_obscure(monkeypatch):
    monkeypatch.setattr(outcome, "MOST_SECONDS", 0.05)
    assert judge(Case("slow", lambda: time.sleep(5), refused)) == (OBSCURE, "took more than 0.05 s")
    monkeypatch.setattr(outcome, "MOST_SECONDS", 20.0)
    peaks = iter([0, 3 * 2**30])
    monkeypatch.setattr(outcome, "_peak", lambda: next(peaks))
    assert judge(Case("large", lambda: RIGHT, same(RIGHT))) == (OBSCURE, "took 3.0 GiB")


def test_a_posterior_has_its_form():
    right = outcome.posterior_of(2, 2)
    assert right(np.array([[0.5, 0.5], [1, 0]]))
    assert right((np.array([[0.5, 0.5], [1, 0]]), "more"))
    for wrong in ([[0.5, 0.5]], [[0.5, 0.6], [1, 0]], [[1.5, -0.5], [1, 0]]):
        assert not right(np.array(wrong))


def some_cases(rng, folder):
    while True:
        yield Case("good", lambda: RIGHT, same(RIGHT))
        yield Case("bad", lambda: -RIGHT, same(RIGHT))
        yield Case("odd", fails(KeyError("x")), refused)


def test_cases_are_counted_and_faults_are_kept():
    found = tally(some_cases, 0, 60.0, 5)
    assert found.counts == {SENSIBLE: 2, SILENT: 2, OBSCURE: 1}
    assert [f["case"] for f in found.faults] == ["bad", "odd", "bad"]
    assert not is_good({"a": found})
    found.counts = dict.fromkeys([SILENT, NAN], 0) | {SENSIBLE: 99, OBSCURE: 1}
    found.counts = type(tally(some_cases, 0, 0.0).counts)(found.counts)
    assert is_good({"a": found})
    found.counts[OBSCURE] = 2
    assert not is_good({"a": found})


def test_the_page_is_that_of_the_last_long_run():
    found = json.loads(page.RESULTS.read_text(encoding="utf-8"))
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(text, found) == text
    areas = found["areas"].values()
    cases = sum(area["cases"] for area in areas)
    assert cases >= 1000
    assert sum(area[SILENT] + area[NAN] for area in areas) == 0
    assert sum(area[OBSCURE] for area in areas) <= 0.01 * cases
