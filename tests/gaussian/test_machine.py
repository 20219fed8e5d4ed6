"""Labels that a machine made: a boundary of its own, which stiff Gaussians must not follow."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from rehead import RobustGaussianClassifier, noise, score_labels
from rehead.gaussian import group_by_class
from rehead.gaussian.machine import AGREEMENT, MIXTURE, machine
from rehead.gaussian.options import FOR_MACHINE, MACHINE, resolve_options
from rehead.gaussian.settings import SETTINGS


@pytest.fixture
def clusters():
    """Three clusters, and labels by a tilted machine that cuts through them."""
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=900)
    centres = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    X = rng.normal(size=(900, 3)) + centres[true]
    squared = ((X - centres[:, None])[..., :2] ** 2).sum(axis=2)
    tilted = squared - 8.0 * X[:, 2] * np.array([[0.0], [1.0], [-1.0]])
    return X, true, tilted.argmin(axis=0)


def fit(X, y, **options):
    choice = resolve_options("auto", None, {"labels_from": MACHINE, **options})
    data = group_by_class(X, y, int(y.max()) + 1)
    return machine(data, choice.options, np.random.default_rng(0))


@pytest.fixture(scope="module")
def digits():
    """Digits that a regression labelled, which was taught on one in twenty; both ways to fit."""
    X, true = load_digits(return_X_y=True)
    made = noise.semantic(X, true, clean=0.05, random_state=1)
    usual = RobustGaussianClassifier(random_state=0).fit(X, made.labels)
    told = RobustGaussianClassifier(labels_from="machine", random_state=0).fit(X, made.labels)
    return X, true, made, usual, told


def test_clusters_are_found_again_where_the_usual_way_copies_the_machine(digits):
    X, true, made, usual, told = digits
    assert told.score(X, true) > usual.score(X, true) + 0.02
    assert usual.score(X, made.labels) > told.score(X, made.labels)
    assert told.fitted_.way == MIXTURE


def test_wrong_labels_are_found_and_counted(digits):
    X, _, made, usual, told = digits
    found, before = (
        roc_auc_score(~made.changed, score_labels(m, X, made.labels).quality) for m in (told, usual)
    )
    assert found > max(0.9, before + 0.03)
    assert abs(told.noise_.wrong - made.rate) < abs(usual.noise_.wrong - made.rate)


def test_agreement_takes_over_where_many_would_move(clusters, monkeypatch):
    from rehead.gaussian import machine as module

    X, true, y = clusters
    monkeypatch.setattr(module, "moved_share", lambda *_: 1.0)
    found = fit(X, y)
    assert found.way == AGREEMENT
    kept = found.composition.weights > 0
    assert (y == true)[kept].mean() > (y == true).mean()
    assert (found.composition.counted_as == y).all()


def test_columns_of_other_units_do_not_decide(clusters):
    X, true, y = clusters
    units = np.array([1.0, 1.0, 1e4])
    told = RobustGaussianClassifier(labels_from="machine", random_state=0).fit(X * units, y)
    assert told.score(X * units, true) > 0.95


def test_weights_count_as_copies(clusters):
    X, _, y = clusters
    twice = RobustGaussianClassifier(labels_from="machine", random_state=0)
    twice.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    weighted = RobustGaussianClassifier(labels_from="machine", random_state=0)
    weighted.fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(weighted.means_, twice.means_, rtol=1e-6, atol=1e-8)


def test_trusted_labels_stay_what_they_are(clusters):
    X, _, y = clusters
    strange = np.zeros(len(y), bool)
    strange[np.argmax(X[:, 0])] = True  # deep in class 1
    y = np.where(strange, 2, y)
    data = group_by_class(X, y, 3, trusted=strange)
    found = machine(data, FOR_MACHINE, np.random.default_rng(0))
    assert found.composition.counted_as[strange] == 2
    assert found.composition.weights[strange] == pytest.approx(1.0)


@pytest.mark.parametrize("priors", ["uniform", [0.8, 0.1, 0.1]])
def test_priors_are_those_that_are_wanted(clusters, priors):
    X, _, y = clusters
    clf = RobustGaussianClassifier(labels_from="machine", priors=priors, random_state=0).fit(X, y)
    wanted = np.full(3, 1 / 3) if priors == "uniform" else priors
    np.testing.assert_allclose(clf.priors_, wanted)


def test_options_of_machine_labels():
    asked = resolve_options(None, None, {"labels_from": "machine"}).options
    assert (asked.shrinkage, asked.max_steps, asked.feature_map) == (0.3, 20, "none")
    assert resolve_options(None, None, {"labels_from": "people"}).options.shrinkage == "auto"
    with pytest.raises(ValueError, match="labels_from must be one of"):
        resolve_options(None, None, {"labels_from": "nobody"})
    with pytest.raises(ValueError, match="does not use labels_from"):
        resolve_options("mcd", None, {"labels_from": "machine"})
    with pytest.raises(ValueError, match="already sets labels_from"):
        resolve_options(None, "paper", {"labels_from": "machine"})


def test_files_carry_it(clusters, tmp_path):
    X, _, y = clusters
    clf = RobustGaussianClassifier(labels_from="machine", random_state=0).fit(X, y)
    clf.save(tmp_path / "m.safetensors")
    again = RobustGaussianClassifier.load(tmp_path / "m.safetensors")
    assert again.labels_from == "machine"
    assert again.explain() == clf.explain()
    assert "taken for a machine's" in again.explain()
    assert (again.predict_proba(X) == clf.predict_proba(X)).all()


def test_no_class_is_empty_where_far_rows_have_its_label(monkeypatch):
    """Far rows fit their label best, as all that is far seems to; but they count for nothing."""
    from rehead.gaussian import machine as module

    rng = np.random.default_rng(0)
    centres = np.repeat([[0, 0], [8, 0], [0, 1.5], [8, 1.5]], [200, 200, 15, 15], axis=0)
    X = np.vstack([rng.normal(size=(430, 2)) + centres, [[4, 4000], [4, 4100], [4, 4050]]])
    monkeypatch.setattr(module, "moved_share", lambda *_: 1.0)
    found = fit(X, np.repeat([0, 1, 2], [200, 200, 33]))
    assert found.way == AGREEMENT
    assert found.composition.class_totals[2] >= SETTINGS.least_class_weight


def test_rows_of_weight_0_are_as_if_left_out(monkeypatch):
    """Also where they disagree, which looks like samples that come and go."""
    from rehead.gaussian import machine as module

    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + 9.0 * y[:, None]
    kept = np.arange(400) < 300
    y = np.where(kept, y, 1 - y)
    monkeypatch.setattr(module, "moved_share", lambda *_: 1.0)
    data = group_by_class(X, y, 2, weights=kept.astype(float))
    found = machine(data, FOR_MACHINE, np.random.default_rng(0))
    without = fit(X[kept], y[kept])
    np.testing.assert_array_equal(found.n_iter, without.n_iter)
    np.testing.assert_allclose(found.gaussians.means, without.gaussians.means)
