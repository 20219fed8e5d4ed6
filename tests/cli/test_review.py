"""rehead review and rehead apply, as typed."""

import re
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier
from rehead.files.cleaned import CleanedFolder, Cleaning
from rehead.files.samples import Source
from rehead.files.tables import read_table
from rehead.review import apply_decisions, open_log, open_subject
from rehead.review.log import Entry, Line, LogError, label_to_json


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.repeat(["cat", "dog"], 60)
    X = rng.normal(size=(120, 2)) + 6 * (y == "dog")[:, None]
    np.save("clean.npy", y)
    y = y.copy()
    y[[3, 8, 20]], y[[70, 90]] = "dog", "cat"
    np.save("X.npy", X)
    np.save("y.npy", y)
    RobustGaussianClassifier(random_state=0).fit(X, y).save("head.safetensors")
    CleanedFolder(tmp_path).write(Cleaning(train={"data": "./X.npy", "labels": "./y.npy"}))
    return tmp_path


@pytest.fixture
def decided(folder):
    subject = open_subject("head.safetensors", Source("X.npy", "y.npy"))
    with open_log(subject) as log:
        for row in subject.suspects.tolist():
            report = subject.report
            old, new = (label_to_json(a[row]) for a in (report.given, report.suggested))
            line = Line(str(row), "suggestion", old, new, "suspect")
            log.append([Entry(f"client-{row}", "decision", "Ann", [line], subject.head)])
    return folder


def test_apply_writes_labels_and_a_head_and_says_what_it_gained(decided, succeed):
    said = succeed(
        "apply", "head.safetensors", "X.npy", "--labels", "y.npy", "-o", "c.csv",
        "--new-head", "new.safetensors", "--truth", "clean.npy",
    )  # fmt: skip
    assert "5 labels corrected" in said
    assert "Labels that are right: 95.8% -> 100.0%" in said
    assert read_table(decided / "c.csv").values("label").tolist() == np.load("clean.npy").tolist()
    assert "Predict" not in succeed("predict", "new.safetensors", "X.npy", "-o", "p.csv")


def test_apply_takes_a_folder(decided, succeed):
    said = succeed("apply", decided)
    assert "corrected.csv" in said
    assert "reviewed-head.safetensors" in said


def test_labels_that_were_applied_can_be_fitted_on(decided, succeed):
    succeed("apply", "head.safetensors", "X.npy", "--labels", "y.npy", "-o", "c.csv")
    succeed("fit", "X.npy", "--labels", "c.csv:label", "-o", "again.safetensors")


@pytest.mark.filterwarnings("default::rehead.ReheadWarning")
def test_a_fit_on_applied_labels_tells_of_samples_out_of_scope(decided, succeed):
    subject = open_subject("head.safetensors", Source("X.npy", "y.npy"))
    with open_log(subject) as log:
        line = Line("5", "out of scope", label_to_json(subject.report.given[5]), None, "suspect")
        log.append([Entry("client-out", "decision", "Ann", [line], subject.head)])
    for name in ("c.csv", "c.parquet"):
        succeed("apply", "head.safetensors", "X.npy", "--labels", "y.npy", "-o", name)
        said = succeed("fit", "X.npy", "--labels", f"{name}:label", "-o", "again.safetensors")
        assert f"{name} gives 1 of 120 samples the weight 0" in said
        assert "`rehead apply --new-head` leaves them out" in said


def test_mistakes_are_named(decided, fail, refuse):
    head = ("head.safetensors", "X.npy", "--labels", "y.npy")
    assert "--output" in fail("apply", *head)
    assert "it would be lost" in fail("apply", *head, "-o", "y.npy")
    assert ".csv or" in fail("apply", *head, "-o", "c.xlsx")
    assert "no folder" in refuse("apply", *head, "-o", "no/c.csv")
    assert "Give the features too" in fail("review", "head.safetensors")
    assert "There is no file or folder nowhere" in fail("review", "nowhere/")
    assert "Review first" in fail("apply", *head, "-o", "c.csv", "--log", "none.sqlite")
    assert "cleaning.json" in fail("review", decided.parent)


def test_decisions_of_another_head_are_refused_until_told(decided, fail):
    X, y = np.load("X.npy"), np.load("y.npy")
    RobustGaussianClassifier("sample").fit(X, y).save("other.safetensors")
    before = (decided / "decisions.sqlite").read_bytes()
    said = fail("review", "other.safetensors", "X.npy", "--labels", "y.npy", "--no-browser")
    assert "--other-head" in said
    assert "--log FILE" in said
    assert (decided / "decisions.sqlite").read_bytes() == before


def test_two_heads_in_one_folder_have_logs_of_their_own_where_told(decided, succeed):
    X, y = np.load("X.npy"), np.load("y.npy")
    RobustGaussianClassifier("sample").fit(X, y).save("other.safetensors")
    subject = open_subject("other.safetensors", Source("X.npy", "y.npy"))
    with pytest.raises(LogError, match="--log FILE"):
        open_log(subject)
    open_log(subject, "other.sqlite").close()
    other = ("apply", "other.safetensors", "X.npy", "--labels", "y.npy", "--log", "other.sqlite")
    said = succeed(*other, "-o", "c.csv", "--new-head", "n.st")
    assert "Nothing is decided yet" in said
    with pytest.warns(ReheadWarning, match=r"No decision .* was made with this head.*--log"):
        apply_decisions("other.safetensors", Source("X.npy", "y.npy"))


