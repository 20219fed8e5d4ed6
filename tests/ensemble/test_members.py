"""Members of a consensus: samples that count less, or elsewhere; judged by as any other model."""

import dataclasses

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, noise, score_labels
from rehead.ensemble.judges import Opinion
from rehead.ensemble.members import (
    NoisySamples,
    best_candidate,
    class_sums,
    counted_elsewhere,
    counted_less,
    fit_members,
    maps_of_members,
)
from rehead.ensemble.problem import HeldOut, Problem
from rehead.fitted import KnownRows
from rehead.gaussian import NoiseModel, group_by_class
from rehead.gaussian.tied import from_moments


def opinion_of(P, y, T=None, trust=None):
    """Judges that say so."""
    C = P.shape[1]
    T = np.eye(C) if T is None else T
    seen = NoiseModel(1.0, np.full(C, 1 / C), T, np.full(C, 100.0), 0.0, 0.0)
    trust = P[np.arange(len(y)), y] if trust is None else trust
    return Opinion(seen, trust, lambda rows: P[rows])


def problem_of(layers, y, n_train, n_held, n_classes):
    train, held = (
        {name: X[part] for name, X in layers.items()}
        for part in (slice(n_train), slice(n_train, n_train + n_held))
    )
    held_out = HeldOut(held, y[n_train : n_train + n_held])
    return Problem(train, {}, y[:n_train], np.arange(n_classes), held_out)


@pytest.fixture
def doubtful():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4)) + 1e3
    P = rng.dirichlet(np.ones(3), size=5000)
    return X, P, rng.integers(3, size=5000)


def test_samples_counted_elsewhere_have_the_moments_of_copies(doubtful):
    X, P, y = doubtful
    data = group_by_class(X, y, 3)
    found = counted_elsewhere(data, class_sums({"x": data}, opinion_of(P, y))["x"]).moments
    means = P.T @ X / P.sum(axis=0)[:, None]
    scatter = sum((X - m).T @ (p[:, None] * (X - m)) for m, p in zip(means, P.T, strict=True))
    np.testing.assert_allclose(found.weights, P.sum(axis=0))
    np.testing.assert_allclose(found.means, means, rtol=1e-12)
    np.testing.assert_allclose(np.tril(found.scatter), np.tril(scatter), rtol=1e-6, atol=1e-5)


def test_the_composition_has_the_largest_part_of_each_sample_and_the_totals_of_all(doubtful):
    X, P, y = doubtful
    data = group_by_class(X, y, 3)
    composition = counted_elsewhere(
        data, class_sums({"x": data}, opinion_of(P, y))["x"]
    ).composition
    np.testing.assert_array_equal(composition.counted_as, P.argmax(axis=1))
    np.testing.assert_array_equal(composition.weights, P.max(axis=1))
    np.testing.assert_allclose(composition.class_totals, P.sum(axis=0))


def test_certain_labels_make_both_ways_the_same(doubtful):
    X, _, y = doubtful
    opinion, data = opinion_of(np.eye(3)[y], y), group_by_class(X, y, 3)
    less = counted_less(data, opinion.trust)
    elsewhere = counted_elsewhere(data, class_sums({"x": data}, opinion)["x"])
    np.testing.assert_allclose(less.moments.means, elsewhere.moments.means, rtol=1e-12)
    np.testing.assert_allclose(
        np.tril(less.moments.scatter), np.tril(elsewhere.moments.scatter), rtol=1e-6, atol=1e-5
    )
    for a, b in zip(less.composition, elsewhere.composition, strict=True):
        np.testing.assert_allclose(a, b)


def test_far_rows_count_to_no_class(doubtful):
    X, P, y = doubtful
    X[:5] = 1e6
    data = group_by_class(X, y, 3)
    sums = class_sums({"x": data}, opinion_of(P, y))["x"]
    np.testing.assert_allclose(sums.weights, P[5:].sum(axis=0))
    for way in (counted_elsewhere(data, sums), counted_less(data, np.ones(len(y)))):
        assert not way.composition.weights[:5].any()
        assert way.composition.weights[5:].all()
    alone = group_by_class(np.r_[X[5:100], X[:5]], np.r_[np.zeros(95, int), np.ones(5, int)], 2)
    never_empty = counted_less(alone, np.ones(100))
    assert (never_empty.composition.class_totals > 0).all()


