"""Samples as the page gets them: plain values, nothing to run."""

from __future__ import annotations

from typing import Any

from rehead.report.shown import NotShown
from rehead.report.shown.base import IMAGE, TEXT
from rehead.review.decisions import BLIND, SECOND_LOOK, STATUSES, Decision
from rehead.review.desk import Desk, Progress
from rehead.review.draws import Shown

NEIGHBOURS = 4
"""Of each class."""
LONGEST_TEXT = 20_000
"""Letters of a text that a page shows."""
SHORT = 160
"""Letters of a text in a list."""


def card(desk: Desk, shown: Shown) -> dict[str, Any]:
    """All that the page shows of a sample; without the model's opinion where that is hidden."""
    row, report = shown.row, desk.report
    given = int(desk.codes[row])
    other, other_probability = desk.evidence.other_label(row, given)
    nearest = desk.evidence.neighbours(row, (given, other), NEIGHBOURS)
    blind = shown.reason in BLIND
    earlier = [] if blind or shown.reason == SECOND_LOOK else desk.standings.decisions(row)
    return {
        "row": row,
        "id": str(report.names[row]),
        "ticket": desk.ticket(shown),
        "given": given,
        "other": other,
        "opinion": None
        if blind
        else {
            "given": round(desk.evidence.given_probability(row, given), 4),
            "other": round(other_probability, 4),
            "kind": str(report.kind[row]),
            "layers": [
                {
                    "name": said.name,
                    "given": round(said.given, 4),
                    "other": round(said.other, 4),
                    "best": said.best,
                    "best_probability": round(said.best_probability, 4),
                }
                for said in desk.evidence.opinions(row, given, other)
            ],
        },
        "neighbours": {
            name: [brief(desk, near.row) for near in found]
            for name, found in zip(("given", "other"), nearest, strict=True)
        },
        "decisions": [said(d, desk) for d in earlier],
        "sample": sample(desk, row, LONGEST_TEXT),
    }


def brief(desk: Desk, row: int) -> dict[str, Any]:
    """What a list or a grid shows of a sample."""
    report = desk.report
    return {
        "row": row,
        "id": str(report.names[row]),
        "given": int(desk.codes[row]),
        "other": int(desk.evidence.suggested[row]),
        "quality": round(float(report.quality[row]), 4),
        "kind": str(report.kind[row]),
        "status": STATUSES[desk.standings.status[row]],
        "sample": sample(desk, row, SHORT),
    }


def sample(desk: Desk, row: int, longest: int) -> dict[str, Any]:
    """What a sample looks like, or why it cannot be shown."""
    shown, name = desk.subject.shown, desk.report.names[row]
    if shown is None:
        return {"kind": "none", "why": "Nothing was said of what samples look like."}
    if shown.kind == IMAGE:
        if shown.has(name):
            return {"kind": "image"}
        return {"kind": "none", "why": "There is no image of this sample."}
    try:
        if shown.kind == TEXT:
            text = shown.text(name)
            return {"kind": "text", "text": text[:longest], "cut": len(text) > longest}
        cells = {key: value[:longest] for key, value in shown.row(name).items()}
        return {"kind": "row", "cells": list(cells.items())}
    except NotShown as error:
        return {"kind": "none", "why": str(error)}


def said(decision: Decision, desk: Desk) -> dict[str, Any]:
    """A decision for the page."""
    classes = desk.report.classes.tolist()
    return {
        "who": decision.who,
        "action": decision.action,
        "label": classes.index(decision.new) if decision.new in classes else None,
        "at": decision.at,
    }


def progress_card(progress: Progress) -> dict[str, Any]:
    """How far the review has come, for the page."""
    return {**progress._asdict(), "left": progress.left._asdict()}
