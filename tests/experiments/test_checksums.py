"""A content that was changed is noticed."""

import json

import pytest

from rehead.experiments.checksums import ChecksumError, with_checksum, without_checksum

CONTENT = {"caption": "ä", "numbers": [0.1, 1e-300, 3], "none": None}


def test_a_content_comes_back_through_a_file():
    kept = with_checksum(CONTENT)
    assert without_checksum(kept) == CONTENT
    assert without_checksum(json.loads(json.dumps(kept, indent=1))) == CONTENT


@pytest.mark.parametrize("changed", [{"numbers": [0.1, 1e-300, 4]}, {"more": 1}, {"checksum": ""}])
def test_a_change_is_noticed(changed):
    with pytest.raises(ChecksumError, match="its checksum is wrong"):
        without_checksum({**with_checksum(CONTENT), **changed})


def test_a_checksum_that_is_missing_or_not_ours():
    with pytest.raises(ChecksumError, match="it has no checksum"):
        without_checksum(CONTENT)
    with pytest.raises(ValueError, match="of its own"):
        with_checksum({"checksum": 1})
