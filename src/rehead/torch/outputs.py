"""The logits among the things that networks return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rehead._typing import Array
from rehead.torch.batches import Batch, tensors_in

LOGITS = "logits"


def logits_of(output: Any, width: int | None = None, *, at_least: int = 1) -> Tensor | None:
    """The logits in what a network returned, one row per sample; None where there are no vectors.

    What is called "logits" comes first. Of several tensors with one row per sample, as in
    ``(features, logits)``, it is the first of the given width. Where the width is not known, it is
    the narrowest that is wide enough: there are rarely more classes than features.

    Examples
    --------
    >>> import torch
    >>> features, logits = torch.zeros(4, 16), torch.zeros(4, 3)
    >>> logits_of((features, logits)).shape, logits_of((features, logits), 16).shape
    (torch.Size([4, 3]), torch.Size([4, 16]))
    >>> logits_of({"embedding": logits, "logits": features}).shape
    torch.Size([4, 16])
    """
    named = output.get(LOGITS) if isinstance(output, Mapping) else getattr(output, LOGITS, None)
    found = [_rows(t) for t in tensors_in(output if named is None else named) if _is_rows(t)]
    if width is not None:
        return next((t for t in found if t.shape[1] == width), None)
    wide = [t for t in found if t.shape[1] >= at_least]
    return min(wide or found, key=lambda t: t.shape[1], default=None)


class LogitsTaker:
    """Takes the logits of one batch after the other, of the width that they have in the first."""

    def __init__(self, width: int | None = None) -> None:
        self.width = width

    def __call__(self, output: Any, batch: Batch) -> Tensor:
        """One row per sample; without columns where the network gives no vectors."""
        logits = logits_of(output, self.width, at_least=_classes_seen(batch.labels))
        if logits is None or len(logits) != len(batch):
            logits = torch.zeros(len(batch), 0)
        if self.width is None:
            self.width = logits.shape[1]
        return logits


def class_names_of(net: nn.Module, classes: Array) -> list[Any] | None:
    """Labels of the outputs, where a Hugging Face network has the names that the data have."""
    known = getattr(getattr(net, "config", None), "id2label", None)
    if not isinstance(known, Mapping):
        return None
    by_number = {str(number): name for number, name in known.items()}
    names = [by_number.get(str(i)) for i in range(len(by_number))]
    complete = None not in names and len(set(names)) == len(names)
    return names if complete and set(np.asarray(classes).tolist()) <= set(names) else None


def _is_rows(tensor: Tensor) -> bool:
    return tensor.ndim in (1, 2) or (tensor.ndim > 2 and all(n == 1 for n in tensor.shape[2:]))


def _rows(tensor: Tensor) -> Tensor:
    return tensor[:, None] if tensor.ndim == 1 else tensor.flatten(1)


def _classes_seen(labels: Array | None) -> int:
    """How many classes there are at least, by the labels of a batch."""
    if labels is None or len(labels) == 0:
        return 1
    return int(labels.max()) + 1 if labels.dtype.kind in "iu" else len(set(labels.tolist()))
