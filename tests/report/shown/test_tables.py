"""Samples that are texts, or rows of a table."""

import numpy as np
import pytest

from rehead.report.shown import Looks, NotShown, open_shown


def test_texts_by_id_and_by_order(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("name,text\nb,<b>Bad</b>\na,Good\n", encoding="utf-8")
    shown = open_shown(np.array(["a", "b"]), Looks(texts=f"{file}:text"))
    assert (shown.kind, shown.text("b")) == ("text", "<b>Bad</b>")
    shown = open_shown(np.arange(2), Looks(texts=f"{file}:text"), numbered=True)
    assert shown.text(0) == "<b>Bad</b>"
    (tmp_path / "t.txt").write_text("one\ntwo\n")
    assert open_shown(np.arange(2), Looks(texts=tmp_path / "t.txt")).text(1) == "two"
    assert open_shown(np.array(["x", "y"]), Looks(texts=["one", None])).text("y") == ""


def test_row_numbers_are_ids_only_where_a_table_has_them(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("id,text\n1,second\n0,first\n")
    assert open_shown(np.arange(2), Looks(texts=f"{file}:text"), numbered=True).text(0) == "first"
    file.write_text("id,text\na7,first\na8,second\n")
    assert open_shown(np.arange(2), Looks(texts=f"{file}:text"), numbered=True).text(0) == "first"


def test_rows_of_the_table_that_samples_come_from_are_in_their_order(tmp_path):
    """Also where a column that is ignored counts them in another order."""
    file = tmp_path / "t.csv"
    file.write_text("id,name,text\n1,1,first\n0,0,second\n")
    looks = Looks(texts=f"{file}:text")
    assert open_shown(np.arange(2), looks, numbered=True, data=file).text(0) == "first"
    file.write_text("id,name,text\n1,0,first\n0,1,second\n")
    shown = open_shown(np.array(["0", "1"]), Looks(table=file), data=file)  # ids of column "name"
    assert shown.row("0")["text"] == "first"
    assert shown.note == ""


def test_texts_that_cannot_be_read(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("name,text\nb,x\na,y\na,z\n")
    for names, numbered, problem in (
        (["a", "b"], False, "1 ids of samples occur more than once"),
        (["q", "r"], False, "2 of 2 samples are not in"),
        ([0, 1], True, "3 rows, and there are 2 samples without ids"),
    ):
        with pytest.raises(ValueError, match=problem):
            open_shown(np.array(names), Looks(texts=f"{file}:text"), numbered=numbered)
    with pytest.raises(ValueError, match="Which column"):
        open_shown(np.arange(3), Looks(texts=file), numbered=True)
    with pytest.raises(ValueError, match="no column 'txt'"):
        open_shown(np.arange(3), Looks(texts=f"{file}:txt"), numbered=True)
    for name in ("latin.csv", "latin.txt"):
        (tmp_path / name).write_bytes("text\nMüller\n".encode("latin1"))
        with pytest.raises(ValueError, match=r"not UTF-8 text.*iconv"):
            open_shown(np.arange(1), Looks(texts=tmp_path / name), numbered=True)
    with pytest.raises(FileNotFoundError):
        open_shown(np.arange(1), Looks(texts=tmp_path / "none.csv"))


def test_rows_of_tables(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("id,width,town\nx,0.50,Rome\ny,1,Bonn\n")
    shown = open_shown(np.array(["y", "x"]), Looks(table=file))
    assert (shown.kind, shown.row("x")) == ("row", {"id": "x", "width": "0.50", "town": "Rome"})
    with pytest.raises(NotShown, match="no row"):
        shown.row("z")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"width": [0.5, 1.0], "town": ["Rome", None]})
    assert open_shown(np.array(["y", "x"]), Looks(table=frame)).row("y")["town"] == "Rome"
    with pytest.raises(ValueError, match="2 rows, and there are 3 samples"):
        open_shown(np.arange(3), Looks(table=frame))
    with pytest.raises(ValueError, match="not a table"):
        open_shown(np.arange(3), Looks(table=tmp_path))


def test_the_column_that_holds_the_ids_is_named(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("count,code,town\n7,x1,Rome\n8,x2,Bonn\n")
    shown = open_shown(np.array(["x2", "x1"]), Looks(table=file))
    assert shown.note == f"Rows of {file} are found by the column 'code'."
    assert shown.row("x1")["town"] == "Rome"
    shown = open_shown(np.array([8, 7]), Looks(table=file))  # a guess that may be wrong is told
    assert "by the column 'count'" in shown.note
    with pytest.raises(ValueError, match=r"3 of 4 samples are not in the column 'code' .*--ids"):
        open_shown(np.array(["x1", "q", "r", "s"]), Looks(table=file))
    file.write_text("count,code\n7,x1\n7,x2\n8,x3\n")
    with pytest.raises(ValueError, match="more than once in the column 'count'"):
        open_shown(np.array([7, 8]), Looks(table=file))
