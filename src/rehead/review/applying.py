"""``rehead apply``: from decisions to corrected labels and a better head."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from rehead._labels import in_type_of
from rehead._typing import Array
from rehead._values import first_few
from rehead._warnings import warn
from rehead.audit.files import check_network, known_columns
from rehead.audit.known import KnownRows
from rehead.audit.memory import TRUSTED, UNCORRECTED
from rehead.ensemble import LayerEnsemble
from rehead.files.cleaned import CleanedFolder
from rehead.files.samples import Source, check_beside, read_samples
from rehead.files.tables import is_table
from rehead.report.contents import truth_codes
from rehead.report.truths import read_truth
from rehead.review.corrected import Corrected, corrected_labels, known_after, write_corrected
from rehead.review.log import DecisionLog
from rehead.review.refitting import Gain, gain_of, refit
from rehead.review.standings import Standings
from rehead.review.subject import DECISIONS, Subject, folder_parts, open_subject

CORRECTED, NEW_HEAD = "corrected.csv", "reviewed-head.safetensors"
"""What is written into a folder of `rehead clean`, where nothing else is said."""


class Outputs(NamedTuple):
    """What to write: corrected labels, and the new head; None for what is not wanted."""

    labels: str | Path | None = None
    head: str | Path | None = None


class Applied(NamedTuple):
    """Corrected labels; and, where a head was fitted again, that head and what it gained."""

    corrected: Corrected
    gain: Gain | None
    files: list[Path]


def apply_decisions(
    head: str | Path,
    source: Source,
    log: str | Path | None = None,
    *,
    outputs: Outputs = Outputs(),  # noqa: B008  (a value that nobody can change)
    validation: Source | None = None,
    truth: str | None = None,
) -> Applied:
    """Write corrected labels and weights, and fit the head again with the decisions.

    Parameters
    ----------
    head : path
        The head that the review was made with.
    source : Source
        The samples that were reviewed.
    log : path, optional
        The decisions. Default: decisions.sqlite beside the head.
    outputs : Outputs
        Files to write. Labels as .csv, .parquet, .npy or .json.
    validation : Source, optional
        Held-out samples, for a head of several layers.
    truth : str, optional
        True labels, where they are known: a file or FILE:COLUMN, in the order of the samples.

    Returns
    -------
    Applied

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier
    >>> from rehead.files.samples import Source
    >>> from rehead.review import Outputs, apply_decisions, open_log, open_subject
    >>> from rehead.review.log import Entry, Line
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["cat", "dog"], 50)
    >>> X = rng.normal(size=(100, 2)) + 6 * (y == "dog")[:, None]
    >>> y[3] = "dog"
    >>> with TemporaryDirectory() as place:
    ...     folder = Path(place)
    ...     np.save(folder / "X.npy", X)
    ...     np.save(folder / "y.npy", y)
    ...     RobustGaussianClassifier(random_state=0).fit(X, y).save(folder / "head.safetensors")
    ...     source = Source(folder / "X.npy", labels=str(folder / "y.npy"))
    ...     with open_log(open_subject(folder / "head.safetensors", source)) as log:
    ...         line = Line("3", "suggestion", '"dog"', '"cat"', "suspect")
    ...         _ = log.append([Entry("c1", "decision", "Ann", [line], "")])
    ...     wanted = Outputs(folder / "corrected.csv", folder / "new.safetensors")
    ...     done = apply_decisions(folder / "head.safetensors", source, outputs=wanted)
    >>> str(done.corrected.labels[3]), done.gain.relabelled, len(done.files)
    ('cat', 1, 2)
    """
    subject = open_subject(head, source)
    path = Path(log) if log is not None else Path(head).parent / DECISIONS
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}: nothing was decided yet. Review first, with the same names: "
            "rehead review."
        )
    with DecisionLog(path, subject.run, other_head=True) as found:
        standings = standings_of(subject, found)
        _warn_of_other_heads(found, subject)
    known = None if truth is None else _true_labels(truth, subject, source)  # before any file
    corrected = corrected_labels(subject.report, standings)
    files = []
    if outputs.labels is not None:
        files = write_corrected(Path(outputs.labels), corrected, subject.known)
    if outputs.head is None:
        return Applied(corrected, None, files)
    held_out = None if validation is None else read_held_out(subject, validation)
    made = refit(subject, corrected, held_out)
    remember(made.model, subject, corrected, outputs.labels)
    made.model.save(outputs.head)
    gain = gain_of(subject, corrected, made, known)
    return Applied(corrected, gain, [*files, Path(outputs.head)])


def places_in(file: str | Path | None, known: KnownRows) -> dict[str, str]:
    """Where a file of corrected labels says what is known of them; nowhere if it is no table.

    Examples
    --------
    >>> import numpy as np
    >>> places_in("c.csv", KnownRows(np.array(["random"]))), places_in("c.npy", KnownRows())
    ({'trusted': 'c.csv:trusted'}, {})
    """
    if file is None or not is_table(file):
        return {}
    columns = {TRUSTED: known.trusted, UNCORRECTED: known.uncorrected}
    return {name: f"{file}:{name}" for name, found in columns.items() if found is not None}


def remember(model: Any, subject: Subject, corrected: Corrected, file: str | Path | None) -> None:
    """Have a new head remember what it was told, as `rehead fit` does; ``file`` says it, if any."""
    known = known_after(corrected, subject.known)
    assert known.trusted is not None
    if isinstance(model, LayerEnsemble) and (known.trusted != "").any():
        known = known._replace(places=places_in(file, known))
        told = known.to_remember(subject.X, corrected.labels, model.classes_)
        model.inputs_.known_from = told


def apply_folder(
    folder: str | Path, log: str | Path | None = None, outputs: Outputs | None = None
) -> Applied:
    """As :func:`apply_decisions`, for a folder of ``rehead clean``; files are written into it."""
    head, source, _ = folder_parts(folder)
    wanted = outputs or Outputs(Path(folder) / CORRECTED, Path(folder) / NEW_HEAD)
    validation = CleanedFolder(folder).validation()
    return apply_decisions(head, source, log, outputs=wanted, validation=validation)


def open_log(
    subject: Subject, path: str | Path | None = None, *, other_head: bool = False
) -> DecisionLog:
    """The log of decisions about a subject; ``decisions.sqlite`` in this folder by default."""
    if path is None:
        path = subject.beside / DECISIONS
    return DecisionLog(path, subject.run, other_head=other_head)


def standings_of(subject: Subject, log: DecisionLog) -> Standings:
    """What stands in a log."""
    standings = Standings({name: row for row, name in enumerate(subject.names)})
    standings.update(log.lines())
    return standings


def read_held_out(subject: Subject, source: Source) -> tuple[Any, Array]:
    """Held-out samples for the head of a subject."""
    samples = read_samples(source, known_columns(subject.model))
    check_network(subject.model, samples)
    labels = None if samples.labels is None else in_type_of(samples.labels, subject.model.classes_)
    assert labels is not None  # read_samples has said so
    return subject.model.inputs_of(samples.layers), labels


def _warn_of_other_heads(log: DecisionLog, subject: Subject) -> None:
    """Decisions are about labels, so they hold for any head; but two reviews may be meant."""
    heads = {line.head for line in log.lines() if line.head}
    if heads and subject.head not in heads:
        warn(
            f"No decision of {log.path} was made with this head. They are about the same samples "
            "and labels, and are applied. If another review is meant, name its file: --log."
        )


def _true_labels(truth: str, subject: Subject, source: Source) -> Array:
    check_beside(truth, source, "true labels")
    labels = read_truth(truth, source.data)
    if len(labels) != len(subject):
        raise ValueError(
            f"{truth} has {len(labels)} true labels, and there are {len(subject)} samples."
        )
    if not (truth_codes(subject.report, labels) >= 0).any():
        raise ValueError(
            f"No true label of {truth} is one of the classes, which are "
            f"{first_few(subject.report.classes.tolist())}. Is it the right column?"
        )
    return labels
