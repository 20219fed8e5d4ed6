"""Tables of scikit-learn: whole, unchanged, in parts of the same classes."""

import numpy as np
import pytest
from sklearn import datasets

from rehead import data

TABLES = {"wine": (113, 12, 53), "breast_cancer": (358, 40, 171)}


@pytest.mark.parametrize("name", TABLES)
def test_every_sample_is_in_one_part_with_its_own_label(name):
    splits = data.load(name, random_state=3)
    assert tuple(len(part.y) for part in splits[:3]) == TABLES[name]
    found = datasets.__dict__[f"load_{name}"]()
    whole = sorted((*row, label) for row, label in zip(found.data, found.target, strict=True))
    rows = sorted((*x, y) for part in splits[:3] for x, y in zip(part.X, part.y, strict=True))
    np.testing.assert_allclose(rows, whole, rtol=1e-6)
    ids = np.concatenate([part.ids for part in splits[:3]])
    assert sorted(ids) == list(range(len(whole)))
    assert splits.class_names == found.target_names.tolist()


@pytest.mark.parametrize("name", TABLES)
def test_parts_have_the_classes_in_proportion(name):
    splits = data.load(name, validation=0)
    n = sum(len(part.y) for part in splits[:3])
    counts = [np.bincount(part.y) for part in (splits.train, splits.test)]
    expected = sum(counts) * len(splits.test.y) / n
    assert np.abs(counts[1] - expected).max() < 1


def test_another_seed_draws_another_test_part():
    first, again, other = (data.load("wine", random_state=s).test.X for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_test_part_does_not_depend_on_what_is_held_out():
    np.testing.assert_array_equal(
        data.load("wine").test.X, data.load("wine", validation=0.5).test.X
    )
