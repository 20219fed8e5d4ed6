"""What was typed, checked and read before the work begins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rehead.files.samples import Source
    from rehead.report.shown import Looks


def need_folder(file: Path) -> None:
    """Fail before the work, not after it, where the result could not be written."""
    if file.is_dir():
        raise typer.BadParameter(f"{file} is a folder; name a file in it")
    if not file.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent} for {file.name}; make it first")


def need_ending(file: Path, endings: Sequence[str]) -> None:
    """Fail before the work where the name of the result does not say what form it is to have."""
    from rehead.files.tables import check_ending

    check_ending(file, endings)


def need_head(head: Path) -> None:
    """A file, not a folder, which may be that of a run."""
    if head.is_dir():
        raise ValueError(f"{head} is a folder, not a head. Make one with `rehead fit`.")


def need_features(data: Path) -> None:
    """Features, not a run of `train`, which stands for a network and its data."""
    from rehead.experiments.training import is_run

    folder, colon, part = str(data).rpartition(":")
    for run in (str(data), folder if colon else ""):
        if run and is_run(run):
            raise ValueError(
                f"{data} is a run of `rehead train`, not features. Extract them first: rehead "
                f"features {run} --data {run}:{part if run == folder else 'train'} -o FOLDER"
            )


def named_values(pairs: list[str] | None) -> dict[str, Any]:
    """Options from NAME=VALUE; values are JSON where they can be, else text."""
    options: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ValueError(f"{pair!r} must be NAME=VALUE, for example width=16.")
        try:
            options[name] = json.loads(value)
        except json.JSONDecodeError:
            options[name] = value
    return options


def number_or_auto(text: str | None, option: str) -> float | str | None:
    """A number, where neither nothing nor "auto" was given."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{option} must be a number or auto, got {text!r}.") from None


def need_other_folder(output: Path, *inputs: str | Path | None) -> None:
    """Refuse to write into a folder that is read, or over a file."""
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file. Choose a folder for the result.")
    need_other_file(output, *inputs)


def need_other_file(output: Path, *inputs: str | Path | None) -> None:
    """Refuse to write over what is read."""
    for source in inputs:
        file = str(source or "")
        for path in (file, file.rpartition(":")[0]):  # FILE:COLUMN
            if not path or not output.exists() or not Path(path).exists():
                continue
            if output.samefile(path) or (output.is_file() and _is_inside(output, Path(path))):
                raise ValueError(
                    f"{output} is what the command reads; it would be lost. Choose another file."
                )


def _is_inside(file: Path, folder: Path) -> bool:
    return folder.is_dir() and file.resolve().is_relative_to(folder.resolve())


def head_and_samples(
    head: Path, data: Path | None, labels: str | None, ids: str | None, ignore: list[str] | None
) -> tuple[Path, Source, Looks]:
    """The head, the samples, and what they look like as far as a folder of `clean` says it."""
    from rehead.files.places import existing
    from rehead.files.samples import Source
    from rehead.report.shown import Looks
    from rehead.review import folder_parts

    if data is not None:
        need_head(head)
        need_features(data)
        return head, Source(data, labels, ids, ignore or ()), Looks()
    if not existing(head).is_dir():
        raise ValueError(
            f"Give the features too, after {head}; or a folder of `rehead clean` in place of both."
        )
    path, source, looks = folder_parts(head)
    own = Source(source.data, labels or source.labels, ids or source.ids, ignore or source.ignore)
    return path, own, looks
