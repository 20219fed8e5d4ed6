import numpy as np
import pytest

from rehead.experiments.theory.breakdown import (
    ATTACKS,
    CHOICES,
    EXACT_ATTACKS,
    FAR,
    breakdown_curve,
    exact_breakdown,
    on_a_plane,
    one_cluster,
    printed_breakdown,
    scattered,
)
from rehead.experiments.theory.repeats import Draws
from rehead.gaussian.mcd import support_size

CLEAN = np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize("attack", EXACT_ATTACKS.values())
def test_attacks_replace_the_last_samples(attack):
    bad = attack(CLEAN, 6, np.random.default_rng(1))
    np.testing.assert_array_equal(bad[:14], CLEAN[:14])
    assert bad.shape == CLEAN.shape
    np.testing.assert_array_equal(attack(CLEAN, 0, np.random.default_rng(1)), CLEAN)


def test_scattered_ones_are_far_in_all_directions():
    bad = scattered(CLEAN, 10, np.random.default_rng(1))[10:]
    lengths = np.linalg.norm(bad, axis=1)
    assert lengths.min() >= FAR
    assert np.linalg.matrix_rank(bad / FAR) == 3


def test_a_cluster_is_as_wide_as_the_clean_samples():
    bad = one_cluster(CLEAN, 10, np.random.default_rng(1))[10:]
    assert np.abs(bad.mean(axis=0) - [FAR, 0, 0]).max() < 2
    assert 0.3 < bad.std(axis=0).mean() < 2


def test_points_on_a_plane_lie_there_with_d_clean_ones():
    bad = on_a_plane(CLEAN, 5, np.random.default_rng(1))
    plane = np.concatenate([bad[:3], bad[15:]])
    widths = np.linalg.svd(plane - plane.mean(axis=0), compute_uv=False)
    assert widths[-1] < 1e-10 * widths[0]
    assert widths[1] > 1.0


@pytest.mark.parametrize(("n", "d"), [(10, 2), (11, 2), (100, 3), (5000, 512)])
def test_the_printed_breakdown_is_the_smaller_of_two_counts(n, d):
    """K - d on a plane with d clean ones, or so many that K clean ones are not left."""
    k = int(support_size(n, d))
    assert printed_breakdown(n, d) == min(k - d, n - k + 1)


@pytest.fixture(scope="module")
def curve():
    rows = breakdown_curve(Draws(40, 3, 0), 3, [1, 12, 16, 18, 19])
    return {(r["attack"], r["estimator"], r["replaced"]): r for r in rows}


def test_everything_is_tried(curve):
    assert len(curve) == len(ATTACKS) * len(CHOICES) * 5


@pytest.mark.parametrize("attack", ATTACKS)
def test_one_sample_breaks_the_sample_estimator(curve, attack):
    row = curve[attack, "sample", 1]
    assert row["mean_broken"] == row["covariance_broken"] == {"value": 1.0, "se": 0.0}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("estimator", ["mcd", "deterministic"])
def test_the_mcd_holds_until_too_few_clean_samples_are_left(curve, attack, estimator):
    assert printed_breakdown(40, 3) == 19
    for m in (1, 12, 16, 18):
        assert curve[attack, estimator, m]["mean_broken"]["value"] == 0.0
        assert curve[attack, estimator, m]["covariance_broken"]["value"] == 0.0
    assert curve[attack, estimator, 19]["mean_broken"]["value"] == 1.0


def test_a_cluster_breaks_algorithm_1_early(curve):
    assert curve["one cluster", "algorithm_1", 16]["mean_broken"]["value"] == 1.0
    assert curve["scattered", "algorithm_1", 16]["mean_broken"]["value"] == 0.0


def test_the_exact_mcd_breaks_where_the_paper_says():
    rows = {(r["attack"], r["replaced"]): r for r in exact_breakdown(Draws(9, 4, 0), 2)}
    assert printed_breakdown(9, 2) == 4
    for attack in EXACT_ATTACKS:
        for m in (1, 2, 3):
            assert rows[attack, m]["mean_broken"]["value"] == 0.0
    assert rows["on a plane", 4]["covariance_broken"]["value"] == 1.0
    assert max(m for _, m in rows) == 9 - support_size(9, 2) + 1
