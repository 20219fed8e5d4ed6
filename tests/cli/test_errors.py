"""Every error of a command is one line; `--traceback` shows the rest."""

import csv
import errno
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from rehead.cli import errors

CORRUPT = ("corrupt", "y.txt", "--noise", "flip", "--rate", "0.2", "-o", "noisy.txt")
RUN = "import sys; from rehead.cli import app; sys.argv[0] = 'rehead'; app()"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REHEAD_TRACEBACK", raising=False)
    Path("y.txt").write_text("a\nb\n" * 20)


@pytest.fixture
def failing(monkeypatch, invoke):
    """Run a command in which something raises."""

    def call(error, *options):
        def read(source):
            raise error

        monkeypatch.setattr("rehead.files.places.read_column", read)
        return invoke(*options, *CORRUPT)

    return call


def run(*arguments, **options):
    """The program as the shell starts it."""
    return subprocess.run(
        [sys.executable, "-c", RUN, *map(str, arguments)],
        **{"capture_output": True, "text": True, "timeout": 120, **options},
    )


class OddError(Exception):
    """Of a library that nobody has heard of."""


KINDS = [
    (KeyError("weights"), "KeyError: 'weights'"),
    (RuntimeError("mat1 and mat2\n  shapes cannot be multiplied"), "mat2 shapes cannot be"),
    (MemoryError(), "Memory ran out (MemoryError). Take fewer samples"),
    (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), "Memory ran out"),
    (torch.OutOfMemoryError("CUDA out of memory"), "Take smaller batches"),
    (csv.Error("line contains NUL"), "cannot be read as a table (line contains NUL)"),
    (zipfile.BadZipFile("File is not a zip file"), "Write it or get it again"),
    (SafetensorError("header too small"), "is damaged or incomplete (header too small)"),
    (EOFError(), "is damaged or incomplete (EOFError)"),
    (RecursionError("maximum recursion depth exceeded"), "nested too deep"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "Save it as UTF-8"),
    (FileNotFoundError(errno.ENOENT, "No such file", "x.npy"), "There is no x.npy."),
    (PermissionError(errno.EACCES, "Permission denied", "x.npy"), "x.npy may not be read"),
    (IsADirectoryError(errno.EISDIR, "Is a directory", "x.npy"), "x.npy is a folder"),
    (OSError(errno.ENOSPC, "No space left", "x.npy"), "The disk is full"),
    (ModuleNotFoundError("No module named 'pyarrow.x'", name="pyarrow.x"), '"rehead[parquet]"'),
    (ImportError("libfoo.so: cannot open"), "libfoo.so: cannot open"),
    (AssertionError(), "Error: AssertionError"),
    (OddError("what\nnow"), "OddError: what now"),
]


@pytest.mark.parametrize(("error", "said"), KINDS, ids=[type(e).__name__ for e, _ in KINDS])
def test_every_kind_of_error_is_one_line(failing, error, said, monkeypatch):
    # As if the error came from a library: the reader of the test is the user's own line.
    monkeypatch.setattr(errors, "is_of_user", lambda file: False)
    result = failing(error)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert said in line


@pytest.mark.parametrize("asked", ["--traceback", "REHEAD_TRACEBACK"])
def test_a_traceback_is_shown_where_it_is_asked_for(failing, asked, monkeypatch):
    if asked.isupper():
        monkeypatch.setenv(asked, "1")
    result = failing(KeyError("weights"), *(["--traceback"] if asked.islower() else []))
    assert result.exit_code == 1
    assert result.stderr.startswith("Traceback (most recent call last)")
    assert result.stderr.splitlines()[-1].startswith("Error: KeyError: 'weights'")
    monkeypatch.delenv("REHEAD_TRACEBACK", raising=False)
    assert "Traceback" not in failing(KeyError("weights")).stderr


def test_a_long_message_is_cut(failing):
    result = failing(RuntimeError("missing: " + "layer, " * 5000))
    assert len(result.stderr) < errors.LONGEST + 200
    assert "--traceback" in result.stderr


