"""What is known of labels, as `rehead clean` takes it."""

import numpy as np
import pytest

from rehead.cli.known import check_known_rows, known_content, known_places, known_rows
from rehead.files.cleaned import CleanedFolder, Cleaning


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{i % 2},{'yes' if i < 3 else ''},{i % 2}" for i in range(6)]
    (tmp_path / "t.csv").write_text("a,label,checked,before\n" + "\n".join(rows) + "\n")
    np.save("checked.npy", np.arange(6) < 3)
    return CleanedFolder(tmp_path / "out")


def test_places_and_contents(folder, tmp_path):
    both = {"trusted": "checked", "uncorrected": None}
    assert known_places(both, None, folder) == {"trusted": "checked"}
    # A network's features have no columns: the table of its inputs has.
    found = known_places(both, "t.csv", folder)
    assert found == {"trusted": f"{tmp_path}/t.csv:checked"}
    assert list(known_content(found, folder)) == [f"{tmp_path}/t.csv"]
    assert known_content({"trusted": "checked"}, folder) == {}


def test_columns_are_no_features(folder):
    train = {"data": "t.csv", "labels": "label", "trusted": "checked", "uncorrected": "before"}
    folder.write(Cleaning(train=train))
    source, held_out, known = known_rows(folder)
    assert list(source.ignore) == ["checked", "before"]
    assert held_out is None
    assert known.is_trusted.sum() == 3


def test_what_cannot_be_read_is_named(folder):
    check_known_rows({"trusted": None, "uncorrected": None}, "nowhere.csv")
    check_known_rows({"trusted": "checked.npy", "uncorrected": None}, "mine:loader")
    with pytest.raises(ValueError, match=r"mine:loader is no table.*FILE:COLUMN"):
        check_known_rows({"trusted": "checked", "uncorrected": None}, "mine:loader")
    with pytest.raises(ValueError, match=r"neither a column of .*t\.csv"):
        check_known_rows({"trusted": "chekced", "uncorrected": None}, "t.csv")


def test_other_numbers_of_rows_are_told_before_the_work(folder):
    np.save("few.npy", np.arange(5) < 3)
    np.save("before.npy", np.arange(6) % 2)
    for name in ("trusted", "uncorrected"):
        known = {"trusted": "checked.npy", "uncorrected": "before.npy", name: "few.npy"}
        with pytest.raises(ValueError, match=rf"--{name} few.npy has 5 rows, and t.csv has 6\."):
            check_known_rows(known, "t.csv")
    with pytest.raises(ValueError, match=r"before.npy has 6 rows, and --trusted few.npy has 5\."):
        check_known_rows({"trusted": "few.npy", "uncorrected": "before.npy"}, "mine:loader")
    check_known_rows({"trusted": "checked.npy", "uncorrected": "before.npy"}, "t.csv")
