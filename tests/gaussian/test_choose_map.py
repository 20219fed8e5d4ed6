"""Which map is taken: the one that is asked for, or what the default chooses."""

import numpy as np
import pytest

from rehead.gaussian import Options, group_by_class
from rehead.gaussian.choose_map import choose_map, map_for


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return group_by_class(rng.normal(size=(60, 2)), np.arange(60) % 2, 2)


def test_what_is_asked_for_is_taken(data):
    rng = np.random.default_rng(0)
    assert map_for(data, Options(feature_map="none"), rng) is None
    found = map_for(data, Options(feature_map="kernel"), rng)
    assert found.landmarks.shape == (60, 2)


def test_nothing_is_drawn_where_nothing_is_mapped(data):
    rng = np.random.default_rng(0)
    assert map_for(data, Options(feature_map="none"), rng) is None
    assert rng.random() == np.random.default_rng(0).random()


def test_there_is_no_rule_yet(data):
    assert choose_map(data, Options(feature_map="auto"), np.random.default_rng(0)) is None
