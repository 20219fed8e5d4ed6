"""Model files with the right checksum and the wrong content."""

import copy
import json
import math
from functools import partial

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from rehead.files import persist

VALUES = [
    None,
    True,
    -1,
    0,
    3,
    2**40,
    10**400,
    0.5,
    -0.5,
    1e308,
    math.nan,
    math.inf,
    "",
    "x",
    "<U999999999",
    [],
    {},
    [1, [2]],
    ["x", "x"],
    {"x": 1},
]
"""What takes the place of each setting."""


def read(path):
    """The arrays and the header of a model file."""
    with safe_open(path, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return arrays, json.loads(file.metadata()["rehead"])


def write(path, arrays, header):
    """Write them with the checksum that goes with them."""
    header = {name: value for name, value in header.items() if name != "sha256"}
    arrays = {name: np.asarray(a, order="C") for name, a in arrays.items()}
    header["sha256"] = persist._checksum(arrays, header)
    path.write_bytes(save(arrays, metadata={"rehead": json.dumps(header)}))


def places(node, at=()):
    """All places in JSON; of long lists the first and the last entry."""
    yield at
    if isinstance(node, dict):
        for name, value in node.items():
            yield from places(value, (*at, name))
    elif isinstance(node, list):
        for i in sorted({0, len(node) - 1}) if node else []:
            yield from places(node[i], (*at, i))


def other_settings(settings):
    """Functions that give the settings with another value, without one, or with an unknown one."""
    for at in places(settings):
        if not at:
            continue
        for value in VALUES:
            put = partial(_set, value=value)
            yield f"{at} = {value!r:.20}", partial(_changed, settings, at, put)
        yield f"no {at}", partial(_changed, settings, at, lambda d, k: d.pop(k))
        yield f"{at} twice", partial(_changed, settings, at, _twice)


def _set(container, key, value):
    container[key] = value


def _twice(container, key):
    if isinstance(container, list):
        container.insert(key, container[key])
    else:
        container["unheard of"] = container[key]


def _changed(settings, at, change):
    settings = copy.deepcopy(settings)
    container = settings
    for key in at[:-1]:
        container = container[key]
    change(container, at[-1])
    return settings


def other_arrays(arrays):
    """Each array with other values, of another shape and type, without it, and beside another."""
    for name, a in arrays.items():
        changes = {
            "missing": None,
            "transposed" if a.ndim > 1 else "longer": a.T[..., :-1] if a.ndim > 1 else _longer(a),
            "one dimension more": a[None],
            "empty": np.empty((0, *a.shape[1:]), a.dtype),
            "wide and empty": np.empty((2**40, 0), a.dtype),
            "mask": np.ones(a.shape, bool),
            "bytes": np.zeros(a.shape, np.uint8),
            "half": np.zeros(a.shape, np.float16),
            "text": np.full(a.shape, 7, np.int16),
            "reversed": a[::-1] if a.ndim else -a,
        }
        for value in (-1, 0, 2**40, -(2**40)):
            changes[f"all {value}"] = np.full(a.shape, value).astype(a.dtype)
            changes[f"first {value}"] = _first(a, value)
        if a.dtype.kind == "f":
            for value in (math.nan, math.inf, -math.inf, 1e308, 1e-308):
                changes[f"first {value}"] = _first(a, value)
        for what, changed in changes.items():
            others = {k: v for k, v in arrays.items() if k != name}
            yield f"{name} {what}", others if changed is None else {**others, name: changed}
        yield f"{name}.more", {**arrays, f"{name}.more": a}


def _longer(a):
    return np.append(a, a) if a.ndim else np.array([a, a])


def _first(a, value):
    a = a.copy()
    a.flat[0] = np.array(value).astype(a.dtype)
    return a


def write_as_it_is(path, arrays, header):
    """Write them with whatever checksum the header has."""
    write_text(path, arrays, json.dumps(header))


def write_text(path, arrays, text):
    """Write them with any text in the place of the header."""
    path.write_bytes(save(arrays, metadata={"rehead": text}))


def with_type(content, old, new):
    """A safetensors file in which one type has another name."""
    end = 8 + int.from_bytes(content[:8], "little")
    header = content[8:end].replace(old, f'"{new}"'.encode(), 1).rstrip(b" ")
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[end:]
