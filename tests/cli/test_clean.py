"""``rehead clean``: one folder, which is continued and never mixed up."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from rehead import LayerEnsemble, noise
from rehead.audit.files import audit_source
from rehead.files.cleaned import CleanedFolder
from rehead.review import open_log, open_subject
from rehead.review.log import Entry, Line
from rehead.review.subject import folder_parts

MADE = ("cleaning.json", "head.safetensors", "suspects.csv", "report.html")


def made(folder):
    return sorted(path.name for path in Path(folder).iterdir() if path.name != ".lock")


def stamps(folder):
    files = sorted(p for p in Path(folder).rglob("*") if p.is_file() and p.name != ".lock")
    return {str(path): (path.stat().st_ino, path.read_bytes()) for path in files}


@pytest.fixture
def table(blobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, truth = blobs(sizes=(100, 100, 100), d=4)
    y = np.array(["ant", "bee", "cat"])[noise.uniform(truth, 0.15, random_state=0).labels]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=y, name=[f"s{i}" for i in range(300)])
    frame[:240].to_csv("x.csv", index=False)
    frame[240:].to_csv("held.csv", index=False)
    return frame


TABLE = ("clean", "x.csv", "--labels", "kind", "--ids", "name", "-o", "out")
NETWORK = ("clean", "mine:net", "--data", "mine:data", "--validation", "mine:held_out", "-o", "out")


def test_a_table_without_a_network(table, succeed):
    said = succeed(*TABLE, "--validation", "held.csv")
    assert said.splitlines()[-1] == "Next: rehead review out"
    assert made("out") == sorted(MADE)
    folder = CleanedFolder("out")
    report = audit_source(folder.head, folder.source()).report
    suspects = pd.read_csv(folder.suspects)
    assert suspects["id"].tolist() == report.names[report.order].tolist()
    assert folder.validation().labels == "kind"
    page = folder.report.read_text()
    assert "<h1>Labels of x.csv</h1>" in page
    assert "rehead apply out" in page
    assert "<dt>name</dt><dd>s" in page  # rows of the table are shown


def test_labels_of_a_machine(table, succeed, fail):
    said = succeed(*TABLE, "--labels-from", "machine")
    assert "Labels were taken for a machine's" in said
    assert "--labels-from" in fail(*TABLE)


@pytest.fixture
def checked(table):
    """The same table, with labels by a machine that only checked ones give away."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=500)
    X = rng.normal(size=(500, 3)) + 4.5 * true[:, None] * np.array([1.0, 0.0, 0.0])
    made = (X @ [1.0, 1.0, 0.0] > 2.25).astype(int)
    drawn = np.arange(500) % 5 == 0
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        kind=np.where(drawn, true, made),
        name=[f"s{i}" for i in range(500)],
        checked=np.where(drawn, "random", ""),
        before=made,
    )
    frame.to_csv("x.csv", index=False)
    return frame


KNOWN = ("--trusted", "checked", "--uncorrected", "before")


def test_trusted_labels_choose_and_are_part_of_the_folder(checked, succeed, fail):
    said = succeed(*TABLE, *KNOWN)
    assert "100 trusted labels chose this way" in said
    fitted = LayerEnsemble.load("out/head.safetensors")
    assert fitted.noise_.checked == 100
    assert fitted.column_names("features").tolist() == ["a", "b", "c"]
    assert "are there already" in succeed(*TABLE, *KNOWN)
    said = " ".join(fail(*TABLE).split())
    assert "was made with --trusted checked, which is not asked for now" in said
    assert "--uncorrected before" in fail(*TABLE, *KNOWN[:2])
    assert "neither a column" in fail(*TABLE, "--trusted", "chequed")
    assert "--uncorrected does nothing alone" in fail(*TABLE, *KNOWN[2:])
    # Files are read anew, so other contents are noticed.
    checked.to_csv("y.csv", index=False)
    beside = ("--trusted", "y.csv:checked", "--ignore", "checked,before")
    succeed(*TABLE[:-1], "new", *beside)
    checked.assign(checked="").to_csv("y.csv", index=False)
    assert "y.csv: the file has changed" in " ".join(fail(*TABLE[:-1], "new", *beside).split())


