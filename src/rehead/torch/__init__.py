"""The part of rehead that works with PyTorch networks."""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        'rehead.torch needs PyTorch. Install it with: pip install "rehead[torch]"'
    ) from error

from rehead.torch.extracted import Features, open_features
from rehead.torch.features import extract_features
from rehead.torch.folders import image_folder, image_table, text_table
from rehead.torch.head import RobustHead
from rehead.torch.module import RobustModule

__all__ = [
    "Features",
    "RobustHead",
    "RobustModule",
    "extract_features",
    "image_folder",
    "image_table",
    "open_features",
    "text_table",
]
