"""Layers as they are fitted on: joined, split, checked, grouped once."""

from dataclasses import replace

import numpy as np
import pytest

from rehead import LayerEnsemble
from rehead.ensemble import problem as module
from rehead.ensemble.problem import HeldOut, Problem
from rehead.gaussian import group_by_class


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=120)
    layers = {"a": rng.normal(size=(120, 3)), "b": rng.normal(size=(120, 2)).astype(np.float32)}
    given = {"softmax": rng.dirichlet(np.ones(3), size=120)}
    return Problem(layers, given, y, np.array(["x", "y", "z"]))


def test_joined_layers_are_grouped_as_if_joined_before(problem):
    joined = problem.joined(["b", "a"])
    X = np.hstack([problem.layers["b"], problem.layers["a"]])
    expected = group_by_class(X, problem.codes, 3)
    np.testing.assert_array_equal(joined.X, X)
    np.testing.assert_array_equal(joined.shifts, expected.shifts)
    for a, b in zip(joined.rows, expected.rows, strict=True):
        np.testing.assert_array_equal(a, b)
    assert problem.joined(["a"]) is problem.grouped["a"]


def test_rows_are_grouped_and_far_ones_found_once_for_each_layer(monkeypatch):
    """Not again for gaps, judges and members."""
    calls = {"group": 0, "far": 0}

    def counted(name, function):
        def call(*args, **kwargs):
            calls[name] += 1
            return function(*args, **kwargs)

        return call

    from rehead.gaussian import rows

    monkeypatch.setattr(module, "group_by_class", counted("group", group_by_class))
    monkeypatch.setattr(rows, "far_rows", counted("far", rows.far_rows))
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=900)
    layers = {"a": rng.normal(size=(900, 4)) + 3 * np.eye(3, 4)[y]}
    layers["b"] = layers["a"] + np.where(np.arange(900) < 600, 3 * y, 0)[:, None]
    train, held = ({n: X[p] for n, X in layers.items()} for p in (slice(600), slice(600, None)))
    ensemble = LayerEnsemble(random_state=0).fit(train, y[:600], validation=(held, y[600:]))
    assert ensemble.consensus_.judges == ["a"]
    assert calls == {"group": 2, "far": 2}


def test_a_split_holds_out_what_it_says(problem):
    held = np.arange(120) % 4 == 0
    parts = problem.split(held)
    np.testing.assert_array_equal(parts.held_out.codes, problem.codes[held])
    np.testing.assert_array_equal(parts.held_out.layers["softmax"], problem.given["softmax"][held])
    np.testing.assert_array_equal(parts.layers["a"], problem.layers["a"][~held])
    assert len(parts.codes) + len(parts.held_out.codes) == 120


def test_where_nothing_can_be_held_out_all_serve_for_both(problem):
    parts = problem.split(np.zeros(120, bool))
    assert len(parts.codes) == len(parts.held_out.codes) == 120


def test_a_fifth_of_each_class_is_drawn(problem):
    held = problem.draw_held_out(np.random.default_rng(0))
    sizes, drawn = np.bincount(problem.codes), np.bincount(problem.codes[held])
    np.testing.assert_array_equal(drawn, sizes // 5)


@pytest.mark.parametrize("groups", [None, np.arange(120) // 3])
def test_labels_that_were_checked_at_random_are_not_held_out(problem, groups):
    """They compare ways to fit, which held-out samples weigh and calibrate."""
    drawn = np.zeros(120, bool)
    drawn[np.random.default_rng(1).choice(120, 30, replace=False)] = True
    told = replace(problem, trusted=drawn, drawn=drawn, groups=groups)
    held = told.draw_held_out(np.random.default_rng(0))
    plain = replace(problem, groups=groups).draw_held_out(np.random.default_rng(0))
    assert not (held & drawn).any()
    assert (plain & drawn).any()
    assert held.sum() == pytest.approx(plain.sum(), abs=3)


def test_a_fit_that_fails_leaves_the_last_one_as_it_was(problem):
    layers = dict(problem.layers)
    ensemble = LayerEnsemble("sample", weights="equal").fit(layers, problem.codes)
    before = ensemble.predict_proba(layers)
    with pytest.raises(ValueError, match="different numbers"):
        ensemble.fit({"a": layers["a"], "b": layers["b"][1:]}, problem.codes)
    with pytest.raises(ValueError, match="trusted must be"):
        ensemble.fit({"other": layers["a"]}, problem.codes + 7, trusted=[1, 2])
    np.testing.assert_array_equal(ensemble.predict_proba(layers), before)


def test_held_out_layers_are_joined_like_the_others(problem):
    held = HeldOut(problem.layers, problem.codes)
    np.testing.assert_array_equal(held.joined(["a", "b"]), problem.joined(["a", "b"]).X)


def test_held_out_samples_whose_posteriors_would_not_fit_are_thinned_out(monkeypatch):
    monkeypatch.setattr("rehead.ensemble.problem.MOST_HELD_OUT", 2 * 40)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)  # in the order of the classes, as a partitioned store is
    X = rng.normal(size=(300, 2)) + 4 * y[:, None]
    p = np.eye(2)[y] * 0.8 + 0.1
    ens = LayerEnsemble(random_state=0, given=["softmax"])
    train, held = ({"a": X[k::2], "softmax": p[k::2]} for k in (0, 1))
    ens.fit(train, y[::2], validation=(held, y[1::2]))
    assert ens.score(held, y[1::2]) > 0.9
    thin = HeldOut({"a": X}, y).at_most(40)
    assert len(thin.codes) == len(thin.layers["a"]) == 40
    assert np.bincount(thin.codes).tolist() == [20, 20]
    np.testing.assert_array_equal(np.asarray(thin.layers["a"])[[0, -1]], X[[0, -1]])
    assert HeldOut({"a": X}, y).at_most(300).layers["a"] is X
