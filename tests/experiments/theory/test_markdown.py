import pytest

from rehead.experiments.theory.markdown import evidence, figure, number


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.123456, "0.1235"), (12, "12"), (-2.5e-9, "-2.5e-09"), (6400, "6400")],
)
def test_numbers_have_four_digits(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "se", "text"),
    [
        (0.6379, 0.0018, "0.6379 ± 0.0018"),
        (12.345, 1.2, "12.3 ± 1.2"),
        (1234.5, 120.0, "1234 ± 120"),
        (-3.5e-8, 1.5e-7, "-3.5e-08 ± 1.5e-07"),
        (0.3, 0.0, "0.3 ± 0"),
    ],
)
def test_figures_are_rounded_by_their_standard_error(value, se, text):
    assert figure({"value": value, "se": se}) == text


def test_evidence_is_a_figure_or_a_number():
    assert evidence({"what": "a", "value": 2}) == "a: 2"
    assert evidence({"what": "b", "value": 2.0, "se": 0.1}) == "b: 2.00 ± 0.10"
