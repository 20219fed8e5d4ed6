"""Reuters-8 and -52: bags of the most frequent words, topics with enough documents."""

import numpy as np
import pytest

from rehead.data import DataFileError

TRAIN_NEWS = b"".join(
    b"ship\tthe port port port %d\nacq\tthe firm buys\n" % (i % 3) for i in range(100)
)


def test_words_are_ranked_by_occurrences_and_rare_topics_left_out(publish, monkeypatch):
    monkeypatch.setattr("rehead.data.reuters.N_WORDS", 1)
    train = TRAIN_NEWS + b"acq\tfirm firm\n" * 60 + b"grain\twheat wheat\n" * 99
    load = publish("reuters8", train, b"acq\tfirm\nship\tport port\ngrain\twheat\n")
    news = load()
    assert news.class_names == ["acq", "ship"]
    np.testing.assert_array_equal(news.train.y[:2], [1, 0])
    # 300 ports in 100 documents, 220 firms in 160.
    np.testing.assert_array_equal(news.test.X, [[0], [1]])
    assert news.test.X.dtype == np.float32
    raw = load(raw=True)
    assert raw.test.X.tolist() == ["firm", "port port"]
    np.testing.assert_array_equal(raw.test.ids, [260, 261])


def test_news_without_a_tab(publish):
    with pytest.raises(DataFileError, match=r"r8-train-all-terms.txt cannot be read"):
        publish("reuters8", TRAIN_NEWS + b"no label\n", b"acq\tfirm\n")()


def test_tfidf_is_of_the_same_words_and_documents(publish, monkeypatch):
    """By the formula: counts times ln((1 + n) / (1 + n with the word)) + 1, of unit length."""
    monkeypatch.setattr("rehead.data.reuters.N_WORDS", 2)
    test = b"acq\tfirm firm buys port\nship\tport port firm\nacq\tnothing known\n"
    train = TRAIN_NEWS + b"acq\tfirm firm\n" * 60
    words = publish("reuters8", train, test)(validation=0)
    tfidf = publish("reuters8_tfidf", train, test)(validation=0)
    for a, b in zip(words[:3], tfidf[:3], strict=True):
        np.testing.assert_array_equal(a.y, b.y)
        np.testing.assert_array_equal(a.ids, b.ids)
        np.testing.assert_array_equal(a.X > 0, b.X > 0)
    assert words.class_names == tfidf.class_names
    # The two words are firm, in 160 of 260 documents, and port, in 100.
    idf = np.log(261 / np.array([161, 101])) + 1
    expected = np.array([[2, 1], [1, 2], [0, 0]]) * idf
    expected[:2] /= np.linalg.norm(expected[:2], axis=1, keepdims=True)
    np.testing.assert_allclose(tfidf.test.X, expected, rtol=1e-6)
    assert tfidf.test.X.dtype == np.float32


def test_tfidf_of_texts_is_the_texts(publish):
    test = b"acq\tfirm\nship\tport port\n"
    raw = publish("reuters8_tfidf", TRAIN_NEWS, test)(raw=True)
    assert raw.test.X.tolist() == ["firm", "port port"]


def test_of_r52_topics_with_ten_documents_are_kept(publish):
    train = TRAIN_NEWS + b"gas\tpump gas\n" * 10 + b"zinc\tmetal\n" * 9
    load = publish("reuters52", train, b"gas\tgas gas\nzinc\tmetal\nship\tport\n")
    news = load()
    assert news.class_names == ["acq", "gas", "ship"]
    assert np.bincount(news.train.y).tolist() == [100, 10, 100]
    assert load(raw=True).test.X.tolist() == ["gas gas", "port"]
    np.testing.assert_array_equal(news.test.y, [1, 2])
    # Words that are left: buys, firm, gas, port, pump.
    np.testing.assert_array_equal(news.test.X, [[0, 0, 1, 0, 0], [0, 0, 0, 1, 0]])


def test_of_r52_all_topics_are_held_out_in_proportion(publish, monkeypatch):
    monkeypatch.setattr("rehead.data.reuters.HELD_OUT_OF_52", 21)
    load = publish("reuters52", TRAIN_NEWS + b"gas\tpump gas\n" * 10, b"gas\tgas gas\n")
    news = load(validation=None)
    assert np.bincount(news.validation.y).tolist() == [10, 1, 10]
