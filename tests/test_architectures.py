"""The three lines of the README, on networks of six kinds that have memorised 40 % wrong labels.

The networks are those of ``benchmarks/architectures.py``, which prints the table of the docs. One
of them is tried here each time, the others by ``make test-slow``.
"""

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
architectures = pytest.importorskip("architectures")

OTHERS = [name for name in architectures.NETS if name != "plain CNN"]


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
@pytest.mark.parametrize("kind", ["uniform", "flip"])
@pytest.mark.parametrize(
    "name", ["plain CNN", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_noise_is_seen_and_wrong_labels_are_found(name, kind):
    if name == "transformer" and not Path(os.environ.get("REHEAD_DATA", "-"), "reuters").is_dir():
        pytest.skip("REHEAD_DATA does not name a folder with reuters")
    found = architectures.measure(architectures.small_case(name, kind, 0.4, seed=0))
    head = found["auto"]
    assert not head["told"] or abs(head["seen"] - found["wrong"]) < 0.05
    assert head["found"] >= 0.85
    assert head["right"] >= 0.8
    assert head["accuracy"] >= max(found["softmax"], found["rog"] - 0.01)
