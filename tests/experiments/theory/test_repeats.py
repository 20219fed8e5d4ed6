import numpy as np
import pytest
from scipy.stats import t

from rehead.experiments.theory.repeats import (
    critical,
    deviation,
    generator,
    jackknife,
    mean_figure,
    mean_figures,
)


def test_generators_depend_on_their_key_only():
    first = generator(3, 1, 2).random(4)
    np.testing.assert_array_equal(first, generator(3, 1, 2).random(4))
    for other in (generator(4, 1, 2), generator(3, 2, 1), generator(3, 1)):
        assert not np.isin(first, other.random(4)).any()


def test_mean_figures_are_means_with_standard_errors():
    values = np.random.default_rng(0).normal(size=30)
    found = mean_figures([{"a": v, "b": 2 * v} for v in values])
    assert found["a"]["value"] == pytest.approx(values.mean())
    assert found["a"]["se"] == pytest.approx(values.std(ddof=1) / 30**0.5)
    assert found["b"]["se"] == pytest.approx(2 * found["a"]["se"])


def test_one_repetition_has_no_standard_error():
    with pytest.raises(ValueError, match="two repetitions"):
        mean_figure([1.0])


def test_the_jackknife_takes_away_the_bias_of_a_square():
    rng = np.random.default_rng(0)
    plain, corrected, se = [], [], []
    for _ in range(3000):
        v = rng.normal(1.0, 1.0, size=12)
        found = jackknife(v.mean() ** 2, [np.delete(v, i).mean() ** 2 for i in range(12)])
        plain.append(v.mean() ** 2)
        corrected.append(found["value"])
        se.append(found["se"])
    accuracy = 5 * np.std(corrected) / 3000**0.5
    assert np.mean(plain) - 1 > 0.7 / 12  # too large by 1/12
    assert abs(np.mean(corrected) - 1) < accuracy
    assert np.mean(se) == pytest.approx(np.std(corrected), rel=0.1)


def test_deviations_are_in_standard_errors():
    assert deviation({"value": 3.0, "se": 0.5}, 2.0) == 2.0
    assert deviation({"value": 3.0, "se": 0.0}, 2.0) is None


def test_critical_is_bonferronis():
    assert critical(5, 11) == pytest.approx(t.ppf(1 - 0.01 / 10, 10))
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 24))
    # Of 24 true claims none is rejected in 99 % of the cases.
    assert (np.abs(z).max(axis=1) <= critical(24, 10**6)).mean() == pytest.approx(0.99, abs=0.003)
