"""What a network says about inputs as they are, in evaluation mode."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rehead._typing import Array


def predict_logits(
    net: nn.Module, X: Tensor, device: torch.device, batch_size: int = 512
) -> Tensor:
    """Logits of un-augmented inputs in evaluation mode, on the CPU; the mode is put back."""
    was_training = net.training
    net.eval()
    try:
        with torch.inference_mode():
            parts = [
                net(X[a : a + batch_size].to(device)).float().cpu()
                for a in range(0, len(X), batch_size)
            ]
    finally:
        net.train(was_training)
    return torch.cat(parts)


def predict_probabilities(net: nn.Module, X: Tensor, device: torch.device) -> Array:
    """Softmax of the above, in double precision."""
    p: Array = predict_logits(net, X, device).double().softmax(dim=1).numpy()
    return p
