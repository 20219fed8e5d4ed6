"""Names, splits and where files are looked for."""

import itertools

import numpy as np
import pytest

from rehead import data, noise
from rehead.data.files import places, user_cache
from rehead.data.splits import Labelled, make_splits


def parts(n=100, n_classes=4, n_test=20, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, size=n, p=np.arange(1, n_classes + 1) / 10)
    train = Labelled(rng.normal(size=(n, 2)), y)
    return train, Labelled(np.zeros((n_test, 2)), np.zeros(n_test, np.int64)), list("abcd")


def split(validation=None, random_state=0, **options):
    return make_splits(
        *parts(), validation=validation, random_state=random_state, **{"default": 10, **options}
    )


def test_digits_are_as_they_always_were():
    digits = data.load("digits")
    assert [len(s.y) for s in digits[:3]] == [1347, 150, 300]
    ids = np.random.default_rng(0).permutation(1797)
    np.testing.assert_array_equal(digits.test.ids, ids[:300])
    np.testing.assert_array_equal(digits.validation.ids, ids[300:450])
    assert digits.train.X.dtype == np.float32
    assert digits.train.X.max() == 1.0


@pytest.mark.parametrize(("validation", "n"), [(0, 0), (40, 40), (0.5, 748), (0.0, 0)])
def test_digits_with_another_validation_part_keep_their_test_part(validation, n):
    digits, usual = data.load("digits", validation=validation), data.load("digits")
    assert len(digits.validation.y) == n
    assert len(digits.train.y) == 1497 - n
    np.testing.assert_array_equal(digits.test.ids, usual.test.ids)


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
        "cifar10",
        "cifar100",
        "svhn",
        "twitter_pos",
        "reuters8",
        "imagenet32",
        "tinyimagenet32",
    ]
    for name, dataset in data.DATASETS.items():
        assert dataset.name == name
        assert dataset.summary


def test_parts_are_disjoint_and_nothing_is_lost():
    s = split()
    ids = np.concatenate([part.ids for part in s[:3]])
    np.testing.assert_array_equal(np.sort(ids), np.arange(120))
    np.testing.assert_array_equal(s.test.ids, np.arange(100, 120))
    train = parts()[0]
    for part in (s.train, s.validation):
        assert (np.diff(part.ids) > 0).all()
        np.testing.assert_array_equal(part.X, train.X[part.ids])
        np.testing.assert_array_equal(part.y, train.y[part.ids])


@pytest.mark.parametrize(("validation", "n"), [(None, 10), (7, 7), (0.25, 25), (99, 99)])
def test_classes_are_held_out_in_proportion(validation, n):
    s = split(validation)
    share = np.bincount(parts()[0].y) * n / 100
    assert len(s.validation.y) == n
    assert (np.abs(np.bincount(s.validation.y, minlength=4) - share) < 1).all()


def test_the_default_can_be_equal_for_all_classes():
    s = split(default=20, per_class=True)
    np.testing.assert_array_equal(np.bincount(s.validation.y), [5, 5, 5, 5])
    with pytest.raises(ValueError, match="the smallest class"):
        split(default=80, per_class=True)


def test_no_validation_part():
    s = split(0)
    assert s.train.X.shape == (100, 2)
    assert s.validation.X.shape == (0, 2)
    assert s.validation.y.dtype == np.int64


def test_an_official_part_is_the_default_only():
    dev = Labelled(np.ones((5, 2)), np.ones(5, np.int64))
    s = split(official=dev)
    assert len(s.train.y) == 100
    np.testing.assert_array_equal(s.validation.ids, np.arange(120, 125))
    asked = split(8, official=dev)
    assert len(asked.train.y) == 92
    assert asked.validation.ids.max() < 100


def test_the_seed_decides():
    same, again, other = split(), split(), split(random_state=1)
    np.testing.assert_array_equal(same.validation.ids, again.validation.ids)
    assert set(same.validation.ids) != set(other.validation.ids)
    a, b = (split(random_state=np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(a.validation.ids, b.validation.ids)


def test_the_draw_is_independent_of_noise_of_the_same_seed():
    # Were the streams the same, the held-out samples would be mislabelled all or never.
    y = np.repeat(np.arange(2), 5000)
    test = Labelled(y[:1], y[:1])
    shares = []
    for seed in range(5):
        s = make_splits(Labelled(y, y), test, ["a", "b"], validation=2000, random_state=seed)
        shares.append(noise.uniform(y, 0.4, random_state=seed).changed[s.validation.ids].mean())
    assert np.abs(np.array(shares) - 0.4).max() < 0.05


@pytest.mark.parametrize("validation", [-1, 100, 1.0, -0.1, 1.5, True, "10", np.nan, [3]])
def test_a_bad_validation_is_refused(validation):
    with pytest.raises(ValueError, match="validation must be a number of samples from 0 to 99"):
        split(validation)


def test_a_bad_seed_is_refused():
    with pytest.raises(ValueError, match="random_state must be"):
        split(random_state=-1)


def test_where_files_are_looked_for(monkeypatch, tmp_path):
    assert places(None) == (user_cache(),)
    assert places(tmp_path) == (tmp_path, user_cache())
    monkeypatch.setenv("REHEAD_DATA", "~/sets")
    assert places(None)[0].is_absolute()
    assert places(tmp_path)[0] == tmp_path
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert user_cache().parts[-2:] == (".cache", "rehead")


@pytest.mark.parametrize("name", ["cifar10", "cifar100", "svhn", "reuters8", "imagenet32"])
def test_a_missing_file_tells_how_to_get_it(name, tmp_path):
    remote = data.DATASETS[name].remotes[0]
    with pytest.raises(FileNotFoundError) as caught:
        data.load(name, folder=tmp_path, download=False)
    for said in (remote.url, remote.sha256, str(tmp_path), "download=False"):
        assert said in str(caught.value)
    assert ("account" in str(caught.value)) == (name == "imagenet32")


def test_what_cannot_be_downloaded_says_so(tmp_path):
    for missing in (lambda f: data.load("tinyimagenet32", folder=f), data.outside_images):
        with pytest.raises(FileNotFoundError, match="cannot be downloaded"):
            missing(folder=tmp_path) if missing is data.outside_images else missing(tmp_path)


def test_addresses_are_of_the_web_and_checksums_are_whole():
    remotes = itertools.chain(*(d.remotes for d in data.DATASETS.values()))
    for remote in remotes:
        assert remote.url.startswith(("https://", "http://"))
        assert len(bytes.fromhex(remote.sha256)) == 32
