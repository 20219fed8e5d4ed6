"""What a file holds, said as a table of fields, and checks of a file against it.

A checksum tells that a file is as it was written, not that it makes sense. So each kind of file has
a table beside the code that reads it: the name of each field, and what it must be. Nothing is
computed from a field before it was checked. A field that a table does not know is refused: it may
change the meaning of the others.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array

Sizes = dict[str, int]
"""What the letters of shapes stand for; a letter is bound where it is met first."""
Check = Callable[[Any, Sizes], str | None]
"""Says what is wrong with a value, as the end of a sentence that begins with its name."""

ROUNDING = 1e-6
"""How far shares may be outside of 0 and 1, and their sums from 1."""
TEMPERATURES = 1e-9, 1e9
"""Far beyond those of any fit; scores that are divided by them are still numbers."""


class FieldError(ValueError):
    """A field of a file is not what it must be."""


class Field(NamedTuple):
    """What a field must be; one that is not needed may be missing, as in earlier files."""

    check: Check
    needed: bool = True


Fields = Mapping[str, Field]


def optional(field: Field) -> Field:
    """The same field, which may be missing."""
    return field._replace(needed=False)


def check_fields(found: Any, fields: Fields, sizes: Sizes, where: str = "") -> None:
    """Raise a FieldError unless all fields are there, are known, and are what they must be.

    Examples
    --------
    >>> table = {"means": floats("C d", finite), "priors": floats("C", simplex)}
    >>> check_fields({"means": np.eye(2), "priors": np.array([0.5, 0.5])}, table, {})
    >>> check_fields({"means": np.eye(2), "priors": np.array([0.5, 0.9])}, table, {})
    Traceback (most recent call last):
    rehead.files.schema.FieldError: priors must not be negative and must sum to 1.
    """
    if not isinstance(found, Mapping):
        raise FieldError(f"{where.rstrip('.') or 'it'} must be an object of named values.")
    for name, field in fields.items():
        if name in found:
            problem = field.check(found[name], sizes)
            if problem is not None:
                raise FieldError(f"{where}{name} {problem}.")
        elif field.needed:
            raise FieldError(f"{where}{name} is missing.")
    unknown = [name for name in found if name not in fields]
    if unknown:
        raise FieldError(f"{where}{unknown[0]} is nothing that this version of rehead knows.")


def require(condition: bool, problem: str) -> None:
    """Raise a FieldError where fields that are right alone do not go together."""
    if not condition:
        raise FieldError(problem)


def by_part(arrays: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
    """Arrays by the part that they belong to: PART.NAME; those of no part are in that of "".

    Examples
    --------
    >>> by_part({"weights": 1, "0.means": 2, "0.noise.nll": 3})
    {'': {'weights': 1}, '0': {'means': 2, 'noise.nll': 3}}
    """
    parts: dict[str, dict[str, Array]] = {"": {}}
    for key, value in arrays.items():
        part, dot, name = key.partition(".")
        parts.setdefault(part if dot else "", {})[name if dot else key] = value
    return parts


# Arrays. A shape is said in letters: "C d" has a row for each class and a column for each feature.

Rule = Callable[[Array, Sizes], str | None]


def _array(types: str, shape: str, rules: tuple[Rule, ...]) -> Field:
    def check(value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray) or value.dtype.name not in types.split():
            return f"must be an array of {' or '.join(types.split())}"
        problem = _shape_problem(value.shape, shape.split(), sizes)
        if problem is not None:
            return problem
        problems = (rule(value, sizes) for rule in rules)
        return next((p for p in problems if p is not None), None)

    return Field(check)


def _shape_problem(found: tuple[int, ...], letters: list[str], sizes: Sizes) -> str | None:
    wanted = [sizes.get(letter) for letter in letters]
    fits = len(found) == len(wanted) and all(
        n > 0 if size is None else n == size for n, size in zip(found, wanted, strict=True)
    )
    if fits:
        for letter, n in zip(letters, found, strict=True):
            if sizes.setdefault(letter, n) != n:  # a letter twice: a square
                fits = False
    if fits:
        return None
    known = "".join(f", {name} = {n}" for name, n in sizes.items() if name in letters)
    return f"has shape {found}, and must have ({', '.join(letters)}){known}"


def floats(shape: str, *rules: Rule) -> Field:
    """An array of floating point numbers."""
    return _array("float64 float32", shape, rules)


def whole(shape: str, *rules: Rule) -> Field:
    """An array of whole numbers."""
    return _array("int64 int32", shape, rules)


def hashes(shape: str, *rules: Rule) -> Field:
    """An array of 64-bit hashes."""
    return _array("uint64", shape, rules)


def mask(shape: str) -> Field:
    """An array of True and False."""
    return _array("bool", shape, ())


def finite(a: Array, sizes: Sizes) -> str | None:
    """Neither NaN nor infinite."""
    return None if np.isfinite(a).all() else "must not have NaN or infinity"


def within(low: float, high: float | str, *, nan: bool = False) -> Rule:
    """Between two numbers; a letter stands for the last index of that size."""

    def rule(a: Array, sizes: Sizes) -> str | None:
        most = sizes[high] - 1 if isinstance(high, str) else high
        fits = (a >= low) & (a <= most) & (np.isfinite(a) if np.isinf(most) else True)
        if (fits | np.isnan(a) if nan else fits).all():
            return None
        return f"must be between {low:g} and {most:g}"

    return rule


not_negative = within(0, np.inf)
moderate = within(-1e151, 1e151)  # squares of larger values overflow
share = within(-ROUNDING, 1 + ROUNDING)


def positive(a: Array, sizes: Sizes) -> str | None:
    """Above 0, and finite."""
    return None if (np.isfinite(a) & (a > 0)).all() else "must be positive and finite"


def simplex(a: Array, sizes: Sizes) -> str | None:
    """Shares of a whole; of each row."""
    fits = (a >= 0).all() and (np.abs(a.sum(axis=-1) - 1.0) <= ROUNDING).all()
    return None if fits else "must not be negative and must sum to 1"


def covariance(a: Array, sizes: Sizes) -> str | None:
    """Finite and symmetric. Whether it has an inverse, its factor tells."""
    with np.errstate(invalid="ignore", over="ignore"):
        variances = np.einsum("ii->i", a)
        scale = np.sqrt(variances[:, None] * variances)
        fits = (variances >= 0).all() and (np.abs(a - a.T) <= ROUNDING * scale).all()
    return None if fits and np.isfinite(a).all() else "must be a symmetric matrix of covariances"


def ascending(a: Array, sizes: Sizes) -> str | None:
    """Sorted, without NaN."""
    fits = (a[1:] >= a[:-1]).all() and not (a != a).any()
    return None if fits else "must be sorted"


def permutation(a: Array, sizes: Sizes) -> str | None:
    """Every row once."""
    return None if np.array_equal(np.sort(a), np.arange(len(a))) else "must have every row once"


# Settings, which are JSON.


def nullable(field: Field) -> Field:
    """The same field, or null."""
    return Field(lambda value, sizes: None if value is None else field.check(value, sizes))


def number(low: float = -math.inf, high: float = math.inf, *, nan: bool = False) -> Field:
    """A number, finite."""

    def check(value: Any, sizes: Sizes) -> str | None:
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        if real and nan and value != value:
            return None
        # Whole numbers may be too large for a float.
        if real and low <= value <= high and abs(value) <= sys.float_info.max:
            return None
        return f"must be a number between {low:g} and {high:g}"

    return Field(check)


def count(low: int = 0) -> Field:
    """A whole number of at least so much."""

    def check(value: Any, sizes: Sizes) -> str | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and low <= value < 2**63
        return None if fits else f"must be a whole number of at least {low}"

    return Field(check)


def _simple(test: Callable[[Any], bool], what: str) -> Field:
    return Field(lambda value, sizes: None if test(value) else f"must be {what}")


def _is_names(value: Any) -> bool:
    texts = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return texts and len(set(value)) == len(value)


text = _simple(lambda value: isinstance(value, str), "text")
flag = _simple(lambda value: isinstance(value, bool), "true or false")
names = _simple(_is_names, "a list of names, none of them twice")
mapping = _simple(lambda value: isinstance(value, dict), "an object of named values")
anything = _simple(lambda value: True, "anything")


def either(*fields: Field) -> Field:
    """What is right for one of these."""

    def check(value: Any, sizes: Sizes) -> str | None:
        problems = [field.check(value, sizes) for field in fields]
        return None if None in problems else " or ".join(str(p) for p in problems)

    return Field(check)


def one_of(*choices: str) -> Field:
    """One of some words."""
    known = ", ".join(choices)
    return _simple(lambda value: isinstance(value, str) and value in choices, f"one of {known}")


def each(field: Field, size: str | None = None) -> Field:
    """A list of such values, one for each of that size."""

    def check(value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list):
            return "must be a list"
        if size is not None and len(value) != sizes[size]:
            return f"has {len(value)} entries, and must have {sizes[size]}"
        problems = (field.check(entry, sizes) for entry in value)
        return next((f"has an entry that {p}" for p in problems if p is not None), None)

    return Field(check)


def by_name(field: Field) -> Field:
    """Such values by name."""

    def check(value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, dict):
            return "must be an object of named values"
        problems = ((name, field.check(entry, sizes)) for name, entry in value.items())
        return next((f"of {n!r} {p}" for n, p in problems if p is not None), None)

    return Field(check)


def record(fields: Fields) -> Field:
    """A table in a table."""

    def check(value: Any, sizes: Sizes) -> str | None:
        try:
            check_fields(value, fields, sizes)
        except FieldError as error:
            return f"is wrong: {str(error).rstrip('.')}"
        return None

    return Field(check)


# Labels: their values and their dtype, as JSON.

DTYPES = re.compile(r"\|b1|\|O|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]U[0-9]{1,9}")
SCALARS = {
    "b": (bool,),
    "i": (int,),
    "u": (int,),
    "f": (int, float),
    "U": (str,),
    "O": (str, int, float, bool),
}
"""The types that labels of a kind have in JSON."""
WIDEST, ROOM = 64, 2**22
"""Text takes the room of the longest one for each: at most this many times what the file holds."""


def labels(size: str, *, ascend: bool = False) -> Field:
    """Labels, one for each of that size; classes ascend."""

    def check(value: Any, sizes: Sizes) -> str | None:
        problem = _labels_problem(value) or _shape_problem((len(value["values"]),), [size], sizes)
        if problem is not None or not ascend:
            return problem
        if any(isinstance(v, str) and not v.strip() for v in value["values"]):
            return "has a class without a name"
        try:
            ascends = all(a < b for a, b in zip(value["values"], value["values"][1:], strict=False))
        except TypeError:
            ascends = False
        return None if ascends else "must be sorted, and have none twice"

    return Field(check)


def _labels_problem(saved: Any) -> str | None:
    if not (isinstance(saved, dict) and set(saved) == {"dtype", "values"}):
        return "must have a dtype and values"
    dtype, values = saved["dtype"], saved["values"]
    if not (isinstance(dtype, str) and DTYPES.fullmatch(dtype) and isinstance(values, list)):
        return "must have the dtype of labels, and a list of values"
    kind = dtype[1]
    truth = kind in "bO"  # where True is not meant as 1
    if not all(isinstance(v, SCALARS[kind]) and (truth or not isinstance(v, bool)) for v in values):
        return f"has values that are not of the dtype {dtype}"
    if kind in "iu":
        limits = np.iinfo(dtype)
        fits = all(limits.min <= value <= limits.max for value in values)
    elif kind == "U":
        lengths = [len(value) for value in values]
        claimed = int(dtype[2:]) * len(values)
        fits = max(lengths, default=0) <= int(dtype[2:])
        fits = fits and claimed <= WIDEST * (sum(lengths) + len(values)) + ROOM
    else:
        fits = all(not isinstance(value, int) or abs(value) < 2**63 for value in values)
    return None if fits else f"has values that do not fit the dtype {dtype}"
