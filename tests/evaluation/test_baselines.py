"""Other ways to predict from the same layers: they are the ensembles that users would fit."""

import numpy as np
import pytest

from rehead import LayerEnsemble, ReheadWarning
from rehead.evaluation.baselines import TITLES, check_baselines, fit_baselines
from rehead.gaussian import ESTIMATORS
from rehead.gaussian.options import PRESETS


@pytest.mark.parametrize("name", [*PRESETS, *ESTIMATORS])
def test_every_preset_and_estimator_is_one(name):
    check_baselines([name])


def test_none_or_several_are_fine():
    check_baselines([])
    check_baselines(("paper", "sample"))


def test_a_slip_of_the_pen_is_named():
    with pytest.raises(ValueError, match=r"baselines must be one of .*Did you mean 'paper'\?"):
        check_baselines(["sample", "papre"])


def test_a_bare_name_is_no_list():
    with pytest.raises(ValueError, match=r"list of names, got 'paper'\. Pass \['paper'\]\."):
        check_baselines("paper")


def test_presets_have_titles():
    assert set(TITLES) == set(PRESETS)


def test_presets_are_fitted_as_presets(task):
    (X, y), held_out, (Z, _) = task
    found = fit_baselines(["paper", "authors"], X, y, held_out, 0)
    assert list(found) == ["paper", "authors"]
    for name, model in found.items():
        alone = LayerEnsemble(preset=name, random_state=0).fit(X, y, held_out)
        np.testing.assert_array_equal(model.predict_proba(Z), alone.predict_proba(Z))
        assert model.preset == name
    assert (found["paper"].weights_ != found["authors"].weights_).any()


@pytest.mark.parametrize("name", ["sample", "auto"])
def test_estimators_are_fitted_layer_by_layer_and_weighted_by_the_papers_rule(task, name):
    (X, y), held_out, (Z, _) = task
    model = fit_baselines([name], X, y, held_out, 0)[name]
    assert model.consensus_ is None
    assert model.members_ == ["early", "late"]
    alone = LayerEnsemble(name, weights="nll", random_state=0).fit(X, y, held_out)
    np.testing.assert_array_equal(model.weights_, alone.weights_)
    np.testing.assert_array_equal(model.predict_proba(Z), alone.predict_proba(Z))
    assert model.weights_[1] > model.weights_[0]


def test_without_held_out_samples_layers_count_the_same(task):
    (X, y), *_ = task
    model = fit_baselines(["sample"], X, y, None, 0)["sample"]
    assert model.weights_.tolist() == [0.5, 0.5]


def test_held_out_samples_may_have_more_layers_and_ids(task):
    (X, y), (V, v), (Z, _) = task
    late = {"late": X["late"]}
    more = ({**V, "softmax": np.ones((200, 3))}, v, np.arange(200))
    model = fit_baselines(["paper"], late, y, more, 0)["paper"]
    assert model.inputs_.names == ["late"]
    alone = LayerEnsemble(preset="paper", random_state=0).fit(late, y)
    asked = {"late": Z["late"]}
    np.testing.assert_array_equal(model.predict_proba(asked), alone.predict_proba(asked))


def test_without_layers_there_can_be_none(task):
    _, held_out, _ = task
    with pytest.raises(ValueError, match="fitted on hidden layers, and there are none"):
        check_baselines(["paper"], [])
    check_baselines([], [])
    assert fit_baselines([], *task[0], held_out, 0) == {}


def test_they_know_trusted_labels_and_say_whose_warning_it_is(task):
    (layers, y), held_out, _ = task
    trusted = np.arange(len(y)) < len(y) // 2
    found = fit_baselines(["paper"], layers, y, held_out, 0, trusted)["paper"]
    for member in found.estimators_.values():
        assert member.support_[trusted].all()
    wide = {"wide": np.random.default_rng(0).normal(size=(20, 12))}
    with pytest.warns(ReheadWarning, match=r"^baseline paper: layer wide: .*too few samples"):
        fit_baselines(["paper"], wide, np.arange(20) % 2, None, 0)
