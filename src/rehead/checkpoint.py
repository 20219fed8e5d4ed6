"""A fit that was stopped goes on from its last finished step.

Results of steps (``gaussian/steps.py``) are files of a folder, one each, written whole or not at
all, each with a checksum: safetensors, never pickle. Each says what the fit was made with, and is
of no use for any other fit. What took no longer than to write it is done again instead.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from rehead._typing import Array, JoinedFeatures, LazyFeatures, MappedFeatures
from rehead._warnings import warn
from rehead.files.lock import LOCK, FolderLock, LockedError
from rehead.files.persist import ModelFileError, read_model, write_model
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.steps import remembering

KIND = "Checkpoint"
LEAST_SECONDS = 0.1
"""Steps that took less are done again."""
BYTES_A_SECOND = 2e7
"""Larger results must have taken longer: so fast they are kept, at most."""


PLAIN = (str, bytes, int, float, type, type(None), np.generic, np.dtype, range, slice)
"""Kinds of values that their representation tells apart."""


class CheckpointError(ValueError):
    """A checkpoint that a fit cannot go on from."""


class Checkpoint:
    """A folder with results of steps, which one process at a time works with.

    Attributes
    ----------
    folder : Path
    n_found : int
        How many steps of an earlier run there were.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._writes = folder, True
        self._facts: dict[str, str] = {}
        try:
            folder.mkdir(exist_ok=True)
            self._lock = FolderLock(folder)
        except FileExistsError as error:
            raise CheckpointError(f"{folder} is a file. A checkpoint is a folder.") from error
        except LockedError as error:
            raise CheckpointError(
                f"Another process is at work with the checkpoint {folder}. Wait until it has "
                "ended, or choose another one."
            ) from error
        try:
            self.n_found = self._tidied()
        except BaseException:
            self.release()
            raise

    def _tidied(self) -> int:
        """Count the steps, and remove what a killed process had only half written."""
        names = sorted(path.name for path in self.folder.iterdir() if path.name != LOCK)
        half = [name for name in names if name.startswith(".step-") and name.endswith(".rehead")]
        steps = [name for name in names if name.startswith("step-")]
        strange = set(names) - {*half, *steps}
        if strange:
            raise CheckpointError(
                f"{self.folder} is no checkpoint: it holds {min(strange)}. Choose another folder."
            )
        for name in half:
            (self.folder / name).unlink()
        return len(steps)

    def release(self) -> None:
        """Let other processes in; what was kept stays."""
        self._lock.release()

    def leave(self) -> None:
        """For another run, if there is anything to go on with."""
        if any(self.folder.glob("step-*")):
            self.release()
        else:
            self.remove()

    def remove(self) -> None:
        """Delete the folder: there is nothing left to go on with."""
        self.release()
        for path in [*self.folder.glob("step-*"), self.folder / LOCK]:
            path.unlink()
        self.folder.rmdir()

    def bind(self, facts: Mapping[str, str]) -> None:
        """From now on steps belong to a fit with these facts; steps of another one are an error."""
        self._facts = dict(facts)
        first = next(self.folder.glob("step-*"), None)
        if first is not None:
            self._read(first)

    # What the core asks of a memory.

    def key(self, name: str, arguments: Any) -> str:
        """A checksum of the arguments of a step."""
        return digest([name, arguments])

    def has(self, key: str) -> bool:
        """Whether there is a file of the step."""
        return self._file(key).exists()

    def recall(self, key: str) -> Any:
        """The result of a step, if its file is whole and belongs to this fit."""
        arrays, settings = self._read(self._file(key))
        return _unpacked(settings["result"], arrays)

    def keep(self, key: str, result: Any, seconds: float) -> None:
        """Write the result of a step, if it would take longer to find it again."""
        arrays: list[Array] = []
        packed = _packed(result, arrays)
        size = sum(a.nbytes for a in arrays)
        if not self._writes or seconds < LEAST_SECONDS + size / BYTES_A_SECOND:
            return
        settings = {"facts": self._facts, "step": key, "result": packed}
        named = {str(i): a for i, a in enumerate(arrays)}
        try:
            write_model(self._file(key), KIND, named, settings)
        except OSError as error:
            self._writes = False
            warn(f"{error}. The fit goes on, but a kill would cost all that it does from here on.")

    def _file(self, key: str) -> Path:
        return self.folder / f"step-{key}.safetensors"

    def _read(self, file: Path) -> tuple[dict[str, Array], dict[str, Any]]:
        try:
            arrays, settings = read_model(file, KIND)
        except ModelFileError as error:
            raise CheckpointError(
                f"{file} is damaged ({error}) Delete it: this step is then done again."
            ) from error
        facts = settings["facts"]
        other = [name for name, value in self._facts.items() if facts.get(name) != value]
        if other:
            raise CheckpointError(
                f"The checkpoint {self.folder} is of another fit: {' and '.join(other)} were not "
                "the same. Fit as before to go on with it, or delete the folder to begin anew."
            )
        if file != self._file(settings["step"]):
            raise CheckpointError(f"{file} was renamed. Delete it.")
        return arrays, settings


