"""Hidden features of a network, by layer name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rehead import _validation as check
from rehead._typing import Array


def extract_features(
    net: nn.Module, X: Array, layers: Sequence[str], *, batch_size: int = 512
) -> dict[str, Array]:
    """Outputs of some layers for all rows of ``X``, in one pass, without gradients.

    The network is put in evaluation mode for the pass and left as it was, also after an error.

    Parameters
    ----------
    net : nn.Module
    X : array of shape (n_samples, ...)
    layers : names of submodules, as ``net.named_modules()`` gives them
        ``"logits"`` stands for the output of the network itself.
    batch_size : int, default=512

    Examples
    --------
    >>> import numpy as np
    >>> from torch import nn
    >>> from rehead.torch import extract_features
    >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> features = extract_features(net, np.ones((5, 4), "float32"), ["1", "logits"])
    >>> {name: f.shape for name, f in features.items()}
    {'1': (5, 3), 'logits': (5, 2)}
    """
    modules = dict(net.named_modules())
    for name in layers:
        if name != "logits":
            check.check_choice(name, [m for m in modules if m], "layer")
    parts: dict[str, list[Array]] = {name: [] for name in layers}
    with ExitStack() as stack:
        stack.enter_context(_evaluating(net))
        stack.enter_context(torch.inference_mode())
        for name in layers:
            module = net if name == "logits" else modules[name]
            handle = module.register_forward_hook(_recorder(parts[name]))
            stack.callback(handle.remove)
        for a in range(0, len(X), batch_size):
            net(torch.from_numpy(np.ascontiguousarray(X[a : a + batch_size])))
    return {name: np.concatenate(p) for name, p in parts.items()}


def _recorder(into: list[Array]) -> Any:
    def hook(module: nn.Module, inputs: Any, output: Tensor) -> None:
        into.append(output.numpy(force=True).astype(np.float32))

    return hook


@contextmanager
def _evaluating(net: nn.Module) -> Iterator[None]:
    """Evaluation mode; every submodule gets its own flag back."""
    training = [(module, module.training) for module in net.modules()]
    net.eval()
    try:
        yield
    finally:
        for module, flag in training:
            module.training = flag
