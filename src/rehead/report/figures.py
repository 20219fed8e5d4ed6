"""The paper's figures and the theorem: collected into results, drawn from these."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rehead.experiments.figures.cells import NothingToDrawError, Request
from rehead.experiments.figures.drawing import draw_figure, read_content, write_content
from rehead.experiments.figures.registry import FIGURES
from rehead.experiments.theory.drawing import draw_theorem
from rehead.experiments.theory.kept import read_theorem
from rehead.files.atomic import write_atomically
from rehead.report.sheets import Sheet


def kept_in(results: Path, profile: str, data: str | None = None) -> Path:
    """Where contents of figures are; those of other data than the paper's are apart."""
    return results / profile / ("figures" if data is None else f"figures-{data}")


def collect_figure(name: str, request: Request) -> dict[str, Any]:
    """Collect a figure from results and features, and keep what it shows."""
    content = FIGURES[name].collect(request)
    write_content(name, content, kept_in(request.results.folder, request.profile, request.data))
    return content


def draw_kept(name: str, kept: Path, place: Path) -> list[Path]:
    """Draw a figure from what was kept: in both forms to a folder, or in one to a file."""
    content = read_content(name, kept)
    if place.is_dir() or not place.suffix:
        return draw_figure(name, content, place)
    with TemporaryDirectory() as folder:
        drawn = {path.suffix: path for path in draw_figure(name, content, Path(folder))}
        write_atomically(place, drawn[place.suffix].read_bytes())
    return [place]


def draw_all(results: Path, profile: str, folder: Path) -> dict[str, str]:
    """Draw all figures and the theorem's; why, of each that cannot be drawn."""
    missing = {}
    folder.mkdir(parents=True, exist_ok=True)
    for name in FIGURES:
        try:
            draw_kept(name, kept_in(results, profile), folder)
        except FileNotFoundError as error:
            missing[name] = str(error)
    for form in ("png", "svg"):
        draw_theorem(read_theorem(results / profile), folder / f"theorem.{form}")
    return missing


def collect_all(request: Request) -> dict[str, str]:
    """Collect all figures; why, of each that cannot be collected."""
    missing = {}
    for name in FIGURES:
        try:
            collect_figure(name, request)
        except NothingToDrawError as error:
            missing[name] = str(error)
    return missing


def caption_sheet(name: str, content: Mapping[str, Any], files: list[Path]) -> Sheet:
    """What a picture shows, and where it is."""
    rows = [[str(file)] for file in files]
    return Sheet(f"Figure {name}. {FIGURES[name].title}", ["file"], rows, [content["caption"]])


def theorem_sheet(result: Mapping[str, Any]) -> Sheet:
    """What the paper states, and whether it holds."""
    rows = [[s["says"], s["where"], s["verdict"]] for s in result["statements"]]
    return Sheet("Theorem 1, tried", ["statement", "where", "verdict"], rows, n_labels=3)
