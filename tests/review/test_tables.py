"""The tables of docs/how-to/review.md are those of the results."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "review.md"


def benchmark(name):
    spec = importlib.util.spec_from_file_location(f"table_{name}", ROOT / f"benchmarks/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, json.loads(module.RESULTS.read_text())


@pytest.mark.parametrize("table", ["table", "table_of_ends"])
def test_what_reviewed_labels_are_worth(table):
    module, found = benchmark("reviewed")
    assert getattr(module, table)(found) in PAGE.read_text(encoding="utf-8")


def test_what_training_again_adds():
    pytest.importorskip("torch")
    module, found = benchmark("retrained")
    assert module.table(found) in PAGE.read_text(encoding="utf-8")
