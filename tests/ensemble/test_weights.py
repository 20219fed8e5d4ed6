"""Layer weights against a grid, an optimiser and torch."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from rehead.ensemble.weights import authors_weights, estimate_transition, mixture_weights
from rehead.gaussian.probability import corrected_likelihood


def mean_log_likelihood(p, alpha):
    return np.log(p @ alpha).mean()


def likelihoods(seed, n=60, n_layers=3):
    """Layers of different quality, none best everywhere."""
    rng = np.random.default_rng(seed)
    return rng.beta(np.linspace(1.0, 2.5, n_layers), 1.0, size=(n, n_layers)).clip(1e-3)


class TestLayerWeights:
    @pytest.mark.parametrize("seed", range(6))
    def test_no_point_of_a_grid_on_the_simplex_is_better(self, seed):
        p = likelihoods(seed)
        alpha = mixture_weights(p)
        assert alpha.sum() == pytest.approx(1.0)
        assert (alpha >= 0).all()
        grid = np.linspace(0, 1, 101)
        points = np.array([(a, b, 1 - a - b) for a in grid for b in grid if a + b <= 1])
        best = np.log(p @ points.T).mean(axis=0).max()
        assert mean_log_likelihood(p, alpha) >= best - 1e-9

    @pytest.mark.parametrize("seed", range(4))
    def test_an_optimiser_finds_nothing_better(self, seed):
        p = likelihoods(seed, n_layers=5)
        found = minimize(
            lambda a: -mean_log_likelihood(p, a),
            np.full(5, 0.2),
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert mean_log_likelihood(p, mixture_weights(p)) >= -found.fun - 1e-8
        np.testing.assert_allclose(mixture_weights(p), found.x, atol=1e-3)

    def test_equal_layers_get_equal_weights(self):
        p = likelihoods(0, n_layers=2)
        alpha = mixture_weights(p[:, [0, 1, 1, 0]])
        assert alpha[0] == alpha[3]
        assert alpha[1] == alpha[2]
        np.testing.assert_allclose(alpha[:2] * 2, mixture_weights(p), atol=1e-4)
        np.testing.assert_array_equal(mixture_weights(p[:, [0, 0]]), [0.5, 0.5])

    def test_a_layer_that_is_better_everywhere_gets_all(self):
        p = likelihoods(0, n_layers=1)
        np.testing.assert_allclose(mixture_weights(np.hstack([p / 2, p])), [0, 1], atol=1e-6)

    @pytest.mark.parametrize(
        "p", [[[0.0, 0.0], [0.5, 0.2]], [[1e-320, 0.0], [0.0, 1e-300]], [[0, 1]]]
    )
    def test_vanishing_likelihoods(self, p):
        alpha = mixture_weights(np.array(p))
        assert np.isfinite(alpha).all()
        assert alpha.sum() == pytest.approx(1.0)


def test_authors_weights_are_those_of_adam_in_torch():
    torch = pytest.importorskip("torch")
    p = likelihoods(0, n=230)
    p /= p.max(axis=1, keepdims=True)
    logits = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([logits], lr=0.02)
    for _ in range(20):
        for batch in torch.split(torch.from_numpy(p), 50):
            adam.zero_grad()
            loss = -torch.log(batch @ torch.softmax(logits, dim=0) + 1e-10).mean()
            loss.backward()
            adam.step()
    expected = torch.softmax(logits, dim=0).detach().numpy()
    np.testing.assert_allclose(authors_weights(p), expected, rtol=1e-6)


def test_authors_weights_switch_no_layer_off():
    p = likelihoods(0, n=500, n_layers=1)
    alpha = authors_weights(np.hstack([p / 1000, p]))
    assert 0.005 < alpha[0] < alpha[1]


def test_transition_counts_labels_by_posterior():
    rng = np.random.default_rng(0)
    p, labels = rng.dirichlet(np.ones(3), size=40), rng.integers(3, size=40)
    T = estimate_transition(p, labels)
    expected = np.array([[p[labels == k, c].sum() for k in range(3)] for c in range(3)])
    np.testing.assert_allclose(T, expected / expected.sum(axis=1, keepdims=True))
    # A class that no sample belongs to.
    certain = estimate_transition(np.eye(3)[[0, 1, 1]], np.array([0, 1, 2]))
    np.testing.assert_array_equal(certain, [[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1]])


class TestPrior:
    """Members that some more samples speak for."""

    def test_it_is_what_copies_of_certain_samples_would_do(self):
        p = likelihoods(3, n=40)
        prior = np.array([1.0, 5.0, 2.0])
        more = np.repeat(np.eye(3), prior.astype(int), axis=0)
        expected = mixture_weights(np.vstack([p / p.max(axis=1, keepdims=True), more]))
        np.testing.assert_allclose(mixture_weights(p, prior), expected, atol=1e-6)

    def test_it_keeps_a_member_from_being_switched_off(self):
        p = np.tile([0.9, 0.1], (20, 1))
        few, many = mixture_weights(p, 1.0), mixture_weights(p, np.array([1.0, 30.0]))
        assert 0.02 < few[1] < 0.1
        assert many[1] > 0.4

    @pytest.mark.parametrize("seed", range(3))
    def test_an_optimiser_finds_nothing_better(self, seed):
        p, prior = likelihoods(seed, n_layers=4), np.array([1.0, 1.0, 5.0, 1.0])

        def loss(a):
            return -np.log(p @ a).sum() - prior @ np.log(a)

        found = minimize(
            loss,
            np.full(4, 0.25),
            bounds=[(1e-9, 1)] * 4,
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert loss(mixture_weights(p, prior)) <= found.fun + 1e-6

    def test_the_planted_best_is_picked_under_noise(self):
        rng = np.random.default_rng(0)
        truth = rng.integers(3, size=2000)
        T = 0.6 * np.eye(3) + 0.4 / 3
        labels = np.array([rng.choice(3, p=T[c]) for c in truth])
        right, poor = (
            softmax(scale * np.eye(3)[truth] + rng.normal(size=(2000, 3)), axis=1)
            for scale in (4.0, 0.0)
        )
        members = [poor, right, poor[:, ::-1]]
        p = np.stack([corrected_likelihood(m, labels, T) for m in members], axis=1)
        weights = mixture_weights(p, 1.0)
        assert weights.argmax() == 1
        assert weights[1] > 0.9

    def test_it_ends_soon_where_plain_em_creeps(self, monkeypatch):
        """Members that are nearly equal, one of which should have no weight."""
        rng = np.random.default_rng(0)
        p = (rng.beta(2, 1, size=(1000, 1)) + 1e-3 * rng.normal(size=(1000, 5))).clip(1e-4, 1)
        full = mixture_weights(p)
        monkeypatch.setattr("rehead.ensemble.weights.MOST_ROUNDS", 100)
        few = mixture_weights(p)
        assert mean_log_likelihood(p, few) >= mean_log_likelihood(p, full) - 1e-9
