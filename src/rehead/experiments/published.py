"""Numbers that the paper prints, as data; never typed into code or pages."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

NETWORKS = {
    "densenet-bc-100": "densenet100",
    "resnet-34": "resnet34",
    "resnet-44": "resnet44-wide",
    "vgg-13": "vgg13",
    "cnn-9": "cnn9",
    "fcn-2": "fcn",
}
"""The package's names of the paper's networks."""
DATA = {
    "cifar-10": "cifar10",
    "cifar-100": "cifar100",
    "imagenet-32": "imagenet32",
    "reuters-8": "reuters8",
    "svhn": "svhn",
    "twitter-pos": "twitter_pos",
}
COLUMNS = {
    ("softmax", False): "softmax",
    ("generative+sample", False): "LDA",
    ("generative+sample", True): "LDA ensemble",
    ("generative+mcd", False): "RoG last layer",
    ("generative+mcd", True): "RoG",
    ("generative+tkm", False): "trimmed k-means",
}
"""Ways to predict of tables 1 and 8: with which estimates, of all layers or of the last one."""


class Entry(NamedTuple):
    """A cell of a printed table: where it stands, and the accuracy of each way to predict, in %."""

    table: str
    network: str
    data: str
    noise: str
    rate: float
    method: str
    labeller: str
    source: str
    accuracy: dict[str, float]

    @property
    def place(self) -> tuple[Any, ...]:
        """All but the numbers."""
        return self[:-1]


class Note(NamedTuple):
    """What is odd about a printed number."""

    table: str
    where: str
    text: str


class Published(NamedTuple):
    """All printed numbers."""

    titles: dict[str, str]
    entries: list[Entry]
    notes: list[Note]

    def of(self, table: str) -> list[Entry]:
        """The cells of a table."""
        return [entry for entry in self.entries if entry.table == table]


@lru_cache(maxsize=1)
def published() -> Published:
    """What the paper prints.

    Examples
    --------
    >>> from rehead.experiments.published import published
    >>> published().titles["5"]
    'Text data, 2-hidden-layer FCN, 1% trusted data for gold methods'
    >>> published().of("7")[0].accuracy
    {'softmax': 79.01, 'RoG': 83.37}
    """
    text = files("rehead.experiments").joinpath("published.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    entries: dict[tuple[Any, ...], Entry] = {}
    for cell in content["cell"]:
        entry = _entry(cell)
        # Tables 1 and 8 have one number in each cell; they are gathered.
        entries.setdefault(entry.place, entry).accuracy.update(entry.accuracy)
    return Published(
        {str(t["id"]): t["title"] for t in content["table"]},
        list(entries.values()),
        [Note(str(n["table"]), n["where"], n["text"]) for n in content["note"]],
    )


def _entry(cell: dict[str, Any]) -> Entry:
    if "inference" in cell:
        accuracy = {COLUMNS[cell["inference"], cell["ensemble"]]: cell["accuracy"]}
    else:
        names = {"softmax": "softmax", "rog": "RoG"}
        accuracy = {name: cell[key] for key, name in names.items() if key in cell}
    sources = [DATA[s] for s in cell.get("source", "").split("+") if s]
    return Entry(
        str(cell["table"]),
        NETWORKS[cell["network"]],
        DATA[cell["dataset"]],
        "none" if cell["noise"] == "clean" else cell["noise"],
        cell["rate"],
        cell["method"],
        NETWORKS[cell["labeller"]] if "labeller" in cell else "",
        "+".join(sources),
        accuracy,
    )
