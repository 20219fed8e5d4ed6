"""Images from mosaics: one lossless WebP picture of 32 x 32 tiles, row by row.

Decoding takes a second for 10,000 images, so the result is kept in the user's cache folder, for as
long as the sources do not change. Without a writable cache folder it is decoded every time.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rehead._progress import progress_bar
from rehead._typing import Array
from rehead.data.archive import readable
from rehead.data.files import DataFileError, user_cache
from rehead.files.atomic import replacing

SIDE = 32
VERSION = 1
"""Goes up when the same sources decode to something else."""


def read_mosaics(paths: Sequence[Path], n_images: int, *, progress: bool | None = None) -> Array:
    """All tiles of these pictures, in order, as uint8 of shape (n_images, 3, 32, 32)."""
    kept = user_cache() / "decoded" / _name(paths)
    images = _read_kept(kept)
    if images is not None and len(images) == n_images:
        return images
    parts = []
    with progress_bar(f"Decoding {paths[0].parent.name}", len(paths), show=progress) as advance:
        for path in paths:
            parts.append(decode(path))
            advance(1)
    images = np.concatenate(parts)
    if len(images) != n_images:
        raise DataFileError(
            f"The pictures in {paths[0].parent} have {len(images)} tiles for {n_images} labels. "
            "They do not belong together: get all files of that folder again."
        )
    _keep(kept, images)
    return images


def decode(path: Path) -> Array:
    """The tiles of one picture."""
    from PIL import Image, features

    if not features.check("webp"):
        raise ImportError(
            "This Pillow cannot read WebP pictures. Install one that can: pip install "
            "--force-reinstall Pillow"
        )
    with readable(path), Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    if pixels.shape[0] % SIDE or pixels.shape[1] % SIDE:
        raise DataFileError(f"{path} is not made of tiles of {SIDE} x {SIDE}: {pixels.shape}.")
    rows, columns = (n // SIDE for n in pixels.shape[:2])
    tiles = pixels.reshape(rows, SIDE, columns, SIDE, 3).transpose(0, 2, 4, 1, 3)
    images: Array = tiles.reshape(-1, 3, SIDE, SIDE)
    return images


def _name(paths: Sequence[Path]) -> str:
    """A file name that changes when a source does."""
    stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    key = hashlib.sha256(repr((VERSION, stats)).encode()).hexdigest()[:16]
    return f"{paths[0].parent.name}-{paths[0].stem}-{key}.npy"


def _read_kept(kept: Path) -> Array | None:
    try:
        # Pages come in as they are used; what a user writes to the array stays in memory.
        images: Array = np.asarray(np.load(kept, mmap_mode="c", allow_pickle=False))
    except (OSError, ValueError, EOFError):
        return None
    return images if images.dtype == np.uint8 and images.shape[1:] == (3, SIDE, SIDE) else None


def _keep(kept: Path, images: Array) -> None:
    # Not being able to keep it costs time only.
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with replacing(kept) as file:
            np.save(file, images, allow_pickle=False)
