"""What users know of labels beside what they say: which are right, and what they were before."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from rehead._columns import as_column, missing_rows
from rehead._labels import check_uncorrected
from rehead._typing import Array, Known
from rehead._values import first_few
from rehead._warnings import warn


def check_mask(mask: Any, n: int, name: str) -> Array | None:
    """A boolean mask of n rows, or None."""
    if mask is None:
        return None
    array = as_column(mask)
    if array.shape != (n,) or array.dtype.kind != "b":
        raise ValueError(
            f"{name} must be a boolean mask with one entry for each of the {n} rows, got "
            f"{array.dtype} of shape {array.shape}. {_as_mask(array, mask, n, name)}"
        )
    return array


def _as_mask(array: Array, given: Any, n: int, name: str) -> str:
    """How to make a mask of what was given."""
    if array.shape == (n,) and array.dtype.kind in "iuf":
        numbers = array[~missing_rows(array)]
        if np.isin(numbers, (0, 1)).all():  # not row numbers: those would be rows 0 and 1
            if len(numbers) < n:
                return f"Only its ones are yes: pass numpy.asarray({name}) == 1."
            plain = (
                f"{name}.astype(bool)" if hasattr(given, "astype") else f"numpy.array({name}, bool)"
            )
            return f"Its values are 0 and 1: pass {plain}."
    return f"From row numbers: mask = np.zeros({n}, bool); mask[rows] = True."


RANDOM, CHOSEN = "random", "chosen"
"""How a trusted label came to be checked."""
SUGGESTED = "suggested"
"""A label that a model put, and nobody checked: it is not trusted, but is no longer as it came."""
NO_CHANCE = 1e-6
"""What is less probable than this did not happen by chance."""


def check_known(trusted: Any, uncorrected: Any, codes: Array, classes: Array) -> Known:
    """What users know of labels beside what they say."""
    known = check_trusted(trusted, len(codes))
    changed = known.trusted
    if changed is not None and (words := _words_of(trusted)) is not None:
        changed = words != ""
    before = check_uncorrected(uncorrected, codes, changed, classes)
    return _if_drawn_at_random(known._replace(uncorrected=before), codes, classes)


def _if_drawn_at_random(known: Known, codes: Array, classes: Array) -> Known:
    """The same; rows that are no fair sample were not drawn, and the user is told.

    Of classes that are frequent, some are drawn; that there are none is no chance.
    """
    if known.drawn is None or not known.drawn.any():
        return known
    share = np.bincount(codes, minlength=len(classes)) / len(codes)
    seen = np.bincount(codes[known.drawn], minlength=len(classes)) > 0
    never = (share > 0) & ~seen
    # Any classes may be those that are missing: so many sets of classes are as large.
    present, n_seen = int((share > 0).sum()), int(seen.sum())
    sets = gammaln(present + 1) - gammaln(n_seen + 1) - gammaln(present - n_seen + 1)
    log_chance = known.drawn.sum() * np.log(share[seen].sum()) + sets
    if not never.any() or log_chance >= np.log(NO_CHANCE):
        return known
    warn(
        f"The {known.drawn.sum()} trusted labels were not drawn at random: none of them is "
        f"{first_few(classes[never].tolist())}, as {share[never].sum():.0%} of all labels are. "
        f"They count as right, but choose nothing. Draw rows of all classes, or call these "
        f"{CHOSEN!r}."
    )
    return known._replace(drawn=np.zeros(len(codes), bool))


def check_trusted(trusted: Any, n: int) -> Known:
    """A boolean mask of n rows, drawn at random; or "random", "chosen" or "" for each of them.

    "suggested" is as "", but says why the label may differ from the one before.

    Examples
    --------
    >>> check_trusted(["random", "", "chosen"], 3)[:2]
    (array([ True, False,  True]), array([ True, False, False]))
    >>> check_trusted(["random", "suggested"], 2)[:2]
    (array([ True, False]), array([ True, False]))
    """
    words = _words_of(trusted)
    if words is None:
        mask = check_mask(trusted, n, "trusted")
        return Known(mask, mask)
    strange = sorted(set(words.tolist()) - {RANDOM, CHOSEN, SUGGESTED, ""})
    if strange:
        raise ValueError(
            f"trusted has {strange[0]!r}. It must be a boolean mask with one entry for each of the "
            f"{n} rows, or {RANDOM!r} for rows that were drawn at random and checked, {CHOSEN!r} "
            f"for rows that were checked because they looked wrong, {SUGGESTED!r} for labels that "
            "a model changed and nobody checked, and '' for all others."
        )
    if words.shape != (n,):
        raise ValueError(
            f"trusted has words for {len(words)} rows, and there are {n}. Say it of every row, in "
            "their order: '' where nobody checked the label ('no' in a file, whose last lines are "
            "not read if they are blank)."
        )
    return Known((words == RANDOM) | (words == CHOSEN), words == RANDOM)


def _words_of(trusted: Any) -> Array | None:
    """What is said of each row; None where that is not said in words."""
    array = None if trusted is None else as_column(trusted)
    is_text = array is not None and any(isinstance(word, str) for word in array.ravel())
    if array is None or not is_text or array.ndim != 1:
        return None
    return np.array(["" if word is None or word != word else str(word) for word in array])
