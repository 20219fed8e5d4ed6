"""The scikit-learn contract in full, and life inside scikit-learn's tools."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from rehead import RobustGaussianClassifier


@parametrize_with_checks(
    [
        RobustGaussianClassifier(),
        *(
            RobustGaussianClassifier(name)
            for name in ("posterior", "sample", "lts", "identity", "trimmed-kmeans")
        ),
        RobustGaussianClassifier("mcd", start="deterministic"),
    ]
)
@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_contract(estimator, check):
    check(estimator)


def test_pipeline(blobs):
    X, y = blobs(d=6)
    pipe = make_pipeline(StandardScaler(), PCA(3), RobustGaussianClassifier(random_state=0))
    assert pipe.fit(X, y).score(X, y) > 0.9


def test_cross_validation(blobs):
    X, y = blobs()
    scores = cross_val_score(RobustGaussianClassifier("posterior"), X, y, cv=3)
    assert (scores > 0.9).all()


def test_grid_search(blobs):
    X, y = blobs()
    grid = {"estimator": ["mcd", "posterior"], "shrinkage": [0.0, 0.1, "auto"]}
    search = GridSearchCV(
        RobustGaussianClassifier(random_state=0), grid, cv=3, error_score="raise"
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 6


def test_clone_copies_parameters_and_forgets_the_fit(fitted):
    clf, X, y = fitted
    clf.set_params(priors=np.array([0.2, 0.3, 0.5]), max_steps=4)
    copy = clone(clf)
    assert copy.get_params().keys() == clf.get_params().keys()
    assert copy.max_steps == 4
    assert not hasattr(copy, "means_")
    np.testing.assert_allclose(copy.fit(X, y).priors_, [0.2, 0.3, 0.5])


def test_fit_again_forgets_the_first_fit(blobs, same_model):
    X, y = blobs()
    Z, z = blobs(sizes=(30, 40), d=5, seed=3)
    twice = RobustGaussianClassifier(random_state=0).fit(X, y).fit(Z, z)
    same_model(twice, RobustGaussianClassifier(random_state=0).fit(Z, z), rtol=0, atol=0)
    assert twice.n_features_in_ == 5


NAMES = ["length", "width", "height"]


@pytest.mark.parametrize(
    "frame",
    [
        lambda X, names=NAMES: pd.DataFrame(X, columns=names),
        lambda X, names=NAMES: pl.DataFrame(X, schema=names),
    ],
    ids=["pandas", "polars"],
)
class TestFrames:
    def test_frames_give_the_same_model_as_arrays(self, blobs, same_model, frame):
        X, y = blobs()
        labels = frame(y[:, None], ["label"])["label"]
        a = RobustGaussianClassifier(random_state=0).fit(frame(X), labels)
        b = RobustGaussianClassifier(random_state=0).fit(X, y)
        same_model(a, b, rtol=0, atol=0)
        assert a.feature_names_in_.tolist() == NAMES
        np.testing.assert_array_equal(a.predict(frame(X)), b.predict(X))

    def test_wrong_names_are_an_error(self, blobs, frame):
        X, y = blobs()
        clf = RobustGaussianClassifier(random_state=0).fit(frame(X), y)
        with pytest.raises(ValueError, match="feature names should match"):
            clf.predict(frame(X, ["length", "width", "depth"]))
        with pytest.raises(ValueError, match="same order"):
            clf.predict(frame(X, NAMES[::-1]))


@pytest.mark.parametrize(
    "names",
    [
        np.array(["dog", "cat", "a bird of paradise"]),
        np.array([7, -3, 100]),
        np.array([2.0, 0.0, 1.0]),
        np.array(["dog", "cat", "ant"], dtype=object),
    ],
    ids=["strings", "ints", "floats", "objects"],
)
def test_labels_come_back_as_they_were(blobs, names):
    X, y = blobs()
    clf = RobustGaussianClassifier("posterior").fit(X, names[y])
    assert clf.classes_.tolist() == sorted(names.tolist())
    predicted = clf.predict(X)
    assert predicted.dtype == names.dtype
    assert (predicted == names[y]).mean() > 0.9
    assert clf.score(X, names[y]) > 0.9


def test_boolean_labels(blobs):
    X, y = blobs(sizes=(40, 40))
    clf = RobustGaussianClassifier("posterior").fit(X, y == 1)
    assert clf.predict(X).dtype == bool
    assert clf.score(X, y == 1) > 0.9


@pytest.mark.parametrize(
    "labels",
    [
        lambda s: pd.Series(s),
        lambda s: pd.Series(s, dtype="category"),
        lambda s: pl.Series(s),
        lambda s: s.tolist(),
    ],
    ids=["pandas", "categorical", "polars", "list"],
)
def test_labels_of_other_libraries(blobs, labels):
    X, y = blobs()
    names = np.array(["ant", "bee", "cat"])[y]
    clf = RobustGaussianClassifier("posterior").fit(X, labels(names))
    np.testing.assert_array_equal(
        clf.predict(X), RobustGaussianClassifier("posterior").fit(X, names).predict(X)
    )
