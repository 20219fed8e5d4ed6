"""FittedGaussians: what a fit makes, what it is composed of, and what it says of labels."""

import dataclasses

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from rehead import RobustGaussianClassifier, noise, score_labels, typicality
from rehead.fitted import FittedGaussians
from rehead.fitting import fit_gaussians
from rehead.gaussian import ESTIMATORS, group_by_class
from rehead.gaussian.kernel_map import map_of_rows
from rehead.gaussian.options import resolve_options


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=150)
    X = rng.normal(size=(150, 4)) + 3.0 * np.eye(3, 4)[true]
    return X, noise.uniform(true, 0.3, random_state=0).labels, true


def fit(X, y, estimator, weights=None, trusted=None, **options):
    data = group_by_class(X, y, 3, weights=weights, trusted=trusted)
    choice = resolve_options(estimator, None, options)
    return fit_gaussians(data, np.arange(3), choice, np.random.default_rng(0))


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
def test_it_knows_how_much_of_every_row_it_contains(samples, estimator):
    X, y, _ = samples
    fitted = fit(X, y, estimator)
    found, inside = fitted.recognise(X, y)
    assert found.known.all()
    if estimator != "mixture":  # where a row counts to several classes, the totals have all of it
        totals = np.bincount(inside.counted_as, weights=inside.weights, minlength=3)
        np.testing.assert_allclose(fitted.class_totals, totals)
    else:
        assert fitted.class_totals.sum() == pytest.approx(len(X))
    elsewhere = inside.counted_as != y
    assert (elsewhere & (inside.weights > 0)).any() == (estimator in ("mixture", "trimmed-kmeans"))


@pytest.mark.parametrize("estimator", ["sample", "mcd", "posterior", "agreement", "lts"])
def test_labels_are_judged_as_by_refits_without_the_row(samples, estimator, brute):
    X, y, _ = samples
    fitted = fit(X, y, estimator)
    found = fitted.verdicts(X, y, np.ones(len(y), bool))
    _, inside = fitted.recognise(X, y)
    for i in range(0, len(y), 7):
        w = inside.weights.copy()
        w[i] = 0.0
        means, covariance = brute.tied(X, y, w)
        if estimator == "lts":
            covariance = np.eye(4)
        expected = brute.posterior(X[i], means, covariance)[0]
        assert found.quality[i] == pytest.approx(expected[y[i]], abs=1e-9)
        assert found.best[i] == expected.argmax()


def test_rows_that_are_not_to_be_left_out_are_judged_as_new(samples):
    X, y, _ = samples
    fitted = fit(X, y, "sample")
    leave_out = np.arange(len(y)) % 2 == 0
    found = fitted.verdicts(X, y, leave_out).quality
    plain = fitted.gaussians.posterior(X)[np.arange(len(y)), y]
    np.testing.assert_allclose(found[~leave_out], plain[~leave_out], rtol=1e-9)
    every = fitted.verdicts(X, y, np.ones(len(y), bool)).quality
    np.testing.assert_array_equal(found[leave_out], every[leave_out])


def test_the_same_row_with_another_label_is_not_known(samples):
    X, y, _ = samples
    fitted = fit(X, y, "sample")
    found, inside = fitted.recognise(X, (y + 1) % 3)
    assert not found.known.any()
    assert not inside.weights.any()


@pytest.mark.parametrize("estimator", ["auto", "mixture", "mcd", "identity"])
def test_the_state_holds_everything(samples, estimator):
    X, y, _ = samples
    fitted = fit(X, y, estimator)
    again = FittedGaussians.from_state(*fitted.to_state())
    for field in dataclasses.fields(fitted):
        if field.name not in ("gaussians", "notes", "noise", "reference", "known_rows"):
            np.testing.assert_array_equal(getattr(fitted, field.name), getattr(again, field.name))
    for part in ("noise", "reference", "known_rows"):
        a, b = getattr(fitted, part), getattr(again, part)
        if part == "known_rows":
            a = a.in_order()
        assert (a is None) == (b is None)
        for x, z in zip(a or (), b or (), strict=True):
            np.testing.assert_array_equal(x, z)
    np.testing.assert_array_equal(fitted.gaussians.posterior(X), again.gaussians.posterior(X))


