"""RobustGaussianClassifier: what it computes, and what must not change it."""

import tracemalloc
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from rehead import ReheadWarning, RobustGaussianClassifier, noise, score_labels
from rehead.gaussian import ESTIMATORS

# Estimators and settings without randomness.
DETERMINISTIC = [
    {"estimator": "sample"},
    {"estimator": "identity"},
    {"estimator": "posterior"},
    {"estimator": "trimmed-kmeans"},
    {"estimator": "mcd", "start": "deterministic"},
    {"estimator": "mcd", "start": "deterministic", "shrinkage": "auto"},
]
ADAPTS = [
    "agreement",
    "mcd",
    "posterior",
    "sample",
    "trimmed-kmeans",
]  # the rest has a covariance of I
deterministic = pytest.mark.parametrize("kwargs", DETERMINISTIC, ids=str)
every_estimator = pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
# These are calibrated and always shrink; see tests/gaussian/test_anchored.py, test_mixture.py.
ANCHORED = {"anchored", "auto", "mixture"}


@pytest.fixture
def noisy(blobs):
    X, y = blobs(sizes=(57, 43, 31), d=4, distance=2.0)
    wrong = np.random.default_rng(1).random(len(y)) < 0.2
    return X, np.where(wrong, (y + 1) % 3, y)


