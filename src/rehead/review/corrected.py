"""Decisions as labels and weights: what a corrected data set is."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead._validation import CHOSEN, RANDOM
from rehead.audit.known import KnownRows
from rehead.audit.memory import TRUSTED, UNCORRECTED
from rehead.audit.report import LabelReport
from rehead.files.atomic import write_atomically
from rehead.files.tables import check_ending, write_table
from rehead.review.decisions import (
    BLIND,
    DECIDED,
    KEEP,
    OUT,
    RANDOM_OTHER,
    RANDOM_SUSPECT,
    RELABEL,
    STATUSES,
)
from rehead.review.standings import CODES, Standings

WRITTEN = (".csv", ".parquet", ".npy", ".json")
"""How files of corrected labels end."""


class Corrected(NamedTuple):
    """Labels after a review, in the order of the samples.

    Attributes
    ----------
    ids : array
        Ids, or row numbers.
    labels, given : array
        As they are now, and as they were.
    weights : array of float
        0 for samples that are out of scope, else 1.
    checked : array of str
        "random" or "chosen" where a reviewer has kept or corrected the label, else ""
        (:func:`known_labels`).
    status, who, when, why : array of str
        What was decided, by whom, at what time (UTC), and why the sample was shown; empty where
        nothing was.
    """

    ids: Array
    labels: Array
    given: Array
    weights: Array
    checked: Array
    status: Array
    who: Array
    when: Array
    why: Array

    @property
    def changed(self) -> Array:
        """Samples with another label than before."""
        different: Array = self.labels != self.given
        return different

    @property
    def trusted(self) -> Array:
        """Samples whose label a reviewer has kept or corrected."""
        mask: Array = self.checked != ""
        return mask

    def columns(self, first: KnownRows | None = None) -> dict[str, Array]:
        """As columns of a file, with what is known of labels by now.

        ``first`` is what the head was told before, see :func:`known_after`.
        """
        known = known_after(self, first)
        ids = self.ids.astype(str) if self.ids.dtype.kind in "mM" else self.ids
        assert known.trusted is not None
        before = {} if known.uncorrected is None else {UNCORRECTED: known.uncorrected}
        return {
            "id": ids,
            "label": self.labels,
            "given": self.given,
            "changed": self.changed,
            "weight": self.weights,
            TRUSTED: known.trusted,
            "status": self.status,
            "who": self.who,
            "when": self.when,
            "why": self.why,
            **before,
        }


def corrected_labels(scores: LabelReport, standings: Standings) -> Corrected:
    """Labels and weights that follow from decisions.

    Kept and corrected labels are trusted. Out of scope: weight 0. Unsure, skipped and disputed
    labels stay as they were, and are not trusted.
    """
    labels, given = scores.given.copy(), scores.given
    weights, trusted = np.ones(len(scores)), np.zeros(len(scores), bool)
    status = np.array(STATUSES, object)[standings.status]
    who, when, why = (np.full(len(scores), "", object) for _ in range(3))
    codes = {label: code for code, label in enumerate(scores.classes.tolist())}
    for row in standings.touched():
        found = standings.standing(row)
        decision = found.decision
        if decision is None:
            continue
        who[row], when[row], why[row] = decision.who, decision.at, decision.reason
        if standings.status[row] != CODES[DECIDED]:
            continue
        status[row] = decision.action
        weights[row] = 0.0 if decision.action == OUT else 1.0
        trusted[row] = decision.action in (KEEP, *RELABEL)
        if decision.action in RELABEL:
            labels[row] = scores.classes[codes[decision.new]]
    texts = [column.astype(str) for column in (status, who, when, why)]
    checked = known_labels(trusted, scores.suspect, Reasons(texts[3], texts[2]))
    return Corrected(scores.names, labels, given, weights, checked, *texts)


class Reasons(NamedTuple):
    """Why samples were shown, and when they were decided."""

    why: Array
    when: Array


def known_labels(trusted: Array, suspect: Array, reasons: Reasons) -> Array:
    """What may be done with each decided label: "random", "chosen", or "" for the others.

    Suspects are shown because they look wrong, so they tell nothing about the rest. Random draws
    do, but more of them are suspects than of all samples. So as many of them count as drawn at
    random as make the rate of draws the same for suspects and others, the earliest ones.
    """
    words = np.where(trusted, CHOSEN, "").astype("U6")
    draws = {reason: np.flatnonzero(trusted & (reasons.why == reason)) for reason in BLIND}
    sizes = {RANDOM_SUSPECT: int(suspect.sum()), RANDOM_OTHER: int((~suspect).sum())}
    rate = min(len(draws[reason]) / size for reason, size in sizes.items() if size)
    for reason, rows in draws.items():
        earliest = rows[np.argsort(reasons.when[rows], kind="stable")]
        words[earliest[: int(rate * sizes[reason])]] = RANDOM
    return words


def known_after(corrected: Corrected, first: KnownRows | None) -> KnownRows:
    """What is known of labels by decisions, and by what the head was told before (``first``).

    Examples
    --------
    >>> nothing, y = np.array(["", ""]), np.array(["cat", "dog"])
    >>> checked = np.array(["", "chosen"])
    >>> now = Corrected(y, y, y, np.ones(2), checked, nothing, nothing, nothing, nothing)
    >>> known_after(now, KnownRows(np.array(["random", ""]), y)).trusted.tolist()
    ['random', 'chosen']
    """
    words = corrected.checked
    if first is None or first.trusted is None:
        return KnownRows(words, corrected.given)
    drawn = (words == RANDOM) | (first.trusted == RANDOM)
    told = np.where(drawn, RANDOM, np.where(words == "", first.trusted, words))
    before = first.uncorrected
    if before is None and not first.is_trusted.any():
        before = corrected.given
    # Else it is not known what labels were before the first were put right, and what they were in
    # this review is no substitute: none of those would have been wrong.
    return KnownRows(told, before)


def write_corrected(path: Path, corrected: Corrected, first: KnownRows | None = None) -> list[Path]:
    """Write corrected labels as the name of the file ends; all files that were written.

    A table (.csv, .parquet) and .json have ids, labels and weights, who decided and when, and what
    is known of labels by now; ``first`` is what the head was told before. ``.npy`` holds labels
    alone; the weights are then in a second file, NAME-weights.npy.
    """
    check_ending(path, WRITTEN)
    columns, ending = corrected.columns(first), path.suffix.lower()
    if ending == ".npy":
        beside = path.with_name(f"{path.stem}-weights.npy")
        _write_npy(beside, corrected.weights)
        _write_npy(path, corrected.labels)
        return [path, beside]
    if ending == ".json":
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        text = ",\n".join(
            json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows
        )
        write_atomically(path, f"[\n{text}\n]\n".encode())
    else:
        write_table(path, columns)
    return [path]


def _write_npy(path: Path, values: Array) -> None:
    content = io.BytesIO()
    np.save(content, values.astype(str) if values.dtype.kind == "O" else values, allow_pickle=False)
    write_atomically(path, content.getvalue())
