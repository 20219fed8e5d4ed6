"""What speaks for a label and against it: trusted neighbours, and what each layer says."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.audit.inputs import spans
from rehead.audit.kinds import OK
from rehead.audit.neighbours import nearest_points
from rehead.review.subject import Subject, take

TRUSTED = 0.9
"""Quality of the labels among which neighbours are looked for."""
FEWEST = 20
"""Where a class has fewer of these, its best labels are taken."""
MOST = 400
"""Of a class: distances to more would take too long for a page."""
KEPT = 64
"""Classes whose trusted samples are kept in memory."""


class Neighbour(NamedTuple):
    """A trusted sample that is near."""

    row: int
    distance: float


class Trusted(NamedTuple):
    """Some trusted samples of a class, as points in the space that labels are judged in."""

    rows: Array
    points: Array


class Opinion(NamedTuple):
    """What a part of the model says: probabilities of two labels, and the most probable one."""

    name: str
    given: float
    other: float
    best: int
    best_probability: float


class Evidence:
    """Answers questions about single samples; what takes time is kept.

    Parameters
    ----------
    subject : Subject

    Attributes
    ----------
    given, suggested : array of int of shape (n_samples,)
        Codes of the labels.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        report = subject.report
        self.given = np.searchsorted(report.classes, report.given)
        self.suggested = np.searchsorted(report.classes, report.suggested)
        self._trusted: OrderedDict[int, Trusted] = OrderedDict()
        self._lock = threading.Lock()
        self._votes: dict[str, Array] | None = None

    @property
    def layers(self) -> list[str]:
        """The parts of the model that have an opinion of their own."""
        return list(getattr(self._subject.model, "members_", []))

    def given_probability(self, row: int, given: int) -> float:
        """How probable the given label is; a head that knows of a correction judged another one."""
        if self.given[row] == given:
            return float(self._subject.report.quality[row])
        return float(self._subject.model.predict_proba(self._one(row))[0, given])

    def other_label(self, row: int, given: int) -> tuple[int, float]:
        """The code of the best label that is not the given one, and its probability."""
        report = self._subject.report
        best = int(self.suggested[row])
        if best != given:
            return best, float(report.suggested_probability[row])
        posterior = self._subject.model.predict_proba(self._one(row))[0].copy()
        posterior[given] = -1.0
        other = int(posterior.argmax())
        return other, float(min(posterior[other], 1.0 - report.suggested_probability[row]))

    def opinions(self, row: int, given: int, other: int) -> list[Opinion]:
        """What each layer says."""
        model = self._subject.model
        if not hasattr(model, "member_posteriors"):
            return []
        found = model.member_posteriors(self._one(row))
        return [
            Opinion(name, float(p[given]), float(p[other]), int(p.argmax()), float(p.max()))
            for name, (p,) in zip(model.members_, found, strict=True)
        ]

    def neighbours(self, row: int, codes: Sequence[int], k: int) -> list[list[Neighbour]]:
        """For each of some classes, the nearest trusted samples of it; itself is not among them."""
        point = self._subject.model.judging_space(self._one(row))
        return [self._nearest(row, point, self._trusted_of(code), k) for code in codes]

    def votes(self) -> dict[str, Array]:
        """The code of the label that each layer takes for the most probable one, of all samples.

        Computed when it is first asked for.
        """
        model = self._subject.model
        with self._lock:
            if self._votes is None:
                parts = [
                    [p.argmax(axis=1) for p in model.member_posteriors(self._block(span))]
                    for span in spans(len(self._subject), len(model.classes_))
                ]
                joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
                self._votes = dict(zip(model.members_, joined, strict=True))
            return self._votes

    def _nearest(self, row: int, point: Array, trusted: Trusted, k: int) -> list[Neighbour]:
        found = nearest_points(point, trusted.points, k + 1)
        near = zip(trusted.rows[found.rows[0]], found.distances[0], strict=True)
        return [Neighbour(int(other), float(d)) for other, d in near if other != row][:k]

    def _trusted_of(self, code: int) -> Trusted:
        with self._lock:
            if code in self._trusted:
                self._trusted.move_to_end(code)
                return self._trusted[code]
        rows = self._trusted_rows(code)
        points = np.empty((0, 1), np.float32)
        if len(rows):
            space = self._subject.model.judging_space(take(self._subject.X, rows))
            points = space.astype(np.float32)
        with self._lock:
            self._trusted[code] = Trusted(rows, points)
            while len(self._trusted) > KEPT:
                self._trusted.popitem(last=False)
            return Trusted(rows, points)

    def _trusted_rows(self, code: int) -> Array:
        report = self._subject.report
        own = np.flatnonzero((self.given == code) & ~report.suspect)
        sure = own[(report.quality[own] >= TRUSTED) & (report.kind[own] == OK)]
        if len(sure) < FEWEST:
            sure = own[np.argsort(-report.quality[own], kind="stable")[:FEWEST]]
        if len(sure) > MOST:
            sure = np.random.default_rng(code).choice(sure, MOST, replace=False)
        return np.sort(sure)

    def _one(self, row: int) -> Any:
        return take(self._subject.X, np.array([row]))

    def _block(self, span: slice) -> Any:
        return take(self._subject.X, np.arange(span.start, span.stop))
