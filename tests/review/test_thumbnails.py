"""Pictures are kept, but not too many."""

from rehead.review.thumbnails import Thumbnails


def test_pictures_are_made_once_while_there_is_room():
    made = []

    def make(key):
        return lambda: made.append(key) or bytes(40)

    kept = Thumbnails(most_bytes=100)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert kept.get(key, make(key)) == bytes(40)
    assert made == ["a", "b", "c", "b"]


def test_a_picture_larger_than_all_room_is_given_and_not_kept():
    kept = Thumbnails(most_bytes=10)
    assert kept.get("a", lambda: bytes(50)) == bytes(50)
    assert kept.get("b", lambda: b"1") == b"1"