@pytest.fixture(scope="module")
def memorised():
    """An honest layer, and one that knows 4000 training labels by heart, with judges of both."""
    rng = np.random.default_rng(1)
    true, T = rng.integers(4, size=6000), np.full((4, 4), 0.2) + 0.2 * np.eye(4)
    y = noise.transition(true, T, random_state=0).labels
    honest = rng.normal(size=(6000, 5)) + 2.0 * np.eye(5)[true]
    # It knows the training labels by heart, and guesses those of other samples.
    guessed = noise.transition(true, T, random_state=1).labels
    heart = np.eye(4)[np.where(np.arange(6000) < 4000, y, guessed)]
    deep = np.hstack([honest, 2.0 * heart + 0.3 * rng.normal(size=heart.shape)])
    layers = {"honest": honest, "deep": deep}
    scores = 3.0 * np.eye(4)[true[:4000]] + np.log(T[:, y[:4000]].T)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return layers, y, true, opinion_of(P, y[:4000], T)


def test_a_layer_that_memorised_counts_elsewhere_and_an_honest_one_is_not_harmed(memorised):
    layers, y, true, opinion = memorised
    problem = problem_of(layers, y, 4000, 1000, 4)
    found = fit_members(problem, opinion, layers)
    gain = {}
    for name, member in found.items():
        held = NoisySamples(problem.held_out.layers[name], y[4000:5000], opinion.noise.transition)
        less = best_candidate([counted_less(problem.grouped[name], opinion.trust)], held)
        right = [
            (g.posterior(layers[name][5000:]).argmax(axis=1) == true[5000:]).mean()
            for g in (member.gaussians, less.gaussians)
        ]
        gain[name] = right[0] - right[1]
    assert gain["honest"] > -0.01
    assert gain["deep"] > 0.1


def test_held_out_labels_choose_between_the_ways(memorised):
    layers, y, _, opinion = memorised
    problem = problem_of(layers, y, 4000, 1000, 4)
    sums = class_sums(problem.grouped, opinion)
    for name, data in problem.grouped.items():
        held = NoisySamples(problem.held_out.layers[name], y[4000:5000], opinion.noise.transition)
        ways = [counted_less(data, opinion.trust), counted_elsewhere(data, sums[name])]
        alone = [best_candidate([way], held) for way in ways]
        chosen = best_candidate(ways, held)
        assert chosen.nll == min(c.nll for c in alone)
        winner = ways[int(alone[1].nll < alone[0].nll)]
        np.testing.assert_array_equal(chosen.composition.weights, winner.composition.weights)
    # Of the layer that memorised, and so of the last one, it is not the safe way.
    assert alone[1].nll < alone[0].nll


def test_a_class_that_nobody_belongs_to_is_estimated_from_its_labels(doubtful):
    X, P, y = doubtful
    P[:, 2] = 0.0
    P /= P.sum(axis=1, keepdims=True)
    opinion = opinion_of(P, y, trust=np.full(len(y), 0.5))
    held = HeldOut({"x": X[:300]}, y[:300])
    problem = Problem({"x": X}, {}, y, np.arange(3), held)
    member = fit_members(problem, opinion, ["x"])["x"]
    of_labels = best_candidate(
        [counted_less(problem.grouped["x"], opinion.trust)],
        NoisySamples(X[:300], y[:300], np.eye(3)),
    )
    np.testing.assert_array_equal(member.gaussians.means, of_labels.gaussians.means)
    assert member.class_totals[2] == 0.5 * (y == 2).sum()


def quality_without(X, P, y, i, part):
    """Posterior of a label by a refit on samples counted to what they are, less part of one."""
    P = P.copy()
    P[i] -= part
    totals = P.sum(axis=0)
    means = P.T @ X / totals[:, None]
    scatter = sum((X - m).T @ (p[:, None] * (X - m)) for m, p in zip(means, P.T, strict=True))
    apart = X[i] - means
    D = np.einsum("kd,de,ke->k", apart, np.linalg.inv(scatter / totals.sum()), apart)
    posterior = np.exp(-0.5 * (D - D.min()))
    return posterior[y[i]] / posterior.sum()


