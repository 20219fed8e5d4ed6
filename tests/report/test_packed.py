"""Text and numbers inside of a page."""

import json

import numpy as np
import pytest

from rehead.report.packed import code_type, data_uri, quantised, script_json, to_base64


def test_json_in_a_script_is_read_back_and_cannot_end_it():
    value = {
        "label": "</script><script>alert(1)</script><!-- & \u2028\u2029",
        "ü": ["🙂", None, 1.5],
    }
    text = script_json(value)
    assert json.loads(text) == value
    for bad in ("<", ">", "&", "\u2028", "\u2029"):
        assert bad not in text


def test_numbers_that_json_does_not_know_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json({"x": float("nan")})


def test_shares_are_rounded_and_kept_inside():
    assert quantised(np.array([-1.0, 0.5, 2.0, np.nan]), "u1") == to_base64(
        np.array([0, 128, 255, 0]), "u1"
    )


def test_codes_have_room():
    assert [code_type(n) for n in (2, 256, 257, 65_536, 65_537)] == ["u1", "u1", "u2", "u2", "u4"]


def test_files_as_addresses():
    assert data_uri(b"abc", "text/plain") == "data:text/plain;base64,YWJj"
