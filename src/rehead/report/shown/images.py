"""Samples that are images: files below a folder, or arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from rehead._columns import library, tensor_array
from rehead._typing import Array
from rehead.files.images import IMAGES, image_files
from rehead.report.shown.base import IMAGE, NotShown, OfOneKind, key_of
from rehead.report.shown.matching import match, names_of_files
from rehead.report.shown.pictures import limits, picture_of_file, picture_of_pixels, to_bytes

CHANNELS = (1, 3, 4)
LOOKED_AT = 256
"""Images that tell the range of the values."""


class ImageFolder(OfOneKind):
    """Images below a folder; ids are their paths there, or their file names.

    Only files that are really below the folder are opened, wherever links lead.
    """

    kind = IMAGE

    def __init__(self, folder: str | Path, keys: Sequence[str]) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise FileNotFoundError(f"There is no folder of images {folder}.")
        files = image_files(self.folder)
        if not files:
            raise ValueError(f"{folder} holds no images ({', '.join(IMAGES)}).")
        inside = [PurePosixPath(file.relative_to(self.folder).as_posix()) for file in files]
        matched = match(keys, names_of_files(inside), f"the folder {folder}")
        self._files = {key: files[i] for key, i in matched.found.items()}
        self._root = self.folder.resolve()
        self.note = matched.note

    def has(self, name: Any) -> bool:
        return key_of(name) in self._files

    def file(self, name: Any) -> Path:
        """The file of a sample, with all links resolved."""
        found = self._files.get(key_of(name))
        if found is None:
            raise NotShown(f"There is no image of this sample in {self.folder}.")
        real = found.resolve()
        if not real.is_relative_to(self._root):
            raise NotShown(
                f"{found.relative_to(self.folder)} is a link to a file outside of {self.folder}. "
                "Name the folder that holds the images themselves."
            )
        return real

    def picture(self, name: Any, largest: int) -> bytes:
        return picture_of_file(self.file(name), largest)


class ImageArray(OfOneKind):
    """Images in an array, one for each sample, in the order of the ids.

    Parameters
    ----------
    images : array-like of shape (n, height, width), with 1, 3 or 4 channels first or last
        Bytes, values from 0 to 1, or any others: then the smallest is black.
    keys : sequence of str
        Ids.
    """

    kind = IMAGE

    def __init__(self, images: Any, keys: Sequence[str]) -> None:
        pixels = tensor_array(images) if library(images) == "torch" else images
        self._images = pixels if hasattr(pixels, "shape") else np.asarray(pixels)
        if len(self._images) != len(keys):
            raise ValueError(f"There are {len(self._images)} images and {len(keys)} samples.")
        self._channels_first = _channels_first(self._images.shape)
        self._rows = {key: row for row, key in enumerate(keys)}
        self._limits = limits(np.asarray(self._images[:LOOKED_AT]))

    def has(self, name: Any) -> bool:
        return key_of(name) in self._rows

    def picture(self, name: Any, largest: int) -> bytes:
        row = self._rows.get(key_of(name))
        if row is None:
            raise NotShown("There is no image of this sample.")
        return picture_of_pixels(self._pixels(np.asarray(self._images[row])), largest)

    def _pixels(self, image: Array) -> Array:
        if self._channels_first:
            image = np.moveaxis(image, 0, -1)
        if image.ndim == 3 and image.shape[-1] == 1:
            image = image[..., 0]
        return image if image.dtype == np.uint8 else to_bytes(image, *self._limits)


def _channels_first(shape: tuple[int, ...]) -> bool:
    if len(shape) == 3 or (len(shape) == 4 and shape[3] in CHANNELS):
        return False
    if len(shape) == 4 and shape[1] in CHANNELS:
        return True
    raise ValueError(
        f"Images must have the shape (n, height, width), or with 1, 3 or 4 channels (n, height, "
        f"width, channels) or (n, channels, height, width); got {shape}. Reshape them."
    )
