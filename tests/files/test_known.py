"""Samples that come are compared with those that a store was made from."""

import numpy as np
import pytest

from rehead.files.known import Difference, KnownRows, Rows
from rehead.files.store import Chunk, StoreError, StoreWriter

IDS = np.array([f"img{i}" for i in range(10)])
LABELS = np.arange(10) % 3
INPUTS = np.arange(10, dtype=np.uint64) + 100


def known(path, ids=IDS, labels=LABELS, inputs=INPUTS, numbered=False):
    """A store in shards of four rows."""
    with StoreWriter(path, ["a"], fingerprint="net", shard_rows=4) as writer:
        for a in range(0, 10, 2):
            part = slice(a, a + 2)
            cut = [None if c is None else c[part] for c in (labels, ids, inputs)]
            features = np.zeros((2, 1), "f4")
            writer.append(Chunk({"a": features}, cut[0], cut[1], features, numbered, cut[2]))
        writer.finish()
        return KnownRows(writer.files)


def test_the_same_samples_in_batches_of_any_size(tmp_path):
    rows = known(tmp_path)
    assert len(rows) == 10
    for size in (1, 3, 4, 10):
        for a in range(0, 10, size):
            part = slice(a, a + size)
            assert rows.difference(Rows(IDS[part], LABELS[part], INPUTS[part]), a) is None


def changed(column, row, value):
    new = column.astype(object) if isinstance(value, str) else column.copy()
    new[row] = value
    return new


@pytest.mark.parametrize(
    ("change", "columns", "text"),
    [
        (
            {"ids": changed(IDS, 7, "x")},
            ["ids"],
            "other ids (first at sample 7: 'img7', not 'x')",
        ),
        (
            {"labels": changed(LABELS, 5, 9)},
            ["labels"],
            "other labels (first at sample 5: 2, not 9)",
        ),
        ({"inputs": changed(INPUTS, 9, 0)}, ["inputs"], "other inputs (first at sample 9)"),
        (
            {"labels": LABELS.astype(str)},
            ["labels"],
            "other labels (first at sample 0: 0, not '0')",
        ),
        ({"labels": None}, ["labels"], "samples with labels"),
        ({"numbered": True}, ["ids"], "samples with ids"),
        (
            {"labels": LABELS[::-1], "inputs": INPUTS[::-1], "ids": IDS[::-1]},
            ["ids", "labels", "inputs"],
            "other ids (first at sample 0: 'img0', not 'img9') and other labels (first at sample "
            "1: 1, not 2) and other inputs (first at sample 0)",
        ),
    ],
)
def test_what_differs_is_said(tmp_path, change, columns, text):
    given = Rows(**{"ids": IDS, "labels": LABELS, "inputs": INPUTS, **change})
    assert known(tmp_path).difference(given, 0) == Difference(columns, text)


def test_samples_beyond_the_end_are_not_compared(tmp_path):
    more = Rows(
        np.append(IDS, "x")[8:], np.append(LABELS, 7)[8:], np.append(INPUTS, np.uint64(3))[8:]
    )
    assert known(tmp_path).difference(more, 8) is None


def test_numbers_of_other_types_and_what_is_missing_are_the_same(tmp_path):
    given = Rows(IDS.astype(object), LABELS.astype(np.uint8), INPUTS)
    assert known(tmp_path / "a").difference(given, 0) is None
    holes = np.where(LABELS == 1, np.nan, 1.0)
    rows = known(tmp_path / "b", labels=holes)
    assert rows.difference(Rows(IDS, holes, INPUTS), 0) is None
    assert rows.difference(Rows(IDS, np.ones(10), INPUTS), 0).columns == ["labels"]


def test_samples_without_ids_or_labels(tmp_path):
    rows = known(tmp_path, np.arange(10), None, numbered=True)
    assert rows.difference(Rows(np.arange(10), None, INPUTS, True), 0) is None
    text = "samples without labels"
    assert rows.difference(Rows(np.arange(10), LABELS, INPUTS, True), 0).text == text
    assert rows.difference(Rows(IDS, None, INPUTS), 0).text == "samples without ids"


def test_a_store_that_does_not_tell_its_inputs(tmp_path):
    with pytest.raises(StoreError, match="does not say which inputs"):
        known(tmp_path, inputs=None)
