"""What reviewers decide, and what holds where several have decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

KEEP, SUGGESTION, OTHER = "keep", "suggestion", "other"
OUT, UNSURE, SKIP = "out of scope", "unsure", "skip"
ACTIONS = (KEEP, SUGGESTION, OTHER, OUT, UNSURE, SKIP)
"""What can be done with a sample."""
DEFINITE = (KEEP, SUGGESTION, OTHER, OUT)
"""Those that say whether the label is right."""
RELABEL = (SUGGESTION, OTHER)
"""Those that bring a new label."""

SUSPECT, RANDOM_SUSPECT, RANDOM_OTHER = "suspect", "random suspect", "random other"
SECOND_LOOK, DISAGREEMENT, BROWSED, PAIR = "second look", "disagreement", "browsed", "pair"
REASONS = (
    SUSPECT,
    RANDOM_SUSPECT,
    RANDOM_OTHER,
    SECOND_LOOK,
    DISAGREEMENT,
    BROWSED,
    PAIR,
)
"""Why a sample was shown. "random other" is drawn from the samples that are not suspect."""
BLIND = (RANDOM_SUSPECT, RANDOM_OTHER)
"""Draws that are shown without the model's opinion, so that nothing tells one from the other."""

UNDECIDED, DECIDED, OPEN, SKIPPED, DISPUTED = (
    "undecided",
    "decided",
    "unsure",
    "skipped",
    "disputed",
)
STATUSES = (UNDECIDED, DECIDED, OPEN, SKIPPED, DISPUTED)


class Decision(NamedTuple):
    """One line of the log that concerns a sample.

    Attributes
    ----------
    seq : int
        Its number in the log.
    client : str
        The id that the page gave it; those of a batch share one.
    row : int
        The sample.
    action : str
        One of ``ACTIONS``.
    old, new : label
        The given label, and the new one where the action brings one.
    who, at : str
        The reviewer, and the time (UTC).
    reason : str
        Why the sample was shown: one of ``REASONS``.
    probability : float or None
        The probability with which it was drawn, where it was drawn at random.
    batch : bool
        Whether it is part of a batch.
    """

    seq: int
    client: str
    row: int
    action: str
    old: Any
    new: Any
    who: str
    at: str
    reason: str
    probability: float | None = None
    batch: bool = False


class Standing(NamedTuple):
    """What holds for a sample: its status, and the decision that counts, if any does."""

    status: str
    decision: Decision | None = None

    @property
    def wrong(self) -> bool | None:
        """Whether the given label was found wrong; None where that is open."""
        if self.status != DECIDED or self.decision is None:
            return None
        return self.decision.action != KEEP


NOTHING = Standing(UNDECIDED)


def standing_of(decisions: Sequence[Decision]) -> Standing:
    """What holds for a sample, from all decisions about it that were not undone, oldest first.

    Of each reviewer the last decision counts. Where these differ, nothing holds until somebody who
    was shown the disagreement decides. "unsure" contradicts nobody, and "skip" says nothing.

    Examples
    --------
    >>> def by(who, action, reason="suspect", new=None):
    ...     return Decision(0, "c", 7, action, "cat", new, who, "", reason)
    >>> standing_of([by("Ann", "keep"), by("Bo", "unsure")]).status
    'decided'
    >>> standing_of([by("Ann", "keep"), by("Bo", "suggestion", new="dog")]).status
    'disputed'
    >>> settled = by("Bo", "keep", "disagreement")
    >>> standing_of([by("Ann", "keep"), by("Bo", "suggestion", new="dog"), settled]).status
    'decided'
    """
    said = [d for d in decisions if d.action != SKIP]
    if not said:
        return Standing(SKIPPED, decisions[-1]) if decisions else NOTHING
    latest = {d.who: d for d in said}
    definite = [d for d in latest.values() if d.action in DEFINITE]
    if not definite:
        return Standing(OPEN, said[-1])
    newest = max(definite, key=said.index)
    outcomes = {outcome(d) for d in definite}
    settled = newest.reason == DISAGREEMENT
    return Standing(DISPUTED if len(outcomes) > 1 and not settled else DECIDED, newest)


def outcome(decision: Decision) -> tuple[str, Any]:
    """What a decision comes to: two that choose the same label agree, however they did."""
    if decision.action in RELABEL:
        return "label", decision.new
    return ("label", decision.old) if decision.action == KEEP else (decision.action, None)
