"""Contents of JSON files with a checksum, so that a changed number is noticed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rehead.experiments.cache import digest

CHECKSUM = "checksum"


class ChecksumError(ValueError):
    """A content that is not the one that was written."""


def with_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """A content as a reader of its file has it, and the checksum of all that.

    Examples
    --------
    >>> from rehead.experiments.checksums import with_checksum, without_checksum
    >>> kept = with_checksum({"caption": "A figure", "rates": (0.2, 0.4)})
    >>> without_checksum(kept)
    {'caption': 'A figure', 'rates': [0.2, 0.4]}
    >>> without_checksum({**kept, "caption": "Another one"})
    Traceback (most recent call last):
    rehead.experiments.checksums.ChecksumError: its checksum is wrong
    """
    if CHECKSUM in content:
        raise ValueError(f"The content has a field {CHECKSUM!r} of its own. Rename it.")
    read: dict[str, Any] = json.loads(json.dumps(content))
    return {**read, CHECKSUM: digest(read)}


def mark_of(content: Mapping[str, Any]) -> dict[str, str]:
    """What a picture carries, so that a test can tell which content it shows."""
    return {"Description": with_checksum(content)[CHECKSUM]}


def without_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content, compared with its checksum."""
    rest = {name: value for name, value in content.items() if name != CHECKSUM}
    if CHECKSUM not in content:
        raise ChecksumError("it has no checksum")
    if content[CHECKSUM] != digest(rest):
        raise ChecksumError("its checksum is wrong")
    return rest