_checkpoint: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)


@contextmanager
def checkpoint(folder: str | os.PathLike[str] | None) -> Iterator[Checkpoint | None]:
    """Meanwhile fits keep what they have done in a folder, and go on from it.

    Fit with the same settings, labels, features and seed after a kill: steps that were done are not
    done again, and the result is the same to the last bit. Any other fit is an error that says what
    differs. The folder is deleted at the end, unless there was an error.

    Parameters
    ----------
    folder : path or None
        A folder that is made, or was left by a fit that was stopped. None: nothing is kept.

    Examples
    --------
    >>> from rehead import LayerEnsemble
    >>> from rehead.scale import checkpoint
    >>> def fit_and_save(layers, labels):
    ...     with checkpoint("head.checkpoint"):
    ...         head = LayerEnsemble(random_state=0).fit(layers, labels)
    ...         head.save("head.safetensors")
    """
    if folder is None:
        yield None
        return
    kept = Checkpoint(Path(folder))
    token = _checkpoint.set(kept)
    try:
        yield kept
    except BaseException:
        kept.leave()
        raise
    else:
        kept.remove()
    finally:
        _checkpoint.reset(token)


@contextmanager
def bound_to(
    settings: Mapping[str, Any], given: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[None]:
    """Meanwhile steps of a fit are kept, if there is a checkpoint: for this fit, and no other.

    ``settings`` are those of the estimator, ``given`` is what it is fitted on, by name.
    """
    kept = _checkpoint.get()
    if kept is None:
        yield
        return
    if settings["random_state"] is None:
        raise ValueError(
            "A fit with a checkpoint needs a random_state, a whole number: without it, the same "
            "fit would draw other rows when it goes on."
        )
    fixed = {name: value for name, value in settings.items() if name != "random_state"}
    facts = {
        "settings": [fixed, SETTINGS],
        **given,
        "the random state": rng.bit_generator.state,
        "versions": [version(name) for name in ("rehead", "numpy", "scipy")],
    }
    kept.bind({name: digest(value) for name, value in facts.items()})
    with remembering(kept):
        yield


def digest(value: Any) -> str:
    """A checksum of values: arrays, features on disk (by those of their files), what holds them.

    Examples
    --------
    >>> import numpy as np
    >>> digest({"a": np.arange(3)}) == digest({"a": np.arange(3)}) != digest({"a": np.arange(4)})
    True
    """
    content = hashlib.sha256()
    _feed(content, value)
    return content.hexdigest()


def _feed(content: Any, value: Any) -> None:
    """Add a value to a checksum; what is not known would not be told apart, and is an error."""
    content.update(f"{type(value).__qualname__}:".encode())
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        content.update(f"{value.dtype.str}{value.shape}".encode())
        content.update(np.ascontiguousarray(value).data)
    elif isinstance(value, PLAIN):
        content.update(f"{value!r};".encode())
    else:
        parts = _parts(value)
        content.update(f"{len(parts)};".encode())
        for part in parts:
            _feed(content, part)


def _parts(value: Any) -> list[Any]:
    """What a value consists of."""
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, list | tuple | np.ndarray):
        return list(value)
    if isinstance(value, LazyFeatures):
        return [value.identity]
    if isinstance(value, JoinedFeatures):
        return [*value.parts, value.rows]
    if isinstance(value, MappedFeatures):
        return [value.X, value.row_map]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, FunctionType) and value.__closure__ is None:
        return [value.__module__, value.__qualname__]
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    if hasattr(value, "__array__"):
        return [np.asarray(value)]
    raise TypeError(f"A checkpoint cannot tell one {type(value).__qualname__} from another.")


def _packed(value: Any, arrays: list[Array]) -> Any:
    """A result as JSON, in which arrays, which are added to a list, are named by their place."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        # Their order in memory matters for the last bit of what is computed with them.
        by_column = array.flags.f_contiguous and not array.flags.c_contiguous
        arrays.append(array.T if by_column else array)
        return {"array": len(arrays) - 1, "by_column": by_column, "one": np.isscalar(value)}
    if isinstance(value, list | tuple):
        return [_packed(part, arrays) for part in value]
    return value


def _unpacked(value: Any, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, dict):
        array = arrays[str(value["array"])]
        array = array.T if value["by_column"] else array
        return array[()] if value["one"] else array
    if isinstance(value, list):
        return tuple(_unpacked(part, arrays) for part in value)
    return value
