"""A user's own network from the command line: where it is made, and its weights."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from rehead.files.samples import read_column


def load_object(target: str) -> Any:
    """The object behind ``package.module:name``, found from the current folder too."""
    module_name, separator, name = target.partition(":")
    if not separator or not name:
        raise ValueError(f"{target!r} must be package.module:name, for example mymodels:resnet.")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ValueError(f"Cannot import {module_name!r}: {error}") from error
    if not hasattr(module, name):
        raise ValueError(f"{module_name!r} has no {name!r}.")
    return getattr(module, name)


def load_loader(source: str, labels: str | None = None) -> Any:
    """A loader from ``package.module:factory``, or inputs from an ``.npy`` or ``.npz`` file.

    An ``.npz`` file holds ``X`` and, where it has them, ``y`` and ``ids``.
    """
    path = Path(source)
    if not path.exists():
        made = load_object(source)
        loader = made() if callable(made) and not hasattr(made, "__iter__") else made
        if labels is not None:
            raise ValueError("--labels goes with a file of inputs; a loader gives its own labels.")
        return loader
    columns: list[Any] = [None, None, None]
    if path.suffix == ".npy":
        columns[0] = np.load(path, allow_pickle=False)
    elif path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            columns = [file[name] if name in file.files else None for name in ("X", "y", "ids")]
    if columns[0] is None:
        raise ValueError(f"{path} holds no inputs. Use .npy, or .npz with X and optionally y, ids.")
    if labels is not None:
        columns[1] = read_column(labels)
    known = [c for c in columns if c is not None]
    if columns[2] is not None and columns[1] is None:
        known = known[:1]
    return tuple(known)


def load_network(target: str, weights: Path | None, *, trust: bool = False) -> nn.Module:
    """Make a network with ``package.module:factory`` and load its weights.

    Weights are a safetensors file or a checkpoint that holds tensors only. A checkpoint that holds
    other objects runs code when it is read, so it is read only with ``trust``.
    """
    made = load_object(target)
    net = made if isinstance(made, nn.Module) else made()
    if not isinstance(net, nn.Module):
        raise ValueError(f"{target!r} gives {type(net).__name__}, not an nn.Module.")
    if weights is not None:
        net.load_state_dict(_state(weights, trust))
    return net


def _state(weights: Path, trust: bool) -> dict[str, Any]:
    if weights.suffix == ".safetensors":
        from safetensors.torch import load_file

        return dict(load_file(weights))
    try:
        state = torch.load(weights, map_location="cpu", weights_only=not trust)
    except Exception as error:
        if trust:
            raise
        raise ValueError(
            f"{weights} holds more than tensors, and reading it could run foreign code "
            f"({type(error).__name__}). If you trust its source, pass --trust."
        ) from error
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict):
        raise ValueError(f"{weights} holds {type(state).__name__}, not a state dict.")
    return {name.removeprefix("module.").removeprefix("_orig_mod."): v for name, v in state.items()}
