"""The built wheel, unpacked on its own, works: nothing is found only in the source tree."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_types_templates_and_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "rehead/py.typed" in names
    for file in ("templates/base.html.j2", "templates/parts.html.j2", "static/report.css"):
        assert f"rehead/report/{file}" in names
    assert "rehead/report/templates/demo.html.j2" in names
    assert "rehead/experiments/grid/page.md" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests", "benchmarks")) for name in names)


def test_the_wheel_classifies(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import numpy as np, rehead; X = np.eye(4)[[0, 1, 2, 3] * 5]; y = [0, 0, 1, 1] * 5;"
        "print(rehead.__file__, rehead.RobustGaussianClassifier('sample').fit(X, y).score(X, y))"
    )
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    file, score = out.stdout.split()
    assert Path(file).is_relative_to(tmp_path)
    assert float(score) == 1.0
