"""Consensus or machine: as asked, or as trusted labels say."""

import numpy as np
import pytest

from rehead import LayerEnsemble


@pytest.fixture
def tilted():
    rng = np.random.default_rng(1)
    true = rng.integers(2, size=1000)
    X = rng.normal(size=(1000, 3)) + 4.5 * true[:, None] * np.array([1.0, 0.0, 0.0])
    y = (X @ [1.0, 1.0, 0.0] > 2.25).astype(int)
    return X, true, y


def drawn_of(n, k):
    drawn = np.zeros(n, bool)
    drawn[np.random.default_rng(0).choice(n, k, replace=False)] = True
    return drawn


def test_layers_and_files(tilted, tmp_path):
    X, true, y = tilted
    drawn = drawn_of(len(y), 100)
    y = np.where(drawn, true, y)
    layers = {"x": X, "copy of a part": X[:, :2] * 3.0}
    ens = LayerEnsemble(random_state=0).fit(layers, y, trusted=drawn)
    assert [e.fitted_.way for e in ens.estimators_.values()] == ["mixture", "mixture"]
    assert ens.weights_ == pytest.approx(0.5, abs=0.1)  # two members that say the same
    ens.save(tmp_path / "e.safetensors")
    again = LayerEnsemble.load(tmp_path / "e.safetensors")
    assert again.explain() == ens.explain()
    assert "100 trusted labels" in again.explain()
    assert (again.predict_proba(layers) == ens.predict_proba(layers)).all()


def test_labels_that_looked_wrong_do_not_choose(tilted):
    X, true, y = tilted
    words = np.where(y != true, "chosen", "")
    ens = LayerEnsemble(random_state=0).fit({"x": X}, true, trusted=words)
    assert {e.fitted_.told for e in ens.estimators_.values()} == {0}
    assert {e.fitted_.way for e in ens.estimators_.values()} == {""}