def test_a_review_does_not_forget_trusted_labels(checked, succeed):
    succeed(*TABLE, *KNOWN)
    with open_log(open_subject(*folder_parts("out"))) as log:
        line = Line('"s1"', "suggestion", "0", "1", "suspect")
        log.append([Entry("c1", "decision", "Ann", [line], "")])
    succeed("apply", "out")
    new = LayerEnsemble.load("out/reviewed-head.safetensors")
    assert new.fitted_.members["features"].told == 100
    assert new.noise_.checked == 100


def test_a_folder_of_before_there_were_trusted_labels_goes_on(table, succeed, fail):
    succeed(*TABLE)
    assert {"trusted", "uncorrected"}.isdisjoint(CleanedFolder("out").read().train)
    table[:240].assign(checked="").to_csv("y.csv", index=False)
    said = " ".join(fail(*TABLE, "--trusted", "y.csv:checked").split())
    assert "made without --trusted" in said


def test_trusted_labels_of_a_network(project, succeed, fail):
    assert "mine:data is no table" in " ".join(fail(*NETWORK, "--trusted", "checked").split())
    assert not Path("out").exists()
    np.save("checked.npy", np.arange(300) % 5 == 0)
    succeed(*NETWORK, "--trusted", "checked.npy")
    np.save("checked.npy", np.arange(300) % 6 == 0)
    said = " ".join(fail(*NETWORK, "--trusted", "checked.npy").split())
    assert "checked.npy: the file has changed since" in said


def test_a_network_and_its_loaders(project, succeed):
    said = succeed(*NETWORK)
    assert "Features: 300 samples" in said
    assert "Features: 100 samples" in said
    assert made("out") == sorted((*MADE, "features", "held-out-features"))
    folder = CleanedFolder("out")
    assert len(audit_source(folder.head, folder.source()).report) == 300
    assert folder.read().network["net"] == "mine:net"


def test_what_is_finished_is_not_done_again(project, succeed):
    succeed(*NETWORK)
    before = stamps("out")
    assert "are there already" in succeed(*NETWORK)
    assert stamps("out") == before


@pytest.mark.parametrize(
    "step", ["rehead.cli.cleaning.fit_head", "rehead.report.page.write_report", "numpy.save"]
)
def test_a_run_that_was_killed_is_continued(project, invoke, succeed, monkeypatch, step):
    whole = ("--output", "whole")
    succeed(*NETWORK[:-2], *whole)

    def killed(*arguments, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(step, killed)
        result = invoke(*NETWORK)
    assert result.exit_code == 130
    assert "The same command continues" in result.output
    succeed(*NETWORK)
    for name in ("head.safetensors", "suspects.csv"):
        assert Path("out", name).read_bytes() == Path("whole", name).read_bytes()
    assert made("out") == made("whole")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--seed", "3"], "made with --seed 0, not 3"),
        (["--preset", "paper"], "made without --preset, and --preset paper is asked"),
        (["--ignore", "a"], "made without --ignore, and --ignore ['a'] is asked"),
        (["--validation", "held.csv"], "made without --validation, and "),
    ],
)
def test_other_options_are_refused(table, succeed, fail, more, message):
    succeed(*TABLE)
    before = stamps("out")
    assert message in fail(*TABLE, *more)
    assert stamps("out") == before


def test_looks_may_be_said_later_and_changed(table, succeed, fail):
    succeed(*TABLE)
    head = Path("out/head.safetensors").stat().st_mtime_ns
    pixels = np.zeros((240, 8, 8), np.uint8)
    np.save("pixels.npy", pixels)
    np.save("few.npy", pixels[:9])
    assert "Report: " in succeed(*TABLE, "--images", "pixels.npy")
    assert list(CleanedFolder("out").looks()) == ["images"]
    assert Path("out/report.html").read_text().count("data:image/webp") > 5
    before = stamps("out")
    assert "are there already" in succeed(*TABLE)  # what was said stays
    assert "9 images and 240 samples" in fail(*TABLE, "--images", "few.npy")
    assert stamps("out") == before
    assert Path("out/head.safetensors").stat().st_mtime_ns == head


