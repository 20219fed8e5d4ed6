"""Tickets tell the page nothing, and cannot be made up."""

import base64

import pytest

from rehead.review.draws import Shown
from rehead.review.tickets import TicketError, seal, unseal

KEY = b"k" * 32


def test_a_ticket_comes_back_as_it_was_given():
    for shown in (Shown(3, "suspect"), Shown(10**9, "random other", 1 / 99_999)):
        assert unseal(seal(shown, KEY), KEY) == shown


def test_nothing_of_it_can_be_read_and_no_two_are_alike():
    a, b = (seal(Shown(3, "random other", 0.1), KEY) for _ in range(2))
    assert a != b
    assert len(a) == len(seal(Shown(3, "suspect"), KEY))
    assert b"random" not in base64.urlsafe_b64decode(a)


@pytest.mark.parametrize("change", ["", "x", "AAAA", "\udcff", "ü" * 80])
def test_what_was_not_given_is_refused(change):
    with pytest.raises(TicketError, match="not from this log"):
        unseal(change, KEY)


def test_a_changed_ticket_or_another_key_is_refused():
    raw = bytearray(base64.urlsafe_b64decode(seal(Shown(3, "suspect"), KEY)))
    raw[20] ^= 1
    with pytest.raises(TicketError):
        unseal(base64.urlsafe_b64encode(bytes(raw)).decode(), KEY)
    with pytest.raises(TicketError):
        unseal(seal(Shown(3, "suspect"), KEY), b"o" * 32)
