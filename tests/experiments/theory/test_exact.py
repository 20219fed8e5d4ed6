from itertools import combinations

import numpy as np
import pytest

from rehead.experiments.theory.exact import exact_mcd


@pytest.mark.parametrize("seed", range(4))
def test_no_subset_has_a_smaller_determinant(seed):
    X = np.random.default_rng(seed).standard_t(2, size=(10, 2))
    best = min(combinations(range(10), 6), key=lambda s: np.linalg.det(np.cov(X[list(s)].T)))
    np.testing.assert_array_equal(exact_mcd(X, 6).positions, best)


def test_in_one_dimension_it_is_a_window_of_the_sorted_values():
    x = np.sort(np.random.default_rng(0).exponential(size=13))
    best = min(range(13 - 7 + 1), key=lambda a: x[a : a + 7].var())
    np.testing.assert_array_equal(exact_mcd(x[:, None], 7).positions, np.arange(best, best + 7))


def test_far_points_on_a_line_are_found_though_a_determinant_would_be_rounding():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(6, 2)), np.zeros((4, 2))])
    X[6:] = X[0] + 1e5 * rng.normal(size=(4, 1)) * (X[1] - X[0])
    np.testing.assert_array_equal(exact_mcd(X, 6).positions, [0, 1, 6, 7, 8, 9])


def test_what_cannot_be_tried_is_refused():
    X = np.zeros((40, 2))
    with pytest.raises(ValueError, match="subsets of 20"):
        exact_mcd(X, 20)
    with pytest.raises(ValueError, match="k must be between 1 and 40"):
        exact_mcd(X, 41)
    with pytest.raises(ValueError, match="lie on a plane"):
        exact_mcd(X, 2)
