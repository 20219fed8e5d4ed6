"""A network behind ``fit`` and ``predict``."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rehead.torch.training import NetworkClassifier


@pytest.fixture
def classifier(make_net, recipe) -> NetworkClassifier:
    return NetworkClassifier(make_net, recipe=recipe, device="cpu")


def test_labels_of_any_kind_go_in_and_come_out(classifier, noisy) -> None:
    names = np.array(["cat", "ant", "bee"])[noisy.true]
    classifier.fit(noisy.X, names)
    assert classifier.classes_.tolist() == ["ant", "bee", "cat"]
    p = classifier.predict_proba(noisy.X)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(
        classifier.predict(noisy.X), classifier.classes_[p.argmax(axis=1)]
    )
    assert classifier.score(noisy.X, names) > 0.6


def test_it_is_what_train_gives(classifier, noisy, fit, same) -> None:
    assert same(classifier.fit(noisy.X, noisy.y).net_, fit().net)


def test_a_clone_has_the_same_arguments_and_no_network(classifier, noisy) -> None:
    copy = clone(classifier.fit(noisy.X, noisy.y))
    assert copy.get_params() == classifier.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(noisy.X)


def test_fitting_again_begins_with_a_new_network(classifier, noisy, same) -> None:
    first = classifier.fit(noisy.X, noisy.y).net_
    again = classifier.fit(noisy.X, noisy.y).net_
    assert again is not first
    assert same(again, first)


@pytest.mark.parametrize("fitted", [True, False])
def test_a_fit_that_fails_changes_nothing(classifier, noisy, fitted) -> None:
    if fitted:
        classifier.fit(noisy.X, noisy.y)
    before = dict(vars(classifier))
    with pytest.raises(ValueError, match=r"outputs|classes"):
        classifier.fit(noisy.X, np.arange(len(noisy.X)) % 7)  # more classes than outputs
    assert vars(classifier) == before
