import pytest

from rehead.experiments.theory.cells import Plan
from rehead.experiments.theory.closed import truncation
from rehead.experiments.theory.factor import measure_factor


@pytest.mark.parametrize(("d", "alpha"), [(2, 0.5), (6, 0.75)])
def test_the_closed_form_is_what_is_measured(d, alpha):
    row = measure_factor(d, alpha, Plan((200, 3200), 10, seed=0), 0)
    assert row["factor"] == truncation(d, alpha)
    gap = abs(row["scale"]["value"] - row["factor"])
    assert gap < 4.5 * row["scale"]["se"]
    # What is printed is out of the question.
    assert 1.0 - row["scale"]["value"] > 50 * row["scale"]["se"]


def test_the_repaired_scale_is_divided_by_the_factor():
    row = measure_factor(2, 0.9, Plan((50,), 3, seed=0), 0)
    assert row["scale"] == row["runs"][-1]["scale"]
    for key in ("value", "se"):
        assert row["repaired"][key] == pytest.approx(row["scale"][key] / row["factor"])
