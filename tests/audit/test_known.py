"""What a user knows of labels in files, read again where a head remembers it."""

import numpy as np
import pandas as pd
import pytest

from rehead import LayerEnsemble, score_labels
from rehead.audit.known import KnownRows, known_again, read_known
from rehead.files.samples import Source


@pytest.fixture
def judged(tmp_path, monkeypatch, blobs):
    """A table, a head fitted on it, and its report."""
    monkeypatch.chdir(tmp_path)
    X, y = blobs(sizes=(60, 60), d=2)
    words = np.where(np.arange(120) % 3 == 0, "yes", "")
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(label=y, before=y, checked=words)
    frame.to_csv("t.csv", index=False)
    head = LayerEnsemble("sample").fit({"features": frame[["a", "b"]]}, y)
    return frame, head, score_labels(head, {"features": frame[["a", "b"]]}, y)


def test_words_and_columns_are_read(judged):
    found = read_known("t.csv", "checked", "before")
    assert found.columns == ("checked", "before")
    assert found.is_trusted.tolist() == (np.arange(120) % 3 == 0).tolist()
    assert dict(found.places) == {"trusted": "checked", "uncorrected": "before"}
    assert read_known("t.csv") == KnownRows()
    with pytest.raises(ValueError, match=r"--uncorrected does nothing alone.*--trusted"):
        read_known("t.csv", uncorrected="before")


def test_it_is_read_again_where_it_is_there(judged):
    frame, head, report = judged
    source = Source("t.csv", "label")
    assert known_again(report, source) is None  # nothing is remembered
    head.inputs_.known_from = {"trusted": "checked", "uncorrected": "before"}
    assert known_again(report, source).is_trusted.sum() == 40
    frame.drop(columns="checked").to_csv("t.csv", index=False)
    assert known_again(report, source) is None
    frame[:50].to_csv("few.csv", index=False)
    head.inputs_.known_from = {"trusted": "few.csv:checked"}
    assert known_again(report, source) is None


def test_files_are_of_the_samples_of_the_fit(judged):
    frame, head, report = judged
    np.save("checked.npy", np.arange(120) < 30)
    head.inputs_.known_from = {"trusted": "checked.npy"}
    assert known_again(report, Source("t.csv", "label")).is_trusted.sum() == 30
    other = frame[["a", "b"]] + 0.1
    new = score_labels(head, {"features": other}, frame["label"])
    assert known_again(new, Source("t.csv", "label")) is None


def test_labels_that_an_audit_changed_before_are_suggested(judged):
    frame, head, _ = judged
    head.inputs_.known_from = {"trusted": "checked", "uncorrected": "before"}
    labels = frame["label"].to_numpy().copy()
    labels[[0, 1]] = 1 - labels[[0, 1]]
    report = score_labels(head, {"features": frame[["a", "b"]]}, labels)
    assert known_again(report, Source("t.csv")).trusted[:3].tolist() == ["random", "suggested", ""]
