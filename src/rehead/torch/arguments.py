"""What a network is called with: a batch, brought to the names and the precision it takes."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from rehead import _validation as check
from rehead.torch.batches import MASK, Batch, tensors_in


def network_dtype(net: nn.Module) -> torch.dtype | None:
    """The precision that a network computes in; None where it has no weights to tell."""
    return next((p.dtype for p in net.parameters() if p.is_floating_point()), None)


def in_precision(batch: Batch, dtype: torch.dtype | None) -> Batch:
    """Inputs in a network's precision; whole numbers (token ids, bytes) stay as they are.

    Examples
    --------
    >>> import torch
    >>> batch = Batch((torch.ones(2, 3, dtype=torch.float64), torch.tensor([1, 2])))
    >>> [x.dtype for x in in_precision(batch, torch.float32).args]
    [torch.float32, torch.int64]
    """
    if dtype is None:
        return batch
    return batch.changed(lambda x: x.to(dtype) if x.is_floating_point() else x)


def as_arguments(batch: Batch, net: nn.Module) -> Batch:
    """Named inputs under the names that the network takes.

    Texts and paths that it does not take are left out. A tensor under another name is its first
    argument, if it is the only one. An attention mask that comes in its place is known by its name.

    Raises
    ------
    ValueError
        If it is not clear what to do with a tensor.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> batch = Batch((), {"image": torch.ones(2, 3), "path": ["a.png", "b.png"]})
    >>> called = as_arguments(batch, nn.Linear(3, 2))
    >>> called.args[0].shape, called.kwargs
    (torch.Size([2, 3]), {})
    """
    names, anything = _parameters(net)
    if MASK in names[: len(batch.args)]:
        named = dict(zip(names, batch.args, strict=False))
        return replace(batch, args=(), kwargs={**named, **batch.kwargs})
    taken = {k: v for k, v in batch.kwargs.items() if k in names}
    rest = {k: v for k, v in batch.kwargs.items() if k not in names and _has_tensor(v)}
    if len(rest) == 1 and not batch.args and not taken:
        return replace(batch, args=tuple(rest.values()), kwargs={})
    if rest and not anything:
        labels = "" if batch.labels is not None else ", 'labels': ..."
        raise ValueError(
            f"The network does not take {check.first_few(list(rest))} of the batch; its forward "
            f"takes {check.first_few(names)}. Say what is what, inputs in the order of its "
            f"arguments, for example keys={{'inputs': {list(batch.kwargs)[:1]}{labels}}}."
        )
    return replace(batch, kwargs={**taken, **rest})


def takes(net: nn.Module, name: str) -> bool:
    """Whether a network's ``forward`` has an argument of this name."""
    return name in _parameters(net)[0]


def whole_numbers_refused(batch: Batch, net: nn.Module, error: Exception) -> str:
    """What to do where a network fails on inputs that are whole numbers; empty if it did not."""
    dtype = network_dtype(net)
    odd = [x for x in tensors_in((batch.args, batch.kwargs)) if not x.is_floating_point()]
    if dtype is None or not odd or "type" not in str(error):
        return ""
    kind = str(odd[0].dtype).removeprefix("torch.")
    return (
        f"The network failed on inputs of type {kind}; it computes in "
        f"{str(dtype).removeprefix('torch.')}. Whole numbers are passed on as they are, since they "
        "may be token ids. Prepare them as in training: images as x.float() / 255, for example."
    )


def _has_tensor(value: Any) -> bool:
    return any(True for _ in tensors_in(value))


def _parameters(net: nn.Module) -> tuple[list[str], bool]:
    """Names of what ``forward`` takes, in order, and whether it takes any other name."""
    kinds = {p.name: p.kind for p in inspect.signature(net.forward).parameters.values()}
    stars = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [name for name, kind in kinds.items() if kind not in stars]
    return names, inspect.Parameter.VAR_KEYWORD in kinds.values()
