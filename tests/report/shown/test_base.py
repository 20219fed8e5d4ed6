"""Samples of one kind do not answer as those of another."""

import pytest

from rehead.report.shown import NotShown
from rehead.report.shown.base import OfOneKind


def test_other_kinds_are_refused_with_a_reason():
    class Sounds(OfOneKind):
        kind = "sound"

    shown = Sounds()
    for ask in (lambda: shown.picture("a", 9), lambda: shown.text("a"), lambda: shown.row("a")):
        with pytest.raises(NotShown, match="of the kind sound"):
            ask()
