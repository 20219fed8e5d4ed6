"""Algorithm 1 for one class: monotone, equivariant, exact where enumeration is possible."""

from itertools import combinations

import numpy as np
import pytest

from rehead import RobustGaussianClassifier
from rehead.gaussian.kernels import Rows, Subset
from rehead.gaussian.mcd import ClassSamples, CSteps, distances_without_self, mcd, support_size


def run(X, k, start, most, shift=None, **steps):
    shift = X[:8].mean(axis=0) if shift is None else shift
    samples = ClassSamples(Rows(X), np.arange(len(X)), shift)
    return mcd(samples, k, Subset(np.sort(np.asarray(start))), CSteps(most, **steps))


def mean_and_covariance(result, shift):
    scatter = np.tril(result.moments.scatter())
    covariance = (scatter + scatter.T - np.diag(scatter.diagonal())) / result.moments.weight
    return result.moments.mean + shift, covariance


def random_case(seed, heavy=True):
    """Features of one class with correlations and heavy tails, and a random start."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 120)), int(rng.integers(1, 9))
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    if heavy:
        X *= rng.exponential(size=(n, 1)) + 0.1
    k = support_size(n, d)
    return X, k, rng.permutation(n)[: int(k)]


@pytest.mark.parametrize(("n", "d"), [(5000, 512), (10, 1), (11, 1), (12, 3), (4, 3), (3, 8)])
def test_support_size_is_the_papers_clamped_to_the_class(n, d):
    assert support_size(n, d) == min((n + d + 1) // 2, n)


def test_a_share_keeps_exactly_that_many_where_it_is_whole():
    # 0.29 * 100 is 28.999999999999996 in floating point.
    assert [support_size(100, 3, p / 100) for p in range(1, 101)] == list(range(1, 101))


def test_a_share_keeps_at_least_one_sample():
    assert support_size(5, 2, 0.01) == 1


@pytest.mark.parametrize("seed", range(40))
def test_c_step_never_raises_log_det(seed):
    X, k, start = random_case(seed)
    result = run(X, k, start, most=6, shortcuts=False)
    assert len(result.log_dets) == 7
    assert np.diff(result.log_dets).max() <= 1e-9
    assert result.log_dets[-1] < result.log_dets[0]
    kept = np.atleast_2d(np.cov(X[result.subset.positions], rowvar=False, bias=True))
    np.testing.assert_allclose(result.log_dets[-1], np.linalg.slogdet(kept)[1], atol=1e-9)


@pytest.mark.parametrize("loo", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_shortcuts_change_nothing(seed, loo):
    X, k, start = random_case(seed)
    fast, slow = (run(X, k, start, most=8, leave_one_out=loo, shortcuts=s) for s in (True, False))
    np.testing.assert_array_equal(fast.subset.positions, slow.subset.positions)
    assert fast.n_steps <= slow.n_steps
    for a, b in zip(mean_and_covariance(fast, 0.0), mean_and_covariance(slow, 0.0), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("dtype", "far"), [(np.float64, 1e6), (np.float32, 1e3)])
def test_shortcuts_survive_far_outliers_that_leave_the_subset(dtype, far):
    # Subtracting an outlier's outer product from the Gram matrix must not take its digits along.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    X[110:] *= far
    X = X.astype(dtype)
    start = np.r_[rng.permutation(110)[:100], 110:113]
    fast, slow = (
        run(X, 103, start, shift=np.zeros(3, dtype), most=3, shortcuts=s) for s in (True, False)
    )
    assert fast.subset.positions.max() < 110
    expected = np.cov(X[fast.subset.positions].astype(float), rowvar=False, bias=True)
    tolerance = 1e-8 if dtype == np.float64 else 1e-4
    for result in (slow, fast):
        np.testing.assert_allclose(mean_and_covariance(result, 0.0)[1], expected, atol=tolerance)


@pytest.mark.parametrize("loo", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_affine_equivariance(seed, loo):
    X, k, start = random_case(seed)
    rng = np.random.default_rng(seed + 100)
    A = np.eye(X.shape[1]) + 0.4 * rng.normal(size=(X.shape[1],) * 2)
    b = 10 * rng.normal(size=X.shape[1])
    Z = X @ A.T + b
    here = run(X, k, start, most=4, leave_one_out=loo, shift=X[0])
    there = run(Z, k, start, most=4, leave_one_out=loo, shift=Z[1])
    np.testing.assert_array_equal(here.subset.positions, there.subset.positions)
    mean, covariance = mean_and_covariance(here, X[0])
    moved_mean, moved_covariance = mean_and_covariance(there, Z[1])
    np.testing.assert_allclose(moved_mean, A @ mean + b, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(moved_covariance, A @ covariance @ A.T, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(9, 1), (12, 1), (10, 2), (12, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_many_starts_reach_the_exact_mcd(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(n, d))
    k = int(support_size(n, d))
    covariances = [
        np.atleast_2d(np.cov(X[list(s)], rowvar=False, bias=True))
        for s in combinations(range(n), k)
    ]
    exact = np.linalg.slogdet(np.stack(covariances))[1].min()
    starts = [rng.permutation(n)[:k] for _ in range(60)]
    found = [run(X, k, s, most=10).log_dets[-1] for s in starts]
    np.testing.assert_allclose(min(found), exact, atol=1e-9)


def test_leave_one_out_distance_equals_refitting_without_the_sample(brute):
    X = np.random.default_rng(0).normal(size=(25, 4))
    plain = brute.distances(X, [X.mean(axis=0)], np.cov(X, rowvar=False, bias=True))[:, 0]
    expected = []
    for i in range(len(X)):
        rest = np.delete(X, i, axis=0)
        covariance = np.cov(rest, rowvar=False, bias=True)
        expected.append(brute.distances(X[i : i + 1], [rest.mean(axis=0)], covariance)[0, 0])
    np.testing.assert_allclose(distances_without_self(plain, 25.0), expected, rtol=1e-10)


def test_mcd_with_leave_one_out_ranks_by_refitted_distances(brute):
    X, k, start = random_case(3)
    kept = set(start.tolist())
    score = []
    for i in range(len(X)):
        subset = X[sorted(kept - {i})]
        covariance = np.atleast_2d(np.cov(subset, rowvar=False, bias=True))
        score.append(brute.distances(X[i : i + 1], [subset.mean(axis=0)], covariance)[0, 0])
    result = run(X, k, start, most=1, leave_one_out=True)
    np.testing.assert_array_equal(result.subset.positions, brute.smallest(np.array(score), k))


@pytest.mark.parametrize("support_fraction", [0.1, 0.5])
def test_leave_one_out_where_one_sample_is_kept(support_fraction):
    # Without its only sample a subset has no mean; the sample is then judged plainly.
    X = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.5], [6.0, 5.0]])
    clf = RobustGaussianClassifier(
        "mcd", support_fraction=support_fraction, leave_one_out=True, shrinkage=0.5, random_state=0
    )
    with np.errstate(all="raise"):
        clf.fit(X, [0, 0, 1, 1])
    assert clf.score(X, [0, 0, 1, 1]) == 1.0


def contaminated(fraction, outliers, seed, n=400, d=5):
    """Two classes far apart; in each, a share of the samples is replaced by ``outliers``."""
    rng = np.random.default_rng(seed)
    means = np.stack([np.zeros(d), np.full(d, 6.0)])
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(2 * n, d)) + means[y]
    bad = np.concatenate([c * n + rng.permutation(n)[: int(fraction * n)] for c in (0, 1)])
    X[bad] = outliers(rng, means[y[bad]])
    return X, y, means


def scattered(scale):
    return lambda rng, means: means + scale * rng.normal(size=means.shape)


def cluster(distance):
    return lambda rng, means: means - distance + rng.normal(size=means.shape)


@pytest.mark.parametrize("scale", [20.0, 1e3, 1e6])
@pytest.mark.parametrize("fraction", [0.2, 0.4, 0.45])
@pytest.mark.parametrize("start", ["random", "deterministic"])
def test_scattered_outliers_do_not_move_the_means(fraction, scale, start):
    X, y, means = contaminated(fraction, scattered(scale), seed=1)
    robust = RobustGaussianClassifier("mcd", start=start, random_state=0).fit(X, y)
    assert np.abs(robust.means_ - means).max() < 0.5
    assert np.abs(robust.covariance_).max() < 2.0
    # The sample estimator shows that the outliers are there.
    assert np.abs(RobustGaussianClassifier("sample").fit(X, y).covariance_).max() > 50


@pytest.mark.xfail(
    strict=True,
    reason="two C-steps from one random start do not leave a far cluster of 40 % (breakdown of "
    "the approximation, not of the MCD); start='deterministic' does",
)
@pytest.mark.parametrize("seed", range(5))
def test_far_cluster_does_not_move_the_means_from_one_random_start(seed):
    X, y, means = contaminated(0.4, cluster(100.0), seed)
    robust = RobustGaussianClassifier("mcd", random_state=seed).fit(X, y)
    assert np.abs(robust.means_ - means).max() < 10.0


@pytest.mark.parametrize("seed", range(5))
def test_far_cluster_does_not_move_the_means_from_deterministic_starts(seed):
    X, y, means = contaminated(0.4, cluster(100.0), seed)
    robust = RobustGaussianClassifier("mcd", start="deterministic").fit(X, y)
    assert np.abs(robust.means_ - means).max() < 0.5
