"""From a content to picture files; contents as files."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from rehead import _validation as check
from rehead.experiments.checksums import (
    ChecksumError,
    mark_of,
    with_checksum,
    without_checksum,
)
from rehead.experiments.figures.cells import Content
from rehead.experiments.figures.registry import FIGURES
from rehead.experiments.figures.style import SETTINGS
from rehead.files.atomic import write_atomically

DPI = 150


def draw_figure(name: str, content: Content, folder: Path) -> list[Path]:
    """Write a figure as ``<name>.png`` and ``<name>.svg``; the same content gives the same files.

    Parameters
    ----------
    name : str
        One of ``FIGURES``.
    content : mapping
        What its ``collect`` gave.
    folder : Path
        Made if it is not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rehead.experiments.figures.drawing import draw_figure
    >>> from rehead.experiments.figures.registry import FIGURES
    >>> content = FIGURES["1c"].collect(None)
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in draw_figure("1c", content, Path(folder))]
    ['1c.png', '1c.svg']
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    check.check_choice(name, FIGURES, "figure")
    record = FIGURES[name]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    # A figure of its own, not pyplot's: no window, and nothing is left behind.
    with mpl.rc_context(SETTINGS):
        canvas = Canvas(figsize=record.size, layout="constrained")
        record.draw(content, canvas)
        said = {"Title": record.title, **mark_of(content)}
        for kind, unsaid in (("png", "Software"), ("svg", "Date")):
            buffer = io.BytesIO()
            canvas.savefig(buffer, format=kind, dpi=DPI, metadata={**said, unsaid: None})
            written.append(folder / f"{name}.{kind}")
            write_atomically(written[-1], buffer.getvalue())
    return written


def write_content(name: str, content: Content, folder: Path) -> Path:
    """Keep a content as ``<name>.json``, a line for each of its fields and one for a checksum."""
    lines = [
        f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}"
        for k, v in with_checksum(content).items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    write_atomically(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    return path


def read_content(name: str, folder: Path) -> dict[str, Any]:
    """What :func:`write_content` kept.

    Raises
    ------
    FileNotFoundError
        If the figure was not collected.
    ValueError
        If the file is damaged.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(
            f"Figure {name} was not collected: there is no {path}. Call `rehead reproduce "
            f"figure{name}` without --show, with the same --results, --profile and --data."
        )
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}. Collect the figure again.") from error
    if not isinstance(content, dict) or "caption" not in content:
        raise ValueError(f"{path} is no content of a figure. Collect the figure again.")
    try:
        return without_checksum(content)
    except ChecksumError as error:
        raise ValueError(
            f"{path} was changed or damaged: {error}. Collect the figure again."
        ) from error
