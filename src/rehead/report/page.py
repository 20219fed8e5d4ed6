"""The report on labels: one HTML file that holds everything, and asks nothing of a network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rehead._progress import step, steps
from rehead._typing import Array
from rehead.audit.kinds import OUTLIER
from rehead.audit.report import LabelReport
from rehead.audit.samerows import check_judged
from rehead.audit.structure import OneInTwo, Structure, TwoInOne, class_structure
from rehead.files.atomic import write_atomically
from rehead.report import contents
from rehead.report.drawing import Graph, HeatMap, confusion_graph, heat_map
from rehead.report.gallery import Album, Card
from rehead.report.members import Members, members_of
from rehead.report.plane import plane_of
from rehead.report.points import points_of
from rehead.report.rendering import render, versions
from rehead.report.shown import Looks, open_shown

WORST, AT_LEAST = 200, 24
"""Labels of the gallery: those to review, but no more and no fewer than these."""
STRANGE = 24
"""Samples out of distribution that are shown."""
EXAMPLES = 6
"""Of each group of a class that seems to be two."""


class Beside(NamedTuple):
    """What a report shows besides the labels, all of it optional.

    Attributes
    ----------
    X : the features that were judged
        For the map, the layers, and classes that seem to be two or one.
    looks : Looks
        What samples look like.
    truth : array-like of shape (n_samples,)
        True labels, missing (None, NaN, "") where they are not known.
    outputs : array of shape (n_samples, n_outputs)
        The network's own.
    steps : sequence of (str, str)
        What to do next: in words, and as a command.
    title : str
    how : sequence of (str, str)
        More to be said of how it was computed.
    data : path
        Where the samples were read from.
    """

    X: Any = None
    looks: Looks = Looks()
    truth: Any = None
    outputs: Array | None = None
    steps: Sequence[tuple[str, str]] = ()
    title: str = ""
    how: Sequence[tuple[str, str]] = ()
    data: str | Path | None = None


class Split(NamedTuple):
    """A class that seems to be two, with examples of either group."""

    found: TwoInOne
    groups: tuple[list[Card], list[Card]]


class Contents(NamedTuple):
    """All that a template needs for one report."""

    headline: contents.Headline
    truth: contents.Truth | None
    curve: contents.Curve
    worst: list[Card]
    strange: list[Card]
    album: Album
    note: str
    heat: HeatMap
    graph: Graph
    pairs: list[contents.Pair]
    more_pairs: int
    classes: list[contents.ClassRow]
    members: Members | None
    points: dict[str, Any] | None
    plane_how: str
    n_left_out: int
    splits: list[Split]
    same: list[OneInTwo]
    too_small: int
    explained: str


def write_report(report: LabelReport, path: str | os.PathLike[str], beside: Beside) -> Path:
    """Write a report on labels as one HTML file, whole or not at all; returns its path.

    Parameters
    ----------
    report : LabelReport
    path : path
    beside : Beside

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from rehead import RobustGaussianClassifier, score_labels
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
    >>> y = np.repeat(["cat", "dog"], 30)
    >>> report = score_labels(RobustGaussianClassifier("sample").fit(X, y), X, y)
    >>> with TemporaryDirectory() as folder:
    ...     page = write_report(report, f"{folder}/report.html", Beside(X)).read_text()
    >>> page.count("<canvas")
    2
    """
    target = Path(path)
    with steps("report"):
        found = contents_of(report, beside)
    page = render(
        "report.html.j2",
        c=found,
        title=beside.title or "Labels, judged",
        steps=list(beside.steps) or python_steps(),
        how=list(beside.how),
        versions=versions(),
    )
    write_atomically(target, page)
    return target


def contents_of(report: LabelReport, beside: Beside) -> Contents:
    """All that there is to show."""
    step("what samples look like")
    truth = contents.truth_codes(report, beside.truth)
    unnamed = report.ids is None
    shown = open_shown(report.names, beside.looks, numbered=unnamed, data=beside.data)
    album = Album(report, shown, truth)
    n_worst = min(len(report), max(AT_LEAST, min(report.n_review(), WORST)))
    strange = report.order[report.kind[report.order] == OUTLIER]
    shares = _true_shares(report)
    labels = report.classes.tolist()
    pairs, more_pairs = contents.pairs_of(report)
    points, how, n_left_out, members, structure = _of_features(report, beside.X, truth)
    step("pictures")
    worst = album.cards(report.order[:n_worst])
    return Contents(
        headline=contents.headline_of(report),
        truth=contents.truth_of(report, truth, beside.outputs),
        curve=contents.review_curve(report),
        worst=worst,
        strange=album.cards(strange[:STRANGE]),
        album=album,
        note="" if shown is None else shown.note,
        heat=heat_map(report.transition, shares, labels),
        graph=confusion_graph(report.transition, shares, labels),
        pairs=pairs,
        more_pairs=more_pairs,
        classes=contents.class_rows(report),
        members=members,
        points=points,
        plane_how=how,
        n_left_out=n_left_out,
        splits=[
            Split(s, tuple(album.cards(rows[:EXAMPLES]) for rows in s.examples))  # type: ignore[arg-type]
            for s in structure.split
        ],
        same=structure.same,
        too_small=structure.too_small,
        explained=_explained(report),
    )


class OfFeatures(NamedTuple):
    """What only features can tell."""

    points: dict[str, Any] | None
    how: str
    n_left_out: int
    members: Members | None
    structure: Structure


def _of_features(report: LabelReport, X: Any, truth: Array) -> OfFeatures:
    if X is None or report.model is None:
        return OfFeatures(None, "", 0, None, Structure([], [], 0))
    check_judged(report, X)
    step("the map")
    plane = plane_of(report.model, X, report)
    step("layers")
    members = members_of(report, X, truth)
    step("classes that seem to be two or one")
    structure = class_structure(report.model, X, report)
    left_out = len(report) - len(plane.rows)
    return OfFeatures(points_of(report, plane), plane.how, left_out, members, structure)


def _true_shares(report: LabelReport) -> Array:
    """How common the true classes are, by the suggested labels."""
    codes = np.searchsorted(report.classes, report.suggested)
    shares: Array = np.bincount(codes, minlength=len(report.classes)) / len(report)
    return shares


def _explained(report: LabelReport) -> str:
    """What the model found out and chose, in its own words."""
    explain = getattr(report.model, "explain", None)
    return "" if explain is None else str(explain())


def python_steps() -> list[tuple[str, str]]:
    """What to do next, in Python."""
    return [
        ("The labels to look at, worst first", "report.worst()"),
        ("Labels with those corrected that are sure", "y = report.corrected(min_probability=0.9)"),
        ("A head of the corrected labels", "model.fit(X, y)"),
        ("All of it as a table", 'report.to_csv("suspects.csv")'),
    ]
