"""What each layer knows, and how clean the samples are that it kept."""

import math

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, noise, score_labels
from rehead.report import members
from rehead.report.members import members_of


@pytest.fixture(scope="module")
def ensemble(blobs):
    X, truth = blobs(sizes=(200, 200, 200), d=4)
    y = noise.uniform(truth, 0.2, random_state=0).labels
    layers = {"features": X, "by heart": np.eye(3)[y] + 1e-3 * X[:, :3]}
    pick = lambda rows: {name: F[rows] for name, F in layers.items()}  # noqa: E731
    train, held_out = np.arange(450), np.arange(450, 600)
    # What a layer has by heart, it does not know of others.
    held = pick(held_out)
    held["by heart"] = np.roll(held["by heart"], 1, axis=0)
    model = LayerEnsemble(random_state=0).fit(pick(train), y[train], validation=(held, y[held_out]))
    return score_labels(model, pick(train), y[train]), pick(train), truth[train]


def test_layers_of_an_ensemble(ensemble):
    report, layers, truth = ensemble
    found = {m.name: m for m in members_of(report, layers, truth).rows}
    assert list(found)[-1] == members.ALL
    assert found["by heart"].gap > found["features"].gap + 0.5
    assert found["features"].judge
    assert not found["by heart"].judge
    assert found["features"].agrees == pytest.approx((report.given == truth).mean(), abs=0.03)
    assert found["features"].accuracy > 0.95
    assert found["features"].clean > 0.95 > (report.given == truth).mean() + 0.1
    assert 0.7 < found["features"].kept < 0.9
    assert found["by heart"].weight < found["features"].weight


def test_without_the_truth_the_quality_says_what_is_clean(ensemble):
    report, layers, _ = ensemble
    rows = members_of(report, layers, np.full(450, -1)).rows
    assert all(math.isnan(m.accuracy) for m in rows)
    assert rows[0].clean > 0.95


def test_a_classifier_alone_and_what_the_paper_keeps(judged):
    report, X, truth = judged(preset="paper", random_state=0)
    found = members_of(report, X, truth)
    assert [m.name for m in found.rows] == ["features"]
    kept = report.model.support_
    assert found.rows[0].kept == pytest.approx(kept.mean())
    assert found.rows[0].clean == pytest.approx((report.given == truth)[kept].mean())


def test_samples_that_the_model_was_not_fitted_on_were_not_kept(judged):
    report, X, truth = judged()
    other = score_labels(report.model, X + 1e-6, report.given)
    row = members_of(other, X + 1e-6, truth).rows[0]
    assert math.isnan(row.kept)
    assert row.accuracy > 0.9


def test_many_samples_are_asked_in_part(judged, monkeypatch):
    monkeypatch.setattr(members, "MOST", 100)
    report, X, truth = judged()
    assert members_of(report, X, truth).n_asked == 100


def test_models_of_other_kinds_have_no_layers(judged):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    _, X, truth = judged()
    model = make_pipeline(StandardScaler(), RobustGaussianClassifier(random_state=0)).fit(X, truth)
    assert members_of(score_labels(model, X, truth), X, truth) is None
