"""Tables in the terminal."""

import io

import pytest
from rich.console import Console

from rehead.experiments.demo import DEFAULT, DemoResult, DemoSettings, Run
from rehead.report.console import (
    demo_findings,
    demo_table,
    print_demo,
    print_layers,
    progress_bar,
)
from rehead.torch.layers import Candidate


def result_of(*softmax, noises=("flip",)):
    """A demo with one network for each of these accuracies."""
    runs = [
        Run(
            noise=kind,
            seed=seed,
            fitted=0.99,
            accuracy={"softmax": accuracy, DEFAULT: 0.95},
            clean_kept={"hidden1": 0.7, "hidden2": 0.8},
            noise_rate=0.4,
            noise_estimate=0.375,
        )
        for kind in noises
        for seed, accuracy in enumerate(softmax)
    ]
    settings = DemoSettings(noises=noises, n_seeds=len(softmax))
    return DemoResult(settings, 0.63, runs, [])


def rows(table):
    """The cells of a table, by the name in the first column."""
    names, *columns = (list(column.cells) for column in table.columns)
    return dict(zip(names, zip(*columns, strict=True), strict=True))


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


def test_accuracies_are_means_over_seeds_with_their_spread():
    assert rows(demo_table(result_of(0.5, 0.7))) == {
        "softmax": ("60.0 ± 14.1",),
        DEFAULT: ("95.0 ± 0.0",),
    }


def test_one_seed_has_no_spread():
    assert rows(demo_table(result_of(0.5)))["softmax"] == ("50.0",)


def test_every_kind_of_noise_has_a_column():
    table = demo_table(result_of(0.5, noises=("uniform", "flip")))
    assert [column.header for column in table.columns] == ["inference", "uniform 40%", "flip 40%"]


def test_findings_tell_the_truth_beside_the_estimate():
    assert rows(demo_findings(result_of(0.5, 0.7))) == {
        "labels the network fits": ("99.0 ± 0.0",),
        "kept by K_c / N_c": ("63.0",),
        "clean among the kept, hidden1": ("70.0 ± 0.0",),
        "clean among the kept, hidden2": ("80.0 ± 0.0",),
        "wrong labels, truly": ("40.0 ± 0.0",),
        "wrong labels, estimated": ("37.5 ± 0.0",),
    }


@pytest.mark.usefixtures("wide")
def test_both_tables_are_printed(capsys):
    print_demo(result_of(0.5))
    printed = capsys.readouterr().out
    assert "Accuracy on clean test digits" in printed
    assert "What RoG kept" in printed


@pytest.mark.usefixtures("wide")
def test_layers_that_auto_takes_are_marked(capsys):
    layers = [
        Candidate("conv1", "Conv2d", (8, 4, 4), 8),
        Candidate("fc.input", "Linear", (16,), 16),
    ]
    print_layers(layers, ["fc.input"])
    lines = capsys.readouterr().out.splitlines()
    conv, last = (next(line for line in lines if name in line) for name in ("conv1", "fc.input"))
    assert "8 x 4 x 4" in conv
    assert "*" not in conv
    assert "*" in last


def test_progress_goes_to_standard_error(capsys):
    with progress_bar() as update:
        update("halfway", 0.5)
    assert capsys.readouterr().out == ""


def test_tables_fit_a_narrow_terminal():
    console = Console(file=io.StringIO(), width=60)
    console.print(demo_table(result_of(0.5, noises=("uniform", "flip"))))
    assert max(len(line) for line in console.file.getvalue().splitlines()) <= 60
