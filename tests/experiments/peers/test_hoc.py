"""HOC against dense tensors, exact counts and planted noise."""

import itertools

import numpy as np
import pytest

from rehead.experiments.peers import hoc as module
from rehead.experiments.peers.hoc import (
    Counts,
    LabelNoise,
    count_labels,
    fit_noise,
    hoc,
    in_order,
    misfit,
    triple_blocks,
)


def tensors(T, p):
    """The probabilities of single labels, pairs and triples."""
    return (
        np.einsum("i,ij->j", p, T),
        np.einsum("i,ij,ik->jk", p, T, T),
        np.einsum("i,ij,ik,il->jkl", p, T, T, T),
    )


def exact_counts(T, p):
    single, pairs, cube = tensors(T, p)
    triples = np.array(list(itertools.combinations_with_replacement(range(len(p)), 3)))
    shares = [sum(cube[order] for order in set(itertools.permutations(t))) for t in triples]
    return Counts(single, pairs, triples, np.array(shares))


def random_noise(C, seed, right=0.5):
    rng = np.random.default_rng(seed)
    T = right * np.eye(C) + (1 - right) * rng.dirichlet(np.ones(C), size=C)
    return LabelNoise(T, rng.dirichlet(np.full(C, 5.0)))


@pytest.fixture
def counted():
    """Random labels and neighbours, and their counts as dense tensors."""
    rng = np.random.default_rng(0)
    y, neighbours = rng.integers(4, size=70), rng.integers(70, size=(70, 3))
    dense = np.zeros(4), np.zeros((4, 4)), np.zeros((4, 4, 4))
    for own, (first, second, _) in zip(y, neighbours, strict=True):
        dense[0][own] += 1 / 70
        dense[1][own, y[first]] += 1 / 70
        dense[2][own, y[first], y[second]] += 1 / 70
    return y, neighbours, dense


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8])
def test_counts_against_a_loop(counted, dtype):
    y, neighbours, dense = counted
    counts = count_labels(y.astype(dtype), neighbours, 4)
    np.testing.assert_allclose(counts.single, dense[0])
    np.testing.assert_allclose(counts.pairs, dense[1])
    for triple, share in zip(counts.triples, counts.shares, strict=True):
        orders = set(itertools.permutations(triple.tolist()))
        assert share == pytest.approx(sum(dense[2][order] for order in orders))
    assert counts.shares.sum() == pytest.approx(1)


def test_counts_of_many_classes_do_not_overflow():
    y = np.full(9, 199, np.uint8)
    counts = count_labels(y, np.zeros((9, 2), int), 200)
    assert counts.pairs[199, 199] == 1


def test_misfit_is_the_distance_of_dense_tensors(counted):
    y, neighbours, dense = counted
    counts = count_labels(y, neighbours, 4)
    constant = sum((a**2).sum() for a in dense)
    for seed in range(3):
        noise = random_noise(4, seed)
        model = tensors(*noise)
        distance = sum(((a - b) ** 2).sum() for a, b in zip(model, dense, strict=True))
        found = misfit(noise, counts, list(triple_blocks(counts)))
        assert found.value + constant == pytest.approx(distance, abs=1e-12)


def test_slopes_against_finite_differences(counted):
    counts = count_labels(*counted[:2], 4)
    blocks = list(triple_blocks(counts))
    noise = random_noise(4, 0)
    found = misfit(noise, counts, blocks)
    for part, slope in enumerate(found[1:]):
        for cell in np.ndindex(slope.shape):
            values = []
            for step in (1e-5, -1e-5):
                moved = [a.copy() for a in noise]
                moved[part][cell] += step
                values.append(misfit(LabelNoise(*moved), counts, blocks).value)
            assert slope[cell] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-8)


def test_blocks_of_triples_change_nothing(counted, monkeypatch):
    counts = count_labels(*counted[:2], 4)
    noise = random_noise(4, 0)
    whole = misfit(noise, counts, list(triple_blocks(counts)))
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 12)
    blocks = list(triple_blocks(counts))
    assert len(blocks) > 4
    for a, b in zip(whole, misfit(noise, counts, blocks), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("C", [2, 4, 6])
def test_exact_counts_give_the_noise_back(C, seed):
    noise = random_noise(C, seed)
    found = fit_noise(exact_counts(*noise))
    np.testing.assert_allclose(found.transition, noise.transition, atol=0.03)
    np.testing.assert_allclose(found.priors, noise.priors, atol=0.02)
    assert found.rate == pytest.approx(noise.rate, abs=1e-3)
    np.testing.assert_allclose(found.precision, noise.precision, atol=0.02)


def test_unequal_classes_are_not_taken_for_one_another():
    """Counts know no order of classes: a large class must not end up in the row of another."""
    C = 7
    priors = np.array([0.29, 0.05, 0.52, 0.03, 0.04, 0.02, 0.05])
    noise = LabelNoise(0.6 * np.eye(C) + (np.ones((C, C)) - np.eye(C)) * 0.4 / (C - 1), priors)
    found = fit_noise(exact_counts(*noise))
    np.testing.assert_allclose(found.priors, priors, atol=0.02)
    assert found.rate == pytest.approx(0.4, abs=0.005)


def test_the_order_of_classes_is_found_again():
    noise = random_noise(6, 0)
    shuffled = np.random.default_rng(1).permutation(6)
    found = in_order(LabelNoise(noise.transition[shuffled], noise.priors[shuffled]))
    np.testing.assert_array_equal(found.transition, noise.transition)
    np.testing.assert_array_equal(found.priors, noise.priors)


def test_flip_noise():
    C = 5
    noise = LabelNoise(0.6 * np.eye(C) + 0.4 * np.roll(np.eye(C), 1, axis=1), np.full(C, 0.2))
    np.testing.assert_allclose(
        fit_noise(exact_counts(*noise)).transition, noise.transition, atol=0.02
    )


def test_clean_clusters_have_the_identity(planted):
    found = hoc(planted.X, planted.true, planted.C)
    np.testing.assert_allclose(found.transition, np.eye(planted.C), atol=0.02)
    np.testing.assert_allclose(found.priors, np.bincount(planted.true) / 600, atol=0.01)
    assert found.rate < 0.01


def test_planted_noise(planted):
    found = hoc(planted.X, planted.y, planted.C)
    assert found.rate == pytest.approx(planted.wrong.mean(), abs=0.05)
    again = hoc(planted.X, planted.y, planted.C, block=7)
    np.testing.assert_allclose(again.transition, found.transition, atol=1e-9)


def test_rate_and_precision_by_hand():
    noise = LabelNoise(np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.75, 0.25]))
    assert noise.rate == pytest.approx(0.15)
    np.testing.assert_allclose(noise.precision, [0.675 / 0.75, 0.175 / 0.25])


def test_too_few_samples():
    with pytest.raises(ValueError, match="two neighbours of each sample, and there are 2"):
        hoc(np.eye(2), np.array([0, 1]), 2)
