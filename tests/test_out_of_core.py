"""A store in place of an array: the same results to the last bit, and never all rows at once."""

import numpy as np
import pytest

from rehead import (
    LayerEnsemble,
    RobustGaussianClassifier,
    find_mislabelled,
    predict_or_abstain,
    score_labels,
    typicality,
)
from rehead._typing import LazyFeatures, NamedFeatures
from rehead.files.rows import StoredRows
from rehead.files.store import Chunk, FeatureStore, StoreWriter
from rehead.gaussian import ESTIMATORS, at_hand

pytestmark = pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
N, D, C = 1700, 10, 4


def write_store(folder, layers, labels, shard_rows=700):
    names = list(layers)
    with StoreWriter(folder, names, fingerprint="net", shard_rows=shard_rows) as writer:
        for a in range(0, len(labels), 100):
            part = slice(a, a + 100)
            ids = np.array([f"s{i}" for i in range(len(labels))[part]])
            of_chunk = {name: X[part] for name, X in layers.items()}
            writer.append(Chunk(of_chunk, labels[part], ids, np.zeros((len(ids), 1), "f4")))
        writer.finish()
    return FeatureStore(folder)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    y = rng.integers(C, size=N)
    X = rng.normal(size=(N, D)) + 2.0 * rng.normal(size=(C, D))[y]
    X[-40:] = X[:40]  # rows that are repeated
    y[-40:] = y[:40]
    given = np.where(rng.random(N) < 0.3, rng.integers(C, size=N), y)
    given[-40:] = given[:40]
    return X, given


@pytest.fixture(scope="module", params=["f2", "f4"])
def both(request, noisy, tmp_path_factory):
    """The same features in an array and in a store, and labels."""
    X, y = noisy
    X = X.astype(request.param)
    return X, write_store(tmp_path_factory.mktemp("store") / "s", {"a": X}, y).rows("a"), y


def same(a, b):
    for name, value in vars(a).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, getattr(b, name), err_msg=name)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_a_store_gives_what_an_array_gives(both, name):
    X, stored, y = both
    models = [RobustGaussianClassifier(name, random_state=0).fit(Z, y) for Z in (X, stored)]
    same(*models)
    of_array, of_store = models
    np.testing.assert_array_equal(of_array.predict_proba(X), of_store.predict_proba(stored))
    np.testing.assert_array_equal(of_array.predict(X), of_store.predict(stored))
    reports = [score_labels(m, Z, y) for m, Z in ((of_array, X), (of_store, stored))]
    same(*reports)
    assert reports[1].in_sample.all()


OTHER_WAYS = {
    "kernel": {"feature_map": "kernel"},
    "machine": {"labels_from": "machine"},
    "deterministic": {"estimator": "mcd", "start": "deterministic"},
    "pooled": {"estimator": "mcd", "start": "pooled"},
}


@pytest.mark.parametrize("params", OTHER_WAYS.values(), ids=OTHER_WAYS)
def test_other_ways_to_fit(both, params, monkeypatch):
    monkeypatch.setattr(at_hand, "IN_MEMORY", 0)  # what is mapped is made anew
    X, stored, y = both
    if X.dtype == np.float32:
        pytest.skip("once is enough")
    drawn = np.arange(N) % 30 == 0
    weights = np.random.default_rng(1).random(N)
    models = [
        RobustGaussianClassifier(**params, random_state=0).fit(
            Z, y, sample_weight=weights, trusted=drawn
        )
        for Z in (X, stored)
    ]
    same(*models)
    np.testing.assert_array_equal(typicality(models[0], X), typicality(models[1], stored))
    answers = [predict_or_abstain(m, Z, 0.8) for m, Z in zip(models, (X, stored), strict=True)]
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("params", [{}, {"preset": "paper"}, {"weights": "corrected"}])
@pytest.mark.parametrize("validated", [True, False])
def test_an_ensemble_of_stores(noisy, tmp_path, params, validated):
    X, y = noisy
    if params and not validated:
        pytest.skip("the others need held-out samples")
    layers = {"early": X[:, :5].astype("f2"), "late": X.astype("f4")}
    train = {name: Z[:1300] for name, Z in layers.items()}
    held = {name: Z[1300:1660] for name, Z in layers.items()}
    stored, of_held = (
        {name: store.rows(name) for name in layers}
        for store in (
            write_store(tmp_path / "train", train, y[:1300]),
            write_store(tmp_path / "held", held, y[1300:1660]),
        )
    )
    models = [
        LayerEnsemble(**params, random_state=0).fit(Z, y[:1300], (V, v) if validated else None)
        for Z, V, v in ((train, held, y[1300:1660]), (stored, of_held, y[1300:1660]))
    ]
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)
    for way in ("predict", "predict_proba", "score_samples"):
        np.testing.assert_array_equal(
            getattr(models[0], way)(held), getattr(models[1], way)(of_held)
        )
    worst = [find_mislabelled(m, Z, y[:1300]) for m, Z in zip(models, (train, stored), strict=True)]
    np.testing.assert_array_equal(*worst)


