"""Which file or row belongs to which sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from rehead._values import first_few

FEWEST = 0.5
"""Where less than this share of the samples is found, names mean something else: an error."""


class Match(NamedTuple):
    """Numbers of files or rows by the ids of the samples, and in words what is missing.

    ``way`` is that by which they were found.
    """

    found: dict[str, int]
    note: str
    way: str = ""


def two(names: Iterable[str]) -> str:
    """The first two names, for messages."""
    return first_few(sorted(names)[:2])


def names_of_files(files: Sequence[PurePosixPath]) -> dict[str, list[str]]:
    """The ways in which an id may name a file, the plainest first.

    Examples
    --------
    >>> ways = names_of_files([PurePosixPath("cats/007.png")])
    >>> {way: names[0] for way, names in ways.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'path': 'cats/007.png', 'path without ending': 'cats/007', 'file name': '007.png',
     'file name without ending': '007', 'number in the file name': '7'}
    """
    return {
        "path": [str(file) for file in files],
        "path without ending": [str(file.with_suffix("")) for file in files],
        "file name": [file.name for file in files],
        "file name without ending": [file.stem for file in files],
        "number in the file name": [
            str(int(file.stem)) if file.stem.isascii() and file.stem.isdigit() else file.stem
            for file in files
        ],
    }


def match(
    keys: Sequence[str], ways: Mapping[str, Sequence[str]], place: str, what: str = ""
) -> Match:
    """Match ids of samples with names, by the way that finds most of them.

    Parameters
    ----------
    keys : sequence of str
        Ids, as text.
    ways : mapping of str to sequence of str
        Names of all files or rows, in each of the ways that they can be named.
    place : str
        Where names come from, for messages.
    what : str
        What the ways are, where they have names that a user knows: "the column".

    Raises
    ------
    ValueError
        If most samples are not found, or one name that is needed occurs several times.

    Examples
    --------
    >>> match(["7", "8"], {"name": ["x", "y"], "number": ["8", "7"]}, "the folder").found
    {'8': 0, '7': 1}
    """
    wanted = set(keys)
    best, way = max((len(wanted.intersection(names)), -i) for i, names in enumerate(ways.values()))
    name, names = list(ways.items())[-way]
    told = f"{what} {name!r} of {place}" if what else place
    if best < FEWEST * len(wanted):
        first = names if what else next(iter(ways.values()))
        raise ValueError(
            f"{len(wanted) - best} of {len(wanted)} samples are not in {told}"
            f"{', and no other has more' if len(ways) > 1 and what else ''}: ids are like "
            f"{two(wanted.difference(names))}, and names there like {two(first)}. Ids must be "
            "those names: give them with --ids (ids= in Python), or point to another place."
        )
    twice = {key for key, n in Counter(names).items() if n > 1 and key in wanted}
    if twice:
        raise ValueError(
            f"{len(twice)} ids of samples occur more than once in {told}: {two(twice)}. Each "
            "must be there once."
        )
    found = {key: i for i, key in enumerate(names) if key in wanted}
    missing = wanted.difference(found)
    note = f"{len(missing)} of {len(wanted)} samples are not in {place}: {two(missing)}."
    return Match(found, note if missing else "", name)
