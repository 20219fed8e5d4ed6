"""Images that may be anything: decoded with limits, and written as small WebP."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.report.shown.base import NotShown

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
"""What is decoded, whatever a file's name says. SVG is not: it is a program."""
LARGEST_FILE = 64 * 2**20
"""Bytes."""
MOST_PIXELS = 64_000_000
"""A bomb of a few kilobytes can unfold to gigabytes; photographs have fewer pixels than this."""
QUALITY = 80
"""Of WebP."""
LOSSLESS = 64
"""Images of at most this many pixels a side are kept to the pixel: they are shown enlarged."""
WIDE_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")
"""Of Pillow: grey values that are not 0 to 255."""


def pillow() -> Any:
    """Pillow's module Image, or what to install."""
    try:
        from PIL import Image, ImageOps  # noqa: F401  (both are used from here on)
    except ImportError:
        raise ImportError(
            'Images are decoded by Pillow. Install it with: pip install "rehead[review]"'
        ) from None
    return Image


def picture_of_file(file: Path, largest: int) -> bytes:
    """A file of an image as WebP, no side longer than ``largest``.

    Raises
    ------
    NotShown
        If it is too large, damaged, or no image.
    """
    Image = pillow()
    try:
        size = file.stat().st_size
        if size > LARGEST_FILE:
            raise NotShown(
                f"The file is too large to be shown: {size / 2**20:.0f} MB, and "
                f"{LARGEST_FILE / 2**20:.0f} MB is the limit."
            )
        with Image.open(io.BytesIO(file.read_bytes()), formats=FORMATS) as image:
            _check_size(image)
            image.draft("RGB", (largest, largest))  # JPEG: decoded smaller at once
            return encoded(_upright(image), largest)
    except FileNotFoundError:
        raise NotShown(f"The file is no longer there: {file.name}.") from None
    except Image.UnidentifiedImageError:
        raise NotShown("The file is not an image of a known form.") from None
    except Image.DecompressionBombError:
        raise NotShown(
            "The image is too large to be shown: it has hundreds of millions of pixels, and "
            f"{MOST_PIXELS / 1e6:.0f} million is the limit."
        ) from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        if isinstance(error, NotShown):
            raise
        raise NotShown(f"The image cannot be decoded: {error}.") from error


def picture_of_pixels(pixels: Array, largest: int) -> bytes:
    """Pixels (height x width, or height x width x 3 or 4, bytes) as WebP."""
    return encoded(pillow().fromarray(pixels), largest)


def encoded(image: Any, largest: int) -> bytes:
    """A decoded image as WebP: with colours that a page has, and no metadata."""
    image = _in_colours(image)
    image.thumbnail((largest, largest))
    file = io.BytesIO()
    image.save(file, "WEBP", quality=QUALITY, method=4, lossless=max(image.size) <= LOSSLESS)
    return file.getvalue()


def size_of(content: bytes) -> tuple[int, int]:
    """Width and height of an image that :func:`encoded` made."""
    with pillow().open(io.BytesIO(content), formats=["WEBP"]) as image:
        width, height = image.size
    return width, height


def _check_size(image: Any) -> None:
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise NotShown(
            f"The image is too large to be shown: {width} x {height} pixels, and "
            f"{MOST_PIXELS / 1e6:.0f} million is the limit."
        )


def _upright(image: Any) -> Any:
    """As the camera was held."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image)


def _in_colours(image: Any) -> Any:
    if image.mode in WIDE_MODES:
        values = np.asarray(image, np.float64)
        return pillow().fromarray(to_bytes(values, *limits(values)))
    if image.mode in ("L", "RGB", "RGBA"):
        return image.copy()
    clear = image.mode in ("LA", "PA", "La", "RGBa") or "transparency" in image.info
    return image.convert("RGBA" if clear else "RGB")


def limits(values: Array) -> tuple[float, float]:
    """The values that become black and white: 0 and 1, 0 and 255, or the smallest and largest.

    Examples
    --------
    >>> limits(np.array([0.2, 0.9])), limits(np.array([0, 200])), limits(np.array([0, 16]))
    ((0.0, 1.0), (0.0, 255.0), (0.0, 16.0))
    """
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if values.dtype.kind in "fb" and low >= 0 and high <= 1:
        return 0.0, 1.0
    if low >= 0 and 127 < high <= 255:
        return 0.0, 255.0
    return low, high


def to_bytes(values: Array, low: float, high: float) -> Array:
    """Values from low to high as 0 to 255; NaN is black."""
    scaled = (np.nan_to_num(values.astype(np.float64), nan=low) - low) / max(high - low, 1e-300)
    pixels: Array = np.rint(255.0 * np.clip(scaled, 0.0, 1.0)).astype(np.uint8)
    return pixels
