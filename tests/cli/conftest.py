"""The command line as a user meets it, and a project of such a user."""

import sys

import pytest
from typer.testing import CliRunner

from rehead.cli import app


@pytest.fixture
def invoke():
    """Run a command, whatever comes of it."""

    def call(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call


@pytest.fixture
def succeed(invoke):
    """Run a command that must succeed, and return what it said."""

    def call(*arguments):
        result = invoke(*arguments)
        assert result.exit_code == 0, result.output
        return result.output

    return call


@pytest.fixture
def fail(invoke):
    """Run a command with a mistake in it, and return what it said: no traceback."""

    def call(*arguments):
        result = invoke(*arguments)
        assert result.exit_code == 1, result.output
        assert "Traceback" not in result.output
        return result.output

    return call


@pytest.fixture
def refuse(invoke):
    """Run a command with an option that is refused, and return the message without its frame."""

    def call(*arguments):
        result = invoke(*arguments)
        assert result.exit_code == 2, result.output
        return " ".join(result.output.replace("│", " ").split())

    return call


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A user's own module, weights and data, in the current folder."""
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom torch import nn\n"
        "def net():\n"
        "    torch.manual_seed(0)\n"
        "    hidden = [nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU()]\n"
        "    return nn.Sequential(*hidden, nn.Linear(8, 3))\n"
        "def data(a=0, b=300):\n"
        "    g = torch.Generator().manual_seed(1)\n"
        "    y = torch.arange(600) % 3\n"
        "    x = torch.randn(600, 6, generator=g) + 3 * torch.eye(3, 6)[y]\n"
        "    ids = [f'img{i}' for i in range(600)]\n"
        "    cuts = [slice(i, i + 100) for i in range(a, b, 100)]\n"
        "    return [(x[c], y[c], ids[c]) for c in cuts]\n"
        "def held_out():\n    return data(300, 400)\n"
        "def test():\n    return data(400, 600)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("mine", None)
