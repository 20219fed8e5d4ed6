"""The map's samples as typed arrays, for the script that draws them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rehead._typing import Array
from rehead._values import visible
from rehead.audit.kinds import KINDS
from rehead.audit.scores import LabelScores
from rehead.report.drawing import class_name
from rehead.report.packed import code_type, quantised, to_base64
from rehead.report.plane import Plane

MOST_IDS = 1_100_000
"""Bytes of the names of classes, and of ids, in a page."""
MOST_NAMES = 600_000
"""Letters of the names of classes, at most; where there are many, names are cut to fit."""
FEWEST_LETTERS = 8
COLOURS = 10
"""Classes that have a colour of their own: the largest ones, where there are more."""


def points_of(scores: LabelScores, plane: Plane) -> dict[str, Any]:
    """All that the script needs: places, labels, quality and kind of each sample, and ids."""
    rows = plane.rows
    kind = code_type(len(scores.classes))
    given, suggested = (
        np.searchsorted(scores.classes, labels[rows]) for labels in (scores.given, scores.suggested)
    )
    names = np.array(KINDS)
    codes = (scores.kind[rows][:, None] == names).argmax(axis=1)
    labels = names_of(scores.classes)
    taken = sum(len(label.encode()) for label in labels)
    ids, n_left_out = ids_of(scores, rows, MOST_IDS - taken)
    return {
        "n": len(rows),
        "x": quantised(plane.xy[:, 0], "u2"),
        "y": quantised(plane.xy[:, 1], "u2"),
        "given": to_base64(given, kind),
        "suggested": to_base64(suggested, kind),
        "codes": kind,
        "quality": quantised(scores.quality[rows], "u1"),
        "kind": to_base64(codes, "u1"),
        "rows": None if len(rows) == len(scores) else to_base64(rows, "u4"),
        "labels": labels,
        "kinds": list(KINDS),
        "coloured": coloured(given, len(scores.classes)),
        "ids": ids,
        "idsLeftOut": n_left_out,
    }


def coloured(given: Array, n_classes: int) -> list[int]:
    """Codes of the classes that have a colour of their own."""
    if n_classes <= COLOURS:
        return list(range(n_classes))
    counts = np.bincount(given, minlength=n_classes)
    largest = np.argsort(-counts, kind="stable")[: COLOURS - 1]
    return [int(c) for c in np.sort(largest)]


def names_of(classes: Array) -> list[str]:
    """Names of classes, as long as there is room for them."""
    most = max(FEWEST_LETTERS, MOST_NAMES // max(len(classes), 1))
    return [class_name(label, most) for label in classes.tolist()]


def ids_of(scores: LabelScores, rows: Array, room: int = MOST_IDS) -> tuple[str | None, int]:
    """Ids of the samples, a line each, and how many are left blank; None without ids.

    Where there is no room (in bytes) for all, the worst labels have theirs.
    """
    if scores.ids is None:
        return None, 0
    names = [visible(name) for name in scores.ids[rows].tolist()]
    size = np.array([len(name.encode()) for name in names])
    if size.sum() <= room:
        return "\n".join(names), 0
    worst = np.argsort(scores.quality[rows], kind="stable")
    kept = worst[: int(np.searchsorted(np.cumsum(size[worst]), room, side="right"))]
    blank = np.ones(len(names), bool)
    blank[kept] = False
    told = ["" if gone else name for gone, name in zip(blank, names, strict=True)]
    return "\n".join(told), int(blank.sum())
