"""What commands say in a terminal, in a narrow one, and into a pipe whose reader may leave."""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rehead.cli.terminal import Patient, patient_output

LONG = "a_name_that_is_much_longer_than_any_line_of_a_narrow_terminal_can_ever_be"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
MODULE = f"""
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.{LONG} = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8))
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.{LONG}(x).relu())
"""
COMMANDS = (
    "layers deep:Net --data x.npy",
    "features deep:Net --data x.npy -o features",
    "train --data digits --epochs 2 --model-option hidden=[5] -o run",
    "demo --seeds 1 --noise flip -o report.html",
    "train --dat digits",
)
PROGRAM = f"""
from rehead.cli import app
for command in {COMMANDS}:
    try:
        app(command.split())
    except SystemExit as end:
        assert end.code == (2 if "--dat " in command else 0), command
"""


def test_words_go_nowhere_once_the_reader_has_left():
    reading, writing = os.pipe()
    stream = Patient(os.fdopen(writing, "w"))
    stream.write("heard\n")
    stream.flush()
    assert os.read(reading, 99) == b"heard\n"
    os.close(reading)
    for _ in range(3):
        assert stream.write("x" * 100_000) == 100_000
        stream.flush()
    stream.close()


def test_the_stream_is_put_back(capsys):
    before = sys.stdout
    with patient_output():
        sys.stdout.write("said\n")
    assert sys.stdout is before
    assert capsys.readouterr().out == "said\n"


@pytest.mark.parametrize(
    "terminal", [{}, {"COLUMNS": "40", "NO_COLOR": "1"}], ids=["wide", "narrow"]
)
def test_what_goes_into_a_pipe_is_plain_and_whole(tmp_path, terminal):
    Path(tmp_path, "deep.py").write_text(MODULE)
    np.save(tmp_path / "x.npy", np.ones((30, 6), np.float32))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environment | terminal,
        capture_output=True,
        text=True,
        check=True,
        timeout=170,
    )
    for stream in (said.stdout, said.stderr):
        assert CONTROL.findall(stream) == []
        assert "…" not in stream
    assert f"{LONG}.2" in said.stdout
    assert "cross-entropy: epoch 2, loss" in said.stderr
    assert "the default" in said.stdout


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")
def test_a_narrow_terminal_without_colours():
    import pty

    code = (
        "from rehead._progress import progress_bar\n"
        "with progress_bar('training', 50) as advance:\n"
        "    for i in range(50): advance(1, f'epoch {i}, loss 0.123, fits 99.9%, held out 88%')\n"
    )
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": "40", "NO_COLOR": "1", "TERM": "xterm"}
    with subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the end of what a terminal shows
            while block := os.read(ours, 65536):
                shown += block
    os.close(ours)
    assert process.returncode == 0
    assert not re.search(rb"\x1b\[[0-9;]*[34][0-9][0-9;]*m", shown)  # a colour
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    lines = re.split(r"[\r\n]+", plain)
    assert any("epoch 49" in line for line in lines)
    assert max(map(len, lines)) <= 40
