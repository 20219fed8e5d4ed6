"""The demo as a folder of `rehead clean`."""

import numpy as np
import pytest

from rehead.audit.files import audit_source
from rehead.experiments.demo import DemoSettings, run_demo
from rehead.files.cleaned import CleanedFolder, CleaningError
from rehead.report.demofolder import check_demo_folder, write_demo_folder
from rehead.report.shown import Looks, open_shown

SETTINGS = DemoSettings(noises=("uniform",), n_seeds=1, epochs=40)


@pytest.fixture(scope="module")
def showcase():
    return run_demo(SETTINGS).showcases[0]


@pytest.fixture
def folder(showcase, tmp_path):
    return CleanedFolder(write_demo_folder(showcase, SETTINGS, tmp_path / "demo"))


def test_the_folder_gives_the_same_report(folder, showcase):
    report = audit_source(folder.head, folder.source()).report
    np.testing.assert_allclose(report.quality, showcase.report.quality, atol=1e-9)
    assert (report.names == showcase.digits.train.ids).all()
    shown = open_shown(report.names, Looks(**folder.looks()))
    assert shown.kind == "image"
    assert shown.picture(report.worst(1)[0], 64)
    assert folder.read().head == {"given": ["softmax"], "random_state": 0}
    assert "the network&#39;s softmax" in folder.report.read_text()


def test_it_can_be_moved(folder, tmp_path):
    moved = folder.path.rename(tmp_path / "elsewhere")
    assert (
        len(audit_source(moved / "head.safetensors", CleanedFolder(moved).source()).report) == 1347
    )


def test_what_is_there_is_not_written_again(folder, showcase):
    before = {path.name: path.stat().st_ino for path in folder.path.iterdir()}
    write_demo_folder(showcase, SETTINGS, folder.path)
    after = {path.name: path.stat().st_ino for path in folder.path.iterdir()}
    assert {n: i for n, i in after.items() if n != "cleaning.json"} == {
        n: i for n, i in before.items() if n != "cleaning.json"
    }


def test_other_folders_are_left_alone(folder, tmp_path):
    with pytest.raises(CleaningError, match=r"made from data digits, noise uniform, rate 0\.4"):
        check_demo_folder(folder.path, DemoSettings(noises=("flip",)))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x").touch()
    with pytest.raises(CleaningError, match="holds other files"):
        check_demo_folder(tmp_path / "mine", SETTINGS)
    with pytest.raises(CleaningError, match="is a file"):
        check_demo_folder(tmp_path / "mine" / "x", SETTINGS)
    check_demo_folder(tmp_path / "new", SETTINGS)
