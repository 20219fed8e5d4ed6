"""Ways to predict: each is what its name says, on the layers that it says."""

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels
from rehead.experiments.columns import gaussian as g
from rehead.experiments.task import Part, Task

TAPS = ("middle", "last")


def make_task(seed=0, n=240, outputs=True):
    """Three classes that are clearer from layer to layer; a fifth of the labels is wrong."""
    rng = np.random.default_rng(seed)

    def part(n, noisy):
        truth = np.arange(n) % 3
        layers = {
            name: (rng.normal(size=(n, d)) + gap * np.eye(d)[truth]).astype(np.float32)
            for name, d, gap in (("input", 6, 2.0), ("middle", 5, 2.5), ("last", 4, 3.0))
        }
        wrong = noisy & (rng.random(n) < 0.2)
        y = np.where(wrong, (truth + 1) % 3, truth)
        logits = 3 * np.eye(3)[y] + rng.normal(size=(n, 3)) if outputs else None
        return Part(layers, y, logits), truth, wrong

    train, truth, changed = part(n, True)
    return Task(
        train, part(90, True)[0], part(120, False)[0], truth, changed, TAPS, ("input", "last"), 3
    )


@pytest.fixture(scope="module")
def task():
    return make_task()


def test_softmax_is_the_network_itself(task):
    np.testing.assert_array_equal(g.softmax(task).labels, task.test.outputs.argmax(axis=1))
    with pytest.raises(ValueError, match="no softmax"):
        g.softmax(make_task(outputs=False))


@pytest.mark.parametrize(
    ("estimator", "options"),
    [("sample", {}), ("mcd", {}), ("identity", {}), ("lts", {}), ("trimmed-kmeans", {})],
)
def test_one_layer_is_the_penultimate_one(task, estimator, options):
    found = g.single(estimator, **options)(task)
    model = RobustGaussianClassifier(estimator, random_state=0)
    model.fit(task.train.layers["last"], task.train.y)
    np.testing.assert_array_equal(found.labels, model.predict(task.test.layers["last"]))
    assert found.details["kept"] == {"last": len(task.train.y[model.support_])}
    assert found.details["clean_kept"]["last"] == (~task.changed)[model.support_].mean()


def test_lda_keeps_all_samples_and_rog_about_half(task):
    everything = g.single("sample")(task).details
    assert everything["kept"]["last"] == len(task.train.y)
    assert everything["clean_kept"]["last"] == pytest.approx(1 - task.noise_rate)
    trimmed = g.single("mcd")(task).details
    assert 0.5 <= trimmed["kept"]["last"] / len(task.train.y) < 0.6
    assert trimmed["clean_kept"]["last"] > everything["clean_kept"]["last"]


def ensemble(task, **options):
    held_out = {n: task.validation.layers[n] for n in TAPS}, task.validation.y
    layers = {n: task.train.layers[n] for n in TAPS}
    model = LayerEnsemble(random_state=0, **options)
    return model.fit(layers, task.train.y, validation=held_out)


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_the_ensemble_of_a_preset(task, preset):
    found, model = g.ensemble(preset)(task), ensemble(task, preset=preset)
    expected = model.predict({n: task.test.layers[n] for n in TAPS})
    np.testing.assert_array_equal(found.labels, expected)
    assert found.details["weights"] == dict(zip(TAPS, model.weights_.tolist(), strict=True))
    assert list(found.details["kept"]) == list(TAPS)


def test_rog_with_nothing_changed_is_rog(task):
    """So that each of table 5's changes of inference changes one thing."""
    plain, preset = g.ensemble("mcd")(task), g.ensemble("paper")(task)
    np.testing.assert_array_equal(plain.labels, preset.labels)
    assert plain.details == preset.details


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"priors": "empirical"}, "priors", "empirical"),
        ({"support_fraction": 0.7}, "support_fraction", 0.7),
        ({"shrinkage": "auto"}, "shrinkage", "auto"),
        ({"weights": "equal"}, "weights", "equal"),
    ],
)
def test_an_option_reaches_the_ensemble(task, options, name, value):
    model = g.fit_taps(task, "mcd", **{"weights": "nll", **options})
    assert model.get_params()[name] == value
    if name == "weights":
        np.testing.assert_allclose(model.weights_, 0.5)


