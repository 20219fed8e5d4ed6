"""Labels come back as what they were, whatever the kind of noise."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from rehead import noise
from rehead.noise.containers import as_features, check_rows, flat

KINDS = pytest.mark.parametrize("make", [noise.uniform, noise.flip])
LETTERS = ["b", "a", "b", "a", "long name", "long name"]


def same_kind(labels, y):
    """Assert that labels have the type, dtype, index and so on of y."""
    assert type(labels) is type(y)
    assert labels.dtype == y.dtype
    if isinstance(y, pd.Series):
        pd.testing.assert_index_equal(labels.index, y.index)
    if isinstance(y, (pd.Series, pd.Index)):
        assert labels.name == y.name


@KINDS
@pytest.mark.parametrize(
    "y",
    [
        np.array([0, 1] * 4),
        np.array([0, 1] * 4, np.uint8),
        np.array([0.0, 1.0] * 4, np.float32),
        np.array([False, True] * 4),
        np.array(["a", "bc"] * 4),
        np.array(["a", "bc"] * 4, object),
        np.array([3, 4] * 4, object),
        pd.Series([3, 4] * 4, index=list("hgfedcba"), name="label"),
        pd.Series([3, 4] * 4, dtype="Int64"),
        pd.Series(["a", "bc"] * 4, dtype="string"),
        pd.Series(["a", "bc"] * 4, dtype="category", index=range(8, 16)),
        pd.Categorical(["a", "bc"] * 4, categories=["unused", "bc", "a"]),
        pd.Index(["a", "bc"] * 4, name="label"),
        torch.tensor([0, 1] * 4),
        torch.tensor([0, 1] * 4, dtype=torch.uint8),
    ],
    ids=lambda y: f"{type(y).__name__}-{y.dtype}",
)
def test_labels_come_back_as_what_they_were(make, y):
    before = list(y)
    noisy = make(y, 0.5, random_state=0)
    same_kind(noisy.labels, y)
    assert list(y) == before
    assert isinstance(noisy.changed, np.ndarray)
    assert noisy.changed.dtype == bool
    after = list(noisy.labels)
    assert [a != b for a, b in zip(after, before, strict=True)] == noisy.changed.tolist()
    assert noisy.changed.sum() == 4
    same_kind(noise.transition(y, np.eye(2)).labels, y)


@KINDS
def test_all_kinds_of_containers_get_the_same_noise(make):
    y = [0, 1, 2] * 10
    expected = make(np.array(y), 0.5, random_state=0).labels.tolist()
    for given in (y, tuple(y), pd.Series(y), pd.Categorical(y), torch.tensor(y)):
        assert make(given, 0.5, random_state=0).labels.tolist() == expected


@KINDS
@pytest.mark.parametrize("kind", [list, tuple])
def test_lists_become_arrays(make, kind):
    noisy = make(kind(LETTERS), 0.5, random_state=0)
    assert isinstance(noisy.labels, np.ndarray)
    assert set(noisy.labels.tolist()) <= set(LETTERS)
    assert noisy.changed.sum() == 3


def test_an_index_with_repeats_is_no_obstacle():
    y = pd.Series([0, 1, 0, 1], index=[5, 5, 5, 5])
    assert noise.flip(y, 1.0).labels.tolist() == [1, 0, 1, 0]


def test_torch_is_not_imported_for_others():
    code = """
import sys, numpy as np
from rehead import noise
noise.semantic(np.eye(4), [0, 1, 0, 1], clean=0.5)
noise.open_set(np.eye(4), [0, 1, 0, 1], 0.5, np.eye(4))
print("torch" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout.strip() == "False", run.stderr


@pytest.mark.parametrize(
    ("X", "dtype"),
    [
        (np.arange(24, dtype=np.uint8).reshape(4, 2, 3), np.float32),
        (np.arange(24, dtype=np.float32).reshape(4, 6), np.float32),
        (np.arange(24).reshape(4, 6), np.float64),
        (np.arange(24.0).reshape(4, 6).tolist(), np.float64),
        (pd.DataFrame(np.arange(24.0).reshape(4, 6)), np.float64),
        (torch.arange(24, dtype=torch.float32).reshape(4, 6), np.float32),
    ],
)
def test_features_are_rows_of_numbers_in_their_precision(X, dtype):
    found = as_features(X)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.arange(24).reshape(4, 6))
    if not isinstance(X, (list, pd.DataFrame)):
        assert flat(X).dtype == np.float32
        np.testing.assert_array_equal(flat(X), found)


def test_features_that_are_in_double_precision_are_not_copied():
    X = np.zeros((5, 2))
    assert np.shares_memory(as_features(X), X)


def test_rows_are_counted():
    check_rows([[1], [2]], 2)
    with pytest.raises(ValueError, match="X has 2 rows and y has 3 labels"):
        check_rows([[1], [2]], 3)
