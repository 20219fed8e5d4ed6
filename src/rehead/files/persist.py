"""Models on disk: one safetensors file whose header carries the rest as JSON. Never pickle.

A file is written beside its target and moved into place, so that a reader never sees half of one;
a checksum over the arrays tells a damaged file from a good one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from rehead._typing import Array
from rehead.files import schema
from rehead.files.atomic import write_atomically as write_atomically
from rehead.files.schema import FieldError, check_fields

Model = TypeVar("Model")

FORMAT_VERSION = 4
"""2: ensembles keep column names, heads their baselines and the report in a part of its own.
3: ensembles keep how given posteriors are read.
4: features may be mapped first, there may be a second opinion, and labels of hard samples may be
guesses. Files without any of these are still of version 3, which others read."""
NEW_PARTS, WITHOUT_THEM = {"kernel_map", "second", "guessed"}, 3
"""Parts of a file that are new in this version, and the version of files that have none."""


class ModelFileError(ValueError):
    """A file that cannot be read as a model of this library."""


def write_model(
    path: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, Array],
    settings: Mapping[str, Any],
) -> None:
    """Write arrays and JSON settings atomically.

    Raises
    ------
    TypeError
        If a setting cannot be expressed in JSON.
    """
    arrays = {name: np.asarray(a, order="C") for name, a in arrays.items()}
    new = any(NEW_PARTS & set(name.split(".")) for name in arrays)
    version = FORMAT_VERSION if new else WITHOUT_THEM
    header = {"kind": kind, "version": version, "settings": settings}
    header["sha256"] = _checksum(arrays, header)
    write_atomically(Path(path), save(arrays, metadata={"rehead": json.dumps(header)}))


class Header(NamedTuple):
    """What a model file says about itself; ``whole`` is what its checksum is of."""

    kind: str
    settings: dict[str, Any]
    checksum: str
    whole: dict[str, Any]


def model_kind(path: str | os.PathLike[str]) -> str:
    """Which class a model file is of; only its header is read."""
    with _opened(Path(path)) as file:
        return _header(Path(path), file.metadata()).kind


def read_model(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Array], dict[str, Any]]:
    """Read arrays and settings; a file that is not a good model of this kind is an error."""
    path = Path(path)
    with _opened(path) as file:
        header = _header(path, file.metadata())
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if header.kind != kind:
        raise ModelFileError(
            f"{path} holds a {header.kind}, not a {kind}. Load it with {header.kind}.load."
        )
    if header.checksum != _checksum(arrays, header.whole):
        raise ModelFileError(f"{path} is damaged: its checksum does not match its content.")
    return arrays, header.settings


def load_model(
    path: str | os.PathLike[str],
    kind: str,
    build: Callable[[dict[str, Array], dict[str, Any]], Model],
) -> Model:
    """Read a file and build what it holds; an error in a field names the file."""
    arrays, settings = read_model(path, kind)
    with naming(path):
        return build(arrays, settings)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Tell of which file a field is wrong."""
    try:
        yield
    except FieldError as error:
        raise ModelFileError(
            f"{path} does not hold what it should: {error} Save the model again, or fit it anew."
        ) from error


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    if not path.exists():
        raise FileNotFoundError(f"There is no model file at {path}.")
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder, not a model file. Name the file in it.")
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except ModelFileError:
        raise
    # Types that numpy does not have are an AttributeError or a TypeError.
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelFileError(
            f"{path} is not a model file of rehead, or it is damaged ({error}). Save the model "
            "again, or fit it anew."
        ) from error


HEADER = {
    "kind": schema.text,
    "version": schema.count(1),
    "settings": schema.mapping,
    "sha256": schema.text,
}
"""What every model file says about itself, beside its arrays."""


def _header(path: Path, metadata: Mapping[str, str] | None) -> Header:
    try:
        whole = json.loads((metadata or {})["rehead"])
        check_fields(whole, HEADER, {})
    except (KeyError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{path} is a safetensors file, but not one that rehead wrote."
        ) from error
    if whole["version"] > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} was written by a newer rehead (format {whole['version']}, this one reads up "
            f"to {FORMAT_VERSION}). Upgrade with: pip install --upgrade rehead"
        )
    checksum = whole.pop("sha256")
    return Header(whole["kind"], whole["settings"], checksum, whole)


LATER_PARAMS = ("feature_map", "labels_from")
"""Constructor arguments that files of version 3 do not have."""


def params_to_json(params: Mapping[str, Any]) -> dict[str, Any]:
    """Constructor arguments as JSON. A generator has no lasting value, so it becomes None.

    What earlier versions do not know is left out where it is not set, so that they read the file.
    """
    out = {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in params.items()
        if not (name in LATER_PARAMS and value is None)
    }
    if not isinstance(out["random_state"], int):
        out["random_state"] = None
    return out


def labels_to_json(labels: Array, what: str = "Labels") -> dict[str, Any]:
    """Labels with their dtype; those that would not come back as they are, are a TypeError."""
    values = [v.item() if isinstance(v, np.generic) else v for v in labels.tolist()]
    saved = {"dtype": labels.dtype.str, "values": values}
    problem = schema.labels("n").check(saved, {}) if labels.ndim == 1 else "have several columns"
    if problem is not None:
        raise TypeError(
            f"{what} of type {labels.dtype} cannot be saved: they would not come back as they are. "
            "Use whole numbers or text."
        )
    return saved


def labels_from_json(saved: Mapping[str, Any]) -> Array:
    """Labels as they were."""
    return np.array(saved["values"], dtype=np.dtype(saved["dtype"]))


def _checksum(arrays: Mapping[str, Array], header: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        a = arrays[name]
        digest.update(f"{name}:{a.dtype.str}:{a.shape};".encode())
        digest.update(a.tobytes())
    return digest.hexdigest()
