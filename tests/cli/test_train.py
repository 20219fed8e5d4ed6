"""``rehead train``: a run in a folder, which later commands take in place of a network."""

import pytest

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
    assert again.splitlines() == said.splitlines()[-1:]


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
