"""What to do after an audit, with the user's own names."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rehead.audit import LabelReport
    from rehead.files.samples import Source


class Paths(NamedTuple):
    """The files of an audit: the head, and what was written."""

    head: Path
    output: Path | None
    corrected: Path | None


def next_steps(report: LabelReport, paths: Paths, source: Source, left_out: list[str]) -> list[str]:
    """Commands to review, correct and fit again; none where no label needs a look.

    ``left_out`` are columns of the table that are not features.
    """
    n = report.n_review()
    if not n:
        return []
    audit = f"rehead audit {_quoted(paths.head)} {_quoted(source.data)}{_options(source)}"
    suspects = _free_name("suspects.csv", source)
    review = f"{audit} -o {suspects}, then look at its first {n} rows"
    if paths.output is not None:
        review = f"look at the {n} rows of {paths.output} with the lowest quality"
    lines = ["Next:", f"  review: {review}"]
    if paths.corrected is None:
        free = _free_name("corrected.csv", source)
        lines.append(f"  correct: {audit} --corrected {free} --min-probability 0.9")
        paths = paths._replace(corrected=Path(free))
    file = f"{paths.corrected}:label"
    again = source._replace(labels=file, ignore=[",".join(left_out)] if left_out else [])
    fit = f"rehead fit {_quoted(source.data)}{_options(again)}"
    if Path(source.data).is_dir():
        # Layers of a network need held-out samples, with labels as clean as those of training.
        held_out = f"rehead audit {_quoted(paths.head)} HELD-OUT --corrected held-out.csv"
        lines.append(f"  correct held-out labels too: {held_out}")
        fit += " --validation HELD-OUT --validation-labels held-out.csv:label"
    lines.append(f"  fit again: {fit} -o new-head.safetensors")
    return [*lines, "  in Python: score_labels(model, X, y).corrected(0.9)"]


def _free_name(name: str, source: Source) -> str:
    """A file that the command does not read; it refuses to write over one that it does."""
    read = [Path(str(part).rpartition(":")[0] or part).name for part in source[:3] if part]
    return f"new-{name}" if name in read else name


def _options(source: Source) -> str:
    """The options that say what is what in the data."""
    given = [("--labels", source.labels), ("--ids", source.ids)]
    given += [("--ignore", name) for name in source.ignore]
    return "".join(f" {option} {_quoted(value)}" for option, value in given if value)


def _quoted(value: object) -> str:
    return shlex.quote(str(value))
