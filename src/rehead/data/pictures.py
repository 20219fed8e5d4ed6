"""Pictures of a folder as one array."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rehead._typing import Array
from rehead.data.files import DataFileError

ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")


def read_pictures(folder: str | os.PathLike[str], *, size: tuple[int, int] = (32, 32)) -> Array:
    """All pictures in a folder and below it, in the order of their paths.

    Parameters
    ----------
    folder : path
    size : (int, int), default=(32, 32)
        Height and width that they are resized to.

    Returns
    -------
    uint8 array of shape (n_pictures, 3, height, width)

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from rehead.data import read_pictures
    >>> folder = Path(tempfile.mkdtemp())
    >>> Image.new("RGB", (50, 40)).save(folder / "one.png")
    >>> read_pictures(folder).shape
    (1, 3, 32, 32)
    """
    files = sorted(f for f in Path(folder).rglob("*") if f.suffix.lower() in ENDINGS)
    if not files:
        raise DataFileError(f"There is no picture in {folder} ({', '.join(ENDINGS)}).")
    return np.stack([_read(file, size) for file in files])


def _read(file: Path, size: tuple[int, int]) -> Array:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            'Pictures need Pillow. Install it with: pip install "rehead[torch]"'
        ) from error
    height, width = size
    try:
        with Image.open(file) as picture:
            pixels: Array = np.asarray(picture.convert("RGB").resize((width, height)))
    except (OSError, ValueError, SyntaxError) as error:
        raise DataFileError(
            f"{file} cannot be read as a picture ({error}). Remove it from the folder."
        ) from error
    return pixels.transpose(2, 0, 1)
