"""A report in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rehead._typing import Array
from rehead._values import visible
from rehead.audit import strange
from rehead.audit.kinds import KINDS, OK, OUTLIER
from rehead.audit.review import expected_wrong, n_review
from rehead.audit.scores import LabelScores
from rehead.gaussian.labelnoise import DOUBTFUL, MANY, about, at_most, between, is_unclear
from rehead.gaussian.settings import SETTINGS

SHOWN = 5
"""Number of the worst labels, and of confusions, that are shown."""
FEW = 0.01
"""Labels are about clean if fewer than this share are suspect, and the rate may well be 0."""


def summary(scores: LabelScores, show: int = SHOWN) -> str:
    """How many labels are wrong, how many to review, the worst ones, the usual confusions."""
    lines = [f"{len(scores)} labels: {noise_in_words(scores)}.", f"Kinds: {_kinds(scores.kind)}."]
    lines.append(review_in_words(scores))
    worst = scores.order[:show]
    if n_review(scores.quality) and len(worst):
        lines += ["Worst:", *_indented(_worst_rows(scores, worst))]
    confused = confusions(scores)[:SHOWN]
    if confused:
        pairs = ", ".join(
            f"{visible(given)} -> {visible(better)} ({n})" for given, better, n in confused
        )
        lines.append(f"Most common confusions, given -> suggested: {pairs}.")
    return "\n".join(lines)


def headline(scores: LabelScores) -> str:
    """One line."""
    return f"LabelReport({len(scores)} labels: {noise_in_words(scores)})"


def confusions(scores: LabelScores) -> list[tuple[object, object, int]]:
    """Pairs of given and suggested label that differ, with their count, most common first."""
    given, suggested = (
        np.searchsorted(scores.classes, labels[scores.suspect])
        for labels in (scores.given, scores.suggested)
    )
    pair, count = np.unique(given * len(scores.classes) + suggested, return_counts=True)
    ranked = np.argsort(-count, kind="stable")
    a, b = np.divmod(pair[ranked], len(scores.classes))
    labels = scores.classes.tolist()
    return [(labels[i], labels[j], int(n)) for i, j, n in zip(a, b, count[ranked], strict=True)]


def noise_in_words(scores: LabelScores) -> str:
    """How many labels are wrong; those of samples that are unlike every class are said apart."""
    ordinary, n_strange = strange.without_strange(scores)
    if n_strange == 0:
        return _rate_in_words(scores)
    apart = f"; {n_strange} are of samples unlike every class, and are not counted"
    return _rate_in_words(ordinary) + apart


def _rate_in_words(scores: LabelScores) -> str:
    """How many labels are wrong, and no more exactly than is known."""
    rate, error = scores.noise_rate, scores.noise_rate_error
    if np.isnan(error):
        return f"{about(rate)} wrong by the posterior alone (the noise was not measured)"
    if scores.checked or rate < scores.noise_least or rate > scores.noise_most:
        between_both = f"{scores.noise_least:.0%} to {scores.noise_most:.0%}"
        return f"{between_both} wrong by the labels that were checked, {rate:.0%} by this model"
    nothing_found = _nothing_found(scores)
    if _cannot_tell(scores):
        least, most = scores.noise_least, scores.noise_most
        if np.isnan(least):
            least, most = rate, min(rate + SETTINGS.standard_errors * error, 1.0)
        from_least = "up to" if nothing_found or round(least, 2) == 0 else f"{least:.0%} to"
        return f"{from_least} {most:.0%} wrong, how many is unclear"
    if nothing_found:
        return "about clean" + at_most(scores.noise_most)
    return f"{about(rate)} {DOUBTFUL}{between(scores.noise_least, scores.noise_most)}"


def _cannot_tell(scores: LabelScores) -> bool:
    """Whether so much is open that finding nothing means nothing."""
    if _nothing_found(scores) and scores.noise_most > MANY:
        return True
    return is_unclear(scores.noise_rate_error, scores.noise_least, scores.noise_most)


def _nothing_found(scores: LabelScores) -> bool:
    # Few samples leave the rate open, yet some labels may be wrong beyond doubt.
    reach = SETTINGS.standard_errors * scores.noise_rate_error
    return bool(scores.noise_rate <= reach and scores.suspect.mean() < FEW)


def _kinds(kind: Array) -> str:
    names, counts = np.unique(kind, return_counts=True)
    found = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return ", ".join(
        f"{found.get(name, 0)} {name}" for name in KINDS if name in found or name == OK
    )


def review_in_words(scores: LabelScores) -> str:
    """How many labels to look at, and what that finds."""
    n = n_review(scores.quality)
    if n == 0 and _cannot_tell(scores):
        return "No label stands out, but this model cannot tell which are wrong."
    if n == 0:
        return "Nothing to review: no label is wrong with a chance of one in ten."
    if n == 1:
        return "Review the worst one."
    ordinary, n_strange = strange.without_strange(scores)
    to_review = scores.order[:n]
    unlike = to_review[scores.kind[to_review] == OUTLIER] if n_strange else to_review[:0]
    found = expected_wrong(scores.quality, n) - expected_wrong(scores.quality[unlike])
    review, others = f"Review the {n} worst: ", "them"
    if len(unlike):
        review += f"{len(unlike)} are of samples unlike every class, whose labels may be right if "
        review += "their features are damaged. "
        others = f"the other {n - len(unlike)}"
    if len(unlike) == n:
        return review.rstrip()
    by_quality = "by" if not len(unlike) else "By"
    review += f"{by_quality} their quality about {found:.0f} of {others} are wrong"
    if ordinary.noise_rate < ordinary.noise_least:
        return f"{review}. More labels are wrong, but this model does not see which."
    return f"{review}, {found / expected_wrong(ordinary.quality):.0%} of all wrong labels."


def _worst_rows(scores: LabelScores, rows: Array) -> list[Sequence[str]]:
    head = ["row" if scores.ids is None else "id", "given", "suggested", "quality", "kind"]
    body = [
        [
            visible(scores.names[i]),
            visible(scores.given[i]),
            f"{visible(scores.suggested[i])} ({scores.suggested_probability[i]:.2f})",
            f"{scores.quality[i]:.3f}",
            str(scores.kind[i]),
        ]
        for i in rows
    ]
    return [head, *body]


def _indented(rows: list[Sequence[str]]) -> list[str]:
    """Columns side by side."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
