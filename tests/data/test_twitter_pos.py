"""Twitter part-of-speech tags: windows of words, and their embeddings."""

import numpy as np
import pytest

from rehead.data import DataFileError

RUN, WELL = b"i\tO\nrun\tV\n\n", b"well\tT\ni\tO\n\n"


@pytest.fixture
def tweets(publish):
    return publish("twitter_pos", (RUN + WELL) * 99 + 2 * RUN, RUN, WELL)


def test_windows_are_made_before_rare_tags_are_dropped(tweets):
    words = tweets(raw=True, validation=None)
    assert words.class_names == ["O", "V"]
    assert words.train.X[:3].tolist() == [
        ["</s>", "i", "run"],
        ["i", "run", "</s>"],
        ["well", "i", "</s>"],
    ]
    assert words.validation.X.shape == (2, 3)
    assert words.test.X.tolist() == [["well", "i", "</s>"]]


def test_tweets_without_embeddings_tell_what_to_do(tweets):
    with pytest.raises(FileNotFoundError, match=r"embeddings-twitter.txt.*raw=True"):
        tweets()


def test_embeddings_of_the_paper_come_first(tweets, tmp_path):
    folder = tmp_path / "twitter_pos"
    words = np.array(["</s>", "i", "run", "well"])
    np.savez(folder / "embeddings50.npz", words=words, vectors=np.eye(4, 50, dtype=np.float32))
    X = tweets().train.X
    assert X.shape[1] == 150
    np.testing.assert_array_equal(np.flatnonzero(X[0]), [0, 51, 102])
    lines = {w: " ".join(["0"] * k + ["2.5"] + ["0"] * (49 - k)) for k, w in enumerate(words)}
    del lines["run"]
    text = folder / "embeddings-twitter.txt"
    text.write_text("".join(f"{w} {v}\n" for w, v in lines.items()))
    with pytest.raises(DataFileError, match=r"no vector for 1 words \('run' first\)"):
        tweets()
    with text.open("a") as file:
        file.write("UUUNKKK" + " 7" * 50 + "\n")
    X = tweets().train.X
    np.testing.assert_array_equal(X[0, 100:], np.full(50, 7))
    assert X[0, 51] == 2.5
    text.write_text("i 1 2 3\n")
    with pytest.raises(DataFileError, match="'i' has 3 numbers"):
        tweets()
