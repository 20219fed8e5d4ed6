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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
    return tmp_path


def succeed(*arguments: str) -> str:
    result = runner.invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_from_a_network_to_predictions_on_the_command_line(project: Path) -> None:
    listed = succeed("layers", "mine:net", "--data", "mine:data")
    assert "2.input" in listed
    for name, source in (("train", "data"), ("held", "held_out"), ("test", "test")):
        said = succeed("features", "mine:net", "--data", f"mine:{source}", "-o", name)
        assert "2.input (8), 4.input (8)" in said
    said = succeed("fit", "train", "--validation", "held", "-o", "head.safetensors")
    assert "3 classes" in said
    succeed("predict", "head.safetensors", "test", "-o", "out.csv")
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0] == "id,label,probability"
    assert lines[1].startswith("img400,1,")
    assert len(lines) == 201
    table = succeed("compare", "head.safetensors", "test")
    assert [line.split()[0] for line in table.splitlines()[1:]] == [
        "softmax",
        "2.input",
        "4.input",
        "stack",
        "robust",
    ]


def test_features_from_files(project: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = (rng.normal(size=(90, 6)) + 3 * np.eye(3, 6)[y]).astype(np.float32)
    np.save("x.npy", X)
    Path("y.csv").write_text("label\n" + "\n".join(f"class{c}" for c in y) + "\n")
    succeed("fit", "x.npy", "--labels", "y.csv", "--estimator", "posterior", "-o", "head")
    succeed("predict", "head", "x.npy", "-o", "out.csv")
    assert "class" in Path("out.csv").read_text().splitlines()[1]
    succeed("features", "mine:net", "--data", "x.npy", "--labels", "y.csv", "-o", "store")
    assert "robust" in succeed("compare", "head", "x.npy", "--labels", "y.csv")


def test_weights_and_trust(project: Path) -> None:
    import mine
    import torch
    from safetensors.torch import save_file

    net = mine.net()
    save_file(net.state_dict(), "net.safetensors")
    torch.save({"state_dict": net.state_dict()}, "net.pt")
    torch.save({"state_dict": net.state_dict(), "extra": Path("x")}, "unsafe.pt")
    for weights in ("net.safetensors", "net.pt"):
        succeed("layers", "mine:net", "--data", "mine:data", "--weights", weights)
    common = ["layers", "mine:net", "--data", "mine:data", "--weights", "unsafe.pt"]
    refused = runner.invoke(app, common)
    assert refused.exit_code == 1
    assert "--trust" in refused.output
    succeed(*common, "--trust")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["layers", "mine", "--data", "mine:data"], "must be package.module:name"),
        (["layers", "nomodule:net", "--data", "mine:data"], "Cannot import 'nomodule'"),
        (["layers", "mine:nothing", "--data", "mine:data"], "has no 'nothing'"),
        (["layers", "mine:data", "--data", "mine:data"], "not an nn.Module"),
        (["fit", "none.npy", "-o", "head"], "There is no file or folder none.npy"),
        (["predict", "none", "none.npy", "-o", "out.csv"], "There is no model file at none"),
    ],
)
def test_mistakes_are_one_line(project: Path, arguments: list[str], message: str) -> None:
    result = runner.invoke(app, arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


def test_from_clean_labels_to_noisy_ones(project: Path) -> None:
    import numpy as np

    clean = np.arange(100) % 4
    np.save("clean.npy", clean)
    common = ["corrupt", "clean.npy", "--noise", "flip", "--rate", "0.4"]
    for name in ("noisy.npy", "noisy.txt", "noisy.csv"):
        assert "40 of 100 labels changed" in succeed(*common, "-o", name)
    noisy = np.load("noisy.npy")
    assert (noisy != clean).sum() == 40
    assert Path("noisy.txt").read_text().split() == [str(c) for c in noisy]
    assert Path("noisy.csv").read_text().splitlines()[0] == "row,label,clean,changed"
    np.testing.assert_array_equal(np.load("clean.npy"), clean)


def test_from_a_data_set_to_a_head_on_the_command_line(project: Path) -> None:
    options = ["--noise", "flip", "--rate", "0.3", "--epochs", "2", "--model-option", "hidden=[20]"]
    said = succeed("train", "--data", "digits", *options, "-o", "run")
    assert "of the training labels are wrong" in said
    assert "hidden1" in succeed("layers", "run", "--data", "run:test")
    for part in ("train", "validation", "test"):
        assert "hidden1 (20)" in succeed("features", "run", "--data", f"run:{part}", "-o", part)
    succeed("fit", "train", "--validation", "validation", "-o", "head")
    assert "robust" in succeed("compare", "head", "test")
    again = succeed("train", "--data", "digits", *options, "-o", "run")
    assert again == said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--data", "digitz", "-o", "r"], "Did you mean 'digits'"),
        (["train", "--data", "digits", "--model-option", "width", "-o", "r"], "NAME=VALUE"),
        (["corrupt", "digits", "--noise", "flp", "--rate", "0.1", "-o", "n.npy"], "Did you mean"),
        (["corrupt", "digits", "--noise", "flip", "--rate", "0.1", "-o", "n.xls"], "use .npy"),
    ],
)
def test_mistakes_in_making_noise_and_training(
    project: Path, arguments: list[str], message: str
) -> None:
    result = runner.invoke(app, arguments)
    assert result.exit_code == 1
    assert message in result.output
