"""The part of rehead that works with PyTorch networks."""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        'rehead.torch needs PyTorch. Install it with: pip install "rehead[torch]"'
    ) from error

from rehead.torch.features import extract_features

__all__ = ["extract_features"]
