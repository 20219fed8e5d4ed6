"""The examples run, in their short form, and print what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, tmp_path: Path, *arguments: str) -> str:
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / name), *arguments]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stderr
    return out.stdout


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("numpy_features.py", ()),
        ("torch_images.py", ("--short",)),
        ("hugging_face_text.py", ("--short",)),
        ("frozen_encoder.py", ("--short",)),
    ],
)
def test_an_example_runs_and_finds_wrong_labels(name, arguments, tmp_path):
    output = run(name, tmp_path, *arguments)
    (found,) = re.findall(r"of the 100 worst(?: labels)? (\d+) are", output)
    assert int(found) > 60, output