def test_labels_judged_by_samples_that_counted_elsewhere_equal_refits():
    """Every row is judged as if its largest part had never been counted."""
    rng = np.random.default_rng(0)
    n, C = 90, 3
    true = rng.integers(C, size=n)
    y = np.where(rng.random(n) < 0.5, rng.integers(C, size=n), true)
    X = rng.normal(size=(n, 4)) + 2.0 * np.eye(C, 4)[true]
    P = rng.dirichlet(0.3 * np.ones(C), size=n) + 3.0 * np.eye(C)[true]
    P /= P.sum(axis=1, keepdims=True)
    assert (P.argmax(axis=1) != y).sum() > 20  # many count elsewhere
    data = group_by_class(X, y, C)
    moments, composition = counted_elsewhere(data, class_sums({"x": data}, opinion_of(P, y))["x"])
    problem = Problem({"x": X}, {}, y, np.arange(C), HeldOut({"x": X}, y))
    # A member, but neither shrunk nor calibrated, which has no closed form.
    member = dataclasses.replace(
        fit_members(problem, opinion_of(P, y), ["x"])["x"],
        gaussians=from_moments(moments),
        known_rows=KnownRows.from_training(X, y, composition),
        class_totals=composition.class_totals,
    )
    report = score_labels(RobustGaussianClassifier.from_fitted(member), X, y)
    assert report.in_sample.all()
    most = np.where(np.arange(C) == P.argmax(axis=1)[:, None], P, 0.0)
    expected = [quality_without(X, P, y, i, most[i]) for i in range(n)]
    np.testing.assert_allclose(report.quality, expected, atol=1e-10)
    # What is left in of a row that counted to several classes matters much less than the row.
    nothing_left, in_it = (
        np.array([quality_without(X, P, y, i, parts[i]) for i in range(n)]) for parts in (P, 0 * P)
    )
    errors = np.abs(report.quality - nothing_left), np.abs(in_it - nothing_left)
    assert errors[0].mean() < 0.5 * errors[1].mean()


def test_a_member_is_judged_by_its_own_bookkeeping(memorised):
    """Not by that of a fit that was thrown away."""
    layers, y, _, opinion = memorised
    problem = problem_of(layers, y, 4000, 1000, 4)
    member = fit_members(problem, opinion, ["deep"])["deep"]
    P = opinion.class_shares(slice(None))
    np.testing.assert_allclose(member.class_totals, P.sum(axis=0))
    found, inside = member.recognise(layers["deep"][:4000], y[:4000])
    assert found.known.all()
    np.testing.assert_array_equal(inside.counted_as, P.argmax(axis=1))
    np.testing.assert_array_equal(inside.weights, P.max(axis=1))
    new, _ = member.recognise(layers["deep"][4000:], y[4000:])
    assert not new.known.any()


def test_a_member_tells_how_it_was_made(memorised):
    layers, y, true, _ = memorised
    parts = [{n: X[p] for n, X in layers.items()} for p in (slice(4000), slice(4000, 5000))]
    ensemble = LayerEnsemble(random_state=0, shrinkage=0.1)
    ensemble.fit(parts[0], y[:4000], validation=(parts[1], y[4000:5000]))
    for member in ensemble.estimators_.values():
        assert member.estimator == "auto"
        assert member.shrinkage == 0.1
    report = score_labels(ensemble.estimators_["deep"], parts[0]["deep"], y[:4000])
    assert report.in_sample.all()
    wrong = (y != true)[:4000]
    ranked = wrong[report.order[: wrong.sum()]]
    assert ranked.mean() > wrong.mean() + 0.2


def test_trust_and_support_of_a_member_are_about_the_label(memorised):
    layers, y, _, opinion = memorised
    problem = problem_of(layers, y, 4000, 1000, 4)
    member = fit_members(problem, opinion, ["deep"])["deep"]
    P = opinion.class_shares(slice(None))
    elsewhere = P.argmax(axis=1) != y[:4000]
    assert elsewhere.mean() > 0.3
    assert not member.support[elsewhere].any()
    np.testing.assert_allclose(member.trust[~elsewhere], P.max(axis=1)[~elsewhere])
    np.testing.assert_allclose(member.trust[elsewhere], 1.0 - P.max(axis=1)[elsewhere])
    clf = RobustGaussianClassifier.from_fitted(member)
    kept = int(member.support.sum())
    assert clf.explain().startswith(f"{kept} of 4000 samples count")
    assert "the ensemble it belongs to did" in clf.explain()


@pytest.mark.parametrize("estimator", ["auto", "anchored", "mixture"])
def test_explain_and_the_audit_tell_the_same_share_of_wrong_labels(blobs, estimator):
    X, y = blobs((200, 200, 200), distance=2.0)
    noisy = noise.uniform(y, 0.3, random_state=0).labels
    model = RobustGaussianClassifier(estimator, random_state=0).fit(X, noisy)
    report = score_labels(model, X, noisy)
    assert model.noise_.wrong == pytest.approx(report.noise_rate, abs=0.02)
    assert f"About {model.noise_.wrong:.0%} of the labels are wrong, or" in model.explain()


