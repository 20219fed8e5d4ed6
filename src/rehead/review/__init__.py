"""Go through suspects by keyboard, know when to stop, and go on with corrected labels.

``decisions.py`` what can be decided; ``log.py`` and ``writer.py`` the file that keeps it;
``standings.py`` what stands in it; ``draws.py`` what is shown next, and ``stopping.py`` what is
left; ``subject.py`` and ``evidence.py`` the samples; ``desk.py`` all this without the web;
``server.py`` the web, with ``guard.py`` at its door; ``serving.py`` runs it; ``corrected.py``,
``refitting.py`` and ``applying.py`` what comes of it.
"""

from rehead.review.applying import Applied, Outputs, apply_decisions, apply_folder, open_log
from rehead.review.serving import Address, serve
from rehead.review.stopping import Left, Part, wrong_left
from rehead.review.subject import Subject, folder_parts, open_subject

__all__ = [
    "Address",
    "Applied",
    "Left",
    "Outputs",
    "Part",
    "Subject",
    "apply_decisions",
    "apply_folder",
    "folder_parts",
    "open_log",
    "open_subject",
    "serve",
    "wrong_left",
]
