"""CSV as programs and offices write it."""

import pytest

from rehead.files.csvs import INDEX, parse_csv

COLUMNS = {"a": ("1", "2"), "b": ("x y", "z")}


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,x y\n2,z\n",
        b"a,b\r\n1,x y\r\n2,z\r\n",
        b"\xef\xbb\xbfa,b\n1,x y\n2,z",
        b"a,b\r1,x y\r2,z\r",
        b'"a";"b"\r"1";"x y"\r"2";"z"\r',
        b"sep=;\ra;b\r1;x y\r2;z\r",
        b"a;b\n1;x y\n2;z\n",
        b"a\tb\n1\tx y\n2\tz\n",
        b"sep=;\na;b\n1;x y\n2;z\n",
        b"a, b\n1, x y\n2, z\n",
        b'"a","b"\n"1","x y"\n2,"z"\n',
        b"a,b\n1,x y\n\n2,z\n\n\n",
        b"a,b,\n1,x y,\n2,z,\n",
        "a;b\n1;x y\n2;z\n".encode("utf-16"),
    ],
)
def test_the_same_table_in_every_way_of_writing(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    assert parse_csv(tmp_path / "t.csv").columns == COLUMNS


def test_names_may_hold_commas(tmp_path):
    (tmp_path / "t.csv").write_text("length, cm;width, cm;label\n1,5;2;x\n")
    assert parse_csv(tmp_path / "t.csv").columns == {
        "length, cm": ("1,5",),
        "width, cm": ("2",),
        "label": ("x",),
    }


def test_lines_are_those_of_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"two\nlines"\n\n2,z\n')
    assert parse_csv(path).lines == [2, 5]
    path.write_text("sep=,\na,b\n1,x\n2,z\n")
    assert parse_csv(path).lines == [3, 4]


def test_a_first_column_without_a_name_is_called_as_pandas_does(tmp_path):
    (tmp_path / "t.csv").write_text(",b\n0,x\n")
    assert parse_csv(tmp_path / "t.csv").columns == {INDEX: ("0",), "b": ("x",)}


def test_a_blank_line_in_a_single_column_is_a_value_that_is_missing(tmp_path):
    (tmp_path / "t.csv").write_text("label\ncat\n\ndog\n\n")
    assert parse_csv(tmp_path / "t.csv").columns == {"label": ("cat", "", "dog")}


def test_numbers_can_be_names_where_they_count(tmp_path):
    (tmp_path / "t.csv").write_text("0,1,2\n.5,.6,.7\n")
    assert list(parse_csv(tmp_path / "t.csv").columns) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n\n3\n", "Line 4 of .* has 1 values, the header 2"),
        (b"sep=,\na,b\n1,2\n3\n", "Line 4 of .* has 1 values, the header 2"),
        (b"a,b\n", "holds no rows"),
        (b"", "holds no rows"),
        (b"a,a,b\n1,2,3\n", "several columns called 'a'"),
        (b"a,,b\n1,2,3\n", "Column 2 of .* has no name"),
        (b"0.5,1.25\n1,2\n", "first line of .* holds numbers"),
        ("a,b\n1,é\n".encode("latin1"), r"not UTF-8 text \(line 2\)"),
        (b"a,b\n1," + b"x" * 200_000 + b"\n", "Line 2 of .* is not CSV"),
    ],
)
def test_bad_files(tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        parse_csv(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('a,b\n1,"x\n2,y\n', "Line 2 of .* is not CSV: unexpected end of data. Perhaps a quot"),
        ('a,b\n1,"x\n2,"y\n', "Line 2 of .* is not CSV"),
        ("a,b\n1,2\n3,x\0\n", "Line 3 of .* holds a NUL character"),
        ("a,b\n1,2\n3\n", "Line 3 of .* has 1 values, the header 2"),
        ("a,b\n1,2\n3,4,5\n", "Line 3 of .* has 3 values, the header 2"),
        ("a,b, a\n1,2,3\n", "several columns called 'a'"),
    ],
)
def test_rows_are_not_lost(tmp_path, text, match):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=match):
        parse_csv(tmp_path / "t.csv")


def test_utf_16_that_does_not_say_so_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\n1,2\n".encode("utf-16-le"))
    with pytest.raises(ValueError, match="UTF-16 that does not say so"):
        parse_csv(tmp_path / "t.csv")