def test_notes_are_what_the_user_is_warned_of(samples):
    X, y, _ = samples
    fitted = fit(np.hstack([X, X[:, :1]]), y, "sample")
    assert "singular" in fitted.notes[0]
    with pytest.warns(UserWarning, match="singular"):
        RobustGaussianClassifier("sample").fit(np.hstack([X, X[:, :1]]), y)


def test_a_classifier_around_it_is_like_the_one_that_was_fitted(samples):
    X, y, _ = samples
    clf = RobustGaussianClassifier(random_state=0).fit(X, y)
    again = RobustGaussianClassifier.from_fitted(clf.fitted_, random_state=0)
    np.testing.assert_array_equal(clf.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(
        score_labels(clf, X, y).quality, score_labels(again, X, y).quality
    )
    assert clf.explain() == again.explain()
    assert again.n_features_in_ == 4


def test_trust_is_what_counted_to_the_label(samples):
    X, y, true = samples
    fitted = fit(X, y, "mixture")
    right = y == true
    assert fitted.trust[right].mean() > fitted.trust[~right].mean() + 0.5
    weights = np.full(len(y), 2.0)
    np.testing.assert_allclose(fit(X, y, "sample", weights=weights).trust, weights)


class TestMapped:
    """Features that were mapped first: only the fitted value knows."""

    def test_it_is_asked_about_features_as_they_are(self, samples):
        X, y, _ = samples
        fitted = fit(X, y, "sample", feature_map="kernel", shrinkage=0.1)
        mapped, g = fitted.kernel_map(X), fitted.gaussians
        assert fitted.n_features == 4
        assert g.means.shape[1] == mapped.shape[1] > 4
        for method in ("scores", "posterior", "log_posterior", "distances"):
            expected = getattr(g, method)(mapped)
            np.testing.assert_allclose(getattr(fitted, method)(X), expected, atol=1e-9)
        density = g.log_density(mapped) - fitted.kernel_map.remoteness(X)
        np.testing.assert_allclose(fitted.log_density(X), density, atol=1e-9)
        gaps = np.linalg.norm(fitted.whitened(X[:5]) - fitted.whitened(X[5:6]), axis=1)
        P = np.linalg.inv(g.covariance)
        expected = [np.sqrt((a - mapped[5]) @ P @ (a - mapped[5])) for a in mapped[:5]]
        np.testing.assert_allclose(gaps, expected, rtol=1e-6)

    def test_without_a_map_nothing_is_different(self, samples):
        X, y, _ = samples
        fitted, asked = fit(X, y, "auto"), fit(X, y, "auto", feature_map="none")
        assert fitted.kernel_map is None
        assert fitted.mapped(X) is X
        np.testing.assert_array_equal(fitted.posterior(X), asked.posterior(X))

    @pytest.mark.parametrize("estimator", ["sample", "posterior", "agreement"])
    def test_labels_are_judged_as_by_refits_in_the_mapped_space(
        self, samples, estimator, brute, monkeypatch
    ):
        X, y, _ = samples
        # Few landmarks, so that a covariance without shrinkage has an inverse.
        few = lambda data, options, rng: map_of_rows(data, rng, 8, 1.0)  # noqa: E731
        monkeypatch.setattr("rehead.fitting.map_for", few)
        fitted = fit(X, y, estimator)
        found = fitted.verdicts(X, y, np.ones(len(y), bool))
        _, inside = fitted.recognise(X, y)
        mapped = fitted.kernel_map(X)
        for i in range(0, len(y), 7):
            w = inside.weights.copy()
            w[i] = 0.0
            expected = brute.posterior(mapped[i], *brute.tied(mapped, y, w))[0]
            assert found.quality[i] == pytest.approx(expected[y[i]], abs=1e-7)
        assert found.known.all()

    @pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
    @pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
    def test_every_estimator_can_be_mapped(self, samples, estimator):
        X, y, true = samples
        fitted = fit(X, y, estimator, feature_map="kernel")
        assert fitted.kernel_map is not None
        assert (fitted.posterior(X).argmax(axis=1) == true).mean() > 0.6

    def test_the_state_holds_the_map(self, samples):
        X, y, _ = samples
        fitted = fit(X, y, "auto", feature_map="kernel")
        again = FittedGaussians.from_state(*fitted.to_state())
        np.testing.assert_array_equal(fitted.posterior(X), again.posterior(X))
        np.testing.assert_array_equal(fitted.typicality(X, y), again.typicality(X, y))
        one, other = (f.verdicts(X, y, np.ones(len(y), bool)) for f in (fitted, again))
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)

    @pytest.mark.parametrize("estimator", ["auto", "sample"])
    def test_what_is_far_stays_strange(self, estimator):
        """It is mapped to 0, which may be nearer to the classes than usual samples are."""
        X, y = load_digits(return_X_y=True)
        train, new = X[:1200], X[1200:]
        clf = RobustGaussianClassifier(
            estimator, feature_map="kernel", shrinkage="auto", random_state=0
        )
        clf.fit(train, y[:1200])
        g, mapped = clf.fitted_.gaussians, clf.fitted_.kernel_map
        hidden = g.log_density(mapped(new + 1e3))
        if estimator == "auto":  # the map alone takes it for a sample that is not rare
            assert hidden.min() > np.quantile(g.log_density(mapped(new)), 0.05)
        assert (typicality(clf, new) < 0.1).mean() < 0.25
        for distance in (1e2, 1e6, 1e300):
            assert typicality(clf, new + distance).max() < 0.01
            assert clf.score_samples(new + distance).max() < clf.score_samples(new).min()

    def test_a_far_training_sample_is_found(self, samples):
        X, y, _ = samples
        X = X.copy()
        X[3] += 1e4
        clf = RobustGaussianClassifier(feature_map="kernel", random_state=0).fit(X, y)
        assert clf.trust_[3] == 0
        assert np.abs(clf.fitted_.kernel_map.landmarks).max() < 10
        assert score_labels(clf, X, y).kind[3] == "out of distribution"