class TestAgainstOtherImplementations:
    @pytest.mark.parametrize(
        "kwargs", [{"estimator": "sample"}, {"estimator": "mcd", "support_fraction": 1.0}]
    )
    def test_all_samples_is_linear_discriminant_analysis(self, noisy, kwargs):
        X, y = noisy
        lda = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(X, y)
        clf = RobustGaussianClassifier(priors="empirical", **kwargs).fit(X, y)
        np.testing.assert_allclose(clf.means_, lda.means_, atol=1e-10)
        np.testing.assert_allclose(clf.covariance_, lda.covariance_, atol=1e-10)
        np.testing.assert_allclose(clf.priors_, lda.priors_, atol=1e-10)
        np.testing.assert_allclose(clf.predict_proba(X), lda.predict_proba(X), atol=1e-10)

    @pytest.mark.parametrize("estimator", sorted(set(ESTIMATORS) - ANCHORED))
    def test_posterior_is_bayes_rule_and_a_linear_softmax(self, noisy, brute, estimator):
        X, y = noisy
        priors = np.array([0.2, 0.5, 0.3])
        clf = RobustGaussianClassifier(estimator, priors=priors, random_state=0).fit(X, y)
        p = clf.predict_proba(X)
        expected = brute.posterior(X, clf.means_, clf.covariance_, clf.priors_)
        np.testing.assert_allclose(p, expected, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(
            p, softmax(X @ clf.coef_.T + clf.intercept_, axis=1), rtol=1e-8, atol=1e-12
        )
        np.testing.assert_allclose(clf.predict_log_proba(X), np.log(p), rtol=1e-8, atol=1e-12)
        np.testing.assert_array_equal(clf.predict(X), p.argmax(axis=1))
        np.testing.assert_array_equal(clf.decision_function(X).argmax(axis=1), p.argmax(axis=1))
        densities = [multivariate_normal(mu, clf.covariance_).logpdf(X) for mu in clf.means_]
        np.testing.assert_allclose(
            clf.score_samples(X), logsumexp(np.transpose(densities) + np.log(priors), axis=1)
        )

    def test_decision_function_of_two_classes_is_the_log_odds(self, blobs):
        X, y = blobs(sizes=(40, 30), distance=1.0)
        clf = RobustGaussianClassifier(random_state=0).fit(X, y)
        p = clf.predict_proba(X)
        assert clf.decision_function(X).shape == (70,)
        np.testing.assert_allclose(clf.decision_function(X), np.log(p[:, 1] / p[:, 0]), atol=1e-9)


class TestPriors:
    def test_empirical_priors_are_the_shares_of_the_kept_samples(self, noisy):
        X, y = noisy
        clf = RobustGaussianClassifier("mcd", priors="empirical", random_state=0).fit(X, y)
        kept = np.bincount(y[clf.support_])
        np.testing.assert_allclose(clf.priors_, kept / kept.sum())

    @pytest.mark.parametrize("estimator", [None, "mcd"])
    def test_priors_may_be_a_list(self, noisy, estimator):
        clf = RobustGaussianClassifier(estimator, priors=[0.1, 0.1, 0.8]).fit(*noisy)
        np.testing.assert_allclose(clf.priors_, [0.1, 0.1, 0.8])

    @pytest.mark.filterwarnings("ignore:Most samples labelled 2 seem")
    @pytest.mark.parametrize("estimator", [None, "anchored", "mixture"])
    def test_those_of_the_default_are_the_shares_without_the_noise(self, estimator):
        rng = np.random.default_rng(0)
        y = rng.choice(3, size=3000, p=[0.6, 0.3, 0.1])
        X = rng.normal(size=(3000, 3)) + 4 * np.eye(3)[y]
        labels = noise.uniform(y, 0.3, random_state=0).labels  # 0.1 becomes 0.2
        clf = RobustGaussianClassifier(estimator, random_state=0).fit(X, labels)
        np.testing.assert_allclose(clf.priors_, np.bincount(y) / 3000, atol=0.02)
        told = RobustGaussianClassifier(estimator, priors="empirical", random_state=0)
        told.fit(X, labels)
        np.testing.assert_array_equal(clf.predict_proba(X), told.predict_proba(X))

    @pytest.mark.parametrize("estimator", [None, "mixture"])
    @pytest.mark.parametrize("priors", ["uniform", [0.2, 0.1, 0.7], [0.5, 0.5, 0.0]])
    def test_others_multiply_the_odds_by_how_much_commoner_a_class_is(
        self, noisy, estimator, priors
    ):
        X, y = noisy
        usual = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
        clf = RobustGaussianClassifier(estimator, priors=priors, random_state=0).fit(X, y)
        wanted = np.full(3, 1 / 3) if isinstance(priors, str) else np.array(priors)
        np.testing.assert_allclose(clf.priors_, wanted)
        expected = usual.predict_proba(X) * wanted / usual.priors_
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=1e-6, atol=1e-12)
        # Labels are judged by the shares of the samples that have them.
        mine, its = (score_labels(model, X, y) for model in (clf, usual))
        np.testing.assert_allclose(mine.quality, its.quality, atol=1e-12)
        np.testing.assert_allclose(mine.typicality, its.typicality)

    def test_the_default_predicts_best_with_the_priors_of_what_it_predicts(self):
        rng = np.random.default_rng(0)

        def draw(n, shares):
            y = rng.choice(2, size=n, p=shares)
            return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y

        X, y = draw(4000, [0.5, 0.5])
        new, truth = draw(20_000, [0.05, 0.95])
        labels = noise.uniform(y, 0.2, random_state=0).labels
        plain, told = (
            RobustGaussianClassifier(priors=priors, random_state=0).fit(X, labels)
            for priors in (None, [0.05, 0.95])
        )
        assert told.estimator is None
        assert told.noise_ is not None
        assert told.score(new, truth) > plain.score(new, truth) + 0.1
        assert told.score(new, truth) >= 0.95


class TestSymmetry:
    @deterministic
    def test_permuting_samples_permutes_the_support(self, noisy, same_model, kwargs):
        X, y = noisy
        order = np.random.default_rng(5).permutation(len(X))
        here = RobustGaussianClassifier(**kwargs).fit(X, y)
        there = RobustGaussianClassifier(**kwargs).fit(X[order], y[order])
        same_model(here, there, rtol=1e-8)
        np.testing.assert_array_equal(here.support_[order], there.support_)
        np.testing.assert_array_equal(here.predict(X)[order], there.predict(X[order]))

    @deterministic
    def test_renaming_classes_renames_the_result(self, noisy, kwargs):
        X, y = noisy
        names = np.array(["c", "a", "b"])  # sorted in another order than 0, 1, 2
        here = RobustGaussianClassifier(**kwargs).fit(X, y)
        there = RobustGaussianClassifier(**kwargs).fit(X, names[y])
        columns = np.argsort(names)
        np.testing.assert_array_equal(here.support_, there.support_)
        np.testing.assert_array_equal(names[here.predict(X)], there.predict(X))
        np.testing.assert_allclose(here.means_[columns], there.means_)
        np.testing.assert_allclose(
            here.predict_proba(X)[:, columns], there.predict_proba(X), atol=1e-9
        )

    @pytest.mark.parametrize("estimator", ADAPTS)
    def test_scaling_by_a_power_of_two_is_exact(self, noisy, estimator):
        X, y = noisy
        here, there = (
            RobustGaussianClassifier(estimator, random_state=0).fit(X * s, y)
            for s in (1.0, 2.0**90)
        )
        np.testing.assert_array_equal(here.support_, there.support_)
        np.testing.assert_allclose(
            here.predict_proba(X), there.predict_proba(X * 2.0**90), rtol=1e-12
        )