class Watched(LazyFeatures):
    """Features that remember how many rows were asked for at once, at most."""

    def __init__(self, X):
        self.X, self.shape, self.dtype, self.most = X, X.shape, X.dtype, 0

    def __getitem__(self, index):
        found = self.X[index]
        self.most = max(self.most, found.size // self.shape[1])
        return found

    def astype(self, dtype):
        return Watched(self.X.astype(dtype))

    def between(self, start, stop):
        return Watched(self.X[start:stop])

    @property
    def identity(self):
        return str(id(self.X))


@pytest.mark.parametrize("params", [{}, {"estimator": "mcd"}, {"feature_map": "kernel"}])
def test_rows_are_never_asked_for_all_at_once(params):
    n = 30_000
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    X = Watched((rng.normal(size=(n, 4)) + 3 * np.eye(4)[y]).astype("f4"))
    model = RobustGaussianClassifier(**params, random_state=0).fit(X, y)
    assert X.most < 0.1 * n  # a sample that maps are compared on
    model.predict(X.astype("f4"))
    score_labels(model, X, y)
    assert X.most <= 8192  # a block of the audit


def test_features_that_need_double_precision_get_it(noisy, tmp_path):
    X, y = noisy
    X = (X * 1e-9).astype("f4")
    stored = write_store(tmp_path, {"a": X}, y).rows("a")
    models = [RobustGaussianClassifier("sample").fit(Z, y) for Z in (X, stored)]
    same(*models)
    assert models[1].means_.dtype == np.float64


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_no_number_is_named(noisy, tmp_path, value):
    X, y = noisy
    X = X.astype("f4")
    X[1234, 5] = value
    stored = write_store(tmp_path, {"a": X}, y).rows("a")
    with pytest.raises(ValueError, match=r"row 1234, feature 5 first"):
        RobustGaussianClassifier("sample").fit(stored, y)


def test_names_and_widths_are_checked(noisy, tmp_path):
    X, y = noisy
    stored = write_store(tmp_path, {"a": X.astype("f4"), "b": X[:, :3].astype("f4")}, y)
    names = [f"c{i}" for i in range(D)]
    model = RobustGaussianClassifier("sample").fit(NamedFeatures(stored.rows("a"), names), y)
    assert model.feature_names_in_.tolist() == names
    model.predict(NamedFeatures(stored.rows("a"), names))
    with pytest.raises(ValueError, match="in the same order"):
        model.predict(NamedFeatures(stored.rows("a"), names[::-1]))
    with pytest.raises(ValueError, match=r"3 features.*expecting 10"):
        model.predict(stored.rows("b"))
    with pytest.raises(ValueError, match="1699"):
        RobustGaussianClassifier("sample").fit(stored.rows("a"), y[:-1])


def test_no_rows_are_an_error():
    with pytest.raises(ValueError, match="0 sample"):
        RobustGaussianClassifier("sample").fit(StoredRows([], 2, "f4"), [])
