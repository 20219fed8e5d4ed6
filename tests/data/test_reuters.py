"""Reuters-8: bags of the most frequent words, topics with enough documents."""

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