class TestReproducibility:
    @pytest.mark.parametrize(
        "kwargs", [{}, {"estimator": "mcd", "n_starts": 5}, {"estimator": "lts"}], ids=str
    )
    def test_same_random_state_same_bits(self, noisy, same_model, kwargs):
        X, y = noisy
        for make in (lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)):
            a, b = (
                RobustGaussianClassifier(random_state=make(), **kwargs).fit(X, y) for _ in range(2)
            )
            same_model(a, b, rtol=0, atol=0)
            np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))

    def test_the_random_state_is_used(self, noisy):
        supports = {
            RobustGaussianClassifier("mcd", random_state=s, max_steps=1)
            .fit(*noisy)
            .support_.tobytes()
            for s in range(5)
        }
        assert len(supports) > 1

    @deterministic
    def test_deterministic_estimators_do_not_use_it(self, noisy, same_model, kwargs):
        a, b = (RobustGaussianClassifier(random_state=s, **kwargs).fit(*noisy) for s in (0, 1))
        same_model(a, b, rtol=0, atol=0)

    def test_features_are_not_written_to(self, noisy):
        X, y = noisy
        for dtype in (np.float32, np.float64):
            Z = X.astype(dtype)
            Z.setflags(write=False)
            before = Z.copy()
            for estimator in sorted(ESTIMATORS):
                RobustGaussianClassifier(estimator, random_state=0).fit(Z, y).predict_proba(Z)
            np.testing.assert_array_equal(Z, before)

    @pytest.mark.parametrize(
        "layout", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]]
    )
    def test_memory_layout_changes_nothing(self, noisy, same_model, layout):
        X, y = noisy
        a, b = (RobustGaussianClassifier(random_state=0).fit(Z, y) for Z in (X, layout(X)))
        same_model(a, b, rtol=0, atol=1e-12)

    def test_memory_map(self, noisy, same_model, tmp_path):
        X, y = noisy
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        a, b = (RobustGaussianClassifier(random_state=0).fit(Z, y) for Z in (X, mapped))
        same_model(a, b, rtol=0, atol=0)


