"""From decisions to corrected labels and a better head."""

import numpy as np
import pytest

from rehead import ReheadWarning, RobustGaussianClassifier
from rehead.files.cleaned import CleanedFolder, Cleaning
from rehead.files.samples import Source
from rehead.review import Outputs, apply_decisions, apply_folder, open_log, open_subject
from rehead.review.log import Entry, Line, LogError, label_to_json


@pytest.fixture
def folder(made, tmp_path):
    """A folder as `rehead clean` makes it, with ten decisions."""
    X, truth, noisy, _ = made()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", noisy)
    np.save(tmp_path / "clean.npy", truth)
    RobustGaussianClassifier(random_state=0).fit(X, noisy).save(tmp_path / "head.safetensors")
    CleanedFolder(tmp_path).write(Cleaning(train={"data": "./X.npy", "labels": "./y.npy"}))
    subject = open_subject(tmp_path / "head.safetensors", source_of(tmp_path))
    with open_log(subject) as log:
        for row in subject.suspects[:10].tolist():
            old, new = (label_to_json(x[row]) for x in (noisy, subject.report.suggested))
            line = Line(str(row), "suggestion", old, new, "suspect")
            log.append([Entry(f"client-{row}", "decision", "Ann", [line], subject.head)])
    return tmp_path


def source_of(folder):
    return Source(folder / "X.npy", labels=str(folder / "y.npy"))


def test_labels_and_head_are_written_and_the_data_is_not_touched(folder):
    before = {f.name: f.read_bytes() for f in folder.glob("*.npy")}
    outputs = Outputs(folder / "c.parquet", folder / "new.safetensors")
    done = apply_decisions(
        folder / "head.safetensors",
        source_of(folder),
        outputs=outputs,
        truth=str(folder / "clean.npy"),
    )
    assert done.gain.relabelled == 10
    assert done.gain.right_labels[1] > done.gain.right_labels[0]
    assert [file.name for file in done.files] == ["c.parquet", "new.safetensors"]
    assert len(RobustGaussianClassifier.load(folder / "new.safetensors").classes_) == 3
    assert before == {f.name: f.read_bytes() for f in folder.glob("*.npy")}


def test_labels_alone_need_no_refit(folder):
    done = apply_decisions(
        folder / "head.safetensors", source_of(folder), outputs=Outputs(folder / "c.csv")
    )
    assert done.gain is None
    assert done.corrected.changed.sum() == 10


def test_a_folder_knows_where_everything_is(folder):
    done = apply_folder(folder)
    assert sorted(file.name for file in done.files) == [
        "corrected.csv",
        "reviewed-head.safetensors",
    ]


def test_no_decisions_is_an_error_that_says_what_to_do(folder):
    (folder / "decisions.sqlite").unlink()
    with pytest.raises(FileNotFoundError, match="Review first"):
        apply_folder(folder)


def test_decisions_about_other_data_are_refused(folder, made):
    np.save(folder / "y.npy", made(seed=2)[2])
    other = pytest.warns(ReheadWarning, match="had another label then")
    with other, pytest.raises(LogError, match="other samples"):
        apply_folder(folder)


def test_clean_labels_of_another_number_are_refused(folder):
    np.save(folder / "clean.npy", np.array(["cat"] * 5))
    with pytest.raises(ValueError, match="5 true labels"):
        apply_decisions(
            folder / "head.safetensors",
            source_of(folder),
            outputs=Outputs(folder / "c.csv", folder / "new.safetensors"),
            truth=str(folder / "clean.npy"),
        )
    assert not (folder / "c.csv").exists()  # told before anything is written
    assert not (folder / "new.safetensors").exists()


def test_true_labels_may_be_missing_but_not_be_of_other_classes(folder):
    true = np.load(folder / "clean.npy")
    (folder / "some.csv").write_text(
        "truth\n" + "\n".join(str(t) if i % 2 else "" for i, t in enumerate(true)) + "\n"
    )
    (folder / "other.csv").write_text("truth\n" + "nonsense\n" * len(true))
    source = source_of(folder)
    outputs = Outputs(head=folder / "new.safetensors")
    done = apply_decisions(
        folder / "head.safetensors", source, outputs=outputs, truth=f"{folder / 'some.csv'}:truth"
    )
    noisy = np.load(folder / "y.npy")
    assert done.gain.right_labels[0] == pytest.approx((noisy == true)[1::2].mean())
    with pytest.raises(ValueError, match=r"is one of the classes.*right column"):
        apply_decisions(
            folder / "head.safetensors",
            source,
            outputs=outputs,
            truth=f"{folder / 'other.csv'}:truth",
        )