class TestSecondOpinion:
    """Logistic regression beside the Gaussians."""

    @pytest.fixture(params=["none", "kernel"])
    def taken(self, request, skewed):
        X, true = skewed()
        y = noise.flip(true, 0.2, random_state=0).labels
        fitted = fit(X, y, "auto", feature_map=request.param)
        assert fitted.second is not None
        return fitted, X, y, true

    def expected(self, fitted, X, y, regression_of):
        """What the posterior of each label is, by brute force."""
        every = np.ones(len(y), bool)
        scores, _ = fitted.without_themselves(X, y, every, lambda scores, *_: scores)
        mapped = np.asarray(fitted.mapped(X))
        others = np.stack([regression_of(i).of(mapped[i : i + 1])[0] for i in range(len(y))])
        joint = scores / fitted.second.temperature + others
        return fitted.noise.posterior_given_label(joint, y)

    def test_a_training_label_is_judged_by_regressions_that_have_not_seen_it(self, taken):
        fitted, X, y, _ = taken
        folds, regressions = fitted.second.folds, fitted.second.regressions
        by_fold = {**dict(enumerate(regressions.without)), -1: regressions.whole}
        p = self.expected(fitted, X, y, lambda i: by_fold[folds[i]])
        every = np.arange(len(y))
        found = fitted.verdicts(X, y, every >= 0)
        np.testing.assert_allclose(found.quality, p[every, y], atol=1e-6)
        np.testing.assert_array_equal(found.best, p.argmax(axis=1))
        assert found.known.all()
        seen = self.expected(fitted, X, y, lambda _: regressions.whole)
        assert np.abs(seen - p).max() > 0.01
        # In any order, by the bytes of the row alone.
        order = np.random.default_rng(0).permutation(len(y))[:100]
        again = fitted.verdicts(X[order], y[order], np.ones(100, bool))
        np.testing.assert_allclose(again.quality, found.quality[order], atol=1e-9)

    def test_others_are_judged_by_the_regression_of_all(self, taken):
        fitted, X, y, _ = taken
        every = np.ones(len(y), bool)
        new = X + 1e-7
        found = fitted.verdicts(new, y, every)
        assert not found.known.any()
        scores = fitted.gaussians.without_priors().distances(fitted.mapped(new)) / -2.0
        whole = fitted.second.regressions.whole.of(np.asarray(fitted.mapped(new)))
        p = fitted.noise.posterior_given_label(scores / fitted.second.temperature + whole, y)
        np.testing.assert_allclose(found.quality, p[np.arange(len(y)), y], atol=1e-6)
        # Training rows too, where they are not to be left out.
        plain = fitted.verdicts(X, y, ~every).quality
        np.testing.assert_allclose(plain, found.quality, atol=1e-3)

    def test_wrong_labels_are_found(self, taken):
        fitted, X, y, true = taken
        found = fitted.verdicts(X, y, np.ones(len(y), bool))
        alone = fitted.without_second().verdicts(X, y, np.ones(len(y), bool))
        wrong = y != true
        assert roc_auc_score(wrong, -found.quality) > roc_auc_score(wrong, -alone.quality)
        assert found.quality[~wrong].mean() > found.quality[wrong].mean() + 0.5

    def test_without_it_there_are_the_gaussians_alone(self, taken):
        fitted, X, y, _ = taken
        alone = fitted.without_second()
        assert alone.second is None
        assert alone.gaussians.added is None
        assert alone.without_second() is alone
        if fitted.kernel_map is None:
            anchored = fit(X, y, "anchored")
            np.testing.assert_array_equal(alone.posterior(X), anchored.posterior(X))
            every = np.ones(len(y), bool)
            for a, b in zip(
                alone.verdicts(X, y, every), anchored.verdicts(X, y, every), strict=True
            ):
                np.testing.assert_array_equal(a, b)

    def test_the_state_holds_it(self, taken):
        fitted, X, y, _ = taken
        again = FittedGaussians.from_state(*fitted.to_state())
        np.testing.assert_array_equal(fitted.posterior(X), again.posterior(X))
        every = np.ones(len(y), bool)
        for a, b in zip(fitted.verdicts(X, y, every), again.verdicts(X, y, every), strict=True):
            np.testing.assert_array_equal(a, b)
        assert again.explain() == fitted.explain() != ""
        # And a file of a file is the same file.
        one, other = (f.to_state() for f in (fitted, again))
        assert one[1] == other[1]
        assert one[0].keys() == other[0].keys()
        for name, value in one[0].items():
            np.testing.assert_array_equal(value, other[0][name])

    def test_far_rows_are_in_no_fold_of_others(self, skewed):
        X, true = skewed()
        X = X.copy()
        X[:3] = 1e9
        fitted = fit(X, true, "auto", feature_map="none")
        assert fitted.second is not None
        assert (fitted.trust[:3] == 0).all()
        assert (fitted.second.folds[:3] == -1).all()
        assert np.isfinite(fitted.verdicts(X, true, np.ones(len(X), bool)).quality).all()


