"""What all commands share: help, version, quick answers."""

import subprocess
import sys

import numpy as np
import pytest
from typer.main import get_group

import rehead
from rehead.cli import app

COMMANDS = get_group(app).commands
HEAVY = ("numpy", "scipy", "sklearn", "torch", "matplotlib", "jinja2", "safetensors", "pandas")


def output_of(code: str) -> str:
    """What a fresh interpreter prints."""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return out.stdout


def test_version(succeed):
    assert succeed("--version") == f"rehead {rehead.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(succeed, command):
    succeed(command, "--help")
    assert COMMANDS[command].help


def test_commands_are_listed_in_the_order_of_the_work():
    known = ["demo", "corrupt", "train", "layers", "features", "fit", "predict", "compare", "audit"]
    assert [name for name in COMMANDS if name in known] == known


@pytest.mark.parametrize("asked", ["--help", "--version"])
def test_a_quick_answer_imports_nothing_heavy(asked):
    code = (
        "import sys; from typer.testing import CliRunner; from rehead.cli import app;"
        f"CliRunner().invoke(app, ['{asked}']);"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    assert output_of(code) == "[]\n"


def test_importing_the_command_line_imports_nothing_else_of_the_package():
    code = (
        "import sys, rehead.cli;"
        f"print([m for m in {HEAVY} if m in sys.modules]);"
        "print([m for m in sys.modules if m.startswith('rehead.')"
        " and not m.startswith('rehead.cli')])"
    )
    assert output_of(code) == "[]\n[]\n"


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        (["trian"], "train"),
        (["train", "--dat", "digits"], "--data"),
        (["audit", "h", "f", "--outptu", "x.csv"], "--output"),
    ],
)
def test_what_is_mistyped_has_near_matches(refuse, typed, near):
    assert near in refuse(*typed)


@pytest.mark.filterwarnings("default::rehead.ReheadWarning")
def test_messages_name_options_and_steer_no_terminal(tmp_path, monkeypatch, fail, succeed):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    np.savez("x.npz", a=rng.normal(size=(80, 2)) + 3 * y[:, None], b=rng.normal(size=(80, 2)))
    np.save("y.npy", y)
    said = succeed("fit", "x.npz", "--labels", "y.npy", "-o", "head")
    assert "pass --validation FEATURES of others" in said
    assert "validation=(" not in said
    said = fail("fit", "\x1b[31mx.npy", "--labels", "y.npy", "-o", "head")
    assert "\x1b" not in said