class TestWeightsAndTrust:
    @deterministic
    def test_whole_weights_are_repetition(self, noisy, same_model, kwargs):
        X, y = noisy
        w = np.random.default_rng(2).integers(1, 4, size=len(X))
        weighted = RobustGaussianClassifier(**kwargs).fit(X, y, sample_weight=w)
        repeated = RobustGaussianClassifier(**kwargs).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        same_model(weighted, repeated, rtol=1e-8)

    @deterministic
    def test_weight_zero_is_removal(self, noisy, same_model, kwargs):
        X, y = noisy
        w = (np.random.default_rng(2).random(len(X)) < 0.8).astype(float)
        weighted = RobustGaussianClassifier(**kwargs).fit(X, y, sample_weight=w)
        removed = RobustGaussianClassifier(**kwargs).fit(X[w > 0], y[w > 0])
        same_model(weighted, removed, rtol=1e-8)
        assert not weighted.support_[w == 0].any()
        np.testing.assert_array_equal(weighted.support_[w > 0], removed.support_)

    @every_estimator
    def test_equal_weights_are_no_weights(self, noisy, same_model, estimator):
        X, y = noisy
        a, b = (
            RobustGaussianClassifier(estimator, random_state=0).fit(X, y, sample_weight=w)
            for w in (None, np.ones(len(X)))
        )
        same_model(a, b, rtol=1e-8)

    @pytest.mark.parametrize("share", [0.1, 0.9])
    @pytest.mark.parametrize(
        "kwargs",
        [{"estimator": e} for e in ("lts", "mcd", "posterior", "trimmed-kmeans")]
        + [
            {"estimator": "mcd", "start": "deterministic"},
            {"estimator": "mcd", "leave_one_out": True},
            {"preset": "authors"},
        ],
        ids=str,
    )
    def test_trusted_rows_are_never_trimmed(self, noisy, kwargs, share):
        X, y = noisy
        trusted = np.random.default_rng(3).random(len(X)) < share
        X = X + 20.0 * trusted[:, None] * (np.arange(len(X)) % 2)[:, None]  # some far away
        clf = RobustGaussianClassifier(random_state=0, **kwargs).fit(X, y, trusted=trusted)
        assert clf.support_[trusted].all()
        assert not clf.support_.all()
        untold = RobustGaussianClassifier(random_state=0, **kwargs).fit(X, y)
        assert not untold.support_[trusted].all()

    def test_trusted_rows_with_weights(self, noisy):
        X, y = noisy
        rng = np.random.default_rng(3)
        trusted, w = rng.random(len(X)) < 0.3, rng.integers(1, 4, size=len(X))
        clf = RobustGaussianClassifier(random_state=0).fit(X, y, sample_weight=w, trusted=trusted)
        assert clf.support_[trusted].all()


class TestPrecision:
    @pytest.mark.parametrize("offset", [0.0, 300.0, 1e4])
    @every_estimator
    def test_float32_agrees_with_float64(self, noisy, estimator, offset):
        X, y = noisy
        single = (X + offset).astype(np.float32)
        a, b = (
            RobustGaussianClassifier(estimator, random_state=0).fit(Z, y)
            for Z in (single, single.astype(np.float64))
        )
        assert a.predict_proba(single).dtype == a.means_.dtype == np.float32
        np.testing.assert_array_equal(a.support_, b.support_)
        np.testing.assert_array_equal(a.predict(single), b.predict(single.astype(np.float64)))
        np.testing.assert_allclose(a.means_, b.means_, rtol=2e-7, atol=1e-5)
        # Soft weights follow every digit of the scores, subsets only their order.
        rtol = 1e-3 if estimator in ANCHORED else 1e-4
        np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=rtol, atol=1e-5)
        # At an offset of 1e4 a feature in float32 is right to 5e-4.
        np.testing.assert_allclose(
            a.predict_proba(single),
            b.predict_proba(single.astype(float)),
            atol=1e-5 + offset * 1e-6,
        )

    # (At 1e6 the mean of a random start is 1e5 away itself, too far for float32 to rank the rest.)
    @pytest.mark.parametrize("far", [1e2, 1e3, 1e4])
    @pytest.mark.parametrize("where", ["anywhere", "first"])
    @pytest.mark.parametrize(
        "kwargs",
        [{"estimator": "anchored"}, {"estimator": "mcd", "start": "deterministic"}],
        ids=str,
    )
    @pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
    def test_float32_survives_the_outliers_it_trims(self, blobs, kwargs, where, far):
        # Outliers must not end up in a shift or a running sum: what is left of the digits after
        # they are subtracted again is not enough.
        X, y = blobs(sizes=(400, 400, 400), d=5)
        rng = np.random.default_rng(0)
        bad = rng.random(len(X)) < 0.3 if where == "anywhere" else np.arange(len(X)) < 300
        X[bad] = far * rng.normal(size=(bad.sum(), 5))
        single = X.astype(np.float32)
        a, b = (
            RobustGaussianClassifier(random_state=0, **kwargs).fit(Z, y)
            for Z in (single, single.astype(np.float64))
        )
        assert (a.support_ != b.support_).mean() < 0.01
        np.testing.assert_allclose(a.means_, b.means_, atol=0.01)
        np.testing.assert_allclose(a.covariance_, b.covariance_, atol=0.01)

    @pytest.mark.parametrize("far", [1e2, 1e4])
    def test_the_default_sees_the_same_in_float32(self, blobs, far):
        # Coordinates after a map may differ in their sign; what is made of them may not.
        X, y = blobs(sizes=(400, 400, 400), d=5)
        rng = np.random.default_rng(0)
        bad = rng.random(len(X)) < 0.3
        X[bad] = far * rng.normal(size=(bad.sum(), 5))
        single = X.astype(np.float32)
        a, b = (
            RobustGaussianClassifier(random_state=0).fit(Z, y)
            for Z in (single, single.astype(np.float64))
        )
        assert (a.support_ != b.support_).mean() < 0.01
        good = single[~bad]
        np.testing.assert_allclose(a.predict_proba(good), b.predict_proba(good), atol=0.01)
        assert a.predict_proba(single).dtype == np.float32

    @pytest.mark.parametrize("estimator", ["mcd", "posterior", "sample"])
    def test_ill_conditioned_float32_falls_back_to_float64_with_one_warning(self, blobs, estimator):
        X, y = blobs(sizes=(80, 80), d=4)
        X[:, 3] = X[:, 0] + 1e-4 * X[:, 3]
        single = X.astype(np.float32)
        with pytest.warns(ReheadWarning) as caught:
            a = RobustGaussianClassifier(estimator, random_state=0).fit(single, y)
        assert len(caught) == 1
        assert "too ill-conditioned for float32" in str(caught[0].message)
        b = RobustGaussianClassifier(estimator, random_state=0).fit(single.astype(float), y)
        np.testing.assert_array_equal(a.support_, b.support_)
        np.testing.assert_allclose(a.predict_proba(single), b.predict_proba(single), atol=1e-5)

    def test_float32_of_different_scales_needs_no_fallback(self, blobs):
        X, y = blobs(sizes=(80, 80), d=4)
        single = (X * [1e-6, 1.0, 1e3, 1e6]).astype(np.float32)
        clf = RobustGaussianClassifier(random_state=0).fit(single, y)  # a warning is an error
        assert clf.score(single, y) > 0.95


