"""Several ways to predict side by side: each row is that way scored by itself."""

import numpy as np
import pytest
from scipy.special import softmax

from rehead import LayerEnsemble, ReheadWarning
from rehead.evaluation.baselines import fit_baselines
from rehead.evaluation.comparison import compare_ensemble
from rehead.evaluation.metrics import scores


@pytest.fixture(scope="module")
def ensemble(task):
    (X, y), held_out, _ = task
    return LayerEnsemble(random_state=0).fit(X, y, held_out)


@pytest.fixture(scope="module")
def outputs():
    return 3 * np.random.default_rng(1).normal(size=(300, 3))


def test_members_and_the_ensemble_are_scored(ensemble, task):
    Z, z = task[2]
    found = compare_ensemble(ensemble, Z, z)
    assert list(found.rows) == [*ensemble.members_, "robust"]
    assert found.n_samples == 300
    for name, posterior in zip(ensemble.members_, ensemble.member_posteriors(Z), strict=True):
        assert found.rows[name] == scores(posterior, z)
    assert found.rows["robust"] == scores(ensemble.predict_proba(Z), z)
    assert found.rows["robust"].accuracy == ensemble.score(Z, z)
    assert found.rows["late"].accuracy > found.rows["early"].accuracy


def test_the_network_comes_first_where_its_outputs_are_known(ensemble, task, outputs):
    Z, z = task[2]
    found = compare_ensemble(ensemble, Z, z, outputs)
    assert next(iter(found.rows)) == "softmax"
    assert found.rows["softmax"] == scores(softmax(outputs, axis=1), z)


def test_a_softmax_that_is_a_member_is_shown_once_as_the_network_has_it(task, outputs):
    (X, y), _, (Z, z) = task
    given = np.random.default_rng(2).dirichlet(np.ones(3), size=400)
    ensemble = LayerEnsemble("sample", weights="equal", given=["softmax"]).fit(
        {**X, "softmax": given}, y
    )
    asked = {**Z, "softmax": np.full((300, 3), 1 / 3)}
    found = compare_ensemble(ensemble, asked, z, outputs)
    assert list(found.rows) == ["softmax", "early", "late", "robust"]
    assert found.rows["softmax"] == scores(softmax(outputs, axis=1), z)
    alone = compare_ensemble(ensemble, asked, z)
    assert list(alone.rows) == ["early", "late", "softmax", "robust"]
    assert alone.rows["softmax"].nll == pytest.approx(np.log(3))


def test_baselines_are_named_and_scored_as_by_themselves(ensemble, task):
    (X, y), held_out, (Z, z) = task
    others = fit_baselines(["paper", "authors", "sample"], X, y, held_out, 0)
    found = compare_ensemble(ensemble, Z, z, baselines=others)
    titles = ["RoG (the paper)", "RoG (its released code)", "sample"]
    assert list(found.rows) == [*ensemble.members_, *titles, "robust"]
    for title, other in zip(titles, others.values(), strict=True):
        assert found.rows[title] == scores(other.predict_proba(Z), z)
        assert found.rows[title] == compare_ensemble(other, Z, z).rows["robust"]
    without = compare_ensemble(ensemble, Z, z)
    assert without.rows == {n: s for n, s in found.rows.items() if n not in titles}


@pytest.mark.parametrize("settings", [{}, {"stack": True}])
def test_baselines_may_take_some_of_the_layers(ensemble, task, settings):
    (X, y), _, (Z, z) = task
    other = LayerEnsemble("sample", **settings).fit({"late": X["late"]}, y)
    found = compare_ensemble(ensemble, Z, z, baselines={"mine": other})
    assert found.rows["mine"] == scores(other.predict_proba({"late": Z["late"]}), z)


def test_names_of_classes_are_looked_up(task):
    (X, y), _, (Z, z) = task
    names = np.array(["ant", "bee", "cat"])
    of_names = compare_ensemble(
        LayerEnsemble("sample", weights="equal").fit(X, names[y]), Z, names[z]
    )
    of_numbers = compare_ensemble(LayerEnsemble("sample", weights="equal").fit(X, y), Z, z)
    assert of_names.rows == of_numbers.rows


def test_a_table(ensemble, task, outputs):
    Z, z = task[2]
    found = compare_ensemble(ensemble, Z, z, outputs)
    head, *lines = str(found).splitlines()
    assert head.split() == ["accuracy", "NLL", "calibration", "error", "(300", "samples)"]
    for line, (name, row) in zip(lines, found.rows.items(), strict=True):
        numbers = [f"{row.accuracy:.4f}", f"{row.nll:.3f}", f"{row.calibration_error:.4f}"]
        assert line.split() == [name, *numbers]
        assert len(line) == len(lines[0])


def test_labels_that_do_not_fit(ensemble, task):
    Z, z = task[2]
    with pytest.raises(ValueError, match="300 rows and y has 5 labels"):
        compare_ensemble(ensemble, Z, z[:5])
    with pytest.raises(ValueError, match="not fitted on these labels: 3"):
        compare_ensemble(ensemble, Z, z + 1)


class TestOrderOfOutputs:
    """The softmax is scored as the outputs are meant, or not at all."""

    @pytest.fixture
    def named(self, task):
        """An ensemble of names, and outputs in another order: cat, ant, bee."""
        (X, y), _, (Z, z) = task
        names = np.array(["ant", "bee", "cat"])
        ensemble = LayerEnsemble("sample", weights="equal").fit(X, names[y])
        outputs = 5.0 * np.eye(3)[(z + 1) % 3]
        return ensemble, Z, names[z], outputs

    def test_by_name(self, named):
        found = compare_ensemble(*named, class_names=["cat", "ant", "bee"])
        assert found.rows["softmax"].accuracy == 1.0

    def test_without_names_a_warning_tells_what_is_missing(self, named):
        with pytest.warns(ReheadWarning, match=r"left out. To keep it, pass class_names="):
            found = compare_ensemble(*named)
        assert list(found.rows) == ["early", "late", "robust"]

    def test_names_that_are_no_list(self, named):
        with pytest.raises(ValueError, match="class_names must be a list"):
            compare_ensemble(*named, class_names="cat,ant,bee")
