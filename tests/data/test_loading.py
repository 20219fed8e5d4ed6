"""Data sets by name."""

import hashlib
import itertools

import pytest

from rehead import data
from rehead.data.files import Remote


@pytest.mark.parametrize("name", ["Digits", " DIGITS", "dig-its"])
def test_names_are_read_generously(name):
    assert len(data.load(name).class_names) == 10


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("CIFAR-1O", "cifar10"),
        ("reuters", "reuters8"),
        ("twitter", "twitter_pos"),
        ("shvn", "svhn"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, near):
    with pytest.raises(ValueError, match=f"Did you mean '{near}'"):
        data.load(name)


@pytest.mark.parametrize("name", [None, 3, ""])
def test_a_name_that_is_none(name):
    with pytest.raises(ValueError, match="name must be one of"):
        data.load(name)


def test_every_data_set_has_a_name_and_a_summary():
    assert list(data.DATASETS) == [
        "digits",
        "digits32",
        "cifar10",
        "cifar100",
        "svhn",
        "twitter_pos",
        "reuters8",
        "reuters8_tfidf",
        "reuters52",
        "imagenet32",
        "tinyimagenet32",
        "wine",
        "breast_cancer",
        "moons",
        "spirals",
        "rings",
        "clusters",
    ]
    for name, dataset in data.DATASETS.items():
        assert dataset.name == name
        assert dataset.summary


@pytest.mark.parametrize(
    "name", ["cifar10", "cifar100", "svhn", "reuters8", "reuters52", "imagenet32"]
)
def test_a_missing_file_tells_how_to_get_it(name, tmp_path):
    remote = data.DATASETS[name].remotes[0]
    with pytest.raises(data.DataMissingError) as caught:
        data.load(name, folder=tmp_path, download=False)
    assert isinstance(caught.value, FileNotFoundError)
    for said in (remote.url, remote.sha256, str(tmp_path), "download=False"):
        assert said in str(caught.value)
    assert ("account" in str(caught.value)) == (name == "imagenet32")


def test_addresses_are_of_the_web_and_checksums_are_whole():
    remotes = itertools.chain(*(d.remotes for d in data.DATASETS.values()))
    for remote in remotes:
        assert remote.url.startswith(("https://", "http://"))
        assert len(bytes.fromhex(remote.sha256)) == 32


def test_load_downloads(server, tmp_path, monkeypatch):
    server.content = b"".join(b"earn\tprofit rose\nship\tports are shut\n" for _ in range(150))
    sha256 = hashlib.sha256(server.content).hexdigest()
    size = len(server.content)
    remotes = tuple(Remote(name, server.url, sha256, size) for name in ("train.txt", "test.txt"))
    monkeypatch.setitem(
        data.DATASETS,
        "reuters8",
        data.DataSet("reuters8", "", data.DATASETS["reuters8"].read, "reuters", remotes),
    )
    news = data.load("reuters8", folder=tmp_path)
    assert news.class_names == ["earn", "ship"]
    assert news.train.X.shape == (240, 4)
    assert (tmp_path / "reuters" / "train.txt").exists()