def test_ignored_columns_may_be_written_otherwise(table, succeed, fail):
    succeed(*TABLE, "--ignore", "a,b")
    before = stamps("out")
    succeed(*TABLE, "--ignore", "b", "--ignore", " a")
    assert stamps("out") == before
    assert "made with --ignore ['a', 'b'], not ['a']" in fail(*TABLE, "--ignore", "a")


def test_other_data_are_refused(table, succeed, fail):
    succeed(*TABLE)
    changed = table[:240].copy()
    changed.loc[3, "kind"] = "cat" if changed.loc[3, "kind"] != "cat" else "ant"
    changed.to_csv("x.csv", index=False)
    said = fail(*TABLE)
    assert "x.csv: the file has changed since. Choose another folder" in " ".join(said.split())


def test_another_network_or_other_samples_are_refused(project, succeed, fail):
    succeed(*NETWORK)
    assert "made with --layers auto, not hidden" in fail(*NETWORK, "--layers", "hidden")
    text = Path("mine.py").read_text()
    Path("mine.py").write_text(text.replace("manual_seed(0)", "manual_seed(7)"))
    import sys

    sys.modules.pop("mine", None)
    assert "written by another network" in fail(*NETWORK)


def test_a_mistake_leaves_a_folder_that_can_be_begun_again(table, succeed, fail):
    assert "'kin' is neither a column" in fail(*TABLE[:3], "kin", *TABLE[4:])
    succeed(*TABLE)


def test_ids_and_looks_are_checked_before_a_head_is_fitted(table, succeed, fail):
    np.save("x.npy", table[list("abcd")].to_numpy()[:240])
    table[["kind"]][:240].to_csv("labels.csv", index=False)
    Path("photos").mkdir()
    clean = ["clean", "x.npy", "--labels", "labels.csv:kind", "-o", "out"]
    said = fail(*clean, "--ids", "held.csv:name")
    assert "--ids must have one entry for each of the 240 rows" in said
    assert not Path("out/head.safetensors").exists()
    assert "photos" in fail(*clean, "--ids", "x.csv:name", "--images", "photos")
    assert not Path("out/head.safetensors").exists()
    succeed(*clean, "--ids", "x.csv:name")


def test_folders_of_others_are_left_alone(table, fail):
    Path("out").mkdir()
    Path("out/mine.txt").write_text("x")
    assert "was not made by `rehead clean`" in fail(*TABLE)
    assert made("out") == ["mine.txt"]
    assert "is a file" in fail(*TABLE[:-1], "x.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.csv", "--pool", "first"], "--pool goes with a network"),
        (["x.csv", "--paths", "name"], "--paths goes with a network"),
        (["mine:net"], "say on what it runs: --data"),
        (["x.csv", "--labels", "kind", "--preset", "nobody"], "preset"),
    ],
)
def test_mistakes_are_named_before_anything_is_written(table, fail, arguments, message):
    assert message in fail("clean", *arguments, "-o", "out")
    assert not Path("out").exists()


def test_images_in_folders_are_shown(tmp_path, monkeypatch, succeed):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures.py").write_text(
        "from torch import nn\nimport torch\ndef net():\n    torch.manual_seed(0)\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(192, 6), nn.ReLU(), nn.Linear(6, 2))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    rng = np.random.default_rng(0)
    for i in range(80):
        name = "day" if i % 2 else "night"
        Path("photos", name).mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 60, size=(8, 8, 3)) + (150 if i % 2 != (i < 6) else 0)
        Image.fromarray(pixels.astype(np.uint8)).save(f"photos/{name}/{i}.png")
    arguments = ("clean", "pictures:net", "--data", "photos", "--size", "8", "-o", "out")
    succeed(*arguments, "--estimator", "sample", "--layers", "input")
    assert CleanedFolder("out").looks() == {"images": str(tmp_path / "photos")}
    page = Path("out/report.html").read_text()
    assert page.count("data:image/webp") >= 24
    assert "<h1>Labels of photos</h1>" in page
    written = json.loads(Path("out/cleaning.json").read_text())
    assert written["network"]["size"] == 8
