import numpy as np
import pytest

from rehead.experiments.theory.estimates import (
    ESTIMATORS,
    algorithm_1,
    class_samples,
    estimate_all,
    informed_starts,
    mcd_estimate,
    mean_and_covariance,
    sample_estimate,
    smallest,
)
from rehead.experiments.theory.exact import exact_mcd
from rehead.experiments.theory.world import Drawn, World, draw
from rehead.gaussian.mcd import support_size

WORLD = World(d=2, delta_out=0.3, delta_mcd=0.5)


def two_classes(n, seed):
    return draw(WORLD, n, np.random.default_rng(seed))


def by_hand(drawn, rows_of):
    """Means and the mean of the covariances, of chosen rows of each class."""
    parts = [drawn.X[rows] for rows in rows_of]
    covariance = np.mean([np.cov(p.T, bias=True) for p in parts], axis=0)
    return np.stack([p.mean(axis=0) for p in parts]), covariance


def test_the_sample_estimate_is_equation_1():
    drawn = two_classes(50, 0)
    means, covariance = by_hand(drawn, [drawn.codes == c for c in (0, 1)])
    found = sample_estimate(drawn)
    np.testing.assert_allclose(found.means, means, atol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-12)
    assert found.outliers_kept == pytest.approx(0.3)


@pytest.mark.parametrize("seed", range(4))
def test_the_mcd_is_exact_where_that_can_be_had(seed):
    drawn = two_classes(12, seed)
    rng = np.random.default_rng(seed)
    # Many informed searches: one may end in a local minimum.
    found = min((mcd_estimate(drawn, 0.5, rng) for _ in range(12)), key=lambda g: sum(g.log_dets))
    rows = [np.flatnonzero(drawn.codes == c) for c in (0, 1)]
    best = [r[exact_mcd(drawn.X[r], 6).positions] for r in rows]
    means, covariance = by_hand(drawn, best)
    np.testing.assert_allclose(found.means, means, atol=1e-10)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-10)
    assert found.outliers_kept == pytest.approx(drawn.outlier[np.concatenate(best)].mean())


def test_algorithm_1_is_two_c_steps_from_a_random_subset():
    drawn = two_classes(60, 1)
    found = algorithm_1(drawn, 0.5, np.random.default_rng(5))
    rng, kept = np.random.default_rng(5), []
    for c in (0, 1):
        rows = np.flatnonzero(drawn.codes == c)
        X = drawn.X[rows]
        subset = np.argsort(rng.random(60))[:30]
        for _ in range(2):
            off = X - X[subset].mean(axis=0)
            precision = np.linalg.inv(np.cov(X[subset].T, bias=True))
            subset = np.argsort(np.einsum("ij,jk,ik->i", off, precision, off))[:30]
        kept.append(rows[subset])
    means, covariance = by_hand(drawn, kept)
    np.testing.assert_allclose(found.means, means, atol=1e-10)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-10)


def test_informed_starts_are_clean_dirty_and_random():
    outlier = np.arange(20) >= 14
    clean, dirty, other = informed_starts(outlier, 10, np.random.default_rng(0))
    assert not outlier[clean.positions].any()
    assert outlier[dirty.positions].sum() == 6
    assert [len(set(s.positions)) for s in (clean, dirty, other)] == [10] * 3


def test_smallest_takes_the_best_of_its_starts():
    drawn = two_classes(40, 3)
    X, outlier = drawn.X[:40], drawn.outlier[:40]
    k = support_size(40, 2, 0.5)
    samples = class_samples(X)
    each = [
        smallest(samples, k, [s]).log_dets[-1]
        for s in informed_starts(outlier, k, np.random.default_rng(0))
    ]
    best = smallest(samples, k, informed_starts(outlier, k, np.random.default_rng(0)))
    assert best.log_dets[-1] == min(each)
    _, covariance = mean_and_covariance(X, best.subset)
    assert np.linalg.slogdet(covariance)[1] == pytest.approx(min(each))


def test_all_estimators_come_from_the_same_samples():
    drawn = two_classes(30, 4)
    found = estimate_all(drawn, 0.5, np.random.default_rng(0))
    assert tuple(found) == ESTIMATORS
    np.testing.assert_array_equal(found["sample"].means, sample_estimate(drawn).means)


def test_the_order_of_rows_does_not_matter_to_the_sample_estimate():
    drawn = two_classes(30, 4)
    order = np.random.default_rng(0).permutation(60)
    mixed = Drawn(*(a[order] for a in drawn))
    np.testing.assert_allclose(
        sample_estimate(mixed).covariance, sample_estimate(drawn).covariance, atol=1e-12
    )
