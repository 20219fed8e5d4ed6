"""Cells: names and keys that stay the same in every process, and differ where cells do."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from rehead.experiments.cell import Cell

CELL = Cell("6", "densenet100", "cifar10", "semantic", 0.32, labeller="resnet34", seed=3)
SHOW = (
    "from rehead.experiments.cell import Cell;"
    "print(Cell('6', 'densenet100', 'cifar10', 'semantic', 0.32, labeller='resnet34', seed=3).key)"
)


def test_a_cell_comes_back_from_json():
    assert Cell.from_json(CELL.to_json()) == CELL


def test_the_key_is_the_same_in_another_process():
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == CELL.key


def test_keys_of_results_that_were_measured_stay_what_they_are():
    """Files are called after them."""
    assert Cell("5", "fcn", "twitter_pos").key == "505d8aea8e6188e1"


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Cell)])
def test_every_field_changes_the_key(field):
    value = getattr(CELL, field)
    other = value + 0.01 if field == "rate" else value + 1 if field == "seed" else value + "x"
    changed = dataclasses.replace(CELL, **{field: other})
    assert changed.key != CELL.key
    # The profile is that of a folder.
    assert (changed.name != CELL.name) == (field != "profile")


def test_cells_that_are_equal_have_one_key():
    whole = Cell("2", "resnet34", "cifar10", "none", 0, seed=np.int64(1))
    real = Cell("2", "resnet34", "cifar10", "none", np.float64(0.0), seed=1)
    assert whole == real
    assert whole.key == real.key


@pytest.mark.parametrize(
    ("rate", "kind"), [(0.45, "flip45"), (0.29, "flip29"), (0.575, "flip57"), (1.0, "flip100")]
)
def test_the_noise_in_a_word(rate, kind):
    assert Cell("4", "cnn9", "cifar10", "flip", rate).kind == kind
    assert Cell("4", "cnn9", "cifar10").kind == "none"


def test_the_name_says_all_that_is_not_usual():
    assert CELL.name == "table6-cifar10-densenet100-semantic32-resnet34-cross-entropy-3"
    assert Cell("accuracy", "fcn", "digits", variation="short").name == (
        "accuracy-digits-fcn-none-short-cross-entropy-0"
    )


def test_the_group_of_a_cell_is_that_of_its_first_seed():
    assert CELL.group == dataclasses.replace(CELL, seed=0)


def test_a_path_is_no_name():
    with pytest.raises(ValueError, match=r"'\.\./elsewhere' is no name"):
        Cell("7", "densenet100", "cifar10", "open-set", 0.6, source="../elsewhere")
