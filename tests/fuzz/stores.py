"""Feature stores and files of arrays: damaged, incomplete, mixed up, and leading elsewhere."""

from __future__ import annotations

import copy
import io
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rehead.files import manifest as manifests
from rehead.files.manifest import MANIFEST
from rehead.files.samples import Source, read_samples
from rehead.files.store import Chunk, StoreWriter

from ..files import crafted
from .outcome import Case, Oracle, refused, same
from .samples import NAMES, blobs, damage, pick, pick_named

Random = np.random.Generator
OLD = Path(__file__).parents[1] / "files" / "store_of_version_1"


def cases(rng: Random, folder: Path) -> Iterator[Case]:
    """Cases without end."""
    good = {"store": folder / "good", "old store": OLD, "other": folder / "other"}
    _write_store(good["store"], 0)
    _write_store(good["other"], 1)
    answers = {name: _read(path) for name, path in good.items()}
    for number in itertools.count():
        place = folder / f"case{number % 7}"
        if number % 3 == 0:
            yield _array_case(rng, folder / f"arrays{number % 7}")
            continue
        name = pick(rng, ["store", "store", "store", "old store"])
        what, change = pick_named(rng, _CHANGES)
        right: Oracle = same(answers[name])
        if change is _edit and name == "store":
            right = _is_consistent
        elif name == "old store" and change in (_edit, _damage_manifest):
            # It has no checksum of its manifest; names of layers may change.
            right = _is_consistent
        make = partial(change, place, copy.deepcopy(rng), good["other"])
        rng.random(100)
        yield Case(f"{name}: {what}", partial(_changed_store, good[name], place, make), right)


def _changed_store(good: Path, place: Path, change: Callable[[], None]) -> Any:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(good, place)
    change()
    return _read(place)


def _read(path: Path) -> Any:
    """All that a store holds."""
    found = read_samples(Source(path))
    layers = {name: np.asarray(values) for name, values in found.layers.items()}
    return {**layers, "labels": found.labels, "ids": found.names, "outputs": found.outputs}


def _is_consistent(result: Any) -> bool:
    """Whether columns are of one length, and layers are numbers: what a good store has."""
    lengths = {len(values) for values in result.values()}
    return len(lengths) == 1 and all(values.dtype.kind in "biufUSmM" for values in result.values())


def _write_store(path: Path, seed: int) -> None:
    X, y = blobs(np.random.default_rng(seed), 30)
    with StoreWriter(path, ["a", "b"], fingerprint="net", shard_rows=10) as writer:
        for start in range(0, 30, 5):
            rows = slice(start, start + 5)
            ids = np.array([f"img{i}" for i in range(start, start + 5)])
            inputs = np.arange(start, start + 5, dtype=np.uint64)
            layers = {"a": X[rows], "b": X[rows, :2].astype("f4")}
            outputs = np.eye(3)[y[rows]].astype("f4")
            writer.append(Chunk(layers, NAMES[y[rows]], ids, outputs, False, inputs))
        writer.finish()


def _damage_file(place: Path, rng: Random, other: Path) -> None:
    file = pick(rng, sorted(place.glob("*.npy")))
    file.write_bytes(damage(file.read_bytes(), rng)[1])


def _damage_manifest(place: Path, rng: Random, other: Path) -> None:
    file = place / MANIFEST
    file.write_bytes(damage(file.read_bytes(), rng)[1])


def _lose_file(place: Path, rng: Random, other: Path) -> None:
    pick(rng, sorted(place.iterdir())).unlink()


def _swap_files(place: Path, rng: Random, other: Path) -> None:
    one, two = (pick(rng, sorted(place.glob("*.npy"))) for _ in range(2))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def _of_other_store(place: Path, rng: Random, other: Path) -> None:
    file = pick(rng, sorted(place.iterdir()))
    if (other / file.name).exists():
        shutil.copy(other / file.name, file)


def _link_out(place: Path, rng: Random, other: Path) -> None:
    file = pick(rng, sorted(place.iterdir()))
    target = pick(rng, [other / file.name, Path("/etc/hostname"), Path("/nowhere"), place])
    file.unlink()
    file.symlink_to(target)


