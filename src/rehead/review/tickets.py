"""Tickets: what the page carries from the showing of a sample to its decision, sealed.

The log keeps why a sample was shown. The page must bring that back, and must not know it: a
reviewer who can tell random draws from suspects would judge them otherwise. The key is in the log,
so that a ticket holds after a restart too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets

from rehead.review.draws import Shown

NONCE, MARK = 12, 16
"""Bytes of randomness, and of the checksum that only the holder of the key can make."""
LENGTH = 96
"""All tickets are of one length, which tells nothing either."""


class TicketError(ValueError):
    """A ticket that this log did not give."""


def seal(shown: Shown, key: bytes) -> str:
    """A ticket for a sample that is shown."""
    text = json.dumps([shown.row, shown.reason, shown.probability]).encode().ljust(LENGTH)
    nonce = secrets.token_bytes(NONCE)
    hidden = _mixed(text, nonce, key)
    return base64.urlsafe_b64encode(nonce + hidden + _mark(nonce + hidden, key)).decode()


def unseal(ticket: str, key: bytes) -> Shown:
    """What a ticket was given for.

    Examples
    --------
    >>> key = bytes(32)
    >>> unseal(seal(Shown(7, "random other", 0.01), key), key)
    Shown(row=7, reason='random other', probability=0.01)
    """
    try:
        raw = base64.urlsafe_b64decode(ticket.encode())
    except (binascii.Error, ValueError):
        raw = b""
    body, mark = raw[:-MARK], raw[-MARK:]
    if len(body) <= NONCE or not hmac.compare_digest(mark, _mark(body, key)):
        raise TicketError("The ticket of this sample is not from this log. Load the page again.")
    return Shown(*json.loads(_mixed(body[NONCE:], body[:NONCE], key)))


def _mixed(text: bytes, nonce: bytes, key: bytes) -> bytes:
    stream = hashlib.shake_256(b"ticket" + key + nonce).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))


def _mark(body: bytes, key: bytes) -> bytes:
    return hmac.digest(key, body, "sha256")[:MARK]
