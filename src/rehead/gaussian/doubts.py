"""What the user should know about the labels before the result is used."""

from __future__ import annotations

import numpy as np

from rehead._perrow import class_totals
from rehead._typing import Array
from rehead._values import first_few
from rehead.gaussian.settings import SETTINGS


def doubts_about_sizes(codes: Array, classes: Array) -> list[str]:
    """What to say about classes of which there is one sample."""
    single = classes[class_totals(codes, len(classes)) == 1].tolist()
    if not single:
        return []
    return [
        f"{len(single)} of {len(classes)} classes have one sample only ({single[0]!r} first). It "
        "is taken for the mean of its class, right or wrong. Add samples or leave the class out."
    ]


def doubts_about_labels(
    wrong: float, trust: Array, codes: Array, classes: Array, counts: Array
) -> list[str]:
    """What to say about labels, or the labels of some classes, that are mostly wrong.

    ``wrong`` is the measured share of wrong labels, ``counts`` how many samples each row stands
    for, and ``trust`` how many of these are trusted.
    """
    if wrong > SETTINGS.mostly_wrong:
        return [
            f"About {wrong:.0%} of the labels seem to be wrong. With so many, classes may be "
            "mistaken for one another. Check that labels and samples are in the same order; then "
            "mark some labels that are known to be right with trusted=."
        ]
    size = class_totals(codes, len(classes), counts)
    right = class_totals(codes, len(classes), trust)
    notes = []
    few = SETTINGS.few_right
    lost = classes[(right < few) & (size >= 2 * few)].tolist()
    if lost:
        notes.append(
            f"Next to no label {first_few(lost)} is trusted, so the few best samples stand for the "
            "class. Look at them, or mark some that are known to be right with trusted=."
        )
    # Where all classes are about as noisy, chance puts some below one half.
    share = right / np.maximum(size, np.finfo(float).tiny)
    low = (share < 0.5) & (share < 1.0 - wrong - SETTINGS.far_below_usual) & (size > 1)
    doubtful = [name for name in classes[low].tolist() if name not in lost]
    if doubtful and wrong < 0.5:
        notes.append(
            f"Most samples labelled {first_few(doubtful)} seem to belong to other classes. What is "
            "said about these classes is uncertain; look at their labels first."
        )
    return notes