def split(X, y, sizes):
    """The first so many samples of each class, and all others."""
    first = np.zeros(len(y), bool)
    for c, size in enumerate(sizes):
        first[np.flatnonzero(y == c)[:size]] = True
    return (X[first], y[first]), (X[~first], y[~first])


def recalls(clf, X, y):
    """The share of each class that is predicted right."""
    predicted = clf.predict(X)
    return np.array([(predicted[y == c] == c).mean() for c in clf.classes_])


class TestFewSamples:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("sizes", [(8, 8, 8), (5, 14, 12), (1, 9, 9)])
    @every_estimator
    def test_fewer_samples_than_features(self, blobs, estimator, sizes, dtype):
        X, y = blobs(sizes=[size + 50 for size in sizes], d=30, distance=2.0)
        (X, y), new = split(X.astype(dtype), y, sizes)
        clf = RobustGaussianClassifier(estimator, random_state=0)
        warns = estimator in ADAPTS or min(sizes) == 1
        with pytest.warns(ReheadWarning) if warns else nullcontext():
            clf.fit(X, y)
        p = clf.predict_proba(np.vstack([X, 100 * X]))
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-5)
        assert np.isfinite(clf.log_det_)
        assert clf.score(X, y) > 0.7
        assert recalls(clf, *new).min() > 0.8

    @every_estimator
    def test_one_sample_a_class_is_warned_about_and_stands_for_it(self, estimator):
        clf = RobustGaussianClassifier(estimator, random_state=0)
        with pytest.warns(ReheadWarning) as caught:
            clf.fit(np.eye(3), [0, 1, 2])
        assert "3 of 3 classes have one sample only" in str(caught[0].message)
        near = np.eye(3) + 0.2 * np.random.default_rng(0).normal(size=(50, 3, 3))
        np.testing.assert_array_equal(
            clf.predict(near.reshape(-1, 3)), near.reshape(-1, 3).argmax(axis=1)
        )

    def test_a_class_too_small_to_trim_is_named_in_the_warning(self, blobs):
        X, y = blobs(sizes=(50, 4), d=5)
        with pytest.warns(ReheadWarning, match=r"1 of 2 classes .* smallest has 4 for 5 features"):
            clf = RobustGaussianClassifier("mcd", random_state=0).fit(X, y)
        assert clf.support_[y == 1].all()
        assert clf.n_iter_[1] == 0 < clf.n_iter_[0]

    def test_shrinkage_makes_few_samples_work_without_a_warning(self, blobs):
        train, new = split(*blobs(sizes=(120, 120), d=30, distance=0.7), (20, 20))
        clf = RobustGaussianClassifier(
            "mcd", support_fraction=0.6, shrinkage="auto", random_state=0
        )
        assert recalls(clf.fit(*train), *new).min() > 0.9

    @every_estimator
    def test_strong_imbalance(self, blobs, estimator):
        train, new = split(
            *blobs(sizes=(2200, 220, 211), d=3, distance=5.0, seed=3), (2000, 20, 11)
        )
        clf = RobustGaussianClassifier(estimator, random_state=0).fit(*train)
        assert recalls(clf, *new).min() > 0.9
        if estimator != "trimmed-kmeans":  # it trims the whole set, so it may trim a class away
            assert clf.support_[train[1] == 2].sum() >= 5


