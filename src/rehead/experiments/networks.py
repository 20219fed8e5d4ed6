"""Networks by name, made for a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rehead import _validation as check
from rehead.data import Splits

if TYPE_CHECKING:
    from torch import nn


def network_factory(
    name: str | None, options: Mapping[str, Any], splits: Splits
) -> Callable[[], nn.Module]:
    """A function that makes a network for a data set.

    Without a name: the fully connected network for vectors, and the small ResNet for images.
    """
    from rehead.torch.models import MODELS

    X = splits.train.X
    name = name or ("resnet-small" if X.ndim == 4 else "fcn")
    check.check_choice(name, MODELS, "model")
    if name == "fcn":
        options = {"in_features": int(np.prod(X.shape[1:])), **options}
    return partial(MODELS[name], len(splits.class_names), **options)
