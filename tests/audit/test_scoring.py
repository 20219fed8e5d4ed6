"""Label reports: rows of the fit are judged without themselves, others plainly."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from rehead import (
    LayerEnsemble,
    ReheadWarning,
    RobustGaussianClassifier,
    find_mislabelled,
    noise,
    score_labels,
)
from rehead.gaussian import ESTIMATORS

PARTS = ((0, 300), (300, 400))
"""Training and held-out rows."""


@pytest.fixture
def planted(blobs):
    """Clear classes with some wrong labels: features, given labels, rows that are wrong."""
    X, y = blobs(sizes=(60, 50, 40), distance=8.0)
    wrong = np.sort(np.random.default_rng(1).permutation(len(y))[:12])
    given = y.copy()
    given[wrong] = (given[wrong] + 1) % 3
    return X, given, wrong


def kept_only(clf, X, y, brute, leave_out=()):
    """Posterior under the sample estimator of the kept rows, without some of them."""
    keep = clf.support_.copy()
    keep[list(leave_out)] = False
    return lambda Z: brute.posterior(Z, *brute.tied(X, y, keep))


@pytest.mark.parametrize("estimator", ["mcd", "posterior", "sample"])
def test_quality_of_fitted_rows_is_leave_one_out(blobs, brute, estimator):
    X, y = blobs(sizes=(20, 15, 12), distance=1.0)
    clf = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
    report = score_labels(clf, X, y)
    for i in range(len(X)):
        p = kept_only(clf, X, y, brute, leave_out=[i])(X[i : i + 1])[0]
        assert report.quality[i] == pytest.approx(p[y[i]], rel=1e-8, abs=1e-10)
        assert report.suggested[i] == p.argmax()
        assert report.suggested_probability[i] == pytest.approx(p.max(), rel=1e-8)


@pytest.mark.parametrize(
    "estimator",
    sorted(set(ESTIMATORS) - {"trimmed-kmeans", "agreement", "anchored", "auto", "mixture"}),
)
def test_leave_one_out_is_refitting_whatever_the_estimator(blobs, estimator):
    # With nothing trimmed the refit is the estimator itself without the row. The covariance of
    # "identity" and "lts" does not depend on the rows.
    X, y = blobs(sizes=(30, 30), distance=0.3)
    kwargs = {} if estimator in ("identity", "sample") else {"support_fraction": 1.0}
    clf = RobustGaussianClassifier(estimator, **kwargs)
    quality = score_labels(clf.fit(X, y), X, y).quality
    for i in range(0, len(X), 6):
        clf.fit(np.delete(X, i, axis=0), np.delete(y, i))
        assert quality[i] == pytest.approx(clf.predict_proba(X[i : i + 1])[0, y[i]], abs=1e-6)


def test_a_row_is_left_out_of_the_cluster_that_holds_it(blobs, brute):
    # The clusters of trimmed k-means are not the given labels.
    X, y = blobs(sizes=(30, 30), distance=0.3)
    clf = RobustGaussianClassifier("trimmed-kmeans", support_fraction=1.0, max_steps=1).fit(X, y)
    cluster = brute.distances(X, *brute.tied(X, y)).argmin(axis=1)
    np.testing.assert_allclose(clf.means_, brute.tied(X, cluster)[0])
    assert (cluster != y).any()
    expected = []
    for i in range(len(X)):
        without = (np.arange(len(X)) != i).astype(float)
        expected.append(brute.posterior(X[i : i + 1], *brute.tied(X, cluster, without))[0, y[i]])
    np.testing.assert_allclose(score_labels(clf, X, y).quality, expected, rtol=1e-6, atol=1e-9)


def test_labels_of_a_class_that_lost_all_its_rows():
    # Both rows of class 0 are trimmed, so its Gaussian is made of nothing.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 8, [[8e3, 0], [0, 8e3]]])
    y = np.repeat([1, 2, 0], [60, 60, 2])
    clf = RobustGaussianClassifier("trimmed-kmeans", support_fraction=0.7).fit(X, y)
    assert not clf.support_[-2:].any()
    trimmed = ~clf.support_
    expected = clf.predict_proba(X)[np.arange(len(X)), y]
    np.testing.assert_allclose(score_labels(clf, X, y).quality[trimmed], expected[trimmed])


def test_new_rows_and_changed_labels_are_judged_plainly(blobs):
    X, y = blobs(sizes=(40, 40, 40), distance=1.0)
    Z, z = blobs(sizes=(15, 15, 15), distance=1.0, seed=5)
    clf = RobustGaussianClassifier("sample").fit(X, y)
    every = np.arange(len(Z))
    np.testing.assert_allclose(
        score_labels(clf, Z, z).quality, clf.predict_proba(Z)[every, z], rtol=1e-9
    )
    changed = (y + 1) % 3  # these pairs of row and label were not seen
    every = np.arange(len(X))
    with pytest.warns(ReheadWarning, match="120 of 120 that were looked at had another label"):
        plain = score_labels(clf, X, changed)
    np.testing.assert_allclose(plain.quality, clf.predict_proba(X)[every, changed], rtol=1e-9)


def test_new_rows_of_whole_numbers_are_not_taken_for_fitted_ones():
    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(0, 2, size=(3000, 25)), axis=0)
    rows = rng.permutation(rows).astype(float)
    y = (rows[:, :5].sum(axis=1) + rng.normal(size=len(rows)) > 2.5).astype(int)
    clf = RobustGaussianClassifier("sample").fit(rows[:1000], y[:1000])
    p = clf.predict_proba(rows[1000:])[np.arange(len(rows) - 1000), y[1000:]]
    np.testing.assert_allclose(score_labels(clf, rows[1000:], y[1000:]).quality, p, rtol=1e-9)


def test_rows_are_recognised_in_any_order_subset_and_container(blobs):
    X, y = blobs(sizes=(30, 30), distance=1.0)
    clf = RobustGaussianClassifier(random_state=0).fit(X, y)
    whole = score_labels(clf, X, y).quality
    some = np.random.default_rng(0).permutation(60)[:25]
    np.testing.assert_allclose(score_labels(clf, X[some], y[some]).quality, whole[some], rtol=1e-12)
    fortran = score_labels(clf, np.asfortranarray(X), pd.Series(y))
    np.testing.assert_allclose(fortran.quality, whole, rtol=1e-12)


def test_rows_fitted_in_float32_are_recognised_in_float64(blobs):
    X, y = blobs(sizes=(15, 15), distance=0.5)
    X = X.astype(np.float32)
    clf = RobustGaussianClassifier("sample").fit(X, y)
    single, double = (score_labels(clf, Z, y).quality for Z in (X, X.astype(float)))
    np.testing.assert_allclose(single, double, atol=1e-5)
    plain = clf.predict_proba(X)[np.arange(30), y]
    assert np.abs(single - plain).max() > 1e-3


def test_all_copies_of_a_row_are_left_out(blobs, brute):
    X, y = blobs(sizes=(20, 20), distance=1.0)
    w = np.random.default_rng(0).integers(1, 4, size=40).astype(float)
    clf = RobustGaussianClassifier("sample").fit(X, y, sample_weight=w)
    quality = score_labels(clf, X, y).quality
    repeated = RobustGaussianClassifier("sample").fit(
        np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int))
    )
    np.testing.assert_allclose(quality, score_labels(repeated, X, y).quality, rtol=1e-8)
    for i in range(40):
        less = np.where(np.arange(40) == i, 0.0, w)
        p = brute.posterior(X[i : i + 1], *brute.tied(X, y, less))[0]
        assert quality[i] == pytest.approx(p[y[i]], rel=1e-8)


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
def test_planted_wrong_labels_come_first(planted, estimator):
    X, given, wrong = planted
    kwargs = {"support_fraction": 0.6} if estimator == "lts" else {}
    clf = RobustGaussianClassifier(estimator, random_state=0, **kwargs).fit(X, given)
    report = score_labels(clf, X, given)
    assert set(report.order[: len(wrong)].tolist()) == set(wrong.tolist())
    np.testing.assert_array_equal(report.suggested[wrong], (given[wrong] - 1) % 3)


@pytest.mark.parametrize("names", [None, np.array(["ant", "bee", "cat"])], ids=["ints", "strings"])
def test_report_is_consistent(planted, names):
    X, given, wrong = planted
    given = given if names is None else names[given]
    clf = RobustGaussianClassifier("posterior").fit(X, given)
    report = score_labels(clf, X, given)
    assert (np.diff(report.quality[report.order]) >= 0).all()
    assert sorted(report.order.tolist()) == list(range(len(X)))
    assert ((report.quality >= 0) & (report.quality <= 1)).all()
    assert (report.suggested_probability >= report.quality).all()
    agrees = report.suggested == given
    np.testing.assert_array_equal(report.suggested_probability[agrees], report.quality[agrees])
    assert report.noise_rate == pytest.approx(np.mean(1 - report.quality))
    assert report.noise_rate == pytest.approx(len(wrong) / len(X), abs=0.02)


def test_find_mislabelled_is_worst_first(planted):
    X, given, wrong = planted
    clf = RobustGaussianClassifier("posterior").fit(X, given)
    found = find_mislabelled(clf, X, given)
    report = score_labels(clf, X, given)
    np.testing.assert_array_equal(np.sort(found), wrong)
    np.testing.assert_array_equal(found, report.order[: len(found)])
    np.testing.assert_array_equal(found, report.mislabelled())
    np.testing.assert_array_equal(report.given, given)


def test_no_wrong_label_gives_an_empty_array(blobs):
    X, y = blobs(distance=20.0)
    found = find_mislabelled(RobustGaussianClassifier("posterior").fit(X, y), X, y)
    assert found.shape == (0,)
    assert found.dtype.kind == "i"


def test_transition_is_a_matrix_of_probabilities_near_the_true_one(planted):
    X, given, wrong = planted
    report = score_labels(RobustGaussianClassifier("posterior").fit(X, given), X, given)
    np.testing.assert_allclose(report.transition.sum(axis=1), 1.0)
    true = given.copy()
    true[wrong] = (true[wrong] - 1) % 3
    expected = [[(given[true == a] == b).mean() for b in range(3)] for a in range(3)]
    np.testing.assert_allclose(report.transition, expected, atol=0.02)


def test_transition_rows_of_classes_without_rows_sum_to_one(fitted):
    clf, X, y = fitted
    report = score_labels(clf, X[y == 0][:1], y[y == 0][:1])
    np.testing.assert_allclose(report.transition.sum(axis=1), 1.0)


def test_members_of_a_consensus_can_be_asked(blobs):
    X, y = blobs(sizes=(200, 200), d=4)
    layers = {"a": X[:, :2], "b": X[:, 2:]}
    train, held = ({name: layer[a:b] for name, layer in layers.items()} for a, b in PARTS)
    ensemble = LayerEnsemble(random_state=0).fit(train, y[:300], validation=(held, y[300:]))
    assert ensemble.consensus_.judges == ["b"]
    members = ensemble.estimators_
    reports = {name: score_labels(members[name], layers[name], y) for name in layers}
    for report in reports.values():
        np.testing.assert_array_equal(report.in_sample, np.arange(400) < 300)
    # The judge speaks for all of them.
    whole = score_labels(ensemble, layers, y)
    for name in ("quality", "suggested", "typicality", "kind", "transition"):
        np.testing.assert_array_equal(getattr(reports["b"], name), getattr(whole, name))
    # Others measured no noise and know not what is usual: new rows are judged plainly.
    other, new = reports["a"], layers["a"][300:]
    plain = members["a"].predict_proba(new)[np.arange(100), y[300:]]
    np.testing.assert_allclose(other.quality[300:], plain, rtol=1e-9)
    np.testing.assert_array_equal(other.suggested[300:], members["a"].predict(new))
    assert np.isnan(other.typicality).all()
    assert np.isnan(other.noise_rate_error)


class TestCleanLabels:
    @pytest.mark.parametrize("distance", [1.0, 1.5, 3.0, 10.0])
    @pytest.mark.parametrize("seed", [0, 1])
    def test_next_to_nothing_is_flagged(self, blobs, distance, seed):
        X, y = blobs(sizes=(400,) * 4, d=12, distance=distance, seed=seed)
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert report.suspect.mean() < 0.01
        assert (report.kind != "ok").mean() < 0.02
        assert report.noise_rate < max(2.5 * report.noise_rate_error, 0.02)
        assert report.n_review() < 0.03 * len(y)

    def test_on_digits(self):
        X, y = load_digits(return_X_y=True)
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert report.suspect.mean() < 0.01
        assert report.noise_rate < 2 * report.noise_rate_error
        assert "about clean" in str(report)

    @pytest.mark.parametrize("estimator", ["anchored", "auto"])
    def test_next_to_none_of_the_digits_is_strange(self, estimator):
        X, y = load_digits(return_X_y=True)
        clf = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
        assert (score_labels(clf, X, y).kind != "ok").mean() < 0.01

    def test_held_out_rows(self, blobs):
        X, y = blobs(sizes=(500,) * 3, d=8, distance=2.0)
        model = RobustGaussianClassifier(random_state=0).fit(X[:1000], y[:1000])
        report = score_labels(model, X[1000:], y[1000:])
        assert (report.kind != "ok").mean() < 0.02


class TestNoise:
    @pytest.mark.parametrize("rate", [0.1, 0.3])
    def test_the_rate_is_measured_within_its_error(self, blobs, rate):
        X, y = blobs(sizes=(400,) * 4, d=10, distance=3.0)
        corrupted = noise.uniform(y, rate, random_state=1)
        model = RobustGaussianClassifier(random_state=0).fit(X, corrupted.labels)
        report = score_labels(model, X, corrupted.labels)
        assert abs(report.noise_rate - corrupted.rate) < 3 * report.noise_rate_error
        assert report.noise_rate_error < 0.05
        np.testing.assert_allclose(report.transition.sum(axis=1), 1.0)
        np.testing.assert_array_equal(report.transition, model.noise_.transition)

    def test_quality_is_calibrated(self, blobs):
        X, y = blobs(sizes=(800,) * 3, d=6, distance=1.2)
        corrupted = noise.uniform(y, 0.25, random_state=1)
        model = RobustGaussianClassifier(random_state=0).fit(X, corrupted.labels)
        quality = score_labels(model, X, corrupted.labels).quality
        for low, high in ((0, 0.3), (0.3, 0.8), (0.8, 1.01)):
            there = (quality >= low) & (quality < high)
            right = (~corrupted.changed)[there].mean()
            assert right == pytest.approx(quality[there].mean(), abs=0.12)

    def test_the_error_is_that_of_the_measure_and_of_chance(self, model, noisy, report):
        few = score_labels(model, noisy[0][:20], noisy[1][:20])
        for found in (few, report):
            by_chance = (found.quality * (1 - found.quality)).sum() / len(found) ** 2
            assert found.noise_rate_error**2 == pytest.approx(
                model.noise_.rate_error**2 + by_chance
            )
            assert found.noise_rate_error >= model.noise_.rate_error

    def test_without_a_measure_there_is_no_error(self, noisy):
        X, y, _ = noisy
        report = score_labels(RobustGaussianClassifier("mcd", random_state=0).fit(X, y), X, y)
        assert np.isnan(report.noise_rate_error)
        assert "the noise was not measured" in str(report)


class TestBadInput:
    def test_of_another_width(self, model, noisy):
        with pytest.raises(ValueError, match=r"3 features.*expecting 4"):
            score_labels(model, noisy[0][:, :3], noisy[1])

    def test_nothing(self, model):
        with pytest.raises(ValueError, match="no labels to judge"):
            score_labels(model, np.empty((0, 4)), [])

    def test_layers_for_a_classifier_and_features_for_an_ensemble(self, model, noisy):
        X, y, _ = noisy
        with pytest.raises(ValueError, match="one array of features"):
            score_labels(model, {"a": X}, y)
        ensemble = LayerEnsemble("sample").fit({"a": X}, y)
        with pytest.raises(ValueError, match="layers must be a non-empty dict"):
            score_labels(ensemble, X, y)
        with pytest.raises(ValueError, match="are missing"):
            score_labels(ensemble, {"b": X}, y)

    def test_labels_that_the_model_does_not_know(self, model, noisy):
        with pytest.raises(ValueError, match="not fitted on these labels: 3"):
            score_labels(model, noisy[0], noisy[1] + 1)
