"""The result about Theorem 1 as a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rehead import _validation as check
from rehead.experiments.checksums import ChecksumError, with_checksum, without_checksum
from rehead.experiments.theory.run import FORMAT, Progress, run_theorem
from rehead.experiments.theory.settings import TheoremSettings
from rehead.files.atomic import write_atomically

NAME = "theorem.json"
SIZES = {
    "quick": TheoremSettings.quick,
    "paper": TheoremSettings.quick,
    "tiny": TheoremSettings.tiny,
}
"""Settings by the name of a profile."""


def keep_theorem(folder: Path, profile: str, progress: Progress | None = None) -> dict[str, Any]:
    """The result in a folder, measured first if it is not there."""
    path = folder / NAME
    if path.exists():
        return read_theorem(folder)
    check.check_choice(profile, SIZES, "profile")
    result = run_theorem(SIZES[profile](), progress)
    folder.mkdir(parents=True, exist_ok=True)
    kept = json.dumps(with_checksum(result), indent=1, ensure_ascii=False)
    write_atomically(path, kept.encode() + b"\n")
    return result


def read_theorem(folder: Path) -> dict[str, Any]:
    """The result in a folder.

    Raises
    ------
    FileNotFoundError
        If it was not measured.
    ValueError
        If the file is damaged, or something else.
    """
    path = folder / NAME
    if not path.exists():
        call = f"rehead reproduce theorem --profile {folder.name} --results {folder.parent}"
        raise FileNotFoundError(f"There is no {path}. Measure it: {call}")
    fix = "Delete it, and call `rehead reproduce theorem` again."
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}. {fix}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is no result about the theorem. {fix}")
    try:
        return without_checksum(content)
    except ChecksumError as error:
        raise ValueError(f"{path} was changed or damaged: {error}. {fix}") from error
