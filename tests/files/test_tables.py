"""Tables: their cells as numbers, labels and ids, and how they are written."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from rehead.files.columns import Roles, choose_features
from rehead.files.tables import (
    Table,
    check_ending,
    is_table,
    read_table,
    short_list,
    typed,
    write_csv,
    write_labels,
    write_table,
)


def column(*values, separator=";"):
    return Table("t.csv", {"c": values}, list(range(2, 2 + len(values))), separator)


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1", "2.5", "-3e2"], [1, 2.5, -300]),
        (["1,5", "2", "-0,25"], [1.5, 2, -0.25]),
        (["True", "FALSE"], [1, 0]),
        (["1.234,5", "2"], None),
        (["1_000", "2"], None),
        (["1", ""], None),
        (["a", "b"], None),
    ],
)
def test_numbers(values, numbers):
    found = column(*values).numbers("c")
    assert (found is None) if numbers is None else found.tolist() == numbers


def test_a_comma_is_no_decimal_comma_where_it_separates_values():
    assert column("1,5", "2,5", separator=",").numbers("c") is None


@pytest.mark.parametrize(
    ("values", "exact", "expected"),
    [
        (["1", "2", "10"], False, [1, 2, 10]),
        (["1.0", "2.5"], False, [1.0, 2.5]),
        (["1.10", "1.1"], True, ["1.10", "1.1"]),
        (["007", "010"], False, ["007", "010"]),
        (["1_2", "12"], False, ["1_2", "12"]),
        (["True", "False"], True, ["True", "False"]),
        (["99999999999999999999", "1"], True, ["99999999999999999999", "1"]),
        (["cat", "1"], False, ["cat", "1"]),
    ],
)
def test_labels_and_ids_stay_what_they_are(values, exact, expected):
    assert typed(values, exact=exact).tolist() == expected


def test_a_blank_label_is_an_error_with_its_line(tmp_path):
    (tmp_path / "t.csv").write_text("x,label\n1,cat\n2,\n3,\n")
    with pytest.raises(ValueError, match=r"Line 3 of .*t.csv: column 'label' is blank \(as are 1"):
        read_table(tmp_path / "t.csv").values("label")
    pd.DataFrame({"label": ["cat", None]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        ValueError, match=r"Row 2 of .*t.parquet \(the first is 1\): column 'label'"
    ):
        read_table(tmp_path / "t.parquet").values("label")


def test_a_column_that_is_not_there():
    table = Table("t.csv", {"Label": ["a"], "width": ["1"]})
    with pytest.raises(ValueError, match=r"no column 'label'. Did you mean 'Label'\? It has Label"):
        table.check_columns(["width", "label"])


def test_parquet_of_every_type(tmp_path):
    frame = pd.DataFrame(
        {
            "float": np.array([0.5, 1.5], np.float32),
            "whole": [1, 2],
            "truth": [True, False],
            "text": ["a", "b"],
            "group": pd.Categorical(["x", "y"]),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.numbers("float").tolist() == [0.5, 1.5]
    assert table.numbers("truth").tolist() == [1, 0]
    assert table.numbers("text") is None
    assert table.values("group").tolist() == ["x", "y"]
    assert table.values("text").dtype.kind == "U"
    assert table.values("whole").tolist() == [1, 2]
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(ValueError, match="not a Parquet file"):
        read_table(tmp_path / "bad.parquet")
    frame.iloc[:0].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="holds no rows"):
        read_table(tmp_path / "none.parquet")


def test_a_column_of_lists_becomes_columns(tmp_path):
    frame = pd.DataFrame({"e": [[0.5, 1.5], [2.5, 3.5]], "label": ["a", "b"]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.names == ["e[0]", "e[1]", "label"]
    assert table.numbers("e[1]").tolist() == [1.5, 3.5]
    assert table.unpacked("e") == ["e[0]", "e[1]"]
    assert table.unpacked("label") == ["label"]
    for rows in ([[0.5, 1.5], [2.5]], [[0.5], None], [["a"], ["b"]]):
        pd.DataFrame({"e": rows}).to_parquet(tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet")
        assert (table.names, table.numbers("e")) == (["e"], None)
        with pytest.raises(ValueError, match="hold no numbers: 'e'"):
            choose_features(table, Roles())


def test_what_is_a_table(tmp_path):
    assert is_table("T.CSV")
    assert is_table("t.parquet")
    assert not is_table("t.npy")
    (tmp_path / "folder.csv").mkdir()
    assert not is_table(tmp_path / "folder.csv")


def test_names_in_one_line():
    assert short_list(["a", "b"]) == "a, b"
    assert short_list([f"f{i}" for i in range(64)]) == "f0, f1, f2 ... f63 (64 columns)"


def test_csv_out(tmp_path):
    write_csv(tmp_path / "out.csv", {"id": np.array(["a,b", "c"]), "p": np.array([0.5, 1.0])})
    assert (tmp_path / "out.csv").read_text() == 'id,p\n"a,b",0.5\nc,1.0\n'


def test_the_ending_says_how_a_table_is_written(tmp_path):
    columns = {"id": np.array(["a", "b"]), "p": np.array([0.5, 1.0])}
    for name, read in (("t.csv", pd.read_csv), ("t.parquet", pd.read_parquet)):
        write_table(tmp_path / name, columns)
        assert read(tmp_path / name).to_dict("list") == {"id": ["a", "b"], "p": [0.5, 1.0]}
    with pytest.raises(ValueError, match=r"t.xlsx: its name must end in .csv or .parquet"):
        write_table(tmp_path / "t.xlsx", columns)
    check_ending(tmp_path / "T.CSV", [".csv"])


@pytest.mark.parametrize("suffix", [".npy", ".txt", ".csv", ".parquet"])
@pytest.mark.parametrize("labels", [np.array([0, 0, 2]), np.array(["ant", "ant", "käfer"])])
def test_labels_that_were_written_are_read(tmp_path, suffix, labels):
    from rehead.files.places import read_column

    path = tmp_path / f"y{suffix}"
    write_labels(path, {"id": np.arange(3), "label": labels})
    named = ":label" if suffix in (".csv", ".parquet") else ""
    assert read_column(f"{path}{named}").tolist() == labels.tolist()
    with pytest.raises(ValueError, match=r"must end in .npy or .txt or .csv or .parquet"):
        write_labels(tmp_path / "y.json", {"label": labels})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "2.0"], [1, 2]),
        (["True", "False"], [True, False]),
        (["true", "false"], ["true", "false"]),
        (["1e3", "1000"], ["1e3", "1000"]),
        (["1e-3", "0.5", "2"], [0.001, 0.5, 2.0]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["12345678901234567.0", "1.0"], ["12345678901234567.0", "1.0"]),
        (["NA", "a"], ["NA", "a"]),
    ],
)
def test_text_becomes_numbers_only_where_it_can_be_written_back(values, expected):
    found = typed(values).tolist()
    assert found == expected
    assert [type(v) for v in found] == [type(v) for v in expected]


@pytest.mark.parametrize("word", ["NA", "nan", "null", "N/A"])
def test_a_label_that_says_no_value_among_numbers_is_refused(word):
    with pytest.raises(ValueError, match=f"Line 3 of t.csv: .* no value \\('{word}'\\)"):
        column("1", word, "2").values("c")


WRITTEN_AS = {
    "int64": lambda v: pd.array(v, dtype="int64"),
    "int8": lambda v: pd.array(v, dtype="int8"),
    "uint64": lambda v: pd.array(v, dtype="uint64"),
    "float64": lambda v: pd.array(v, dtype="float64"),
    "text": lambda v: [str(x) for x in v],
    "category": lambda v: pd.Categorical([str(x) for x in v]),
    "decimal": lambda v: [Decimal(x) for x in v],
}


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", WRITTEN_AS)
def test_labels_do_not_depend_on_the_format(tmp_path, kind, ending):
    path = tmp_path / f"t{ending}"
    frame = pd.DataFrame({"label": WRITTEN_AS[kind]([3, 12, 3])})
    frame.to_csv(path, index=False) if ending == ".csv" else frame.to_parquet(path)
    labels = read_table(path).values("label")
    assert labels.dtype == np.int64
    assert labels.tolist() == [3, 12, 3]


def test_digits_of_decimals_are_kept(tmp_path):
    path = tmp_path / "t.parquet"
    ids = ["12345678901234567890", "12345678901234567891"]
    pd.DataFrame({"id": map(Decimal, ids), "x": map(Decimal, ["0.5", "2"])}).to_parquet(path)
    table = read_table(path)
    assert table.values("id", exact=True).tolist() == ids
    assert table.numbers("x").tolist() == [0.5, 2.0]


@pytest.mark.parametrize(
    "values",
    [
        pd.Categorical(["a", None, "b"]),
        pd.Categorical([1, None, 2]),
        pd.array([1, None, 2], dtype="Int64"),
        pd.array([True, None, False], dtype="boolean"),
        ["a", None, "b"],
    ],
    ids=["categories", "categories of numbers", "Int64", "boolean", "text"],
)
def test_a_null_is_never_a_label(tmp_path, values):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"label": values}).to_parquet(path)
    with pytest.raises(ValueError, match=r"Row 2 of .*: column 'label' is blank"):
        read_table(path).values("label")


def test_labels_that_are_times_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"label": pd.to_datetime(["2020-01-01", "2021-01-01"])}).to_parquet(path)
    with pytest.raises(ValueError, match=r"times. Write them as text"):
        read_table(path).values("label")


def test_unpacked_columns_do_not_replace_others(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"e[0]": [5.0, 6.0], "e": [[1.0, 2.0], [3.0, 4.0]]}).to_parquet(path)
    with pytest.raises(ValueError, match=r"several columns called 'e\[0\]'"):
        read_table(path)


def test_names_of_columns_do_not_steer_the_terminal():
    assert short_list(["a\x1b[2J", "b"]) == "a\\x1b[2J, b"
