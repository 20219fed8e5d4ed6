"""What is reviewed."""

import numpy as np
import pytest

from rehead import RobustGaussianClassifier
from rehead.files.joined import Joined
from rehead.files.samples import Source
from rehead.report.shown import Looks
from rehead.review.subject import (
    file_fingerprint,
    fingerprint_of,
    folder_parts,
    open_subject,
    suspects_of,
    take,
)


@pytest.fixture
def files(made, tmp_path):
    X, _, noisy, _ = made()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", noisy)
    head = tmp_path / "head.safetensors"
    RobustGaussianClassifier(random_state=0).fit(X, noisy).save(head)
    return head, Source(tmp_path / "X.npy", labels=str(tmp_path / "y.npy"))


def test_a_subject_has_the_suspects_worst_first(files):
    subject = open_subject(*files)
    report = subject.report
    assert set(subject.suspects) == set(np.flatnonzero(report.suspect))
    assert (np.diff(report.quality[subject.suspects]) >= 0).all()
    assert subject.shown is None
    assert subject.run.head == file_fingerprint(files[0])
    assert subject.beside == files[0].parent


def test_texts_are_found_by_row_number_where_there_are_no_ids(files, tmp_path):
    lines = "\n".join(f"text {i}" for i in range(300))
    (tmp_path / "t.csv").write_text(f"text\n{lines}\n")
    subject = open_subject(*files, Looks(texts=f"{tmp_path / 't.csv'}:text"))
    assert subject.shown.text(7) == "text 7"


def test_the_fingerprint_is_of_ids_and_labels(files, subject_of, tmp_path):
    first, second = subject_of(tmp_path), subject_of(tmp_path, seed=3)
    assert fingerprint_of(first.report) == fingerprint_of(subject_of(tmp_path).report)
    assert fingerprint_of(first.report) != fingerprint_of(second.report)


def test_rows_are_taken_from_whatever_features_are(tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    rows = np.array([7, 0, 3])
    joined = Joined([X[:4], X[4:6], X[6:]])
    for found in (take(X, rows), take(joined, rows), take({"a": joined}, rows)["a"]):
        assert np.array_equal(found, X[rows])


def test_suspects_of_clean_labels_are_few(made):
    from rehead import score_labels

    X, truth, _, _ = made()
    report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, truth), X, truth)
    assert len(suspects_of(report)) < 10


def test_a_folder_that_is_not_finished_says_so(tmp_path):
    from rehead.files.cleaned import CleanedFolder, Cleaning

    CleanedFolder(tmp_path).write(Cleaning(train={"data": "X.npy"}))
    with pytest.raises(FileNotFoundError, match="not finished"):
        folder_parts(tmp_path)


def test_times_can_be_ids(made, tmp_path, decide):
    from rehead import score_labels
    from rehead.review.cards import card
    from rehead.review.desk import Desk
    from rehead.review.subject import Subject

    X, _, noisy, _ = made()
    times = np.datetime64("2024-02-01T00:00", "us") + np.arange(len(X)).astype("m8[h]")
    model = RobustGaussianClassifier(random_state=0).fit(X, noisy)
    subject = Subject(score_labels(model, X, noisy, ids=times), X, None, "h", tmp_path)
    desk = Desk(subject, tmp_path / "d.sqlite")
    row = decide(desk, "suggestion").row
    assert card(desk, desk.next("Ann", 1)[0])["id"].startswith("2024-02")
    changed = np.flatnonzero(desk.corrected().changed)
    assert changed.tolist() == [row]
    assert desk.corrected().columns()["id"][row] == str(times[row])
    desk.close()
