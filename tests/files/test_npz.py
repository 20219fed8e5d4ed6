"""Files that claim more than they hold are refused before memory is asked for."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from rehead.files import npz
from rehead.files.npy import read_npy_header
from rehead.files.npz import free_memory, npz_headers, read_npz
from rehead.files.places import read_column
from rehead.files.samples import read_layers


def npy_bytes(dtype, shape, data=b"1234"):
    buffer = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + data


CLAIMS = {
    "wide text": npy_bytes("<U200000000", (3,)),
    "many rows": npy_bytes("<f8", (10**9, 64)),
    "cut short": npy_bytes("<f8", (1,)),
}


@pytest.mark.parametrize("case", CLAIMS)
@pytest.mark.parametrize("read", [read_column, read_layers])
@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_claims_are_checked_before_memory_is_asked_for(tmp_path, case, read, ending):
    path = tmp_path / f"x{ending}"
    if ending == ".npy":
        path.write_bytes(CLAIMS[case])
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", CLAIMS[case])
    tracemalloc.start()
    with pytest.raises(ValueError, match="is damaged: by its header it has"):
        read(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_a_small_file_that_unpacks_to_more_than_is_free_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=np.zeros((1000, 1000)))
    assert path.stat().st_size < 20_000
    assert read_layers(path)["x"].shape == (1000, 1000)
    monkeypatch.setattr(npz, "free_memory", lambda: 2**20)
    with pytest.raises(ValueError, match=r"unpacks to 8.0 MB, and 1.0 MB of memory are free.*npy"):
        read_layers(path)


def test_only_what_is_asked_for_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=np.zeros((1000, 1000)), labels=np.arange(4))
    monkeypatch.setattr(npz, "free_memory", lambda: 2**20)
    assert read_column(f"{path}:labels").tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"\x93NUMPY\x01\x00"])
def test_files_that_are_none_are_named(tmp_path, content):
    for ending in (".npy", ".npz"):
        path = tmp_path / f"x{ending}"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"x{ending} is not an? {ending} file, .*damaged"):
            read_layers(path)


def test_objects_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.array([{}, {}], object))
    with pytest.raises(ValueError, match="holds Python objects"):
        npz_headers(tmp_path / "x.npz")


def test_a_name_twice_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", npy_bytes("<i4", (1,)))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("x.npy", npy_bytes("<i4", (1,)))
    with pytest.raises(ValueError, match="two arrays called 'x'"):
        npz_headers(tmp_path / "x.npz")


def test_good_files_are_read(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "x.npy", X)
    assert read_npy_header(tmp_path / "x.npy").shape == (3, 2)
    np.savez(tmp_path / "x.npz", x=X, y=np.array(["a", "b"]))
    found = read_npz(tmp_path / "x.npz", ["x", "y"])
    np.testing.assert_array_equal(found["x"], X)
    assert found["y"].tolist() == ["a", "b"]


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="the system does not tell")
def test_free_memory_is_told():
    assert 2**20 < free_memory() < 2**50


def test_damage_of_any_kind_names_the_file(tmp_path):
    """Some sends the reader before the start of the file, some says that it is encrypted."""
    path = tmp_path / "x.npz"
    np.savez(path, features=np.eye(3), labels=np.arange(3))
    content = path.read_bytes()
    errors = []
    for at in range(0, len(content), 5):
        for new, n in ((b"", 9), (b"\xff", 1)):
            path.write_bytes(content[:at] + new + content[at + n :])
            try:
                read_npz(path, list(npz_headers(path)))
            except ValueError as error:
                errors.append(str(error))
    assert len(errors) > 100
    assert all(str(path) in error for error in errors)


def test_an_archive_without_features(tmp_path):
    np.savez(tmp_path / "x.npz", labels=np.arange(3), cube=np.zeros((1, 2, 3)))
    with pytest.raises(ValueError, match=r"x.npz holds no features: .* It has labels \(3,\), cube"):
        read_layers(tmp_path / "x.npz")
