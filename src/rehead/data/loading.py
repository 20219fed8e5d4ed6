"""Data sets by name."""

from __future__ import annotations

import os
import re
from typing import Any

from rehead import _validation as check
from rehead.data.cifar import CIFAR10, CIFAR100
from rehead.data.digits import DIGITS, DIGITS32
from rehead.data.files import Files, places
from rehead.data.imagenet32 import IMAGENET32
from rehead.data.made import MIXTURES, MOONS, RINGS_IN_RINGS, SPIRALS
from rehead.data.record import DataSet, Request
from rehead.data.reuters import REUTERS8, REUTERS8_TFIDF, REUTERS52
from rehead.data.splits import Splits
from rehead.data.svhn import SVHN
from rehead.data.tables import BREAST_CANCER, WINE
from rehead.data.tinyimagenet32 import TINYIMAGENET32
from rehead.data.twitter_pos import TWITTER_POS

DATASETS: dict[str, DataSet] = {
    dataset.name: dataset
    for dataset in (
        DIGITS,
        DIGITS32,
        CIFAR10,
        CIFAR100,
        SVHN,
        TWITTER_POS,
        REUTERS8,
        REUTERS8_TFIDF,
        REUTERS52,
        IMAGENET32,
        TINYIMAGENET32,
        WINE,
        BREAST_CANCER,
        MOONS,
        SPIRALS,
        RINGS_IN_RINGS,
        MIXTURES,
    )
}


def load(
    name: str = "digits",
    *,
    validation: float | None = None,
    random_state: Any = 0,
    folder: str | os.PathLike[str] | None = None,
    download: bool = True,
    raw: bool = False,
    progress: bool | None = None,
) -> Splits:
    """Load a data set by name, with clean labels.

    Files are looked for in ``folder``, then in the user's cache folder (``~/.cache/rehead``), and
    downloaded if they are in neither. A download is checked against its published checksum before
    anything reads it. ``docs/data-sets.md`` has a card for each data set.

    Parameters
    ----------
    name : str, default="digits"
        One of ``DATASETS``: digits, digits32, cifar10, cifar100, svhn, twitter_pos, reuters8,
        reuters8_tfidf, reuters52, imagenet32, tinyimagenet32, wine, breast_cancer, moons, spirals,
        rings, clusters. Case, hyphens, underscores and spaces do not matter.
    validation : int or float, optional
        Number or share of samples to take out of the training part, from all classes in
        proportion. By default what the paper uses: 1,000 images, 30 documents of each topic, the
        official dev tweets; and 150 digits, 500 documents of reuters52, a tenth of the tables. 0
        leaves the training part whole.
    random_state : int, Generator, RandomState or None, default=0
        Draws the validation part, and all parts of the digits and tables. With an int, it is
        independent of noise that is made with the same int.
    folder : path, optional
        Default: what the environment variable ``REHEAD_DATA`` names.
    download : bool, default=True
        If False, a missing file is an error.
    raw : bool, default=False
        Texts in place of features, where the data set is made of texts.
    progress : bool, optional
        Show bars while downloading and decoding; None: only in a terminal.

    Returns
    -------
    Splits
        ``train``, ``validation`` and ``test``, each with ``X``, ``y`` and ``ids``, and
        ``class_names``. ``y`` are codes from 0; ids are unique over all parts. Images are uint8 of
        shape (n_samples, 3, 32, 32).

    Examples
    --------
    >>> from rehead import data
    >>> digits = data.load("digits")
    >>> digits.train.X.shape, digits.validation.X.shape, digits.test.X.shape
    ((1347, 64), (150, 64), (300, 64))
    >>> len(data.load("digits", validation=0.2).validation.y)
    299
    """
    dataset = find_dataset(name)
    folders = tuple(place / dataset.folder for place in places(folder))
    files = Files(folders, dataset.remotes, download, progress)
    return dataset.read(Request(files, validation, random_state, raw))


def find_dataset(name: str) -> DataSet:
    """A data set by its name, in whatever spelling.

    Examples
    --------
    >>> find_dataset("CIFAR-100").name
    'cifar100'
    """
    keys = {_key(known): known for known in DATASETS}
    known = keys.get(_key(name)) if isinstance(name, str) else None
    if known is None:
        check.check_choice(name.lower() if isinstance(name, str) else name, DATASETS, "name")
    return DATASETS[str(known)]


def _key(name: str) -> str:
    return re.sub(r"[-_\s]", "", name.lower())
