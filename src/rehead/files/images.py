"""Files of images below a folder."""

from __future__ import annotations

import os
from pathlib import Path

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
"""How files of images end."""


def image_files(folder: Path) -> list[Path]:
    """Images below a folder, by the endings of their names, sorted.

    Hidden files and folders are left out, and links to other folders are not followed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("b.png", "a.JPG", "notes.txt", ".hidden.png"):
    ...         Path(folder, name).touch()
    ...     [file.name for file in image_files(Path(folder))]
    ['a.JPG', 'b.png']
    """
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(place, name)
            for name in files
            if not name.startswith(".") and name.lower().endswith(IMAGES)
        ]
    return sorted(found)
