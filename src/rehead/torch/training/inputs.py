"""What users pass to ``train``, checked and brought to one form."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rehead import _validation as check
from rehead._typing import Array
from rehead.torch.training.method import Method
from rehead.torch.training.predictions import predict_logits
from rehead.torch.training.recipes import Recipe, find_recipe
from rehead.torch.training.run import PRECISIONS, Run
from rehead.torch.training.task import HeldOut, MakeNet, Task

ON_DEVICE = 2**31
"""Inputs of up to this many bytes are moved to a GPU once, larger ones batch by batch."""


class GivenNet:
    """A network that was given, where a function that makes new ones is asked for."""

    def __init__(self, net: nn.Module) -> None:
        self.net = net

    def __call__(self) -> nn.Module:
        return self.net


def as_task(
    make_net: MakeNet | nn.Module,
    X: Any,
    y: Any,
    *,
    recipe: str | Recipe,
    trusted: Any = None,
    run: Run | None = None,
) -> Task:
    """Check everything that does not depend on the method."""
    run = Run() if run is None else run
    device = torch.device(run.device if run.device is not None else default_device())
    make = GivenNet(make_net) if isinstance(make_net, nn.Module) else make_net
    inputs, labels = as_samples(X, y)
    mask = check.check_mask(trusted, len(labels), "trusted")
    known = torch.zeros(len(labels), dtype=torch.bool) if mask is None else torch.from_numpy(mask)
    held_out = _held_out(run, inputs)
    n_classes = _outputs(make, inputs, device)
    for codes in (labels, *([] if held_out is None else [held_out.y])):
        _check_codes(codes, n_classes)
    return Task(
        make_net=make,
        X=inputs.to(device) if inputs.nbytes < ON_DEVICE else inputs,
        y=labels.to(device),
        trusted=known.to(device),
        n_classes=n_classes,
        recipe=find_recipe(recipe) if isinstance(recipe, str) else recipe,
        seed=int(run.seed),
        device=device,
        precision=PRECISIONS[run.precision],
        held_out=held_out,
    )


def _held_out(run: Run, inputs: Tensor) -> HeldOut | None:
    """What the run watches: samples like those of training."""
    if run.validation is None:
        return None
    X, y = as_samples(*run.validation[:2])
    if X.shape[1:] != inputs.shape[1:]:
        raise ValueError(
            f"Validation inputs have shape {tuple(X.shape[1:])}, training inputs "
            f"{tuple(inputs.shape[1:])}."
        )
    return HeldOut(X, y, keep_best=run.keep == "best")


def check_task(task: Task, method: Method) -> None:
    """Check what depends on the method."""
    recipe, n = task.recipe, len(task.y)
    if n < recipe.batch_size:
        raise ValueError(
            f"There are {n} samples, fewer than one batch of {recipe.batch_size}. Give a recipe "
            f"with a smaller batch: dataclasses.replace(recipe, batch_size={max(1, n // 4)})."
        )
    if recipe.augment and (task.X.ndim != 4):
        raise ValueError(
            f"The recipe augments images ({', '.join(recipe.augment)}), but inputs have shape "
            f"{tuple(task.X.shape[1:])}. Use a recipe with augment=()."
        )
    if isinstance(task.make_net, GivenNet) and (method.networks > 1 or method.stages):
        raise ValueError(
            f"Method {method.name!r} trains more than one network. Pass a function that makes a "
            "new one: train(lambda: Net(...), ...)."
        )
    if method.needs_trusted and not bool(task.trusted.any()):
        raise ValueError(
            f"Method {method.name!r} needs some samples whose labels are known to be right: pass "
            "trusted=mask, with draw_trusted(y, 0.01) for example, and their true labels in y."
        )


def default_device() -> str:
    """A GPU if there is one."""
    accelerator = torch.accelerator.current_accelerator() if hasattr(torch, "accelerator") else None
    return "cpu" if accelerator is None else str(accelerator)


def as_samples(X: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Inputs and class codes of the same samples."""
    inputs, labels = as_inputs(X), as_codes(y)
    if not len(inputs):
        raise ValueError("There are no samples: X is empty.")
    if len(inputs) != len(labels):
        raise ValueError(
            f"There are {len(inputs)} inputs and {len(labels)} labels. Pass one label for each "
            "input."
        )
    return inputs, labels


def as_inputs(X: Any) -> Tensor:
    """Inputs as a tensor: bytes stay bytes, double precision becomes single."""
    tensor = X.detach() if isinstance(X, Tensor) else torch.from_numpy(_writable(X))
    tensor = tensor.float() if tensor.dtype in (torch.float64, torch.float16) else tensor
    if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
        row = int((~torch.isfinite(tensor.flatten(1))).any(dim=1).nonzero()[0])
        raise ValueError(f"Inputs contain NaN or infinity (row {row} first). Drop or fill them.")
    return tensor


def as_codes(y: Any) -> Tensor:
    """Labels as class codes."""
    labels = check.check_labels(y)
    if labels.dtype.kind not in "iu":
        raise ValueError(
            f"Labels must be class codes 0 .. C-1 for training, got {labels.dtype}. Make them "
            "with: classes, y = numpy.unique(y, return_inverse=True)."
        )
    return torch.from_numpy(labels.astype(np.int64))


def _writable(X: Any) -> Array:
    check.refuse_masked(X, "X")
    array = np.asarray(X)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind not in "buif":
        raise ValueError(f"Inputs must be numbers, got an array of {array.dtype}.")
    return array if array.flags.writeable and array.flags.c_contiguous else array.copy()


def _check_codes(y: Tensor, n_classes: int) -> None:
    low, high = int(y.min()), int(y.max())
    if low < 0 or high >= n_classes:
        raise ValueError(
            f"Labels run from {low} to {high}, but the network has {n_classes} outputs, for codes "
            f"0 to {n_classes - 1}."
        )


def _outputs(make: MakeNet, X: Tensor, device: torch.device) -> int:
    """How many classes the network tells apart: it is asked, with two inputs."""
    with torch.random.fork_rng(devices=[]):
        net = make()
    if not isinstance(net, nn.Module):
        raise TypeError(f"make_net must give an nn.Module, got {type(net).__name__}.")
    logits = predict_logits(net.to(device), X[:2], device)
    if logits.ndim != 2:
        raise ValueError(
            f"The network must give one row of logits for each input, got shape "
            f"{tuple(logits.shape)}."
        )
    return int(logits.shape[1])
