"""Rules that several methods share."""

import numpy as np
import pytest

from rehead.experiments.peers.verdict import flag_worst, spare_classes


@pytest.mark.parametrize(("share", "expected"), [(0.0, []), (0.4, [1, 4]), (1.0, range(5))])
def test_the_worst_are_flagged(share, expected):
    quality = np.array([3.0, 0.0, 2.0, 5.0, 1.0])
    assert np.flatnonzero(flag_worst(quality, share)).tolist() == list(expected)


def test_as_many_as_asked_for_where_all_are_equal():
    assert flag_worst(np.ones(100), 0.05).sum() == 5


def test_whole_classes_are_spared():
    y = np.array([0, 0, 1, 1, 3])
    flagged = np.array([True, False, True, True, True])
    assert spare_classes(flagged, y).tolist() == [True, False, False, False, False]
    assert not spare_classes(np.ones(5, bool), y).any()
    assert len(spare_classes(np.ones(0, bool), y[:0])) == 0
