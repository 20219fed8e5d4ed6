"""What a sample looks like to a person: an image, a text, or the row of a table.

:func:`open_shown` opens what a user names (``--images``, ``--texts``, ``--table``, or arrays), and
matches it with the ids of the samples. What it gives is a :class:`Shown`.
"""

from rehead.report.shown.base import NotShown, Shown, key_of
from rehead.report.shown.opened import Looks, open_shown

__all__ = ["Looks", "NotShown", "Shown", "key_of", "open_shown"]