def test_blocks_measure_every_layer_and_the_last_one_predicts(task):
    found = g.blocks(task)
    alone = g.single("mcd")(task)
    np.testing.assert_array_equal(found.labels, alone.labels)
    assert list(found.details["accuracy"]) == ["input", "middle", "last"]
    assert found.details["accuracy"]["last"] == (alone.labels == task.test.y).mean()
    assert found.details["kept"]["last"] == alone.details["kept"]["last"]


def test_auto_is_the_default_with_its_layers_and_the_softmax(task):
    g.fit_default.cache_clear()
    found = g.auto(task)
    inputs = [
        {"input": p.layers["input"], "last": p.layers["last"], "softmax": p.outputs}
        for p in (task.train, task.validation, task.test)
    ]
    model = LayerEnsemble(random_state=0, given=["softmax"])
    model.fit(inputs[0], task.train.y, validation=(inputs[1], task.validation.y))
    report = score_labels(model, inputs[0], task.train.y)
    np.testing.assert_array_equal(found.labels, model.predict(inputs[2]))
    np.testing.assert_array_equal(found.quality, report.quality)
    assert found.noise_rate == report.noise_rate
    assert set(found.details["weights"]) == set(model.members_)


def test_auto_with_the_layers_of_the_paper(task):
    found = g.auto_same_layers(task)
    inputs = [g.default_inputs(TAPS, p) for p in (task.train, task.validation, task.test)]
    assert list(inputs[0]) == [*TAPS, "softmax"]
    model = LayerEnsemble(random_state=0, given=["softmax"])
    model.fit(inputs[0], task.train.y, validation=(inputs[1], task.validation.y))
    np.testing.assert_array_equal(found.labels, model.predict(inputs[2]))


def test_the_default_works_without_a_softmax():
    task = make_task(outputs=False)
    assert list(g.default_inputs(TAPS, task.train)) == list(TAPS)
    assert (g.auto(task).labels == task.test.y).mean() > 0.8


def test_the_default_is_fitted_once_for_a_task_and_anew_for_another(task):
    g.fit_default.cache_clear()
    assert g.fit_default(task) is g.fit_default(task)
    other = make_task(seed=1)
    assert g.fit_default(other) is not g.fit_default(task)


def test_the_oracle_knows_which_samples_are_clean(task):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    clean, total = ~task.changed, 0.0
    for name in TAPS:
        lda = LinearDiscriminantAnalysis(solver="lsqr", priors=[1 / 3] * 3)
        lda.fit(task.train.layers[name][clean], task.train.y[clean])
        total = total + lda.predict_proba(task.test.layers[name])
    found = g.oracle(task).labels
    assert (found == total.argmax(axis=1)).mean() > 0.97
    wrong = task.train.layers["last"].copy()
    wrong[task.changed] = 1e6  # which it must not look at
    layers = {**task.train.layers, "last": wrong}
    told = Task(
        Part(layers, task.train.y, task.train.outputs),
        *(task.validation, task.test, task.truth, task.changed, TAPS, task.auto, 3),
    )
    np.testing.assert_array_equal(g.oracle(told).labels, found)


def test_labels_are_classes_not_places_of_classes():
    """Where class 0 has no sample, the first column of a posterior is class 1."""
    task = make_task()

    def without(part):
        rows = part.y != 0
        layers = {name: X[rows] for name, X in part.layers.items()}
        return Part(layers, part.y[rows], part.outputs[rows])

    rows = task.train.y != 0
    parts = [without(p) for p in (task.train, task.validation, task.test)]
    fewer = Task(*parts, task.truth[rows], task.changed[rows], TAPS, task.auto, 3)
    for predict in (g.single("sample"), g.ensemble("paper"), g.oracle):
        found = predict(fewer).labels
        assert set(found) == {1, 2}
        assert (found == fewer.test.y).mean() > 0.85