def test_an_interrupt_has_a_word_and_a_code_of_its_own(failing):
    result = failing(KeyboardInterrupt())
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")


MODULE = """import torch
from torch import nn

def missing():
    return {}["weights"]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 3)
    def forward(self, x):
        return self.first(x)[:, 7, 7]

def quits():
    raise SystemExit(0)

def colour(image):
    return image.colour
"""


class TestModulesOfUsers:
    @pytest.fixture(autouse=True)
    def _module(self, monkeypatch):
        Path("theirs.py").write_text(MODULE)
        Path("broken.py").write_text("import torch\n\nx = 1 / 0\n")
        Path("lacks.py").write_text("\nimport nowhere_to_be_found\n")
        Path("syntax.py").write_text("\n\ndef f(:\n")
        np.save("x.npy", np.ones((20, 6), np.float32))
        monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
        for name in ("theirs", "broken", "lacks", "syntax"):
            monkeypatch.delitem(sys.modules, name, raising=False)

    @pytest.mark.parametrize(
        ("net", "said"),
        [
            ("theirs:missing", "KeyError: 'weights' (theirs.py, line 5)"),
            ("theirs:Net", "(theirs.py, line 12)"),
            ("theirs:quits", "must not call exit() (theirs.py, line 15)"),
            ("broken:net", "division by zero (broken.py, line 3)"),
            ("lacks:net", "'nowhere_to_be_found' (lacks.py, line 2)"),
            ("syntax:f", "invalid syntax (syntax.py, line 3)"),
        ],
    )
    def test_an_error_names_their_file_and_line(self, fail, net, said):
        shown = fail("layers", net, "--data", "x.npy")
        assert said in shown
        assert shown.count("\n") == 1

    def test_a_transform_in_another_process(self):
        """A worker of a loader tells its error as the text of a traceback."""
        text = (
            "Caught AttributeError in DataLoader worker process 0.\n"
            "Original Traceback (most recent call last):\n"
            f'  File "{torch.__file__}", line 3, in fetch\n'
            f'  File "{Path("theirs.py").absolute()}", line 18, in colour\n'
            "    return image.colour\n"
            "AttributeError: no colour\n"
        )
        said = errors.explain(AttributeError(text))
        assert said == "AttributeError: no colour (theirs.py, line 18)."


def test_a_damaged_file_is_named(fail):
    np.savez("x.npz", X=np.ones((20, 6)))
    whole = Path("x.npz").read_bytes()
    for name, content in {"cut.npz": whole[:300], "empty.npz": b"", "cut.npy": b""}.items():
        Path(name).write_bytes(content)
        said = fail("fit", name, "--labels", "y.txt", "-o", "h")
        assert said.startswith(f"Error: {name} is not a")
        assert "damaged" in said


class TestAsTheShellStartsIt:
    def test_an_error_and_a_traceback(self):
        asked = ["corrupt", "none.txt", *CORRUPT[2:]]
        result = run(*asked)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == "Error: There is no file or folder none.txt.\n"
        assert "Traceback" in run("--traceback", *asked).stderr

    def test_an_interrupt(self, tmp_path):
        Path("slow.py").write_text("import time\nprint('ready', flush=True)\n\ntime.sleep(60)\n")
        np.save("x.npy", np.ones((20, 6), np.float32))
        arguments = [
            sys.executable,
            "-c",
            RUN,
            "features",
            "slow:net",
            "--data",
            "x.npy",
            "-o",
            "f",
        ]
        process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert said == "Interrupted. The same command continues from what is finished.\n"

    @pytest.mark.skipif(os.name == "nt", reason="pipes of Windows break otherwise")
    def test_a_reader_who_leaves_does_not_cost_the_result(self):
        """As `rehead corrupt ... | true`: the file is written all the same, and nothing is said."""
        reading, writing = os.pipe()
        os.close(reading)
        result = run(*CORRUPT, stdout=writing, stderr=subprocess.PIPE, capture_output=False)
        os.close(writing)
        assert (result.returncode, result.stderr) == (0, "")
        assert len(Path("noisy.txt").read_text().split()) == 40
