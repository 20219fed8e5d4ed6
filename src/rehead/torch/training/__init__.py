"""Training networks on noisy labels."""

from rehead.torch.training.loop import train

__all__ = ["train"]
