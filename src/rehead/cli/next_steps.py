"""What to do after an audit, with the user's own names."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rehead.audit import LabelReport
    from rehead.files.samples import Source
    from rehead.report.shown import Looks


class Paths(NamedTuple):
    """The files of an audit: the head, and what was written."""

    head: Path
    output: Path | None
    corrected: Path | None


WORDS = {
    "correct": "Correct the labels that are sure, in a new file:",
    "correct held-out labels too": "Correct held-out labels too:",
    "fit again": "Fit the head again, with the corrected labels:",
    "in Python": "In Python:",
}
"""What steps are called on a page."""


def next_steps(report: LabelReport, paths: Paths, source: Source, left_out: list[str]) -> list[str]:
    """Commands to review, correct and fit again, as lines; none where no label needs a look.

    ``left_out`` are columns of the table that are not features.
    """
    found = _steps(report, paths, source, left_out)
    if not found:
        return []
    on_a_page = f"rehead review {_quoted(paths.head)} {_quoted(source.data)}{_options(source)}"
    steps = [found[0], ("review on a page", on_a_page), *found[1:]]
    return ["Next:", *(f"  {name}: {step}" for name, step in steps)]


def page_steps(
    report: LabelReport, paths: Paths, source: Source, left_out: list[str], looks: Looks
) -> list[tuple[str, str]]:
    """The same for a page: in words, and as commands; the review page comes first."""
    found = dict(_steps(report, paths, source, left_out))
    if not found:
        audit = f"rehead audit {_quoted(paths.head)} {_quoted(source.data)}{_options(source)}"
        return [
            ("No label stands out. All of them, worst first, as a table:", f"{audit} -o all.csv")
        ]
    shown = "".join(
        f" --{name} {_quoted(value)}" for name, value in looks._asdict().items() if value
    )
    review = f"rehead review {_quoted(paths.head)} {_quoted(source.data)}{_options(source)}{shown}"
    steps = [(said, found[name]) for name, said in WORDS.items() if name in found]
    return [("Go through the suspects by keyboard, in a browser:", review), *steps]


def _steps(
    report: LabelReport, paths: Paths, source: Source, left_out: list[str]
) -> list[tuple[str, str]]:
    """What to do, and the command for it."""
    n = report.n_review()
    if not n:
        return []
    audit = f"rehead audit {_quoted(paths.head)} {_quoted(source.data)}{_options(source)}"
    suspects = _free_name("suspects.csv", source)
    review = f"{audit} -o {suspects}, then look at its first {n} rows"
    if paths.output is not None:
        review = f"look at the {n} rows of {paths.output} with the lowest quality"
    steps = [("review", review)]
    if paths.corrected is None:
        free = _free_name("corrected.csv", source)
        steps.append(("correct", f"{audit} --corrected {free} --min-probability 0.9"))
        paths = paths._replace(corrected=Path(free))
    file = f"{paths.corrected}:label"
    again = source._replace(labels=file, ignore=[",".join(left_out)] if left_out else [])
    fit = f"rehead fit {_quoted(source.data)}{_options(again)}"
    if (made_by := getattr(report.model, "labels_from", None)) is not None:
        fit += f" --labels-from {made_by}"
    if Path(source.data).is_dir():
        # Layers of a network need held-out samples, with labels as clean as those of training.
        held_out = f"rehead audit {_quoted(paths.head)} HELD-OUT --corrected held-out.csv"
        steps.append(("correct held-out labels too", held_out))
        fit += " --validation HELD-OUT --validation-labels held-out.csv:label"
    steps.append(("fit again", f"{fit} -o new-head.safetensors"))
    return [*steps, ("in Python", "score_labels(model, X, y).corrected(0.9)")]


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
