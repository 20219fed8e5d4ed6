"""Transition matrices: inverses, the anchor-point estimate (A4), that of trusted samples (A7)."""

import numpy as np
import pytest

from rehead.torch.training import transition as matrices

T = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.3, 0.1, 0.6]])


def posteriors(n: int = 300, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(3), size=n)


def test_anchors_of_exact_posteriors_give_t_exactly() -> None:
    p = T[np.random.default_rng(0).integers(3, size=200)]
    np.testing.assert_array_equal(matrices.anchor_points(p, percentile=None), T / T.sum(1)[:, None])


def test_anchors_with_a_percentile_give_t_exactly_where_outliers_are_few() -> None:
    outliers = np.eye(3)[[0, 1, 2]]
    p = np.concatenate([outliers, T[np.arange(600) % 3]])
    with_outliers = matrices.anchor_points(p, percentile=None)
    np.testing.assert_array_equal(with_outliers, np.eye(3))
    found = matrices.anchor_points(p, percentile=99.9)
    np.testing.assert_allclose(found, T, atol=1e-12)


def test_the_anchor_is_the_largest_strictly_below_the_percentile() -> None:
    p = posteriors()
    found = matrices.anchor_points(p, percentile=97)
    for i in range(3):
        limit = np.percentile(p[:, i], 97, method="higher")
        anchor = p[p[:, i] < limit][p[:, i][p[:, i] < limit].argmax()]
        np.testing.assert_allclose(found[i], anchor / anchor.sum(), atol=1e-15)


def test_without_a_percentile_the_anchor_is_the_surest_sample() -> None:
    p = posteriors()
    np.testing.assert_allclose(
        matrices.anchor_points(p, percentile=None), p[p.argmax(axis=0)], atol=1e-12
    )


def test_a_constant_column_still_has_an_anchor() -> None:
    p = np.full((50, 3), 1 / 3)
    np.testing.assert_allclose(matrices.anchor_points(p, percentile=97), np.full((3, 3), 1 / 3))


def test_estimating_anchors_leaves_the_predictions_alone() -> None:
    p = posteriors()
    before = p.copy()
    matrices.anchor_points(p)
    np.testing.assert_array_equal(p, before)


def test_a_later_class_has_no_false_zero() -> None:
    # The anchor of class 1 is among the surest of class 0. The reference code writes into p while
    # it looks for the anchor of class 0, and leaves a 0 there.
    p = np.tile([0.1, 0.1, 0.8], (300, 1))
    p[:5] = [0.48, 0.3, 0.22]
    p[5:15] = [0.02, 0.9, 0.08]
    np.testing.assert_allclose(matrices.anchor_points(p, percentile=97)[1], [0.48, 0.3, 0.22])


def test_rows_of_the_anchor_estimate_sum_to_1_whatever_goes_in() -> None:
    found = matrices.anchor_points(3 * posteriors().astype(np.float32))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


def test_exact_posteriors_of_trusted_samples_give_t() -> None:
    y = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [5, 1, 9]))
    found = matrices.gold_transition(T[y], y, 3)
    np.testing.assert_allclose(found, T, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


def test_the_trusted_estimate_is_the_mean_of_each_class_in_any_order() -> None:
    p, y = posteriors(30), np.arange(30) % 3
    found = matrices.gold_transition(p, y, 3)
    np.testing.assert_allclose(found, [p[y == c].mean(axis=0) for c in range(3)], atol=1e-12)
    order = np.random.default_rng(1).permutation(30)
    np.testing.assert_allclose(matrices.gold_transition(p[order], y[order], 3), found, atol=1e-12)


def test_a_class_without_a_trusted_sample_is_named() -> None:
    with pytest.raises(ValueError, match=r"1 of 3 classes have no trusted sample \(class 1"):
        matrices.gold_transition(T[[0, 2]], np.array([0, 2]), 3)


def test_the_inverse_times_t_is_the_identity() -> None:
    np.testing.assert_allclose(matrices.inverse(T) @ T, np.eye(3), atol=1e-12)


def test_flip_noise_of_45_percent_has_an_inverse() -> None:
    flip = 0.55 * np.eye(10) + 0.45 * np.roll(np.eye(10), 1, axis=1)
    assert np.linalg.svd(flip, compute_uv=False)[-1] == pytest.approx(0.1)
    np.testing.assert_allclose(matrices.inverse(flip) @ flip, np.eye(10), atol=1e-12)


@pytest.mark.parametrize(
    "singular",
    [
        0.5 * np.eye(10) + 0.5 * np.roll(np.eye(10), 1, axis=1),
        np.full((10, 10), 0.1),
        np.eye(10)[[0, 0, 2, 3, 4, 5, 6, 7, 8, 9]],
    ],
    ids=["flip 50 %", "uniform 90 %", "two rows alike"],
)
def test_a_singular_matrix_is_refused_and_forward_proposed(singular: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"cannot be inverted .* 'forward'"):
        matrices.inverse(singular)


def test_a_label_that_the_matrix_says_never_occurs_is_named() -> None:
    never = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    matrices.check_labels_possible(never, np.array([0, 1, 1]))
    with pytest.raises(ValueError, match="Label 2 occurs, but its column"):
        matrices.check_labels_possible(never, np.array([0, 1, 2]))


def test_a_class_without_trusted_samples_may_have_equal_chances():
    p, y = np.array([[0.8, 0.1, 0.1], [0.2, 0.2, 0.6]]), np.array([0, 2])
    found = matrices.gold_transition(p, y, 3, every_class=False)
    np.testing.assert_allclose(found, [p[0], [1 / 3] * 3, p[1]])
