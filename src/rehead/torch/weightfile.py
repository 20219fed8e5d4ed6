"""The weights of a user's network, from a file.

Nothing in a file runs unless the user says that its source is trusted. A file that is missing or
damaged is never a reason to say so.
"""

from __future__ import annotations

import pickle
import pickletools
import struct
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import torch
from torch import nn

WITHIN = ("state_dict", "model", "model_state_dict")
"""Names under which checkpoints keep the weights."""
WRAPPERS = ("module.", "_orig_mod.")
"""What parallel and compiled networks put before the names of their layers."""
DAMAGE = (EOFError, RuntimeError, zipfile.BadZipFile, struct.error)
"""What readers of checkpoints raise where the end of a file is missing."""
LEGACY = 0x1950A86A20F9469CFC6C
"""First object of files as torch wrote them before 1.6; it is followed by others."""


def load_weights(net: nn.Module, path: Path, *, trust: bool = False) -> None:
    """Give a network the weights of a file: safetensors, or a checkpoint that holds tensors only.

    A checkpoint that holds other objects runs code when it is read, so it is read only with
    ``trust``.
    """
    state = read_weights(path, trust=trust)
    try:
        net.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError(
            f"{path} does not fit the network, which must be the one that the weights were saved "
            f"from: {error}"
        ) from error


def read_weights(path: Path, *, trust: bool = False) -> dict[str, Any]:
    """Tensors by name."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name the file of weights in it.")
    state = _read_safe(path) if path.suffix == ".safetensors" else _read_checkpoint(path, trust)
    for key in WITHIN:
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict):
        raise ValueError(f"{path} holds {type(state).__name__}, not a state dict.")
    return {_plain(str(name)): value for name, value in state.items()}


def _plain(name: str) -> str:
    for prefix in WRAPPERS:
        name = name.removeprefix(prefix)
    return name


def _read_safe(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path))
    except SafetensorError as error:
        raise _damaged(path, error) from error


def _read_checkpoint(path: Path, trust: bool) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=not trust)
    except DAMAGE as error:
        raise _damaged(path, error) from error
    except Exception as error:
        refused = isinstance(error, pickle.UnpicklingError)
        if trust and not refused:
            raise  # an object of the file's own could not be made
        if trust or not refused or not is_whole_pickle(path):
            raise _damaged(path, error) from error
        raise ValueError(
            f"{path} holds more than tensors, and reading it could run foreign code. If you trust "
            "its source, pass --trust."
        ) from error


def _damaged(path: Path, error: Exception) -> ValueError:
    reason = str(error).partition(". ")[0].strip() if str(error) else "it ends too early"
    return ValueError(
        f"{path} is damaged or incomplete, or holds no weights that can be read ({reason}). Save "
        "or download it again."
    )


def is_whole_pickle(path: Path) -> bool:
    """Whether a pickled object can be read to its end; nothing of it is run.

    Examples
    --------
    >>> import pickle, tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "some.pt"
    >>> content = pickle.dumps({"epoch": 3})
    >>> is_whole_pickle(file) if file.write_bytes(content) else None
    True
    >>> is_whole_pickle(file) if file.write_bytes(content[:-2]) else None
    False
    """
    with suppress(ValueError, OSError, EOFError, zipfile.BadZipFile, KeyError, IndexError):
        if not zipfile.is_zipfile(path):
            with path.open("rb") as file:
                return _runs_through(file)
        with zipfile.ZipFile(path) as archive:
            inside = [name for name in archive.namelist() if name.endswith("data.pkl")]
            with archive.open(inside[0]) as file:
                return _runs_through(file)
    return False


def _runs_through(file: IO[bytes]) -> bool:
    arguments = [argument for _, argument, _ in pickletools.genops(file)]
    # What follows in older files cannot be checked without making its objects.
    return LEGACY not in arguments
