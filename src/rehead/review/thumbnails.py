"""Pictures that were made, kept up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_BYTES = 96 * 2**20


class Thumbnails:
    """The pictures that were asked for last.

    Examples
    --------
    >>> kept = Thumbnails(most_bytes=10)
    >>> kept.get("a", lambda: b"12345678"), kept.get("a", lambda: b"other")
    (b'12345678', b'12345678')
    >>> kept.get("b", lambda: b"1234"), kept.get("a", lambda: b"anew")
    (b'1234', b'anew')
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._held = most_bytes, 0
        self._pictures: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The picture of this key, made if it is not held."""
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
                return self._pictures[key]
        picture = make()
        with self._lock:
            if key not in self._pictures:
                self._held += len(picture)
            self._pictures[key] = picture
            while self._held > self._most and self._pictures:
                _, old = self._pictures.popitem(last=False)
                self._held -= len(old)
        return picture
