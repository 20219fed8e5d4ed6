"""By what a head knows the samples and labels again that it was told about."""

import numpy as np
import pytest

from rehead import LayerEnsemble
from rehead._typing import NamedFeatures
from rehead.audit.memory import (
    MARKED,
    codes_of,
    mark_of_numbers,
    mark_of_samples,
    memory_of,
    remembered_places,
    was_told,
)


@pytest.fixture
def features():
    return np.random.default_rng(0).normal(size=(3 * MARKED, 4)).astype(np.float32)


def test_the_mark_is_of_these_samples_in_this_order(features):
    X = features
    mark = mark_of_samples({"b": X[:, :2], "a": X})
    assert mark == mark_of_samples({"a": X.astype(float), "b": X[:, 1:]})  # one layer is enough
    assert mark == mark_of_samples({"a": NamedFeatures(X, list("wxyz"))})
    shuffled = np.random.default_rng(1).permutation(len(X))
    others = [X[shuffled], X[::-1], X + 1, X[:-1], np.vstack([X, X[-1:]]), X[:, ::-1]]
    assert mark not in [mark_of_samples({"a": other}) for other in others]
    assert mark_of_samples({"a": X[:1]}) == mark_of_samples({"a": X[:1]})


def test_the_mark_is_the_same_in_every_session():
    assert mark_of_samples({"a": np.eye(3)}).startswith("8d112ec11e80")
    assert mark_of_numbers(np.arange(3)) != mark_of_numbers(np.arange(3)[::-1])


def test_only_a_few_rows_of_features_on_disk_are_read(tmp_path, features):
    X = features
    np.save(tmp_path / "x.npy", X)

    class Counted:
        n_read = 0
        values = np.load(tmp_path / "x.npy", mmap_mode="r")

        def __len__(self):
            return len(self.values)

        def __getitem__(self, rows):
            self.n_read += len(rows)
            return self.values[rows]

    counted = Counted()
    assert mark_of_samples({"a": counted}) == mark_of_samples({"a": X})
    assert counted.n_read == MARKED


def test_labels_are_read_as_the_classes_are():
    classes = np.array([0, 1, 7])
    for labels in (["7", "0"], [7.0, 0.0], [7, 0]):
        assert codes_of(np.array(labels), classes).tolist() == [2, 0]
    with pytest.raises(ValueError, match="5"):
        codes_of(np.array(["5"]), classes)


def test_what_is_remembered_are_places_and_marks(blobs):
    X, y = blobs(sizes=(60, 60), d=2)
    head = LayerEnsemble("sample").fit({"x": X}, y)
    assert (dict(memory_of(head)), remembered_places(head), was_told(head)) == ({}, {}, False)
    head.inputs_.known_from = {"trusted": "t.csv:checked", "samples": "0", "checked": "1"}
    assert remembered_places(head) == {"trusted": "t.csv:checked"}
    assert was_told(head)
    drawn = np.arange(120) % 2 == 0
    told = LayerEnsemble(random_state=0).fit({"x": X}, y, trusted=drawn)
    assert was_told(told)  # though it does not know from where
    assert not was_told(object())
