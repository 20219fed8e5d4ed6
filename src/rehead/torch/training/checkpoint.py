"""Checkpoints of a run: networks, optimisers, what the method remembers, and the history.

One safetensors file, written whole or not at all and checked by a checksum. All randomness of an
epoch comes from the seed and the epoch's number, so that nothing else has to be kept: a run that
was killed continues from the last whole epoch and ends with the same weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from rehead.files.persist import naming, read_model, write_atomically, write_model
from rehead.files.schema import Fields, check_fields, each, mapping, number, require
from rehead.torch.training.method import Method
from rehead.torch.training.state import History, State
from rehead.torch.training.task import Task

FILE = "checkpoint.safetensors"
LOG = "log.jsonl"
KIND = "training checkpoint"


class DiskError(OSError):
    """A file of a run could not be written."""


def run_identity(task: Task, method: Method) -> dict[str, Any]:
    """What two runs must share for one to go on where the other stopped."""
    held_out = task.held_out if task.held_out is not None and task.held_out.keep_best else None
    return {
        "method": method.name,
        "settings": dict(method.settings),
        "recipe": asdict(task.recipe),
        "seed": task.seed,
        "precision": str(task.precision),
        "keep": "last" if held_out is None else "best",
        "data": data_fingerprint(task.X, task.y, task.trusted),
        "held out": None if held_out is None else data_fingerprint(held_out.X, held_out.y),
        "network": sorted(
            f"{name} {tuple(p.shape)}" for name, p in task.network().state_dict().items()
        ),
    }


def data_fingerprint(X: Tensor, *columns: Tensor) -> str:
    """A checksum of whole columns (labels, trusted samples) and some of the inputs."""
    digest = hashlib.sha256(f"{tuple(X.shape)}{X.dtype}".encode())
    rows = torch.linspace(0, len(X) - 1, min(64, len(X))).long()
    for part in (*columns, X[rows.to(X.device)]):
        digest.update(part.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def write_checkpoint(folder: Path, identity: Mapping[str, Any], state: State) -> None:
    """Write the state after an epoch."""
    tensors = {f"memory/{name}": value for name, value in state.memory.items()}
    for i, (net, optimizer) in enumerate(zip(state.nets, state.optimizers, strict=True)):
        tensors |= {f"net{i}/{name}": value for name, value in net.state_dict().items()}
        for p, values in optimizer.state_dict()["state"].items():
            tensors |= {
                f"optimizer{i}/{p}/{name}": torch.as_tensor(value)
                for name, value in values.items()
                if value is not None
            }
    arrays = {name: value.detach().cpu().numpy() for name, value in tensors.items()}
    with _writing(folder):
        write_model(folder / FILE, KIND, arrays, {"identity": identity, "history": state.history})


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DiskError(
            f"Cannot write to {folder}: {error}. What was written before is untouched. Make room "
            "and start again with the same arguments: training continues from the last checkpoint."
        ) from error


def has_checkpoint(folder: Path) -> bool:
    """Whether there is a checkpoint."""
    return (folder / FILE).exists()


SETTINGS: Fields = {"identity": mapping, "history": each(mapping)}
OPTIMIZERS: dict[type[Optimizer], list[set[str]]] = {
    torch.optim.Adam: [set(), {"step", "exp_avg", "exp_avg_sq"}],
    torch.optim.SGD: [set(), {"momentum_buffer"}],
}
"""What an optimiser knows about a parameter: nothing yet, or all of these."""


def read_checkpoint(
    folder: Path, identity: Mapping[str, Any], state: State, device: torch.device
) -> None:
    """Bring a new run to the state of the checkpoint; another run's is an error."""
    path = folder / FILE
    arrays, settings = read_model(path, KIND)
    with naming(path):
        check_fields(settings, SETTINGS, {})
    check_same_run(settings["identity"], identity, folder)
    tensors = {name: torch.from_numpy(np.array(a)) for name, a in arrays.items()}
    with naming(path):
        _check_tensors(tensors, state)
        for i, entry in enumerate(settings["history"]):
            right = entry.get("epoch") == i + 1 and number().check(entry.get("fitted"), {}) is None
            require(right, f"history has no epoch {i + 1} in its place.")
    for i, (net, optimizer) in enumerate(zip(state.nets, state.optimizers, strict=True)):
        net.load_state_dict(_under(f"net{i}/", tensors))
        _restore(optimizer, _under(f"optimizer{i}/", tensors))
    memory = _under("memory/", tensors)
    state.memory = {name: value.to(device) for name, value in memory.items()}
    state.history = settings["history"]


