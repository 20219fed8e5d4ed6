"""Printed numbers: every one is reached by a cell and a column."""

import tomllib
from importlib.resources import files

import pytest

from rehead import data
from rehead.experiments.columns.registry import COLUMNS
from rehead.experiments.plans import columns_of
from rehead.experiments.published import published
from rehead.experiments.tables import cell_of
from rehead.torch.models import MODELS
from rehead.torch.training import METHODS

CONTENT = tomllib.loads(files("rehead.experiments").joinpath("published.toml").read_text("utf-8"))
COUNTS = {"1": 40, "2": 72, "3": 144, "4": 30, "5": 48, "6": 72, "7": 6, "8": 12}
OURS = {
    "densenet-bc-100": "densenet100",
    "resnet-34": "resnet34",
    "resnet-44": "resnet44-wide",
    "vgg-13": "vgg13",
    "cnn-9": "cnn9",
    "fcn-2": "fcn",
}
INFERENCE = {
    "softmax": "softmax",
    "generative+sample": "LDA",
    "generative+mcd": "RoG",
    "generative+tkm": "trimmed k-means",
}


def test_the_file_has_as_many_values_as_it_says():
    assert {str(t["id"]): t["values"] for t in CONTENT["table"]} == COUNTS


@pytest.mark.parametrize(("table", "n"), COUNTS.items())
def test_every_printed_value_is_in_an_entry(table, n):
    assert sum(len(entry.accuracy) for entry in published().of(table)) == n


def column_of(cell, key):
    """The way to predict that a printed number belongs to, said once more."""
    if key != "accuracy":
        return {"softmax": "softmax", "rog": "RoG"}[key]
    name = INFERENCE[cell["inference"]]
    if name == "RoG" and not cell["ensemble"]:
        return "RoG last layer"
    return f"{name} ensemble" if name == "LDA" and cell["ensemble"] else name


def found_for(cell):
    """The accuracies of the one entry of a printed cell, found without the package's tables."""
    source = cell.get("source", "").replace("-", "")
    wanted = (
        str(cell["table"]),
        OURS[cell["network"]],
        cell["dataset"].replace("twitter-", "twitter_").replace("-", ""),
        cell["noise"].replace("clean", "none"),
        cell["rate"],
        cell["method"],
        OURS.get(cell.get("labeller"), ""),
        source,
    )
    entries = [entry for entry in published().entries if entry.place == wanted]
    assert len(entries) == 1
    return entries[0].accuracy


def test_every_printed_value_is_where_it_is_printed():
    values = 0
    for cell in CONTENT["cell"]:
        found = found_for(cell)
        for key in {"softmax", "rog", "accuracy"} & set(cell):
            assert found[column_of(cell, key)] == cell[key]
            values += 1
    assert values == sum(COUNTS.values())


def test_every_cell_measures_what_is_printed_of_it():
    for entry in published().entries:
        assert set(entry.accuracy) <= set(columns_of(cell_of(entry)))
        assert set(entry.accuracy) <= set(COLUMNS)


def test_names_are_those_of_the_package():
    for entry in published().entries:
        assert entry.network in MODELS
        assert entry.method in METHODS
        assert not entry.labeller or entry.labeller in MODELS
        for name in (entry.data, *filter(None, entry.source.split("+"))):
            assert data.find_dataset(name).name == name


def test_only_table_6_has_labellers_and_only_table_7_sources():
    assert {e.table for e in published().entries if e.labeller} == {"6"}
    assert {e.table for e in published().entries if e.source} == {"7"}
    assert [e.source for e in published().of("7")] == [
        "cifar100",
        "imagenet32",
        "cifar100+imagenet32",
    ]


def test_accuracies_are_in_per_cent():
    values = [v for entry in published().entries for v in entry.accuracy.values()]
    assert min(values) >= 5
    assert 90 < max(values) < 100


def test_notes_are_about_tables_that_exist():
    assert {note.table for note in published().notes} <= set(COUNTS)
    assert all(note.where and note.text for note in published().notes)
    assert set(published().titles) == set(COUNTS)
