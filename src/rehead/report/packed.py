"""Numbers and text inside of a page: small, and safe whatever they hold."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from rehead._typing import Array


def to_base64(values: Array, dtype: str) -> str:
    """An array as base64 of little-endian numbers, which a browser reads as a typed array.

    Examples
    --------
    >>> import numpy as np
    >>> to_base64(np.array([1, 258]), "u2")
    'AQACAQ=='
    """
    return base64.b64encode(np.ascontiguousarray(values, f"<{dtype}").tobytes()).decode()


def quantised(shares: Array, dtype: str) -> str:
    """Numbers from 0 to 1 as base64 of whole numbers from 0 to the largest of the type."""
    largest = np.iinfo(dtype).max
    return to_base64(np.rint(np.clip(np.nan_to_num(shares), 0, 1) * largest), dtype)


def code_type(n_classes: int) -> str:
    """The smallest type for codes of so many classes."""
    return "u1" if n_classes <= 256 else "u2" if n_classes <= 65_536 else "u4"


def script_json(value: Any) -> str:
    r"""JSON that cannot end the element or begin a comment that it stands in.

    Examples
    --------
    >>> print(script_json({"label": "</script><!--"}))
    {"label":"\u003c/script\u003e\u003c!--"}
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def data_uri(content: bytes, kind: str = "image/webp") -> str:
    """The content of a file as an address."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