def test_a_port_in_use_is_named(folder, fail):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = fail("review", folder, "--no-browser", "--port", port)
    assert f"port {port} is in use" in said
    assert "Errno" not in said
    assert "suspects" not in said  # before anything was judged


def test_a_folder_is_enough_for_a_report(folder, succeed, fail):
    said = succeed("report", folder, "-o", "page.html")
    assert "Report: page.html" in said
    assert "Give the features too" in fail("report", folder / "head.safetensors")


@pytest.mark.parametrize("end", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_review_prints_an_address_that_opens_and_ends_in_order(folder, end):
    """Ctrl+C, `kill`, a closed terminal: then the log is one file, which may be copied."""
    code = "from rehead.cli import app; app()"
    command = [sys.executable, "-c", code, "review", ".", "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests may be run by something that ignores it, which a process passes on.
        preexec_fn=lambda: signal.signal(getattr(signal, end), signal.SIG_DFL),
    )
    said = ""
    try:
        for line in process.stdout:
            said += line
            if "Ctrl+C" in line:
                break
        url = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", said).group(0)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"main.js" in opener.open(url, timeout=120).read()
        process.send_signal(getattr(signal, end))
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in errors
    assert "Error" not in errors
    assert [p.name for p in folder.glob("decisions.sqlite*")] == ["decisions.sqlite"]


@pytest.fixture
def told(folder):
    """The same with a head that was told of 40 checked labels, of which two were put right."""
    y = np.load("y.npy")
    checked = np.where(np.arange(120) % 3 == 0, "random", "")
    y_now = np.where(checked == "random", np.load("clean.npy"), y)
    assert (y_now != y).sum() == 2
    lines = [f"{now},{was},{word}" for now, was, word in zip(y_now, y, checked, strict=True)]
    (folder / "l.csv").write_text("label,before,checked\n" + "\n".join(lines) + "\n")
    return ("X.npy", "--labels", "l.csv:label"), y


def decide_all(head, source):
    subject = open_subject(head, source)
    with open_log(subject, "told.sqlite") as log:
        for row in subject.suspects.tolist():
            old, new = (
                label_to_json(a[row]) for a in (subject.report.given, subject.report.suggested)
            )
            line = Line(str(row), "suggestion", old, new, "suspect")
            log.append([Entry(f"client-{row}", "decision", "Ann", [line], subject.head)])
    return subject.suspects


def test_what_a_head_was_told_before_a_review_is_not_forgotten(folder, told, succeed, fail):
    labels, y = told
    known = ("--trusted", "l.csv:checked", "--uncorrected", "l.csv:before")
    succeed("fit", *labels, *known, "-o", "told.st")
    suspects = decide_all("told.st", Source("X.npy", "l.csv:label"))
    assert len(suspects) == 3
    apply = ("apply", "told.st", *labels, "--log", "told.sqlite")
    assert "would be lost" in fail(*apply, "-o", "l.csv")
    succeed(*apply, "-o", "c.csv", "--new-head", "new.st")
    table = read_table(folder / "c.csv")
    right = np.load("clean.npy")
    assert table.values("label").tolist() == right.tolist()
    assert table.values("uncorrected").tolist() == y.tolist()  # before anybody put one right
    words = np.where(np.arange(120) % 3 == 0, "random", "")
    words[suspects] = np.where(words[suspects] == "random", "random", "chosen")
    assert table.cells("trusted").tolist() == words.tolist()
    # The command in the docs, and what the new head remembers.
    again = ("--trusted", "c.csv:trusted", "--uncorrected", "c.csv:uncorrected")
    succeed("fit", "X.npy", "--labels", "c.csv:label", *again, "-o", "other.st")
    new, other = LayerEnsemble.load("new.st"), LayerEnsemble.load("other.st")
    assert new.inputs_.known_from == other.inputs_.known_from
    assert new.explain() == other.explain()
    subject = open_subject("new.st", Source("X.npy", "c.csv:label"))
    assert subject.known.trusted.tolist() == words.tolist()
    with pytest.warns(ReheadWarning, match="are not found, or have changed.*forgets them"):
        open_subject("new.st", Source("X.npy", "y.npy"))


def test_without_a_file_of_it_a_new_head_asks_for_what_was_checked(told, succeed):
    labels, _ = told
    succeed("fit", *labels, "-o", "told.st")
    decide_all("told.st", Source("X.npy", "l.csv:label"))
    apply = ("apply", "told.st", *labels, "--log", "told.sqlite")
    succeed(*apply, "-o", "c.npy", "--new-head", "new.st")
    told = LayerEnsemble.load("new.st").inputs_.known_from
    assert sorted(told) == ["checked", "samples"]
    np.save("noisy.npy", np.where(np.arange(120) % 7, np.load("clean.npy"), "cat"))
    said = succeed("audit", "new.st", "X.npy", "--labels", "noisy.npy")
    assert "--trusted TRUSTED" in said
