"""Typed arrays of a map, read back."""

import base64

import numpy as np

from rehead.report import points
from rehead.report.plane import Plane

TYPES = {"u1": np.uint8, "u2": np.dtype("<u2"), "u4": np.dtype("<u4")}


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), TYPES[kind])


def test_what_is_packed_is_read_back(judged):
    report, _, _ = judged(labels=["ant", "bee", "cat"], ids=[f"img{i}" for i in range(300)])
    xy = np.random.default_rng(0).uniform(size=(300, 2))
    found = points.points_of(report, Plane(np.arange(300), xy, ""))
    np.testing.assert_allclose(unpacked(found["x"], "u2") / 65535, xy[:, 0], atol=1e-5)
    labels = np.array(found["labels"])
    assert (labels[unpacked(found["given"], found["codes"])] == report.given).all()
    assert (labels[unpacked(found["suggested"], found["codes"])] == report.suggested).all()
    kinds = np.array(found["kinds"])[unpacked(found["kind"], "u1")]
    assert (kinds == report.kind).all()
    np.testing.assert_allclose(unpacked(found["quality"], "u1") / 255, report.quality, atol=0.002)
    assert found["ids"].split("\n") == report.ids.tolist()
    assert found["rows"] is None
    assert found["coloured"] == [0, 1, 2]


def test_row_numbers_need_no_ids(judged):
    report, _, _ = judged()
    rows = np.array([5, 7, 200])
    found = points.points_of(report, Plane(rows, np.zeros((3, 2)), ""))
    assert found["ids"] is None
    assert unpacked(found["rows"], "u4").tolist() == [5, 7, 200]


def test_without_room_the_worst_keep_their_ids(judged):
    report, _, _ = judged(ids=[f"img{i:03d}" for i in range(300)])
    text, left_out = points.ids_of(report, np.arange(300), room=60)
    assert left_out == 290
    kept = [name for name in text.split("\n") if name]
    assert sorted(kept) == sorted(report.worst(10).tolist())


def test_the_largest_of_many_classes_have_colours():
    given = np.repeat(np.arange(12), np.arange(1, 13))
    assert points.coloured(given, 12) == list(range(3, 12))
