"""Members of a consensus: samples that count less, or elsewhere; weights of the mixture."""

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, noise, score_labels
from rehead.ensemble.members import (
    Judged,
    best_member,
    by_trust,
    members_of,
    mixture_weights,
    relabelled,
    relabelled_sums,
)
from rehead.gaussian import group_by_class


def judged_by(P, y):
    """A judge that says so."""
    return Judged(P[np.arange(len(y)), y], lambda part: P[part])


@pytest.fixture
def doubtful():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4)) + 1e3
    P = rng.dirichlet(np.ones(3), size=5000)
    return X, P, rng.integers(3, size=5000)


def test_samples_counted_to_what_they_are_have_the_moments_of_copies(doubtful):
    X, P, y = doubtful
    data = group_by_class(X, y, 3)
    found = relabelled(data, relabelled_sums({"x": group_by_class(X, y, 3)}, judged_by(P, y))["x"])
    means = P.T @ X / P.sum(axis=0)[:, None]
    scatter = sum((X - m).T @ (p[:, None] * (X - m)) for m, p in zip(means, P.T, strict=True))
    np.testing.assert_allclose(found.weights, P.sum(axis=0))
    np.testing.assert_allclose(found.means, means, rtol=1e-12)
    np.testing.assert_allclose(np.tril(found.scatter), np.tril(scatter), rtol=1e-6, atol=1e-5)


def test_certain_labels_make_both_ways_the_same(doubtful):
    X, _, y = doubtful
    judged, data = judged_by(np.eye(3)[y], y), group_by_class(X, y, 3)
    one = by_trust(data, judged.trust)
    other = relabelled(data, relabelled_sums({"x": data}, judged)["x"])
    np.testing.assert_allclose(one.means, other.means, rtol=1e-12)
    np.testing.assert_allclose(np.tril(one.scatter), np.tril(other.scatter), rtol=1e-6, atol=1e-5)


def test_far_rows_count_to_no_class(doubtful):
    X, P, y = doubtful
    X[:5] = 1e6
    sums = relabelled_sums({"x": group_by_class(X, y, 3)}, judged_by(P, y))["x"]
    np.testing.assert_allclose(sums.weights, P[5:].sum(axis=0))


def test_a_layer_that_memorised_is_relabelled_and_an_honest_one_is_not_harmed():
    rng = np.random.default_rng(1)
    true, T = rng.integers(4, size=6000), np.full((4, 4), 0.2) + 0.2 * np.eye(4)
    y = noise.transition(true, T, random_state=0).labels
    honest = rng.normal(size=(6000, 5)) + 2.0 * np.eye(5)[true]
    # It knows the training labels by heart, and guesses those of other samples.
    guessed = noise.transition(true, T, random_state=1).labels
    heart = np.eye(4)[np.where(np.arange(6000) < 4000, y, guessed)]
    memorised = np.hstack([honest, 2.0 * heart + 0.3 * rng.normal(size=heart.shape)])
    layers = {"honest": honest, "memorised": memorised}
    train, held = ({n: X[p] for n, X in layers.items()} for p in (slice(4000), slice(4000, 5000)))
    scores = 3.0 * np.eye(4)[true[:4000]] + np.log(T[:, y[:4000]].T)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    judged = judged_by(P, y[:4000])
    found = members_of(train, y[:4000], 4, judged, held, y[4000:5000], T)
    for name, member in found.items():
        data = group_by_class(train[name], y[:4000], 4)
        alone = best_member(iter([by_trust(data, judged.trust)]), held[name], y[4000:5000], T)
        assert member.nll <= alone.nll
        right = [
            (m.gaussians.posterior(layers[name][5000:]).argmax(axis=1) == true[5000:]).mean()
            for m in (member, alone)
        ]
        assert right[0] > right[1] - 0.01
    assert right[0] > right[1] + 0.1  # of the layer that memorised


def test_a_class_that_nobody_belongs_to_is_estimated_from_its_labels(doubtful):
    X, P, y = doubtful
    P[:, 2] = 0.0
    P /= P.sum(axis=1, keepdims=True)
    judged = Judged(np.full(len(y), 0.5), lambda part: P[part])
    member = members_of({"x": X}, y, 3, judged, {"x": X[:300]}, y[:300], np.eye(3))["x"]
    of_labels = best_member(
        iter([by_trust(group_by_class(X, y, 3), judged.trust)]), X[:300], y[:300], np.eye(3)
    )
    assert member.nll == of_labels.nll


def test_a_member_starts_with_the_weight_of_some_samples():
    sure, wrong = np.tile([0.9, 0.1], (20, 1)), np.tile([0.1, 0.9], (20, 1))
    codes, T = np.zeros(20, int), np.eye(2)
    few, many = (mixture_weights([sure, wrong], codes, T, prior) for prior in (1.0, [1.0, 30.0]))
    assert few[1] < 0.1
    assert many[1] > 0.4


@pytest.mark.parametrize("estimator", ["auto", "anchored", "mixture"])
def test_explain_and_the_audit_tell_the_same_share_of_wrong_labels(blobs, estimator):
    X, y = blobs((200, 200, 200), distance=2.0)
    noisy = noise.uniform(y, 0.3, random_state=0).labels
    model = RobustGaussianClassifier(estimator, random_state=0).fit(X, noisy)
    report = score_labels(model, X, noisy)
    assert model.noise_.wrong == pytest.approx(report.noise_rate, abs=0.02)
    assert f"{model.noise_.wrong:.1%} wrong" in model.explain()


def test_so_does_a_consensus(blobs):
    X, y = blobs((300, 300, 300), distance=2.0)
    noisy = noise.uniform(y, 0.3, random_state=0).labels
    train, held = {"x": X[:600], "half": X[:600, :2]}, {"x": X[600:], "half": X[600:, :2]}
    model = LayerEnsemble(random_state=0).fit(train, noisy[:600], validation=(held, noisy[600:]))
    wrong = model.consensus_.noise.wrong
    assert wrong == pytest.approx(score_labels(model, train, noisy[:600]).noise_rate, abs=0.02)
    assert f"{wrong:.1%} wrong" in model.explain()
