"""``.npy`` files: what numpy wrote is read, and what a header only claims is refused."""

import numpy as np
import pytest
from numpy.lib import format as npy_format

from rehead.files.npy import NpyError, read_npy, read_npy_header


def write_header(path, descr="<f8", shape="(3,)", fortran="False", data=b"\0" * 24, version=1):
    """A file whose header says anything."""
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n"
    return write_raw(path, text.encode(), data, version)


def write_raw(path, text, data=b"", version=1):
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    path.write_bytes(npy_format.magic(version, 0) + size + text + data)
    return path


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12).reshape(3, 4)),
        np.array(["a", "ü", "longer"]),
        np.array(7),
        np.zeros((0, 3)),
        np.zeros((3, 0), "f4"),
        np.array(["2020-01-01"], "M8[D]"),
        np.zeros(2, [("a", "f4"), ("b", "U3")]),
    ],
    ids=lambda a: f"{a.dtype.str}{a.shape}",
)
def test_what_numpy_writes_is_read(tmp_path, array, mmap):
    np.save(tmp_path / "a.npy", array)
    found = read_npy(tmp_path / "a.npy", mmap=mmap)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.flags.f_contiguous == array.flags.f_contiguous
    assert isinstance(found, np.memmap) == (mmap and array.nbytes > 0)
    np.testing.assert_array_equal(found, array)
    header = read_npy_header(tmp_path / "a.npy")
    assert (header.shape, header.dtype, header.n_bytes) == (array.shape, array.dtype, array.nbytes)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    "claim",
    [
        {"shape": "(2**40,)"},  # not even a number
        {"shape": "(1099511627776,)"},
        {"shape": "(4,)"},
        {"shape": "(1099511627776, 1099511627776, 1099511627776)"},
        {"descr": "<U200000000", "shape": "(1,)"},
        {"descr": "<U0", "shape": "(1099511627776,)"},
        {"descr": "|V0", "shape": "(1099511627776,)"},
        {"shape": "(-3,)"},
        {"shape": "(-1, -3)"},
        {"shape": "(0, 4611686018427387904, 4611686018427387904)"},
        {"shape": f"({'1,' * 100})"},
        {"descr": "|O"},
        {"descr": "no type"},
        {"shape": "3"},
        {"fortran": "7"},
        {"version": 2, "shape": "(4,)"},
        {"version": 3},
    ],
    ids=lambda claim: "-".join(str(v)[:20] for v in claim.values()),
)
def test_a_header_that_claims_too_much_or_nonsense(tmp_path, claim, mmap):
    file = write_header(tmp_path / "a.npy", **claim)
    with pytest.raises(NpyError, match=r"a\.npy"):
        read_npy(file, mmap=mmap)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"(" * 5000, b"[" * 9000 + b"]" * 900, b"{'descr': '\\N{x}'}", b"\xff\0", b"1 L L"],
)
def test_a_header_that_is_no_header(tmp_path, text):
    for version in (1, 2):
        with pytest.raises(NpyError, match=r"a\.npy is not a \.npy file"):
            read_npy(write_raw(tmp_path / "a.npy", text, version=version))


def test_any_bytes_are_read_or_refused(tmp_path):
    """Flipped and cut headers raise nothing but NpyError, and ask for no memory."""
    rng = np.random.default_rng(0)
    file = tmp_path / "a.npy"
    np.save(file, np.arange(6.0).reshape(2, 3))
    good = file.read_bytes()
    refused = 0
    for _ in range(400):
        data = bytearray(good[: rng.integers(1, len(good) + 1)])
        for _ in range(rng.integers(0, 3)):
            data[rng.integers(len(data))] = rng.integers(256)
        file.write_bytes(data)
        try:
            assert read_npy(file).nbytes <= len(data)
        except NpyError:
            refused += 1
    assert refused > 200


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_npy(tmp_path / "none.npy")
