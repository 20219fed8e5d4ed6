"""``run.json``: what a finished run says about itself; every field is checked when it is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rehead.files.persist import ModelFileError, naming, write_atomically
from rehead.files.schema import (
    Fields,
    anything,
    check_fields,
    count,
    each,
    flag,
    mapping,
    nullable,
    number,
    one_of,
    optional,
    text,
)

RUN = "run.json"
FORMAT, VERSION = "rehead-run", 1
SETTINGS: Fields = {
    "data": text,
    "model": nullable(text),
    "method": text,
    "recipe": text,
    "noise": text,
    "rate": number(0, 1),
    "labels": nullable(one_of("given")),
    "labeller": optional(nullable(text)),
    "labeller_options": optional(mapping),
    "labeller_samples": optional(nullable(count(1))),
    "outside": optional(each(text)),
    "noise_rate": nullable(number(0, 1)),
    "trusted": number(0),
    "trusted_every_class": optional(flag),
    "validation": nullable(number(0)),
    "limit": nullable(count(1)),
    "epochs": nullable(count()),
    "model_options": mapping,
    "method_options": mapping,
    "seed": count(),
    "device": nullable(text),
    "precision": text,
}
CONTENT: Fields = {
    # Earlier files do not say what they are.
    "format": optional(one_of(FORMAT)),
    "version": optional(count(1)),
    "settings": mapping,
    "fitted": number(0, 1),
    "accuracy": number(0, 1),
    "noise_rate": number(0, 1),
    "labels": each(count()),
    "validation_labels": each(count()),
    "inputs": optional(text),
}


def write_run(folder: Path, content: Mapping[str, Any]) -> None:
    """Write what a run says about itself."""
    whole = {"format": FORMAT, "version": VERSION, **content}
    write_atomically(folder / RUN, json.dumps(whole).encode())


def read_run(folder: Path, known: Iterable[str]) -> dict[str, Any]:
    """Read it; ``known`` are the names of all settings that there are."""
    path = folder / RUN
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{path} is damaged: it is not JSON ({error}). Call `rehead train` again with the same "
            "options: what is finished is not trained again."
        ) from error
    version = content.get("version") if isinstance(content, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise ModelFileError(
            f"{path} was written by a newer rehead (format {version}, this one reads up to "
            f"{VERSION}). Upgrade with: pip install --upgrade rehead"
        )
    with naming(path):
        check_fields(content, CONTENT, {})
        others = {name: optional(anything) for name in known}
        check_fields(content["settings"], {**others, **SETTINGS}, {}, "settings.")
    return dict(content)
