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


def layers_of(frame):
    return {"features": frame[["a", "b"]].to_numpy()}


def tell(head, frame, trusted, uncorrected=None, labels="label"):
    """A fit remembers where it was told what is known of labels."""
    known = read_known("t.csv", trusted, uncorrected)
    now = frame[labels].to_numpy()
    head.inputs_.known_from = known.to_remember(layers_of(frame), now, head.classes_)


def test_it_is_read_again_where_it_is_there(judged):
    frame, head, report = judged
    source, layers = Source("t.csv", "label"), layers_of(frame)
    assert known_again(report, source, layers) is None  # nothing is remembered
    tell(head, frame, "checked", "before")
    assert known_again(report, source, layers).is_trusted.sum() == 40
    tell(head, frame, "checked")
    assert known_again(report, source, layers).trusted[:3].tolist() == ["random", "", ""]
    frame.drop(columns="checked").to_csv("t.csv", index=False)
    assert known_again(report, source, layers) is None
    frame[:50].to_csv("few.csv", index=False)
    head.inputs_.known_from = {**head.inputs_.known_from, "trusted": "few.csv:checked"}
    assert known_again(report, source, layers) is None


def test_files_are_of_the_samples_of_the_fit(judged):
    frame, head, report = judged
    np.save("checked.npy", np.arange(120) < 30)
    tell(head, frame, "checked.npy")
    source = Source("t.csv", "label")
    assert known_again(report, source, layers_of(frame)).is_trusted.sum() == 30
    # Other samples, the same ones in another order, and a head that has no mark of them.
    for other in (frame.assign(a=frame["a"] + 0.1), frame[::-1].reset_index(drop=True)):
        features = {"features": other[["a", "b"]]}
        found = score_labels(head, features, other["label"])
        assert known_again(found, source, layers_of(other)) is None
    head.inputs_.known_from = {"trusted": "checked.npy"}
    assert known_again(report, source, layers_of(frame)) is None


def test_columns_of_another_table_are_of_its_own_samples(judged):
    frame, head, _ = judged
    tell(head, frame, "checked", "before")
    other = frame[::-1].assign(a=frame["a"] + 0.1, checked=np.where(np.arange(120) < 7, "yes", ""))
    other.to_csv("o.csv", index=False)
    report = score_labels(head, {"features": other[["a", "b"]]}, other["label"])
    assert known_again(report, Source("o.csv", "label"), layers_of(other)).is_trusted.sum() == 7


def test_other_labels_than_those_that_were_checked_are_not_known_to_be_right(judged):
    """The fit had labels that were put right; these are those before."""
    frame, head, _ = judged
    frame["before"] = np.where(np.arange(120) == 3, 1 - frame["label"], frame["label"])
    frame.to_csv("t.csv", index=False)
    tell(head, frame, "checked", "before")
    layers = layers_of(frame)
    report = score_labels(head, {"features": frame[["a", "b"]]}, frame["before"])
    assert known_again(report, Source("t.csv", "before"), layers) is None
    report = score_labels(head, {"features": frame[["a", "b"]]}, frame["label"])
    assert known_again(report, Source("t.csv", "label"), layers).is_trusted.sum() == 40


def test_labels_that_an_audit_changed_before_are_suggested(judged):
    frame, head, _ = judged
    tell(head, frame, "checked", "before")
    labels = frame["label"].to_numpy().copy()
    labels[[1, 2]] = 1 - labels[[1, 2]]
    report = score_labels(head, {"features": frame[["a", "b"]]}, labels)
    found = known_again(report, Source("t.csv"), layers_of(frame)).trusted
    assert found[:5].tolist() == ["random", "suggested", "suggested", "random", ""]
