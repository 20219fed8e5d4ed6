"""Work that is sent away: only what is on disk, in order, and with an error that names the file."""

import pickle
import threading
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from tests.test_out_of_core import same, write_store

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels
from rehead._typing import Features, JoinedFeatures, MappedFeatures, some_rows
from rehead.files.rows import Piece, StoredRows
from rehead.gaussian import ESTIMATORS, at_hand
from rehead.gaussian.tasks import (
    LostWorkerError,
    are_sent,
    can_be_sent,
    files_behind,
    map_parts,
    run_on,
)

pytestmark = pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
X = np.eye(6)
ON_DISK = StoredRows([Piece("one.npy", None, 0, 4), Piece("two.npy", None, 0, 4)], 2, "f4")


class Same:
    n_columns = 2

    def __call__(self, block):
        return block


class Number(NamedTuple):
    value: int
    features: Features = ON_DISK
    row_numbers: np.ndarray | None = None


def squared(part):
    return part.value**2, threading.get_ident()


class Pickling(Executor):
    """Runs everything here and at once, but lets nothing through that cannot be sent."""

    def __init__(self):
        self.sent = []

    def submit(self, fn, /, *args, **kwargs):
        content = pickle.dumps((fn, args, kwargs))
        self.sent.append(len(content))
        fn, args, kwargs = pickle.loads(content)
        future = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(fn(*args, **kwargs))))
        except Exception as error:
            future.set_exception(error)
        return future


class Broken(Executor):
    def __init__(self, at_once):
        self.at_once = at_once

    def submit(self, fn, /, *args, **kwargs):
        if self.at_once:
            raise BrokenExecutor("a child was killed")
        future = Future()
        future.set_exception(BrokenExecutor("a child was killed"))
        return future


@pytest.mark.parametrize(
    ("features", "sent"),
    [
        (X, False),
        (ON_DISK, True),
        (some_rows(ON_DISK, np.array([1])), True),
        (JoinedFeatures([ON_DISK, np.ones((8, 1))]), False),
        (MappedFeatures(ON_DISK, Same()), True),
        (MappedFeatures(X, Same()), False),
    ],
)
def test_only_features_on_disk_are_sent(features, sent):
    assert can_be_sent(features) == sent
    me = threading.get_ident()
    with ThreadPoolExecutor(2) as pool, run_on(pool):
        found = list(map_parts(squared, map(Number, range(20)), 1e12, features))
    assert [value for value, _ in found] == [i**2 for i in range(20)]
    elsewhere = {thread for _, thread in found} - {me}
    assert elsewhere or not sent


def test_nothing_is_sent_without_an_executor_or_where_it_is_not_worth_it():
    me = threading.get_ident()
    assert not are_sent()
    with run_on(None):
        assert not are_sent()
    with ThreadPoolExecutor(2) as pool, run_on(pool):
        assert are_sent()
        assert {t for _, t in map_parts(squared, map(Number, range(9)), 1.0, ON_DISK)} == {me}
    assert not are_sent()
    with pytest.raises(TypeError, match=r"ProcessPoolExecutor\(4\)"), run_on("four"):
        pass


def test_no_more_parts_are_under_way_than_was_said():
    class Counting(Executor):
        under_way = most = 0

        def submit(self, fn, /, *args, **kwargs):
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            counting, future = self, Future()

            class Result(Future):
                def result(self, timeout=None):
                    counting.under_way -= 1
                    return fn(*args)

            future = Result()
            return future

    executor = Counting()
    with run_on(executor, ahead=3):
        assert len(list(map_parts(squared, map(Number, range(40)), 1e12, ON_DISK))) == 40
    assert executor.most == 4


@pytest.mark.parametrize("at_once", [True, False])
def test_a_lost_worker_is_an_error_that_names_the_file(at_once):
    part = Number(0, some_rows(ON_DISK, np.array([5, 6])))
    with (
        run_on(Broken(at_once)),
        pytest.raises(
            LostWorkerError, match=r"two\.npy was lost \(a child was killed\).*fewer workers"
        ),
    ):
        list(map_parts(squared, [part], 1e12, ON_DISK))


def test_files_behind_features():
    joined = JoinedFeatures([ON_DISK, ON_DISK], np.array([7, 0, 1]))
    assert files_behind(joined, np.array([0])) == ["two.npy", "two.npy"]
    assert files_behind(MappedFeatures(ON_DISK, Same())) == ["one.npy", "two.npy"]
    assert files_behind(X) == []


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=1700)
    Z = (rng.normal(size=(1700, 6)) + 2 * rng.normal(size=(4, 6))[y]).astype("f4")
    Z[-30:], y[-30:] = Z[:30], y[:30]
    given = np.where(rng.random(1700) < 0.25, rng.integers(4, size=1700), y)
    given[-30:] = given[:30]
    store = write_store(tmp_path_factory.mktemp("s") / "s", {"a": Z, "b": Z[:, :2]}, given)
    return Z, store, given


@pytest.fixture
def sending(monkeypatch):
    """Everything is sent, and nothing is at hand."""
    monkeypatch.setattr("rehead.gaussian.tasks.WORTH_SENDING", 0.0)
    monkeypatch.setattr("rehead.gaussian.threads.WORTH_IT", 0.0)
    monkeypatch.setattr(at_hand, "IN_MEMORY", 0)
    return Pickling()


WAYS = {
    **{name: {"estimator": name} for name in sorted(ESTIMATORS)},
    "kernel": {"feature_map": "kernel"},
    "machine": {"labels_from": "machine"},
    "pooled": {"estimator": "mcd", "start": "pooled"},
}


@pytest.mark.parametrize("params", WAYS.values(), ids=WAYS)
def test_all_work_can_be_sent_and_changes_no_bit(noisy, sending, params):
    Z, store, y = noisy
    drawn = np.arange(len(y)) % 40 == 0 if params.get("feature_map") else None
    of_array = RobustGaussianClassifier(**params, random_state=0).fit(Z, y, trusted=drawn)
    rows = store.rows("a")
    sent = RobustGaussianClassifier(**params, random_state=0)
    sent.fit(rows, y, trusted=drawn, executor=sending)
    same(of_array, sent)
    assert sending.sent or params.get("estimator") in ("identity", "lts")
    mapped = sent.fitted_.kernel_map is not None or params.get("estimator") == "auto"
    # Names and sums, not features; a map has its landmarks.
    assert max(sending.sent, default=0) < (3_000_000 if mapped else 60_000)
    before = len(sending.sent)
    reports = score_labels(of_array, Z, y), score_labels(sent, rows, y, executor=sending)
    same(*reports)
    assert len(sending.sent) > before


@pytest.mark.parametrize("params", [{}, {"preset": "paper", "weights": None}])
def test_an_ensemble_can_be_sent(noisy, sending, params):
    Z, store, y = noisy
    layers = {"a": Z, "b": Z[:, :2]}
    stored = {name: store.rows(name) for name in layers}
    models = [LayerEnsemble(**params, random_state=0) for _ in range(2)]
    models[0].fit(layers, y)
    with run_on(sending):
        models[1].fit(stored, y)
    np.testing.assert_array_equal(models[0].predict_proba(layers), models[1].predict_proba(stored))
    same(score_labels(models[0], layers, y), score_labels(models[1], stored, y, executor=sending))
    assert sending.sent
