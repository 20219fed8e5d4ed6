"""The cache: made once, whole or not at all, within its limit, by one process at a time."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from rehead.experiments import cache as module
from rehead.experiments.cache import Cache, default_folder, digest


def ones(n=1000):
    return {"x": np.ones(n), "names": np.array(["a", "bc"]), "n": np.array(3)}


def not_again():
    raise AssertionError("It was made again.")


def kilobytes(cache, name, n=10):
    cache.arrays({"name": name}, lambda: {"x": np.zeros(n * 125)})


def there(cache):
    return {name for name in "abcdef" if cache.has({"name": name})}


def test_arrays_come_back_as_they_were(tmp_path):
    cache, what = Cache(tmp_path), {"of": "ones"}
    assert not cache.has(what)
    made = cache.arrays(what, ones)
    found = cache.arrays(what, not_again)
    assert list(found) == list(made)
    for name, array in made.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_what_was_used_longest_ago_is_deleted(tmp_path):
    cache = Cache(tmp_path, limit=35_000)
    for age, name in enumerate("abc"):
        kilobytes(cache, name)
        os.utime(cache.path({"name": name}), (1000 + age, 1000 + age))
    assert there(cache) == {*"abc"}
    cache.arrays({"name": "a"}, not_again)  # now it is the last that was used
    kilobytes(cache, "d")
    assert there(cache) == {*"acd"}
    os.utime(cache.path({"name": "a"}), (2000, 2000))
    kilobytes(cache, "e", 20)
    assert sum(p.stat().st_size for p in (tmp_path / "arrays").iterdir()) <= 35_000
    assert there(cache) == {*"de"}


def test_what_is_larger_than_the_limit_is_kept_alone(tmp_path):
    cache = Cache(tmp_path, limit=15_000)
    kilobytes(cache, "a")
    kilobytes(cache, "b", 50)
    assert there(cache) == {"b"}


def test_files_that_others_delete_meanwhile_are_no_error(tmp_path, monkeypatch):
    cache = Cache(tmp_path, limit=15_000)
    kilobytes(cache, "a")
    stat = Path.stat

    def gone(path, **options):
        if path == cache.path({"name": "a"}):
            raise FileNotFoundError(path)
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", gone)
    kilobytes(cache, "b")
    assert cache.has({"name": "b"})


def test_what_cannot_be_made_leaves_nothing(tmp_path):
    cache, what = Cache(tmp_path), {"of": "errors"}
    with pytest.raises(ZeroDivisionError):
        cache.arrays(what, lambda: 1 / 0)
    assert not cache.has(what)
    assert cache.arrays(what, ones)["n"] == 3  # and the lock is free again


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    cache, what = Cache(tmp_path), {"of": "ones"}

    def half(file, **arrays):
        file.write(b"PK half of it")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(np, "savez", half)
        with pytest.raises(OSError, match="No space left"):
            cache.arrays(what, ones)
    assert not cache.has(what)
    assert list((tmp_path / "arrays").iterdir()) == []


def test_objects_are_not_kept(tmp_path):
    with pytest.raises(TypeError, match="x is an array of objects"):
        Cache(tmp_path).arrays({}, lambda: {"x": np.array([{}, None])})


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "text"])
def test_a_damaged_file_is_made_again(tmp_path, damage):
    cache, what = Cache(tmp_path), {"of": "ones"}
    cache.arrays(what, ones)
    path = cache.path(what)
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "empty": b"",
            "cut": whole[:middle],
            "changed": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
            "text": b"nothing of ours",
        }[damage]
    )
    np.testing.assert_array_equal(cache.arrays(what, ones)["x"], np.ones(1000))
    assert path.read_bytes() == whole


def test_a_file_of_which_any_byte_is_changed_gives_no_wrong_array(tmp_path):
    cache, what = Cache(tmp_path), {"of": "two"}
    made = cache.arrays(what, lambda: {"x": np.arange(4.0)})
    path = cache.path(what)
    whole = path.read_bytes()
    for i in range(0, len(whole), 3):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 0x55]) + whole[i + 1 :])
        found = cache.arrays(what, lambda: {"x": np.arange(4.0)})
        assert list(found) == ["x"]
        np.testing.assert_array_equal(found["x"], made["x"])


def test_threads_that_ask_for_the_same_have_it_made_once(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.01)
    cache, made, begun = Cache(tmp_path), [], threading.Event()

    def slowly():
        made.append(1)
        begun.set()
        threading.Event().wait(0.2)
        return ones()

    first = threading.Thread(target=lambda: cache.arrays({"of": "ones"}, slowly))
    first.start()
    begun.wait(5)
    found = cache.arrays({"of": "ones"}, slowly)
    first.join()
    assert len(made) == 1
    assert found["n"] == 3


HOLD = """
import sys, time
from pathlib import Path
from rehead.experiments.cache import Cache
with Cache(Path(sys.argv[1])).alone({"of": "ones"}):
    print("begun", flush=True)
    time.sleep(600)
"""


def test_a_process_that_was_killed_keeps_nobody_waiting(tmp_path):
    held = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(held, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "begun\n"
        threading.Timer(0.3, other.kill).start()
        assert Cache(tmp_path).arrays({"of": "ones"}, ones)["n"] == 3
        assert other.wait(60) == -9


def test_work_in_progress_has_a_folder_until_it_is_done(tmp_path):
    cache, what = Cache(tmp_path), {"of": "work"}
    cache.working(what).mkdir(parents=True)
    (cache.working(what) / "checkpoint").touch()
    assert cache.working({"of": "other work"}) != cache.working(what)
    cache.finished(what)
    assert not cache.working(what).exists()
    cache.finished(what)  # twice is no error


def test_descriptions_that_differ_have_different_digests():
    array = np.zeros(5000)
    other = array.copy()
    other[2500] = 1  # which the text of an array leaves out
    found = [
        digest(content)
        for content in (
            {"rate": 0.4},
            {"rate": 0.40001},
            {"rate": "0.4"},
            {"rate": None},
            {"ratio": 0.4},
            {"labels": array},
            {"labels": other},
            {"labels": array.astype(np.float32)},
            {"labels": array.reshape(50, 100)},
        )
    ]
    assert len(set(found)) == len(found)


def test_the_order_of_a_description_does_not_matter():
    assert digest({"a": 1, "b": (2, 3)}) == digest({"b": [2, 3], "a": 1})


@pytest.mark.parametrize("value", [object(), {1, 2}, Path("x"), np.array([object()])])
def test_what_has_no_lasting_description_is_an_error(value):
    with pytest.raises(TypeError, match="no lasting description"):
        digest({"value": value})


def test_the_folder_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("REHEAD_CACHE", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine"
    assert Cache.default().folder == tmp_path / "mine"
    monkeypatch.delenv("REHEAD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "rehead" / "experiments"
