"""Labels that cleanlab takes for wrong are thrown out, and its ranking is measured."""

import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rehead.experiments.columns import pruned
from rehead.experiments.columns.classic import boosting, lda_shrunk, nearest_scaled
from rehead.experiments.columns.folds import out_of_sample
from rehead.experiments.columns.pruned import PRUNED, WITH_JUDGES
from rehead.experiments.task import Part, Task

cleanlab = pytest.importorskip("cleanlab")
RANK = "self_confidence"


@pytest.fixture
def make_task(blobs):
    """Two layers of which the first one is better; some labels of class 0 are wrong."""

    def make(rate=0.3):
        late, y = blobs((90, 90, 90), d=4, distance=0.4)
        early = np.random.default_rng(2).normal(size=(len(y), 3)) + 6 * np.eye(3)[y]
        changed = (np.random.default_rng(0).random(len(y)) < rate) & (y == 0)
        layers = {"early": early, "late": late}
        noisy = np.where(changed, 1, y)

        def part(rows, labels):
            return Part({name: a[rows] for name, a in layers.items()}, labels[rows])

        rows = np.split(np.arange(len(y)), [160, 200])
        parts = part(rows[0], noisy), part(rows[1], noisy), part(rows[2], y)
        names = tuple(layers)
        return Task(*parts, y[rows[0]], changed[rows[0]], names, names, 3)

    return make


@pytest.mark.parametrize(("column", "layer"), [("LDA", "late"), ("LDA, first", "early")])
def test_what_cleanlab_flags_is_thrown_out(make_task, column, layer):
    task = make_task()
    found = PRUNED[f"cleanlab, {column}"](task)
    X, y = task.train.layers[layer], task.train.y
    posterior = out_of_sample(task, lda_shrunk, (layer,))
    wrong = np.zeros(len(y), bool)
    wrong[cleanlab.filter.find_label_issues(y, posterior, return_indices_ranked_by=RANK)] = True
    model = lda_shrunk().fit(X[~wrong], y[~wrong])
    np.testing.assert_array_equal(found.labels, model.predict(task.test.layers[layer]))
    assert found.details["kept"] == {layer: (~wrong).sum()}
    assert found.details["clean_kept"][layer] == 1 - task.changed[~wrong].mean()


def test_its_own_ranking_is_of_its_own_layer(make_task):
    task = make_task()
    found = PRUNED["cleanlab, LDA"](task)
    given = out_of_sample(task, lda_shrunk, ("late",))[np.arange(len(task.train.y)), task.train.y]
    np.testing.assert_allclose(found.quality, given)


@pytest.mark.parametrize(("name", "model"), [("k-NN", nearest_scaled), ("boosting", boosting)])
def test_other_classifiers_are_pruned_in_the_same_way(make_task, name, model):
    task = make_task()
    found = PRUNED[f"cleanlab, {name}"](task)
    X, y = task.train.layers["late"], task.train.y
    posterior = out_of_sample(task, model, ("late",))
    kept = ~cleanlab.filter.find_label_issues(y, posterior)
    expected = model().fit(X[kept], y[kept]).predict(task.test.layers["late"])
    np.testing.assert_array_equal(found.labels, expected)
    np.testing.assert_allclose(found.quality, posterior[np.arange(len(y)), y])
    assert found.details["kept"] == {"late": kept.sum()}
    assert WITH_JUDGES not in found.details


def test_its_ranking_with_the_features_of_the_judges_is_a_detail(make_task, monkeypatch):
    task = make_task()
    monkeypatch.setattr(pruned, "judging_layers", lambda task: ("early",))
    found = PRUNED["cleanlab, LDA"](task)
    given = out_of_sample(task, lda_shrunk, ("early",))[np.arange(len(task.train.y)), task.train.y]
    assert found.details[WITH_JUDGES] == roc_auc_score(~task.changed, given)
    assert found.details[WITH_JUDGES] > roc_auc_score(~task.changed, found.quality)
    assert WITH_JUDGES not in PRUNED["cleanlab, LDA, first"](task).details


def test_there_is_nothing_to_find_in_clean_labels(make_task):
    assert WITH_JUDGES not in PRUNED["cleanlab, LDA"](make_task(rate=0.0)).details


def test_judges_are_those_of_the_default(make_task):
    task = make_task()
    judges = pruned.judging_layers(task)
    assert judges
    assert set(judges) <= set(task.auto)
    alone = Task(*(getattr(task, n) for n in ("train", "validation", "test", "truth", "changed")),
                 ("late",), ("late",), 3)  # fmt: skip
    assert pruned.judging_layers(alone) == ("late",)


def test_a_class_of_which_nothing_would_be_left_stays(make_task, monkeypatch):
    task = make_task()
    monkeypatch.setattr(cleanlab.filter, "find_label_issues", lambda y, p, n_jobs: y == 2)
    assert 2 in PRUNED["cleanlab, LDA, first"](task).labels


def test_without_cleanlab_an_error_says_what_to_install(make_task, monkeypatch):
    monkeypatch.setitem(sys.modules, "cleanlab.filter", None)
    with pytest.raises(ModuleNotFoundError, match="pip install cleanlab"):
        PRUNED["cleanlab, LR"](make_task())
