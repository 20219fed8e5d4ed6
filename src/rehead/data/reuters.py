"""Reuters-8 and Reuters-52: news by topic, of Reuters-21578.

The paper's counts are those of R8 without grain. R52 has more topics, most of them small.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from rehead._typing import Array
from rehead.data.archive import readable
from rehead.data.files import Remote
from rehead.data.record import DataSet, Request
from rehead.data.splits import Labelled, Published, Splits, make_splits
from rehead.data.text import SMALLEST_CLASS, codes, frequent, objects

HOME = (
    "https://raw.githubusercontent.com/yao8839836/text_gcn/"
    "5fa0c35dbe09453a8f724c3f3eb8b6f172deb18c/data/R8/"
)
HOME52 = (
    "https://raw.githubusercontent.com/hendrycks/error-detection/"
    "96b8c95396e111879f0675264301caf5d7fb26df/NLP/Categorization/data/"
)
N_WORDS = 1000
SMALLEST_OF_52 = 10
"""Topics of R52 with fewer training documents are left out: 17 of them have one to nine."""
HELD_OUT_OF_52 = 500
"""Many topics have fewer than the 30 documents each that are held out of Reuters-8."""
Features = Callable[[Array, Array], tuple[Array, Array]]
"""From the texts of training and test documents."""


def read(request: Request) -> Splits:
    """Bags of words, or the texts themselves."""
    return _read8(request, bags_of_words)


def read_tfidf(request: Request) -> Splits:
    """TF-IDF of the same words, or the texts themselves."""
    return _read8(request, tfidf_of_words)


def read52(request: Request) -> Splits:
    """Bags of words of R52, or the texts themselves; held out are all topics in proportion."""
    published, class_names = _published(request, SMALLEST_OF_52, bags_of_words)
    hold_out = request.hold_out._replace(default=HELD_OUT_OF_52)
    return make_splits(published, class_names, hold_out)


def _read8(request: Request, features: Features) -> Splits:
    published, class_names = _published(request, SMALLEST_CLASS, features)
    hold_out = request.hold_out._replace(default=30 * len(class_names), per_class=True)
    return make_splits(published, class_names, hold_out)


def _published(request: Request, least: int, features: Features) -> tuple[Published, list[str]]:
    """Documents of the topics that have at least so many for training, and these topics."""
    documents = [read_documents(request.files.get(remote.name)) for remote in request.files.remotes]
    class_names = sorted(frequent(documents[0][0], least))
    parts = []
    for labels, texts in documents:
        rows, y = codes(labels, class_names)
        parts.append(Labelled(objects(texts)[rows], y))
    train, test = parts
    if not request.raw:
        # Words are chosen before any validation part is drawn, so the features of a document do
        # not depend on the draw.
        X_train, X_test = features(train.X, test.X)
        train, test = Labelled(X_train, train.y), Labelled(X_test, test.y)
    return Published(train, test), class_names


def read_documents(path: Path) -> tuple[list[str], list[str]]:
    """Labels and texts of a file with ``label<TAB>text`` lines."""
    with readable(path):
        lines = [line for line in path.read_text("utf-8").split("\n") if line.strip()]
        pairs = [line.split("\t", 1) for line in lines]
        return [label for label, _ in pairs], [text.strip() for _, text in pairs]


def bags_of_words(train: Array, test: Array) -> tuple[Array, Array]:
    """Which of the most frequent training words, stop words aside, a document has."""
    X_train, X_test = ((c > 0).astype(np.float32) for c in counts_of_words(train, test))
    return X_train, X_test


def tfidf_of_words(train: Array, test: Array) -> tuple[Array, Array]:
    """Counts of the same words, weighted by how rare they are, each document of unit length."""
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = counts_of_words(train, test)
    weights = TfidfTransformer().fit(counts[0])
    X_train, X_test = (weights.transform(c).toarray().astype(np.float32) for c in counts)
    return X_train, X_test


def counts_of_words(train: Array, test: Array) -> tuple[Array, Array]:
    """How often a document has each of the most frequent training words, stop words aside."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(stop_words="english")
    counts = counter.fit_transform(train)
    # The vectorizer's own max_features breaks ties as the sort of the machine happens to do. Here
    # the alphabet decides, which is the order of the columns.
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    words = np.sort(np.argsort(-frequency, kind="stable")[:N_WORDS])
    n_train, n_test = (c[:, words].toarray() for c in (counts, counter.transform(test)))
    return n_train, n_test


FILES = (
    Remote(
        "r8-train-all-terms.txt",
        HOME + "train.txt",
        "3ed60c905aaa95b96c3fc4afb6d14ad2e20106c59c5b9dda950dcb3075eecfbe",
        3_354_423,
    ),
    Remote(
        "r8-test-all-terms.txt",
        HOME + "test.txt",
        "2ba368c42e6808bc3dc68b8f7879eb07a2810ed137f0b304e2213b689677e561",
        1_195_260,
    ),
)
REUTERS8 = DataSet(
    "reuters8",
    "5,444 + 2,179 news of 7 topics: bags of 1,000 words, or texts",
    read,
    "reuters",
    FILES,
)
REUTERS8_TFIDF = DataSet(
    "reuters8_tfidf",
    "the same news: TF-IDF of 1,000 words, or texts",
    read_tfidf,
    "reuters",
    FILES,
)
REUTERS52 = DataSet(
    "reuters52",
    "6,454 + 2,513 news of 35 topics of unequal size: bags of 1,000 words, or texts",
    read52,
    "reuters",
    (
        Remote(
            "r52-train-no-short.txt",
            HOME52 + "r52-train.txt",
            "2bb8c5e400bd24a1fb3c5a8fb86bb9751c224e66b542cf75bc2ae0aa3952b5b9",
            3_888_877,
        ),
        Remote(
            "r52-test-no-short.txt",
            HOME52 + "r52-test.txt",
            "05dbdf3a88be730ff614126fdd6c8912a8a3e03bb77be81c84eb12fb0144a7af",
            1_379_109,
        ),
    ),
)