class TestOddFeatures:
    @pytest.mark.parametrize("estimator", sorted(set(ESTIMATORS) - ANCHORED))
    def test_a_constant_feature_changes_no_prediction(self, noisy, estimator):
        X, y = noisy
        Z = np.column_stack([X[:, :2], np.full(len(X), 0.1), X[:, 2:]])
        kwargs = {"random_state": 0}
        if estimator not in ("agreement", "identity", "sample"):
            kwargs["support_fraction"] = 0.6  # the paper's K_c depends on the number of features
        a, b = (RobustGaussianClassifier(estimator, **kwargs).fit(F, y) for F in (X, Z))
        np.testing.assert_array_equal(a.support_, b.support_)
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(Z), atol=1e-10)

    @pytest.mark.parametrize("estimator", ADAPTS)
    def test_a_duplicate_feature_is_warned_about_and_changes_little(self, noisy, estimator):
        X, y = noisy
        with pytest.warns(ReheadWarning, match="duplicate features"):
            clf = RobustGaussianClassifier(
                estimator,
                **({} if estimator in ("sample", "agreement") else {"support_fraction": 0.7}),
                random_state=0,
            ).fit(X[:, [0, 1, 2, 3, 3]], y)
        again = RobustGaussianClassifier("sample").fit(X[clf.support_], y[clf.support_])
        if estimator != "trimmed-kmeans":  # whose clusters are not the classes
            assert (clf.predict(X[:, [0, 1, 2, 3, 3]]) == again.predict(X)).mean() > 0.97

    def test_one_feature(self, blobs):
        X, y = blobs(sizes=(40, 40), d=1, distance=8.0)
        for estimator in sorted(ESTIMATORS):
            clf = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
            assert clf.covariance_.shape == (1, 1)
            assert clf.score(X, y) > 0.9


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": "mcd", "support_fraction": 0.8},
        {"estimator": "mcd", "n_starts": 2},
        {"preset": "paper"},
    ],
)
def test_explain_says_who_measures_the_noise(blobs, options):
    X, y = blobs()
    text = RobustGaussianClassifier(random_state=0, **options).fit(X, y).explain()
    assert "estimator='auto' does" in text


