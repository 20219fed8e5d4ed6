"""Semantic noise: a weak classifier's labels."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from rehead import noise
from rehead.noise import labeller


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, y


class Nearest:
    """The nearest class mean, not a scikit-learn estimator; keeps what it was given."""

    def fit(self, X, y):
        self.X, self.y = X, y
        self.classes = np.unique(y)
        flat = np.asarray(X).reshape(len(X), -1)
        self.means = np.stack([flat[y == c].mean(axis=0) for c in self.classes])

    def predict(self, X):
        flat = np.asarray(X).reshape(len(X), 1, -1)
        return self.classes[((flat - self.means) ** 2).sum(axis=2).argmin(axis=1)]


def test_the_clean_part_is_an_exact_share_of_each_class_and_stays_clean(digits):
    X, y = digits
    noisy = noise.semantic(X, y, clean=0.1, random_state=0)
    for c in range(10):
        assert noisy.clean_part[y == c].sum() == (y == c).sum() // 10
    assert not noisy.changed[noisy.clean_part].any()
    np.testing.assert_array_equal(noisy.labels != y, noisy.changed)


def test_the_rest_has_the_labels_of_a_classifier_that_saw_the_clean_part_only(digits):
    X, y = digits
    noisy = noise.semantic(X, y, classifier=GaussianNB(), clean=0.1, random_state=0)
    part = noisy.clean_part
    expected = GaussianNB().fit(X[part], y[part]).predict(X[~part])
    np.testing.assert_array_equal(noisy.labels[~part], expected)


def test_rates_over_all_and_over_the_rest(digits):
    X, y = digits
    noisy = noise.semantic(X, y, clean=0.2, random_state=0)
    assert noisy.rate == (noisy.labels != y).mean()
    assert noisy.rate_of_rest == (noisy.labels != y)[~noisy.clean_part].mean()
    assert 0 < noisy.rate < noisy.rate_of_rest < 0.3
    np.testing.assert_allclose(noisy.transition.sum(axis=1), 1)


def test_less_teaching_more_noise_and_similar_digits_are_confused(digits):
    X, y = digits
    few, many = (noise.semantic(X, y, clean=p, random_state=0) for p in (0.02, 0.3))
    assert few.rate_of_rest > 2 * many.rate_of_rest
    wrong = few.transition[~np.eye(10, dtype=bool)]
    assert np.sort(wrong)[-9:].sum() > 0.5 * wrong.sum()  # a tenth of all pairs


def test_same_seed_same_labels(digits):
    X, y = digits
    a, b, c = (noise.semantic(X, y, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(a.labels, b.labels)
    assert (a.clean_part != c.clean_part).any()


def test_the_same_classifier_labels_a_validation_part(digits, monkeypatch):
    X, y = digits
    noisy = noise.semantic(X[:1000], y[:1000], random_state=0)
    labels = noisy.label(X[1000:])
    np.testing.assert_array_equal(labels, noisy.classifier.predict(X[1000:]))
    assert labels.dtype == y.dtype
    monkeypatch.setattr(labeller, "BLOCK", 100)
    np.testing.assert_array_equal(noisy.label(X[1000:]), labels)


def test_the_users_estimator_is_left_alone_and_nothing_is_modified(digits):
    X, y = digits[0].copy(), digits[1].copy()
    mine = GaussianNB()
    noisy = noise.semantic(X, y, classifier=mine, random_state=0)
    assert not hasattr(mine, "classes_")
    assert noisy.classifier is not mine
    np.testing.assert_array_equal(X, digits[0])
    np.testing.assert_array_equal(y, digits[1])


@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor])
def test_images_reach_any_object_with_fit_and_predict_as_they_are(digits, kind):
    X, y = digits
    images = kind(X.reshape(-1, 8, 8).astype(np.uint8))
    mine = Nearest()
    noisy = noise.semantic(images, y, classifier=mine, random_state=0)
    assert noisy.classifier is mine
    assert type(mine.X) is type(images)
    assert mine.X.dtype == images.dtype
    assert mine.X.shape == (noisy.clean_part.sum(), 8, 8)
    assert isinstance(mine.y, np.ndarray)
    assert noisy.rate < 0.3


def test_all_containers_give_the_same_labels_to_the_default_classifier(digits):
    X, y = digits[0][:600], digits[1][:600]
    expected = noise.semantic(X, y, random_state=0).labels.tolist()
    images = X.reshape(-1, 1, 8, 8)
    for other, labels in [
        (images, pd.Series(y, index=range(600, 0, -1))),
        (torch.as_tensor(images), torch.as_tensor(y)),
        (pd.DataFrame(X), pd.Categorical(y)),
        (X.tolist(), y.tolist()),
    ]:
        noisy = noise.semantic(other, labels, random_state=0)
        assert noisy.labels.tolist() == expected
        if not isinstance(labels, list):
            assert type(noisy.labels) is type(labels)


def test_sparse_features_and_texts():
    texts = ["good film", "fine film", "bad book", "poor book"] * 5
    y = ["film", "film", "book", "book"] * 5
    words = make_pipeline(TfidfVectorizer(), LogisticRegression())
    assert noise.semantic(texts, y, classifier=words, clean=0.3, random_state=0).rate == 0
    X = csr_array(TfidfVectorizer().fit_transform(texts))
    logistic = LogisticRegression()
    assert noise.semantic(X, y, classifier=logistic, clean=0.3, random_state=0).rate == 0


def test_each_class_teaches_at_least_once_and_keeps_one_to_be_labelled():
    X, y = np.arange(12.0)[:, None], [0] * 10 + [1] * 2
    for clean in (0.01, 0.99):
        part = noise.semantic(X, y, clean=clean, random_state=0).clean_part
        assert part[10:].sum() == 1
        assert part[:10].sum() == (1 if clean < 0.5 else 9)


class Fixed:
    def __init__(self, answer):
        self.answer = answer

    def fit(self, X, y):
        return None

    def predict(self, X):
        return self.answer(len(X))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"clean": 0.0}, r"clean must be in \(0, 1\), got 0.0"),
        ({"clean": 1.0}, "clean must be"),
        ({"clean": 5}, "For 5 % pass 0.05"),
        ({"clean": np.nan}, "clean must be"),
        ({"clean": None}, "clean must be"),
        ({"y": ["a", "b"]}, "X has 6 rows and y has 2 labels"),
        ({"y": ["a"] * 5 + ["b"]}, "Class 'b' has one sample only"),
        ({"y": ["a"] * 6}, "one class"),
        ({"classifier": "svm"}, "object with fit and predict, got 'svm'"),
        ({"classifier": GaussianNB}, "object with fit and predict"),
        ({"classifier": Fixed(lambda n: np.zeros((n, 2)))}, r"one label for each of 4 rows"),
        ({"classifier": Fixed(lambda n: np.zeros(n, int))}, r"not classes: \[0\]"),
    ],
)
def test_what_cannot_be_labelled(options, match):
    settings = {"X": np.eye(6), "y": ["a", "b"] * 3, **options}
    with pytest.raises(ValueError, match=match):
        noise.semantic(settings.pop("X"), settings.pop("y"), **settings)
