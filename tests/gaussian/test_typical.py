"""Distances in and outside of the plane of the means, and their ranks, against definitions."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from rehead.gaussian.composition import Composition
from rehead.gaussian.moments import pooled_moments
from rehead.gaussian.rows import group_by_class
from rehead.gaussian.tied import from_moments, tied_gaussians
from rehead.gaussian.typical import (
    QUANTILES,
    Reference,
    distances_apart,
    log_tail,
    make_reference,
    plane_of_means,
    quantiles,
    strange_distances,
    tail,
)


def gaussians(X, y, **options):
    data = group_by_class(X, y, int(y.max()) + 1)
    whole = [data.whole(c) for c in range(data.n_classes)]
    return from_moments(pooled_moments(data, whole), **options), Composition.from_subsets(
        data, whole
    )


@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
def test_leave_one_out_distances_are_those_of_a_refit(blobs, shrinkage):
    X, y = blobs(sizes=(200, 200, 200), d=30, distance=1.0)
    g, inside = gaussians(X, y, shrinkage=shrinkage)
    found = strange_distances(g, X, y, inside)
    plain = distances_apart(g.distances(X), plane_of_means(g))
    off, off_plain = [], []
    for i in range(0, 600, 29):
        without, _ = gaussians(np.delete(X, i, 0), np.delete(y, i), shrinkage=shrinkage)
        D = without.distances(X[i : i + 1])
        expected = distances_apart(D, plane_of_means(without))[0]
        off.append(found[i] - expected)
        off_plain.append(plain[i] - expected)
    # The distances are exact, and only the plane is not that of the refit.
    assert np.abs(np.mean(off, axis=0)).max() < 0.2
    assert np.abs(np.sum(off, axis=1)).mean() < 0.15 * np.abs(np.sum(off_plain, axis=1)).mean()


@pytest.mark.parametrize("temperature", [1.0, 3.0])
@pytest.mark.parametrize(("d", "n_classes"), [(7, 3), (3, 6), (2, 3)])
def test_distances_apart_are_what_they_are_said_to_be(blobs, d, n_classes, temperature):
    X, y = blobs(sizes=(60,) * n_classes, d=d, distance=2.0)
    g, _ = gaussians(X, y)
    plane = plane_of_means(g)._replace(temperature=temperature)
    L = np.linalg.cholesky(g.covariance)
    centre = g.means.mean(axis=0)
    Z, M = (solve_triangular(L, (A - centre).T, lower=True).T for A in (X, g.means))
    inside = np.linalg.svd(M)[2][: min(d, n_classes - 1)]
    z, m = Z @ inside.T, M @ inside.T
    background = np.linalg.inv(temperature * np.eye(len(inside)) + m.T @ m / n_classes)
    nearest = ((z[:, None] - m) ** 2).sum(axis=2).min(axis=1)
    expected = np.column_stack(
        [
            nearest / temperature - np.einsum("ni,ij,nj->n", z, background, z),
            (Z**2).sum(axis=1) - (z**2).sum(axis=1),
        ]
    )
    found = distances_apart(g.distances(X), plane)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert plane.whole == (d <= n_classes - 1)


def test_means_that_are_all_the_same_span_no_plane():
    g = tied_gaussians(np.ones((3, 2)), np.eye(2))
    X = np.array([[1.0, 1.0], [4.0, 5.0]])
    np.testing.assert_allclose(distances_apart(g.distances(X), plane_of_means(g))[:, 1], [0, 25])


def test_quantiles_are_those_of_repeated_values():
    rng = np.random.default_rng(0)
    values, counts = rng.normal(size=200), rng.integers(0, 4, size=200)
    found = quantiles(values, counts.astype(float))
    levels = (np.arange(QUANTILES) + 0.5) / QUANTILES
    expected = np.quantile(np.repeat(values, counts), levels, method="inverted_cdf")
    np.testing.assert_array_equal(found, expected)


def test_tails_count_what_is_at_least_as_large():
    rng = np.random.default_rng(0)
    values, weights = rng.integers(9, size=300).astype(float), rng.random(300)
    size = weights.sum()
    for v in (-1.0, 0.0, 3.0, 8.0, 9.0):
        exact = (1 + weights[values >= v].sum()) / (1 + size)
        assert tail(quantiles(values, weights), np.array([v]), size)[0] == pytest.approx(
            exact, abs=2e-3
        )


def test_a_tail_goes_on_like_an_exponential():
    known = np.sort(np.random.default_rng(0).exponential(size=QUANTILES))
    values = np.linspace(0, known[-1], 50)
    np.testing.assert_array_equal(
        log_tail(known, values, 500.0), np.log(tail(known, values, 500.0))
    )
    beyond = log_tail(known, known[-1] + np.array([1.0, 2.0, 3.0]), 500.0)
    np.testing.assert_allclose(np.diff(beyond), -1.0, atol=0.4)
    assert np.diff(beyond).tolist() == pytest.approx([np.diff(beyond)[0]] * 2)


def test_a_tail_of_zeros_falls_at_once_and_without_a_warning():
    with np.errstate(all="raise"):
        logs = log_tail(np.zeros(100), np.array([-1.0, 0.0, 1e10]), size=9)
    assert logs.tolist() == [0.0, 0.0, -np.inf]


def test_pvalues_are_uniform_on_the_samples_that_made_the_reference(blobs):
    X, y = blobs(sizes=(300, 300, 300), d=12, distance=2.0)
    g, inside = gaussians(X, y)
    reference = make_reference(g, X, y, inside, np.ones(900), measured=True)
    assert reference.size == pytest.approx(900)
    p = np.sort(reference.pvalues(strange_distances(g, X, y, inside)))
    np.testing.assert_allclose(p, (np.arange(900) + 1) / 900, atol=0.01)
    # At a mean; far away in the plane of the means; far away in no direction of it.
    aside = np.linalg.svd(g.weights)[2][-1]
    new = g.means[0] + np.stack([0 * aside, 20 * (g.means[0] - g.means[1]), 50 * aside])
    outside = Composition(np.zeros(3), np.zeros(3, int), inside.class_totals)
    p = reference.pvalues(strange_distances(g, new, np.zeros(3, int), outside))
    assert p[0] > 0.9
    assert p[1:].max() < 0.002


@pytest.mark.parametrize("measured", [False, True])
def test_only_samples_that_count_make_the_reference(blobs, measured):
    X, y = blobs(sizes=(150, 150), d=3, distance=0.3)
    g, inside = gaussians(X, y)
    wrong = np.arange(300) < 30
    labels = np.where(wrong, 1 - y, y)
    weights = np.where(wrong & measured, 0.0, 1.0)
    found = make_reference(g, X, labels, inside, weights, measured=measured)
    # Not measured, all samples count, whatever their labels are.
    counted = weights > 0
    assert counted.sum() == (270 if measured else 300)
    assert found.size == pytest.approx(counted.sum())
    nearest = strange_distances(g, X, labels, inside)[counted]
    np.testing.assert_array_equal(found.relative, quantiles(nearest[:, 0], np.ones(counted.sum())))


def test_a_reference_comes_back_from_its_arrays():
    rng = np.random.default_rng(0)
    reference = Reference(*np.sort(rng.normal(size=(3, QUANTILES))), 77.0)
    arrays = reference.to_arrays("reference.")
    for mine, theirs in zip(reference, Reference.from_arrays(arrays, "reference."), strict=True):
        np.testing.assert_array_equal(mine, theirs)
