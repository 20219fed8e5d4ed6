"""A store class by class: the same samples, and the same fit."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier
from rehead.files import chunks
from rehead.files.manifest import StoreError
from rehead.files.partition import partition_store
from rehead.files.store import FeatureStore
from tests.files.test_chunks import N, columns, content, write


@pytest.mark.parametrize("numbered", [True, False])
def test_rows_are_sorted_by_class_and_keep_what_they_are(tmp_path, numbered):
    store = write(tmp_path / "s", numbered=numbered)
    found = partition_store(tmp_path / "s", tmp_path / "t", shard_rows=60)
    order = np.argsort(store.labels, kind="stable")
    for name, values in columns(store).items():
        np.testing.assert_array_equal(columns(found)[name], values[order])
    assert not found.numbered  # what were row numbers are ids now
    assert (found.fingerprint, found.difference(store)) == (store.fingerprint, "")
    before = content(tmp_path / "t")
    partition_store(tmp_path / "s", tmp_path / "t", shard_rows=60)
    assert content(tmp_path / "t") == before


def test_labels_of_its_own(tmp_path):
    write(tmp_path / "s", labels=False)
    y = np.array(["b", "a", "c"])[np.arange(N) % 3]
    found = partition_store(tmp_path / "s", tmp_path / "t", y)
    assert found.labels.tolist() == sorted(y.tolist())
    np.testing.assert_array_equal(
        found.rows("b")[:110], FeatureStore(tmp_path / "s").layer("b")[1::3]
    )
    with pytest.raises(StoreError, match="another order"):
        partition_store(tmp_path / "s", tmp_path / "t", y[::-1])


@pytest.mark.parametrize("name", ["sample", "mcd"])
def test_a_fit_is_that_of_the_store_up_to_the_order_of_rows(tmp_path, monkeypatch, name):
    monkeypatch.setattr(chunks, "MEMORY", 1)
    store = write(tmp_path / "s")
    found = partition_store(tmp_path / "s", tmp_path / "t", shard_rows=60)
    one, other = (
        RobustGaussianClassifier(name, random_state=0).fit(s.rows("a"), s.labels)
        for s in (store, found)
    )
    order = np.argsort(store.labels, kind="stable")
    np.testing.assert_array_equal(one.support_[order], other.support_)
    np.testing.assert_allclose(one.means_, other.means_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(one.covariance_, other.covariance_, rtol=1e-4, atol=1e-6)


def test_what_cannot_be_partitioned(tmp_path):
    write(tmp_path / "s", labels=False)
    with pytest.raises(StoreError, match="no labels"):
        partition_store(tmp_path / "s", tmp_path / "t")
    with pytest.raises(ValueError, match="in place"):
        partition_store(tmp_path / "s", tmp_path / "x" / ".." / "s", np.arange(N) % 2)
    with pytest.raises(ValueError, match="329 labels"):
        partition_store(tmp_path / "s", tmp_path / "t", np.arange(N - 1) % 2)
    assert not (tmp_path / "t").exists()
