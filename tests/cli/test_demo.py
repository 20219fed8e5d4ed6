"""``rehead demo``: a table, a page, and early refusals."""

import subprocess
import sys

import pytest

from rehead.experiments.demo import DEFAULT, ROG


def test_demo_prints_the_table_and_writes_the_report(succeed, fail, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "page.html"
    said = succeed("demo", "--noise", "flip", "--seeds", "1", "-o", target)
    for text in ("softmax", "LDA, sample", "RoG, hidden1", ROG, DEFAULT, "flip 40%", "K_c"):
        assert text in said
    assert "uniform" not in said
    assert target.stat().st_size > 50_000
    assert said.splitlines()[-1].endswith("rehead review demo")
    suspects = (tmp_path / "demo" / "suspects.csv").read_text().splitlines()
    source = ("demo/train.npz", "--labels", "demo/train.npz:labels", "--ids", "demo/train.npz:ids")
    audited = succeed("audit", "demo/head.safetensors", *source, "-o", "again.csv")
    assert (tmp_path / "again.csv").read_text().splitlines() == suspects
    assert audited.startswith("1347 labels")
    assert "demo was made from data digits, noise flip" in fail("demo", "--noise", "uniform")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "1.5"], "less than or equal to 1"),
        (["--noise", "salt"], "'salt' is not one of"),
        (["--seeds", "0"], "greater than or equal to 1"),
    ],
)
def test_bad_options_are_refused(invoke, arguments, message):
    result = invoke("demo", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_missing_folder_is_found_before_training(refuse, tmp_path):
    assert "no folder" in refuse("demo", "-o", tmp_path / "missing" / "page.html")


def test_without_torch_the_demo_names_the_command_to_run():
    code = (
        "import sys; sys.modules['torch'] = None; from typer.testing import CliRunner;"
        "from rehead.cli import app; r = CliRunner().invoke(app, ['demo']);"
        "print(r.exit_code, r.output)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.startswith("1 ")
    assert 'pip install "rehead[torch]"' in out.stdout
