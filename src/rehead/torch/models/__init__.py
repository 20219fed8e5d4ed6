"""Networks of the paper's experiments."""

from rehead.torch.models.fcn import FCN

__all__ = ["FCN"]