def _check_tensors(tensors: Mapping[str, Tensor], state: State) -> None:
    """Raise a FieldError unless networks and optimisers can be given these."""
    seen = len(_under("memory/", tensors))
    for i, (net, optimizer) in enumerate(zip(state.nets, state.optimizers, strict=True)):
        of_net, of_optimizer = _under(f"net{i}/", tensors), _under(f"optimizer{i}/", tensors)
        seen += len(of_net) + len(of_optimizer)
        shapes = {name: value.shape for name, value in of_net.items()}
        wanted = {name: value.shape for name, value in net.state_dict().items()}
        require(shapes == wanted, f"net{i} is another network.")
        known: dict[str, set[str]] = {}
        parameters = optimizer.param_groups[0]["params"]
        like = {str(n): parameter.shape for n, parameter in enumerate(parameters)}
        for name, value in of_optimizer.items():
            n, _, key = name.partition("/")
            right = n in like and value.shape in (like[n], ()) and value.is_floating_point()
            require(right, f"optimizer{i}/{name} belongs to no parameter.")
            known.setdefault(n, set()).add(key)
        right = all(keys in OPTIMIZERS[type(optimizer)] for keys in known.values())
        require(right, f"optimizer{i} is another optimiser.")
    require(seen == len(tensors), "it has arrays of no part that is known.")


def _restore(optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimiser what it knew about each parameter: tensors named NUMBER/NAME."""
    state: dict[int, dict[str, Tensor]] = {}
    parameters = optimizer.param_groups[0]["params"]
    for name, value in tensors.items():
        number, _, key = name.partition("/")
        like = parameters[int(number)]
        if value.shape == like.shape:  # in the same order in memory, as fused steps need it
            value = torch.empty_like(like).copy_(value)
        state.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict(
        {"state": state, "param_groups": optimizer.state_dict()["param_groups"]}
    )


def check_same_run(found: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    """Raise if a folder holds another run, and say how it differs."""
    wanted = json.loads(json.dumps(wanted))
    differing = [key for key in wanted if found.get(key) != wanted[key]]
    if differing:
        key = differing[0]
        raise ValueError(
            f"{folder} holds a checkpoint of another run: its {', '.join(differing)} differ"
            f"{'s' if len(differing) == 1 else ''} ({key}: {found.get(key)} there, {wanted[key]} "
            "now). Choose another folder, or delete this one to start anew."
        )


def write_log(folder: Path, history: History) -> None:
    """Write the log anew, so that it has no epochs that the checkpoint does not know."""
    lines = "".join(json.dumps(entry) + "\n" for entry in history)
    with _writing(folder):
        write_atomically(folder / LOG, lines.encode())


def append_log(folder: Path, entry: Mapping[str, Any]) -> None:
    """Add one line."""
    with _writing(folder), (folder / LOG).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def write_weights(folder: Path, nets: list[nn.Module]) -> None:
    """Write the final weights of each network, ready for ``load_state_dict``."""
    for i, net in enumerate(nets):
        state = {
            name: value.detach().cpu().contiguous() for name, value in net.state_dict().items()
        }
        name = "net.safetensors" if i == 0 else f"net{i + 1}.safetensors"
        with _writing(folder):
            write_atomically(folder / name, save(state))


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
