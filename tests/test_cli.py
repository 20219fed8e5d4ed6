import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rehead
from rehead.cli import app

runner = CliRunner()


def test_demo_prints_the_table_and_writes_the_report(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    result = runner.invoke(app, ["demo", "--noise", "flip", "--seeds", "1", "-o", str(target)])
    assert result.exit_code == 0, result.output
    for text in ("softmax", "LDA, sample", "RoG, hidden1", "RoG, ensemble", "flip 40%", "K_c"):
        assert text in result.output
    assert "uniform" not in result.output
    assert target.stat().st_size > 50_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "1.5"], "less than or equal to 1"),
        (["--noise", "salt"], "'salt' is not one of"),
        (["--seeds", "0"], "greater than or equal to 1"),
    ],
)
def test_bad_options_are_refused(arguments: list[str], message: str) -> None:
    result = runner.invoke(app, ["demo", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_a_missing_folder_is_found_before_training(tmp_path: Path) -> None:
    result = runner.invoke(app, ["demo", "-o", str(tmp_path / "missing" / "page.html")])
    assert result.exit_code == 2
    assert "no folder" in " ".join(result.output.replace("│", " ").split())


def test_version() -> None:
    assert runner.invoke(app, ["--version"]).output == f"rehead {rehead.__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from rehead.cli import app;"
        "CliRunner().invoke(app, ['--help']);"
        "print([m for m in ('numpy', 'sklearn', 'torch', 'matplotlib') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


def test_without_torch_the_demo_names_the_command_to_run() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from typer.testing import CliRunner;"
        "from rehead.cli import app; r = CliRunner().invoke(app, ['demo']);"
        "print(r.exit_code, r.output)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.startswith("1 ")
    assert 'pip install "rehead[torch]"' in out.stdout
