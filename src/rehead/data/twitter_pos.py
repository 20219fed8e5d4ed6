"""Twitter part-of-speech tags (Gimpel et al. 2011): a word and its neighbours as embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.data.archive import readable
from rehead.data.files import DataFileError, DataMissingError, Files, Remote
from rehead.data.record import DataSet, Request
from rehead.data.splits import Labelled, Published, Splits, make_splits
from rehead.data.text import codes, frequent, objects

HOME = (
    "https://raw.githubusercontent.com/mmazeika/glc/"
    "5b456a0df468b972bcaa030730cf04d44c57910e/Twitter/data/Tweets/"
)
TAGS = "NOS^ZLMVAR!DP&TXY#@~UE$,G"
"""All tags, in the order that class codes follow."""
EDGE, UNKNOWN = "</s>", "UUUNKKK"
DIMENSIONS = 50


class Tokens(NamedTuple):
    """Previous word, word and next word of each token, and its tag."""

    windows: list[tuple[str, str, str]]
    tags: list[str]


def read(request: Request) -> Splits:
    """Embedded windows, or the words themselves; the official dev tweets are for validation."""
    files = request.files
    parts = [read_tweets(files.get(remote.name)) for remote in files.remotes]
    kept = frequent(parts[0].tags)
    class_names = [tag for tag in TAGS if tag in kept]
    words = {word for part in parts for window in part.windows for word in window}
    table = None if request.raw else read_embeddings(files, words)
    labelled = []
    for part in parts:
        # Tokens with rare tags go after the windows are made: they are neighbours of others.
        rows, y = codes(part.tags, class_names)
        windows = objects(part.windows)[rows]
        labelled.append(Labelled(windows if table is None else embed(windows, table), y))
    train, dev, test = labelled
    return make_splits(Published(train, test, validation=dev), class_names, request.hold_out)


def read_tweets(path: Path) -> Tokens:
    """Windows and tags of a file of ``word<TAB>tag`` lines; an empty line ends a tweet."""
    result = Tokens([], [])
    with readable(path):
        for tweet in path.read_text("utf-8").split("\n\n"):
            pairs = [line.split("\t") for line in tweet.split("\n") if line.strip()]
            words = [EDGE, *(word for word, _ in pairs), EDGE]
            result.windows.extend(zip(words, words[1:], words[2:], strict=False))
            result.tags.extend(tag.strip() for _, tag in pairs)
    return result


def embed(windows: Array, table: dict[str, Array]) -> Array:
    """The vectors of the words of each window, side by side."""
    unknown = table.get(UNKNOWN)
    rows = [table.get(word, unknown) for word in windows.ravel()]
    vectors: Array = np.array(rows, np.float32)
    return vectors.reshape(len(windows), -1)


def read_embeddings(files: Files, words: set[str]) -> dict[str, Array]:
    """Vectors of these words: the paper's file if it is there, else the substitute."""
    text, arrays = files.find("embeddings-twitter.txt"), files.find("embeddings50.npz")
    path = text or arrays
    if path is None:
        raise DataMissingError(
            "Word embeddings are missing, and they cannot be downloaded. Put the paper's 50 "
            "dimensional embeddings-twitter.txt (a word and 50 numbers per line) into "
            f"{files.folders[0]}, or take the words themselves with raw=True and embed them with "
            "vectors of your own."
        )
    with readable(path):
        table = _from_text(path, {*words, UNKNOWN}) if path == text else _from_arrays(path)
    missing = sorted(words - table.keys())
    if missing and UNKNOWN not in table:
        raise DataFileError(
            f"{path} has no vector for {len(missing)} words ({missing[0]!r} first) and none for "
            f"unknown words ({UNKNOWN}). Add one."
        )
    return table


def _from_text(path: Path, words: set[str]) -> dict[str, Array]:
    table = {}
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            word, *numbers = line.rstrip().split(" ")
            if word in words:
                table[word] = np.array(numbers, np.float32)
                if len(numbers) != DIMENSIONS:
                    raise DataFileError(f"{path}: {word!r} has {len(numbers)} numbers, not 50.")
    return table


def _from_arrays(path: Path) -> dict[str, Array]:
    with np.load(path, allow_pickle=False) as file:
        return dict(zip(file["words"].tolist(), file["vectors"], strict=True))


TWITTER_POS = DataSet(
    "twitter_pos",
    "14,468 + 4,769 + 7,082 words of tweets, 19 parts of speech; embeddings to be provided",
    read,
    "twitter_pos",
    (
        Remote(
            "tweets-train.txt",
            HOME + "tweets-train.txt",
            "0eeb02801b1097aa32bfac490a61c0919c9e74f2c74dd0048b520041bf218f7c",
            107_384,
        ),
        Remote(
            "tweets-dev.txt",
            HOME + "tweets-dev.txt",
            "304eedc25cf601111ed2daac954092a026e11bc515effda8f9de09616e91dbc8",
            35_699,
        ),
        Remote(
            "tweets-devtest.txt",
            HOME + "tweets-devtest.txt",
            "5bb2323a63a17d073468b9436980232e2e7b92d0dc1e5e46e722aae189229e3c",
            52_184,
        ),
    ),
)