def rings(n=1500, seed=0):
    """Three rings about one another, which no straight line tells apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    radius, angle = 1.0 + y + 0.1 * rng.normal(size=n), rng.uniform(0, 2 * np.pi, size=n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


class TestFeatureMap:
    def test_rings(self):
        X, y = rings()
        noisy = noise.uniform(y, 0.3, random_state=0)
        linear = RobustGaussianClassifier(feature_map="none", random_state=0)
        with pytest.warns(ReheadWarning, match="labels seem to be wrong"):
            linear.fit(X, noisy.labels)  # lines do not tell rings apart
        mapped = RobustGaussianClassifier(feature_map="kernel", random_state=0)
        mapped.fit(X, noisy.labels)
        new, truth = rings(seed=1)
        assert linear.score(new, truth) < 0.6
        assert mapped.score(new, truth) > 0.97
        assert mapped.noise_.wrong == pytest.approx(0.3, abs=0.03)
        report = score_labels(mapped, X, noisy.labels)
        assert report.in_sample.all()
        assert noisy.changed[report.mislabelled()].mean() > 0.95
        assert noisy.changed[report.quality > 0.5].mean() < 0.03

    def test_parameters_are_those_of_the_mapped_features(self):
        X, y = rings(300)
        clf = RobustGaussianClassifier("sample", feature_map="kernel", random_state=0).fit(X, y)
        mapped = clf.fitted_.kernel_map(X)
        assert clf.n_features_in_ == 2
        assert clf.means_.shape == clf.coef_.shape == (3, mapped.shape[1])
        scores = mapped @ clf.coef_.T + clf.intercept_
        expected = np.exp(scores - scores.max(axis=1, keepdims=True))
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-6)
        with pytest.raises(ValueError, match="3 features"):
            clf.predict(np.zeros((2, 3)))

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_saved_and_loaded_to_the_last_bit(self, tmp_path, dtype):
        X, y = rings(400)
        X = X.astype(dtype)
        clf = RobustGaussianClassifier(feature_map="kernel", random_state=0).fit(X, y)
        clf.save(tmp_path / "model")
        again = RobustGaussianClassifier.load(tmp_path / "model")
        assert again.feature_map == "kernel"
        assert again.explain() == clf.explain()
        for method in ("predict_proba", "decision_function", "score_samples"):
            np.testing.assert_array_equal(getattr(clf, method)(X), getattr(again, method)(X))
        one, other = (score_labels(model, X, y) for model in (clf, again))
        np.testing.assert_array_equal(one.quality, other.quality)
        np.testing.assert_array_equal(one.typicality, other.typicality)

    def test_it_is_said(self):
        X, y = rings(400)
        said = RobustGaussianClassifier(feature_map="kernel", random_state=0).fit(X, y).explain()
        assert said.endswith("Features were mapped by their similarity to 66 of the samples.")
        linear = RobustGaussianClassifier("sample").fit(X, y).explain()
        assert "mapped" not in linear

    def test_columns_that_were_weighed_are_said_and_kept(self, tmp_path):
        X, y = rings(1200)
        useless = np.random.default_rng(1).normal(size=(1200, 4))
        X, labels = np.hstack([useless, X]), noise.uniform(y, 0.3, random_state=0).labels
        clf = RobustGaussianClassifier(random_state=0).fit(X, labels)
        said = "Columns were weighed by what they tell about the labels."
        assert said in clf.explain()
        columns = clf.fitted_.kernel_map.importance
        assert columns[:4].max() < 0.3 < 0.5 < columns[4:].min()
        clf.save(tmp_path / "model")
        again = RobustGaussianClassifier.load(tmp_path / "model")
        assert again.explain() == clf.explain()
        np.testing.assert_array_equal(again.fitted_.kernel_map.importance, columns)
        np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
        forbidden = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X, labels)
        assert said not in forbidden.explain()
        assert forbidden.score(X, y) + 0.2 < clf.score(X, y)

    def test_the_seed_decides(self):
        X, y = rings(500)
        fit = lambda seed: (  # noqa: E731
            RobustGaussianClassifier(feature_map="kernel", random_state=seed).fit(X, y)
        )
        np.testing.assert_array_equal(fit(0).predict_proba(X), fit(0).predict_proba(X))
        assert not np.array_equal(fit(0).predict_proba(X), fit(1).predict_proba(X))

    def test_other_values_are_refused(self):
        X, y = rings(50)
        with pytest.raises(ValueError, match=r"feature_map must be one of .*'kernel'"):
            RobustGaussianClassifier(feature_map="rbf").fit(X, y)

    def test_rows_are_not_mapped_all_at_once(self):
        X, y = rings(30_000)
        tracemalloc.start()
        clf = RobustGaussianClassifier("sample", feature_map="kernel", random_state=0).fit(X, y)
        clf.predict_proba(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.5 * len(X) * 300 * 8
