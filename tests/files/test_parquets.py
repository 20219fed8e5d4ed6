"""Parquet: columns as arrays, and damage of any kind is told with the name of the file."""

import errno
import io

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from rehead.files.parquets import read_parquet, write_parquet

COLUMNS = {"name": np.array(["x", "y", "käfer"]), "a": np.array([1.5, 2.0, -3.0])}


def test_columns_come_back(tmp_path):
    write_parquet(tmp_path / "t.parquet", COLUMNS)
    found = read_parquet(tmp_path / "t.parquet")
    assert {k: v.tolist() for k, v in found.items()} == {k: v.tolist() for k, v in COLUMNS.items()}


def test_a_flipped_bit_anywhere_is_a_table_or_told(tmp_path):
    """pyarrow has a kind of error for each part: OSError, KeyError, UnicodeDecodeError."""
    path = tmp_path / "t.parquet"
    write_parquet(path, COLUMNS)
    content = path.read_bytes()
    errors = []
    for at in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        try:
            read_parquet(path)
        except ValueError as error:
            errors.append(error)
    assert len(errors) > 20
    assert {type(error) for error in errors} == {ValueError}
    assert all(str(path) in str(error) for error in errors)


@pytest.mark.parametrize("kept", [0, 4, 100, -1])
def test_a_part_of_a_file(tmp_path, kept):
    path = tmp_path / "t.parquet"
    write_parquet(path, COLUMNS)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"t.parquet is not a Parquet file, or it is damaged"):
        read_parquet(path)


def test_what_the_system_refuses_stays_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        read_parquet(tmp_path / "none.parquet")
    assert error.value.errno == errno.ENOENT


def test_memory_that_runs_out_may_be_damage(tmp_path, monkeypatch):
    def read(path):
        raise pyarrow.ArrowMemoryError("malloc of size 123 failed")

    write_parquet(tmp_path / "t.parquet", COLUMNS)
    monkeypatch.setattr(pyarrow.parquet, "ParquetFile", read)
    with pytest.raises(ValueError, match=r"or there is not enough memory for it \(malloc"):
        read_parquet(tmp_path / "t.parquet")


def test_names_that_are_there_twice(tmp_path):
    out = io.BytesIO()
    table = pyarrow.Table.from_arrays([pyarrow.array([1.0])] * 2, names=["a", "a"])
    pyarrow.parquet.write_table(table, out)
    (tmp_path / "t.parquet").write_bytes(out.getvalue())
    with pytest.raises(ValueError, match="several columns called 'a'"):
        read_parquet(tmp_path / "t.parquet")
