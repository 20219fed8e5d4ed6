"""Typicality: uniform on samples of the same kind, low on others, honest about training rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from rehead import LayerEnsemble, RobustGaussianClassifier, noise, typicality
from rehead.fitted import FittedGaussians
from rehead.gaussian.options import USAGE


def world(d, n_classes, seed=0, distance=6.0):
    """A function that draws samples of a few classes, and labels."""
    rng = np.random.default_rng(seed)
    mix = np.eye(d) + 0.6 * rng.normal(size=(d, d)) / np.sqrt(d)
    means = distance * rng.normal(size=(n_classes, d)) / np.sqrt(d)

    def draw(n):
        y = rng.integers(n_classes, size=n)
        return rng.normal(size=(n, d)) @ mix + means[y], y

    return draw


def far_from_uniform(p):
    """The statistic of Kolmogorov and Smirnov."""
    return np.abs(np.sort(p) - (np.arange(len(p)) + 0.5) / len(p)).max()


@pytest.mark.parametrize(
    ("d", "of_class", "rate", "settings"),
    [
        (5, 200, 0.0, {}),
        (100, 60, 0.3, {}),
        (50, 80, 0.0, {"estimator": "sample"}),
        (50, 30, 0.0, {"estimator": "sample"}),
        (100, 60, 0.0, {"estimator": "sample", "shrinkage": 0.5}),
        (20, 200, 0.3, {"estimator": "mcd"}),
        (20, 200, 0.3, {"estimator": "posterior"}),
        (20, 200, 0.3, {"estimator": "identity"}),
    ],
)
def test_uniform_on_new_samples_however_few_there_were_for_the_features(
    d, of_class, rate, settings
):
    off, low = [], []
    for seed in range(4):
        draw = world(d, 4, seed)
        X, y = draw(4 * of_class)
        labels = noise.uniform(y, rate=rate, random_state=seed).labels
        clf = RobustGaussianClassifier(**settings, random_state=0).fit(X, labels)
        p = typicality(clf, draw(1500)[0])
        assert p.min() > 0
        assert p.max() <= 1
        off.append(far_from_uniform(p))
        low.append((p < 0.1).mean())
    # Two samples of the same distribution are so far apart by chance.
    assert np.mean(off) < 1.3 * np.sqrt(1 / 1500 + 1 / (4 * of_class * (1 - rate)))
    assert np.mean(low) == pytest.approx(0.1, abs=0.04)


@pytest.mark.filterwarnings("ignore:Most samples labelled")
@pytest.mark.parametrize("estimator", sorted(set(USAGE) - {"anchored"}))
@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize(("d", "distance"), [(4, 1.4), (20, 3.0)])
def test_ordinary_new_samples_are_called_strange_as_often_as_said(estimator, rate, d, distance):
    runs, n, new = 16, 600, 2000
    low = []
    for seed in range(runs):
        draw = world(d, 3, seed, distance)
        X, y = draw(n)
        labels = noise.uniform(y, rate=rate, random_state=seed).labels
        clf = RobustGaussianClassifier(estimator, random_state=0).fit(X, labels)
        low.append((typicality(clf, draw(new)[0]) <= 0.05).mean())
    # Chance has a hand in the new samples, and in those that they are compared with (500 at most).
    error = np.sqrt(0.05 * 0.95 * (1 / new + 1 / 500) / runs)
    assert np.mean(low) <= 0.05 + 3 * error
    assert np.mean(low) > 0.03


def test_training_rows_are_judged_without_themselves():
    X, y = world(60, 3)(3 * 40)
    clf = RobustGaussianClassifier("sample").fit(X, y)
    assert far_from_uniform(typicality(clf, X, y)) < 0.05
    # In-sample distances are far too small.
    assert np.median(typicality(clf, X)) > 0.9
    # Another label than in the fit is another sample.
    np.testing.assert_array_equal(typicality(clf, X, (y + 1) % 3), typicality(clf, X))


def test_finds_what_is_near_and_what_is_far():
    d = 30
    draw = world(d, 8, distance=9.0)
    X, y = draw(2400)
    known = y < 6
    clf = RobustGaussianClassifier(random_state=0).fit(X[known][:1200], y[known][:1200])
    usual = typicality(clf, X[known][1200:])
    another_class = typicality(clf, X[~known])
    assert roc_auc_score(
        np.r_[np.zeros(len(usual)), np.ones(len(another_class))], -np.r_[usual, another_class]
    ) > 0.9  # fmt: skip
    # Far away in a direction in which the classes do not differ.
    aside = np.linalg.svd(clf.coef_ - clf.coef_.mean(axis=0))[2][-1]
    assert typicality(clf, X[known][1200:] + 60 * aside).max() < 0.002


def test_strange_training_samples_are_found_among_the_others():
    d, rng = 20, np.random.default_rng(1)
    draw = world(d, 6, distance=9.0)
    X, y = draw(3000)
    strange = y == 5
    labels = np.where(strange, rng.integers(5, size=len(y)), y)
    clf = RobustGaussianClassifier(random_state=0).fit(X, labels)
    p = typicality(clf, X, labels)
    assert roc_auc_score(strange, -p) > 0.9
    nearest = clf.fitted_.distances(X).min(axis=1)
    assert roc_auc_score(strange, -p) > roc_auc_score(strange, nearest) + 0.05


def test_rows_do_not_depend_on_each_other():
    X, y = world(8, 3)(1300)
    X = X.astype(np.float32)
    clf = RobustGaussianClassifier(random_state=0).fit(X, y)
    p = typicality(clf, X, y)
    some = np.random.default_rng(0).permutation(1300)[:50]
    np.testing.assert_allclose(typicality(clf, X[some], y[some]), p[some], atol=3e-3)


def test_saved_and_loaded(tmp_path):
    X, y = world(6, 3)(300)
    clf = RobustGaussianClassifier(random_state=0).fit(X, y)
    clf.save(tmp_path / "m.safetensors")
    again = RobustGaussianClassifier.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(typicality(again, X, y), typicality(clf, X, y))


def test_a_model_of_an_older_version_says_what_to_do():
    X, y = world(6, 3)(300)
    arrays, settings = RobustGaussianClassifier(random_state=0).fit(X, y).fitted_.to_state()
    older = {k: v for k, v in arrays.items() if not k.startswith("reference")}
    assert len(older) < len(arrays)
    clf = RobustGaussianClassifier.from_fitted(FittedGaussians.from_state(older, settings))
    np.testing.assert_array_equal(clf.predict(X[:5]), y[:5])
    with pytest.raises(ValueError, match="Fit it anew"):
        typicality(clf, X)


def layers_of(X):
    return {"all": X, "some": X[:, :5]}


def test_an_ensemble_with_a_consensus_is_asked_for_its_judge(tmp_path):
    draw = world(10, 3)
    (X, y), (V, v), (N, _) = draw(900), draw(300), draw(600)
    ens = LayerEnsemble(random_state=0).fit(layers_of(X), y, validation=(layers_of(V), v))
    p = typicality(ens, layers_of(N))
    judge, asked = ens.fitted_.judging_member, {**layers_of(N), "stack": np.hstack([N, N[:, :5]])}
    np.testing.assert_array_equal(p, typicality(ens.estimators_[judge], asked[judge]))
    assert far_from_uniform(p) < 0.09
    assert far_from_uniform(typicality(ens, layers_of(X), y)) < 0.05
    assert typicality(ens, layers_of(N + 30)).max() < 0.01
    ens.save(tmp_path / "e.safetensors")
    again = LayerEnsemble.load(tmp_path / "e.safetensors")
    np.testing.assert_array_equal(typicality(again, layers_of(N)), p)


def test_members_of_other_ensembles_are_joined():
    draw = world(10, 3)
    (X, y), (N, _) = draw(900), draw(600)
    ens = LayerEnsemble("posterior", weights="equal").fit(layers_of(X), y)
    p = typicality(ens, layers_of(N))
    assert (p < 0.1).mean() == pytest.approx(0.1, abs=0.06)
    parts = [typicality(ens.estimators_[n], Z) for n, Z in layers_of(N).items()]
    np.testing.assert_allclose(p, 2 / (1 / parts[0] + 1 / parts[1]))
    # Strange to one of them is strange.
    strange = {"all": N, "some": N[:, :5] + 50}
    assert typicality(ens, strange).max() < 0.02


def test_bad_input_is_refused(fitted):
    clf, X, y = fitted
    with pytest.raises(ValueError, match="inconsistent numbers"):
        typicality(clf, X, y[:5])
    with pytest.raises(ValueError, match="not fitted on these labels"):
        typicality(clf, X, y + 7)
    with pytest.raises(ValueError, match="features"):
        typicality(clf, X[:, :2])
    with pytest.raises(ValueError, match="one array of features"):
        typicality(clf, {"a": X})
    with pytest.raises(TypeError, match="TruncatedSVD"):
        typicality(clf, csr_matrix(X))
    with pytest.raises(TypeError, match="a LogisticRegression has no count_samples"):
        typicality(LogisticRegression().fit(X, y), X)
    ensemble = LayerEnsemble("sample").fit({"a": X}, y)
    for bad in (X, {}):
        with pytest.raises(ValueError, match="non-empty dict"):
            typicality(ensemble, bad)
