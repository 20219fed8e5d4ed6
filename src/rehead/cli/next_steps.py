"""What to do after an audit, with the user's own names."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rehead.audit import LabelReport
    from rehead.audit.known import KnownRows
    from rehead.files.samples import Source
    from rehead.report.shown import Looks


class Paths(NamedTuple):
    """The files of an audit: the head, and what was written."""

    head: Path
    output: Path | None
    corrected: Path | None


TRUSTED = "trusted"
"""The column of corrected labels that says which were checked; `rehead apply` calls it so, too."""
WORDS = {
    "correct": "Correct the labels that are sure, in a new file:",
    "correct held-out labels too": "Correct held-out labels too:",
    "trusted labels": "Before that, as it was fitted with trusted labels:",
    "fit again": "Fit the head again, with the corrected labels:",
    "in Python": "In Python:",
}
"""What steps are called on a page."""


def next_steps(
    report: LabelReport,
    paths: Paths,
    source: Source,
    left_out: list[str],
    known: KnownRows | None = None,
) -> list[str]:
    """Commands to review, correct and fit again, as lines; none where no label needs a look.

    ``left_out`` are columns of the table that are not features, ``known`` what the head was told of
    the labels of these samples.
    """
    found = _steps(report, paths, source, left_out, known)
    if not found:
        return []
    on_a_page = f"rehead review {_quoted(paths.head)} {_quoted(source.data)}{_options(source)}"
    steps = [found[0], ("review on a page", on_a_page), *found[1:]]
    return ["Next:", *(f"  {name}: {step}" for name, step in steps)]


def page_steps(
    report: LabelReport,
    paths: Paths,
    source: Source,
    left_out: list[str],
    looks: Looks,
    known: KnownRows | None = None,
) -> list[tuple[str, str]]:
    """The same for a page: in words, and as commands; the review page comes first."""
    found = dict(_steps(report, paths, source, left_out, known))
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
    report: LabelReport,
    paths: Paths,
    source: Source,
    left_out: list[str],
    known: KnownRows | None,
) -> list[tuple[str, str]]:
    """What to do, and the command for it."""
    n = report.n_review()
    if not n:
        return []
    from rehead.audit.memory import remembered_places

    taken = [*remembered_places(report.model).values(), paths.head, paths.output, paths.corrected]
    audit = f"rehead audit {_quoted(paths.head)} {_quoted(source.data)}{_options(source)}"
    review = (
        f"{audit} -o {_free_name('suspects.csv', source, taken)}, then look at its first {n} rows"
    )
    if paths.output is not None:
        review = f"look at the {n} rows of {paths.output} with the lowest quality"
    steps = [("review", review)]
    corrected = paths.corrected
    if corrected is None:
        corrected = Path(_free_name("corrected.csv", source, taken))
        steps.append(("correct", f"{audit} --corrected {corrected} --min-probability 0.9"))
    again = source._replace(
        labels=f"{corrected}:label", ignore=[",".join(left_out)] if left_out else []
    )
    steps += _fit_again(report.model, paths.head, again, known)
    return [*steps, ("in Python", "score_labels(model, X, y).corrected(0.9)")]


def _fit_again(
    model: object, head: Path, source: Source, known: KnownRows | None
) -> list[tuple[str, str]]:
    """A new fit on corrected labels, and what it needs; ``source`` has these labels."""
    from rehead.audit.memory import was_told

    steps, fit = [], f"rehead fit {_quoted(source.data)}{_options(source)}"
    if (made_by := getattr(model, "labels_from", None)) is not None:
        fit += f" --labels-from {made_by}"
    before = None
    if known is not None:
        before = known.places.get("uncorrected")
        corrected = str(source.labels).rpartition(":")[0]
        fit += f" --trusted {_quoted(f'{corrected}:{TRUSTED}')}"
        fit += "" if before is None else f" --uncorrected {_quoted(before)}"
    elif was_told(model):
        steps.append(("trusted labels", NOT_FOUND))
        fit += " --trusted TRUSTED"
    if Path(source.data).is_dir() and before is not None:
        # The noise is read off labels as they came, and held-out labels are still so.
        fit += " --validation HELD-OUT"
    elif Path(source.data).is_dir():
        # Layers of a network need held-out samples, with labels as clean as those of training.
        held_out = f"rehead audit {_quoted(head)} HELD-OUT --corrected held-out.csv"
        steps.append(("correct held-out labels too", held_out))
        fit += " --validation HELD-OUT --validation-labels held-out.csv:label"
    return [*steps, ("fit again", f"{fit} -o new-head.safetensors")]


NOT_FOUND = (
    "the head was fitted with trusted labels, and those of these samples are not found, or have "
    "changed. Put a column of them in place of TRUSTED, with 'suggested' where an audit changed a "
    "label; leave the option out if nobody has checked labels of these samples"
)


def _free_name(name: str, source: Source, others: Sequence[str | Path | None]) -> str:
    """A file that the command does not read or write; it refuses to write over those."""
    parts = [str(part) for part in (*source[:3], *others) if part]
    taken = {Path(file).name for part in parts for file in (part, part.rpartition(":")[0])}
    names = (f"new-{k}-{name}" for k in count(2))
    return next(free for free in chain((name, f"new-{name}"), names) if free not in taken)


def _options(source: Source) -> str:
    """The options that say what is what in the data."""
    given = [("--labels", source.labels), ("--ids", source.ids)]
    given += [("--ignore", name) for name in source.ignore]
    return "".join(f" {option} {_quoted(value)}" for option, value in given if value)


def _quoted(value: object) -> str:
    return shlex.quote(str(value))