class TestWeights:
    """What one copy of a row weighs is nothing that a judgement depends on."""

    @pytest.fixture
    def weighted(self):
        """Some wrong labels that count 15 times; of 20 classes, few samples each."""
        rng = np.random.default_rng(0)

        def make(n_classes):
            y = np.arange(60 * n_classes) % n_classes
            X = rng.normal(size=(len(y), 4)) + 3.0 * rng.normal(size=(n_classes, 4))[y]
            labels = np.where(np.arange(len(y)) < 6, (y + 1) % n_classes, y)
            weights = np.where(labels != y, 15.0, 1.0)
            return X, labels, weights / weights.mean()

        return make

    @pytest.mark.parametrize("estimator", ["auto", "anchored", "sample", "mixture"])
    @pytest.mark.parametrize("n_classes", [2, 20])
    def test_their_unit_does_not_matter(self, weighted, estimator, n_classes):
        self.check(weighted(n_classes), estimator=estimator)

    def test_nor_where_a_machine_made_the_labels(self, weighted):
        self.check(weighted(2), labels_from="machine")

    def check(self, weighted, **options):
        X, y, weights = weighted
        found = []
        for factor in (1.0, 0.01):
            clf = RobustGaussianClassifier(random_state=0, feature_map="none", **options)
            found.append(score_labels(clf.fit(X, y, sample_weight=factor * weights), X, y).quality)
        np.testing.assert_allclose(found[1], found[0], atol=1e-6)

    @pytest.mark.parametrize("n_classes", [2, 20])
    def test_a_file_gives_the_same(self, weighted, tmp_path, n_classes):
        X, y, weights = weighted(n_classes)
        clf = RobustGaussianClassifier("anchored", random_state=0)
        clf.fit(X, y, sample_weight=0.01 * weights).save(tmp_path / "model.safetensors")
        again = RobustGaussianClassifier.load(tmp_path / "model.safetensors")
        a, b = (score_labels(model, X, y) for model in (clf, again))
        np.testing.assert_array_equal(a.quality, b.quality)