def _add_file(place: Path, rng: Random, other: Path) -> None:
    """Files that no store knows change nothing."""
    name = pick(rng, ["notes.txt", ".DS_Store", "layer0-00009.npy", "labels.npy", ".hidden.npy.x"])
    (place / name).write_bytes(rng.bytes(20))


def _in_place(place: Path, rng: Random, other: Path) -> None:
    """A file that is read, then changed while its size and its time of change stay."""
    _read(place)
    file = pick(rng, sorted(place.glob("*.npy")))
    state = file.stat()
    content = bytearray(file.read_bytes())
    content[-1 - int(rng.integers(20))] ^= 1 << int(rng.integers(8))
    with file.open("r+b") as handle:
        handle.write(content)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def _edit(place: Path, rng: Random, other: Path) -> None:
    """A manifest with another field, under a right checksum."""
    file = place / MANIFEST
    content = json.loads(file.read_bytes())
    content.pop("sha256", None)
    changes = list(crafted.other_settings(content))
    edited = pick(rng, changes)[1]()
    edited["sha256"] = manifests._checksum(edited)
    file.write_text(json.dumps(edited))


_CHANGES = {
    "damaged file": _damage_file,
    "damaged manifest": _damage_manifest,
    "lost file": _lose_file,
    "swapped files": _swap_files,
    "file of another store": _of_other_store,
    "link": _link_out,
    "file added": _add_file,
    "changed in place": _in_place,
    "edited manifest": _edit,
}


def _array_case(rng: Random, folder: Path) -> Case:
    """A .npy or .npz file as another program writes it, or damaged."""
    X, y = blobs(np.random.default_rng(2), 30)
    what, (values, right) = pick_named(rng, _forms(X, y))
    ending = pick(rng, ["npy", "npz"])
    content, labels = _saved(values, ending, y, rng), np.arange(30) % 3
    how = "as it is"
    if rng.random() < 0.5:
        how, content = damage(content, rng, pick(rng, [128, None]))
        # A .npy file has no checksum: only what it says of itself can be held against it.
        right = _has_one_form if ending == "npy" or right is refused else right
    return Case(
        f"{ending}: {what}, {how}", partial(_read_arrays, folder, ending, content, labels), right
    )


def _forms(X: np.ndarray, y: np.ndarray) -> dict[str, tuple[Any, Oracle]]:
    right = same(X)
    objects = X.astype(object)
    return {
        "plain": (X, right),
        "columns first": (np.asfortranarray(X), right),
        "big-endian": (X.astype(">f8"), right),
        "single": (X.astype("f4"), right),
        "half": (X.astype("f2"), right),
        "bytes": (X.astype("i1"), right),
        "objects": (objects, refused),
        "text": (X.astype(str), refused),
        "times": (X.astype("M8[D]"), refused),
        "complex": (X * 1j, refused),
        "one column": (X[:, 0], refused),
        "three dimensions": (X[None], refused),
        "record": (np.zeros(30, [("a", "f8"), ("b", "f8")]), refused),
        "nothing": (np.empty((0, 4)), refused),
    }


def _has_one_form(result: Any) -> bool:
    rows = result[:]  # what is on disk is read only now
    return rows.ndim == 2 and rows.dtype.kind in "biuf"


def _saved(values: np.ndarray, ending: str, y: np.ndarray, rng: Random) -> bytes:
    content = io.BytesIO()
    if ending == "npy":
        np.save(content, values, allow_pickle=True)
    else:
        save = pick(rng, [np.savez, np.savez_compressed])
        save(content, **{"features": values, "labels": y})
    return content.getvalue()


def _read_arrays(folder: Path, ending: str, content: bytes, labels: np.ndarray) -> Any:
    """The features, as far as a fit would take them."""
    from rehead._validation import check_features
    from rehead.ensemble.inputs import Layer

    folder.mkdir(exist_ok=True)
    (folder / f"x.{ending}").write_bytes(content)
    np.save(folder / "y.npy", labels)
    given = str(folder / "y.npy") if ending == "npy" else None
    found = read_samples(Source(folder / f"x.{ending}", given))
    return check_features(Layer(), found.layers["features"], reset=True)
