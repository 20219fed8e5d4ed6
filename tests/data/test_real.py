"""Counts, filters and checksums of the real data; where REHEAD_DATA names its folder."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from rehead import data
from rehead.data.twitter_pos import EDGE, TAGS, read_tweets

REAL = ["cifar10", "tinyimagenet32", "twitter_pos", "reuters8", "reuters52"]


def decoded_sha256(X):
    """As published, with colours last."""
    return hashlib.sha256(np.ascontiguousarray(X.transpose(0, 2, 3, 1))).hexdigest()


def test_cifar10_is_complete_and_exact(real):
    cifar = real("cifar10")
    assert cifar.train.X.shape == (50_000, 3, 32, 32)
    assert cifar.test.X.shape == (10_000, 3, 32, 32)
    assert np.bincount(cifar.train.y).tolist() == [5000] * 10
    assert np.bincount(cifar.test.y).tolist() == [1000] * 10
    assert cifar.class_names[::9] == ["airplane", "truck"]
    assert decoded_sha256(cifar.train.X) == (
        "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a"
    )
    assert decoded_sha256(cifar.test.X) == (
        "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04"
    )


def test_tinyimagenet32_is_complete_and_exact(real):
    tiny = real("tinyimagenet32")
    assert decoded_sha256(np.concatenate([tiny.train.X, tiny.test.X])) == (
        "47e1dfa5e1711ec2701b3d67151bbd0ae1085cb807d97dcf701ce47ea873631e"
    )
    assert np.bincount(tiny.train.y).tolist() == [40] * 200
    assert np.bincount(tiny.test.y).tolist() == [10] * 200


def test_8800_images_lie_outside_cifar10(real_folder):
    outside = data.outside_images("cifar10", folder=real_folder("tinyimagenet32"))
    assert outside.X.shape == (8800, 3, 32, 32)
    assert outside.X.dtype == np.uint8
    assert len(np.unique(outside.y)) == 176


def test_reuters8_has_the_papers_counts(real, real_folder):
    news = real("reuters8")
    assert news.class_names == ["acq", "crude", "earn", "interest", "money-fx", "ship", "trade"]
    assert np.bincount(news.train.y).tolist() == [1596, 253, 2840, 190, 206, 108, 251]
    assert np.bincount(news.test.y).tolist() == [696, 121, 1083, 81, 87, 36, 75]
    assert news.train.X.shape == (5444, 1000)
    assert set(np.unique(news.train.X)) == {0.0, 1.0}
    tfidf = data.load(
        "reuters8_tfidf", folder=real_folder("reuters8"), validation=0, download=False
    )
    for words, weights in ((news.train, tfidf.train), (news.test, tfidf.test)):
        np.testing.assert_array_equal(weights.X > 0, words.X > 0)
        np.testing.assert_array_equal(weights.y, words.y)
    default = data.load("reuters8", folder=real_folder("reuters8"), raw=True, download=False)
    assert np.bincount(default.validation.y).tolist() == [30] * 7
    assert default.train.X[0].startswith("champion products ch approves stock split")


def test_reuters8_words_are_the_most_frequent_of_the_training_documents(real, real_folder):
    texts = data.load("reuters8", folder=real_folder("reuters8"), raw=True, validation=0)
    counts = Counter(w for text in texts.train.X for w in text.split() if len(w) > 1)
    for word in ENGLISH_STOP_WORDS:
        counts.pop(word, None)
    words = sorted(sorted(counts, key=lambda w: (-counts[w], w))[:1000])
    documents = [set(text.split()) for text in texts.test.X]
    X = [[word in document for word in words] for document in documents]
    np.testing.assert_array_equal(real("reuters8").test.X, X)


def test_reuters52_has_the_published_counts_without_the_smallest_topics(real, real_folder):
    news = real("reuters52")
    assert (news.train.X.shape, news.test.X.shape) == ((6454, 1000), (2513, 1000))
    counts = dict(zip(news.class_names, np.bincount(news.train.y).tolist(), strict=True))
    assert len(counts) == 35
    assert (counts["earn"], counts["acq"], counts["grain"], counts["gas"]) == (2840, 1596, 41, 10)
    assert "zinc" not in counts
    folder = real_folder("reuters52")
    lines = (folder / "reuters/r52-train-no-short.txt").read_text("utf-8").splitlines()
    assert len(lines) == 6532
    published = Counter(line.split("\t")[0] for line in lines)
    assert len(published) == 52
    assert counts == {name: n for name, n in published.items() if n >= 10}
    default = data.load("reuters52", folder=folder, raw=True, download=False)
    assert len(default.validation.y) == 500
    assert default.train.X[0].startswith("bahia cocoa review showers")


def test_twitter_has_the_papers_counts(real, real_folder):
    tokens = real("twitter_pos")
    default = data.load("twitter_pos", folder=real_folder("twitter_pos"), download=False)
    assert [s.X.shape for s in default[:3]] == [(14_468, 150), (4_769, 150), (7_082, 150)]
    assert tokens.train.X.shape == (14_468, 150)
    assert tokens.train.X.dtype == np.float32
    assert tokens.class_names == list("NO^LVAR!DP&#@~UE$,G")
    assert " ".join(map(str, np.bincount(tokens.train.y))) == (
        "2003 1063 890 252 2219 755 689 406 869 1252 239 141 713 538 223 148 216 1715 137"
    )
    assert data.load(
        "twitter_pos", folder=real_folder("twitter_pos"), validation=570
    ).train.X.shape == (14_468 - 570, 150)


@pytest.mark.parametrize("part", ["train", "dev", "devtest"])
def test_windows_equal_the_prepared_ones(real_folder, part):
    folder = real_folder("twitter_pos") / "twitter_pos"
    prepared = np.load(folder / "windows.npz")
    words = np.load(folder / "embeddings50.npz")["words"]
    tokens = read_tweets(folder / f"tweets-{part}.txt")
    assert words[prepared[f"{part}_x"]].tolist() == [list(w) for w in tokens.windows]
    assert prepared["tags"][prepared[f"{part}_y"]].tolist() == tokens.tags
    assert "".join(prepared["tags"]) == TAGS
    edges = sum(w[0] == EDGE for w in tokens.windows)
    assert edges == prepared[f"{part}_tweet"][-1] + 1


def test_features_equal_the_prepared_ones(real, real_folder):
    folder = real_folder("twitter_pos") / "twitter_pos"
    prepared = np.load(folder / "windows.npz")
    vectors = np.load(folder / "embeddings50.npz")["vectors"]
    kept = np.isin(prepared["devtest_y"], prepared["keep"])
    X = vectors[prepared["devtest_x"][kept]].reshape(-1, 150)
    np.testing.assert_array_equal(real("twitter_pos").test.X, X)
    y = np.searchsorted(prepared["keep"], prepared["devtest_y"][kept])
    np.testing.assert_array_equal(real("twitter_pos").test.y, y)


@pytest.mark.parametrize("name", REAL[1:])
def test_parts_are_disjoint_and_nothing_is_lost(real, real_folder, name):
    whole = real(name)
    s = data.load(name, folder=real_folder(name), validation=300, random_state=3)
    ids = np.concatenate([s.train.ids, s.validation.ids])
    np.testing.assert_array_equal(np.sort(ids), whole.train.ids)
    np.testing.assert_array_equal(s.train.X, whole.train.X[s.train.ids])
    np.testing.assert_array_equal(s.validation.y, whole.train.y[s.validation.ids])
    assert not np.isin(ids, s.test.ids).any()
    share = np.bincount(whole.train.y) * 300 / len(whole.train.y)
    assert (np.abs(np.bincount(s.validation.y, minlength=len(share)) - share) < 1).all()
