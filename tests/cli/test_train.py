"""``rehead train``: a run in a folder, which later commands take in place of a network."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from rehead import data, noise

pytestmark = pytest.mark.usefixtures("project")


def test_from_a_data_set_to_a_head_on_the_command_line(succeed):
    options = ["--noise", "flip", "--rate", "0.3", "--epochs", "2", "--model-option", "hidden=[20]"]
    said = succeed("train", "--data", "digits", *options, "-o", "run")
    assert "of the training labels are wrong" in said
    assert "cross-entropy: epoch 2, loss" in said
    assert "\r" not in said
    assert "hidden1" in succeed("layers", "run", "--data", "run:test")
    for part in ("train", "validation", "test"):
        assert "hidden1 (20)" in succeed("features", "run", "--data", f"run:{part}", "-o", part)
    succeed("fit", "train", "--validation", "validation", "-o", "head")
    assert "robust" in succeed("compare", "head", "test")
    again = succeed("train", "--data", "digits", *options, "-o", "run")
    assert again.splitlines() == [said.splitlines()[0], said.splitlines()[-1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "digitz", "-o", "r"], "Did you mean 'digits'"),
        (["--data", "digits", "--model-option", "width", "-o", "r"], "NAME=VALUE"),
    ],
)
def test_mistakes_are_one_line(fail, arguments, message):
    assert message in fail("train", *arguments)


def test_noise_without_a_rate_and_a_rate_without_noise(fail, tmp_path):
    output = str(tmp_path / "run")
    said = fail("train", "--data", "digits", "--noise", "uniform", "-o", output)
    assert "--rate 0.4" in said
    said = fail("train", "--data", "digits", "--rate", "0.4", "-o", output)
    assert "--noise uniform" in said
    assert not (tmp_path / "run").exists()


SHORT = ("--epochs", "1", "--model-option", "hidden=[5]")


def test_labels_of_ones_own_are_counted_as_they_are(succeed):
    """Whatever the method is told of the noise."""
    truth = data.load("digits").train.y
    np.save("mine.npy", noise.flip(truth, 0.3, random_state=0).labels)
    told = ["--labels", "mine.npy", "--noise-rate", "0.9", "--method", "co-teaching"]
    said = succeed("train", "--data", "digits", *told, *SHORT, "-o", "run")
    assert "The validation labels are clean." in said
    assert re.search(r"(29|30)\.\d% of the training labels are wrong", said)


def test_a_labeller_by_name_and_the_noise_that_came_out(succeed, fail):
    options = ["--data", "digits", "--noise", "semantic", *SHORT]
    said = succeed("train", *options, "--labeller", "fcn", "-o", "run")
    assert "The labeller, fcn, was taught on 61 clean samples. " in said
    assert "The validation labels are noisy in the same way." in said
    unknown = fail("train", *options, "--labeller", "densenet", "-o", "r")
    assert "Did you mean 'densenet100'" in unknown


def test_open_set_images_from_a_file(succeed, fail):
    np.save("elsewhere.npy", np.full((900, 64), 7, np.float32))
    options = ["--data", "digits", "--noise", "open-set", "--rate", "0.4", *SHORT]
    said = succeed("train", *options, "--outside", "elsewhere.npy", "-o", "run")
    assert "The validation part is clean." in said
    assert "of the training images are not of their class" in said
    Path("below").mkdir()
    os.chdir("below")  # the run knows the whole path
    succeed("features", "../run", "--data", "../run:train", "-o", "features")
    assert "name must be one of" in fail("train", *options, "--outside", "nowhere", "-o", "r")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels", "y.npy", "--noise", "flip", "--rate", "0.2"], "both say which labels"),
        (["--labeller", "fcn"], "--labeller goes with --noise semantic"),
        (["--outside", "cifar100"], "--outside goes with --noise open-set"),
        (["--noise", "open-set"], "--rate 0.4"),
        (["--noise", "annotator"], "--rate 0.4"),
    ],
)
def test_options_that_do_not_go_together(fail, options, message):
    assert message in fail("train", "--data", "digits", *options, "-o", "run")
    assert not Path("run").exists()