def test_so_does_a_consensus(blobs):
    X, y = blobs((300, 300, 300), distance=2.0)
    noisy = noise.uniform(y, 0.3, random_state=0).labels
    train, held = {"x": X[:600], "half": X[:600, :2]}, {"x": X[600:], "half": X[600:, :2]}
    model = LayerEnsemble(random_state=0).fit(train, noisy[:600], validation=(held, noisy[600:]))
    wrong = model.noise_.wrong
    assert wrong == pytest.approx(score_labels(model, train, noisy[:600]).noise_rate, abs=0.02)
    assert f"About {wrong:.0%} of the labels are wrong, or" in model.explain()


class TestMapped:
    """Layers on which straight lines do not tell the classes apart."""

    @staticmethod
    def rings(y, rng, far=1.0):
        angle = rng.uniform(0, 2 * np.pi, size=len(y))
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        return (1 + far * y)[:, None] * circle + 0.1 * rng.normal(size=(len(y), 2))

    def of(self, X, y, true, feature_map="auto"):
        problem = problem_of({"x": X}, y, 800, 200, 2)
        T = np.array([[0.8, 0.2], [0.2, 0.8]])
        P = 0.05 + 0.9 * np.eye(2)[true[:800]]
        opinion = opinion_of(P, y[:800], T)
        return fit_members(problem, opinion, ["x"], maps_of_members(feature_map, 0))["x"]

    @pytest.fixture
    def labels(self):
        true = np.random.default_rng(1).integers(2, size=1200)
        return noise.uniform(true, 0.2, random_state=0).labels, true

    def test_held_out_labels_choose_the_map(self, labels):
        y, true = labels
        X = self.rings(true, np.random.default_rng(0))
        member, straight = self.of(X, y, true), self.of(X, y, true, "none")
        assert straight.kernel_map is None
        assert member.kernel_map is not None
        right = [
            (m.posterior(X[1000:]).argmax(1) == true[1000:]).mean() for m in (straight, member)
        ]
        assert right[0] < 0.7 < 0.95 < right[1]
        assert member.n_features == 2
        clf = RobustGaussianClassifier.from_fitted(member)
        assert score_labels(clf, X[:800], y[:800]).in_sample.all()

    def test_not_where_it_finds_what_a_layer_has_memorised(self, labels):
        """Rings of the training labels, and of nothing else: held-out samples know of none."""
        y, true = labels
        rng = np.random.default_rng(0)
        known = np.append(y[:800], rng.integers(2, size=400))
        X = np.hstack([self.rings(known, rng), rng.normal(size=(1200, 2)) + true[:, None]])
        assert self.of(X, y, true).kernel_map is None

    def test_not_where_straight_lines_do(self, labels):
        y, true = labels
        X = np.random.default_rng(0).normal(size=(1200, 3)) + 2.0 * true[:, None]
        assert self.of(X, y, true).kernel_map is None

    def test_not_where_there_are_next_to_no_rows(self):
        data = group_by_class(np.random.default_rng(0).normal(size=(15, 2)), np.arange(15) % 2, 2)
        assert maps_of_members("auto", 0)(data) is None

    @pytest.mark.parametrize("feature_map", ["auto", "none"])
    def test_in_an_ensemble_from_the_fit_to_the_file(self, labels, tmp_path, feature_map):
        y, true = labels
        rng = np.random.default_rng(0)
        layers = {
            "straight": rng.normal(size=(1200, 3)) + 3.0 * true[:, None],
            "rings": self.rings(true, rng) + 0.5 * rng.normal(size=(1200, 2)),
        }
        deep = rng.normal(size=(1200, 2))
        deep[:800] += 4.0 * y[:800, None]  # has memorised its labels, so it does not judge
        layers["rings"] = np.hstack([layers["rings"], deep])
        train, held, new = (
            {name: X[part] for name, X in layers.items()}
            for part in (slice(800), slice(800, 1000), slice(1000, None))
        )
        ens = LayerEnsemble(feature_map=feature_map, random_state=0)
        ens.fit(train, y[:800], validation=(held, y[800:1000]))
        assert ens.consensus_.judges == ["straight"]
        mapped = [n for n, m in ens.fitted_.members.items() if m.kernel_map is not None]
        assert mapped == (["rings"] if feature_map == "auto" else [])
        assert ("rings: Features were mapped" in ens.explain()) == (feature_map == "auto")
        ens.save(tmp_path / "ens")
        again = LayerEnsemble.load(tmp_path / "ens")
        np.testing.assert_array_equal(again.predict_proba(new), ens.predict_proba(new))
        np.testing.assert_array_equal(again.score_samples(new), ens.score_samples(new))
        assert again.explain() == ens.explain()


def test_rows_of_weight_0_do_not_make_a_map_possible():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    weights = (np.arange(60) < 19).astype(float)
    assert maps_of_members("auto", 0)(group_by_class(X, y, 2, weights=weights)) is None
