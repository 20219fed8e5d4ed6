"""Some of the samples, as the page asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.audit.kinds import KINDS
from rehead.audit.scores import LabelScores
from rehead.review.decisions import STATUSES
from rehead.review.evidence import Evidence
from rehead.review.standings import CODES, Standings

SUSPECTS, ALL = "suspects", "all"


class Filter(NamedTuple):
    """What is asked for; None means anything.

    Attributes
    ----------
    given, suggested : int or None
        Class codes.
    kind : str or None
        What is wrong with the sample.
    layer : str or None
        A layer that takes another label for the most probable one.
    reviewer : str or None
        Who has answered.
    status : str or None
    scope : {"suspects", "all"}
    """

    given: int | None = None
    suggested: int | None = None
    kind: str | None = None
    layer: str | None = None
    reviewer: str | None = None
    status: str | None = None
    scope: str = SUSPECTS

    @property
    def active(self) -> bool:
        """Whether it leaves anything out."""
        return self != Filter()


class FilterError(ValueError):
    """A filter that names something that is not there."""


def read_filter(asked: Mapping[str, str], n_classes: int, layers: list[str]) -> Filter:
    """A filter from the query of a request.

    Examples
    --------
    >>> read_filter({"given": "3", "status": "undecided"}, 10, [])
    Filter(given=3, suggested=None, kind=None, layer=None, reviewer=None, status='undecided', \
scope='suspects')
    """
    codes = {name: _code(asked.get(name), n_classes, name) for name in ("given", "suggested")}
    choices = {"kind": KINDS, "layer": layers, "status": STATUSES, "scope": (SUSPECTS, ALL)}
    found: dict[str, Any] = dict(codes)
    for name, known in choices.items():
        value = asked.get(name) or None
        if value is not None and value not in known:
            raise FilterError(f"{name} must be one of {list(known)}, got {value!r}.")
        found[name] = value
    found["scope"] = found["scope"] or SUSPECTS
    return Filter(**found, reviewer=asked.get("reviewer") or None)


def rows_matching(
    wanted: Filter, scores: LabelScores, standings: Standings, evidence: Evidence
) -> Array:
    """Rows that match, worst first."""
    rows: Array = scores.order
    keep = scores.suspect[rows] if wanted.scope == SUSPECTS else np.ones(len(rows), bool)
    # Labels that were corrected no longer look suspect to a head that knows of it.
    if wanted.scope == SUSPECTS:
        keep |= standings.answered[rows]
    if wanted.given is not None:
        keep &= scores.given[rows] == scores.classes[wanted.given]
    if wanted.suggested is not None:
        keep &= scores.suggested[rows] == scores.classes[wanted.suggested]
    if wanted.kind is not None:
        keep &= scores.kind[rows] == wanted.kind
    if wanted.status is not None:
        keep &= standings.status[rows] == CODES[wanted.status]
    if wanted.reviewer is not None:
        keep &= np.isin(rows, list(standings.rows_of(wanted.reviewer)))
    if wanted.layer is not None:
        keep &= scores.classes[evidence.votes()[wanted.layer][rows]] != scores.given[rows]
    found: Array = rows[keep]
    return found


def _code(text: str | None, n_classes: int, name: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or int(text) >= n_classes:
        raise FilterError(f"{name} must be the number of a class, got {text!r}.")
    return int(text)
