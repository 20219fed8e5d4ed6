"""Inputs from elsewhere, by name: for open-set noise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rehead import data
from rehead._typing import Array

OVERLAPPING = "tinyimagenet32"
"""Some of its classes are CIFAR-10's, and are left out there."""


def outside_inputs(sources: Sequence[str], name: str, X: Array) -> list[Array]:
    """Inputs that belong to no class of a data set.

    Parameters
    ----------
    sources : sequence of str
        Data sets by name (their training parts), folders of images, .npy files; none stands for
        what the package knows to lie outside.
    name : str
        The data set whose inputs are to be replaced.
    X : array
        Its inputs: others must have their shape.
    """
    if name == "digits32" and not sources:
        return [data.scribbles().X]
    if not sources:
        return [data.outside_images(name).X]
    return [_inputs(source, name, X) for source in sources]


def _inputs(source: str, name: str, X: Array) -> Array:
    path = Path(source)
    if path.is_dir():
        if X.ndim != 4:
            raise ValueError(f"{source} is a folder of images, but {name} has vectors. Give .npy.")
        return data.read_pictures(path, size=X.shape[2:])
    if path.exists():
        if path.suffix != ".npy":
            raise ValueError(f"{source} must be a folder of images, a .npy file or a data set.")
        inputs: Array = np.load(path, allow_pickle=False)
        return inputs
    dataset = data.find_dataset(source)
    if dataset.name == name:
        raise ValueError(f"Inputs of {name} do not lie outside of {name}. Name another source.")
    if (dataset.name, name) == (OVERLAPPING, "cifar10"):
        return data.outside_images(name).X
    return data.load(dataset.name, validation=0).train.X
