"""Rows that a model was fitted on are found again."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rehead import fingerprint as of_rows
from rehead._rowhash import fingerprint
from rehead.fingerprint import KnownRows, fingerprints
from rehead.gaussian import Composition, tasks
from tests.test_out_of_core import write_store


def test_known_rows_are_found_in_any_order():
    X = np.arange(12.0).reshape(6, 2)
    codes, weights = np.array([0, 1, 2, 0, 1, 2]), np.array([1.0, 0.5, 0.0, 0.25, 1.0, 1.0])
    rows = KnownRows.from_training(X, codes, Composition.from_rows(weights, (codes + 1) % 3, 3))
    order = np.array([4, 2, 0, 3])
    known, found, counted_as, folds = rows.look_up(X[order], codes[order])
    assert known.all()
    np.testing.assert_array_equal(found, weights[order])
    # Of a row that did not count at all, nothing has to be taken out of its class.
    np.testing.assert_array_equal(counted_as, [2, 2, 1, 1])
    assert (folds == -1).all()


def test_known_rows_know_their_folds():
    X, codes = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    whole = Composition.from_rows(np.ones(6), codes, 2)
    rows = KnownRows.from_training(X, codes, whole, np.array([0, 1, 2, 0, -1, 2]))
    np.testing.assert_array_equal(rows.look_up(X[::-1], codes[::-1]).folds, [2, -1, 0, 2, 1, 0])
    # With another label it is another row, which no fold has seen.
    assert (rows.look_up(X, 1 - codes).folds == -1).all()


def test_many_workers_give_the_same_hashes(tmp_path, monkeypatch):
    monkeypatch.setattr(of_rows, "ROWS", 100)
    monkeypatch.setattr(tasks, "WORTH_SENDING", 0.0)
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(730, 6)).astype(np.float32), rng.integers(4, size=730)
    rows = write_store(tmp_path / "store", {"x": X}, codes).rows("x")
    expected = fingerprint(X, codes)
    np.testing.assert_array_equal(fingerprints(X, codes), expected)
    with ThreadPoolExecutor(2) as executor, tasks.run_on(executor):
        np.testing.assert_array_equal(fingerprints(rows, codes), expected)
