"""From labelled rows to a fit: with a map or without one, and what is said about the labels."""

import dataclasses

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, noise
from rehead.fitting import fit_both_shapes, fit_gaussians
from rehead.gaussian import group_by_class
from rehead.gaussian.options import resolve_options
from rehead.gaussian.settings import SETTINGS
from rehead.noise import INSTANCE_NOISES


def long_tails(seed, n=840):
    """Classes that differ in their middles only, and of whose samples some are far off."""
    rng = np.random.default_rng(seed)
    true = rng.integers(4, size=n)
    X = rng.standard_t(2, size=(n, 8)) + 3 * np.eye(4, 8)[true]
    return X, noise.flip(true, 0.4, random_state=seed).labels


def rings(n=600):
    rng = np.random.default_rng(0)
    y, angle = rng.integers(2, size=n), rng.uniform(0, 2 * np.pi, size=n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return (1 + y)[:, None] * circle + 0.1 * rng.normal(size=(n, 2)), y


class TestMap:
    def fit(self, X, y, feature_map="auto", how=fit_gaussians, estimator="auto"):
        choice = resolve_options(estimator, None, {"feature_map": feature_map})
        data = group_by_class(X, y, y.max() + 1)
        return how(data, np.arange(y.max() + 1), choice, np.random.default_rng(0))

    @pytest.mark.parametrize("seed", [0, 3])
    def test_one_that_is_not_as_clear_in_the_end_is_dropped(self, seed, monkeypatch):
        strict = dataclasses.replace(SETTINGS, errors_in_the_end=2.0)
        monkeypatch.setattr("rehead.fitting.SETTINGS", strict)
        X, y = long_tails(seed)
        assert self.fit(X, y, how=fit_both_shapes).mapped is not None
        found = self.fit(X, y)
        assert found.kernel_map is None
        never = self.fit(X, y, "none")
        np.testing.assert_array_equal(found.posterior(X), never.posterior(X))

    def test_one_that_is_better_to_the_end_is_kept(self):
        X, y = rings()
        both = self.fit(X, y, how=fit_both_shapes)
        found = self.fit(X, y)
        assert found.kernel_map is not None
        np.testing.assert_array_equal(found.posterior(X), both.mapped.posterior(X))

    def test_one_that_was_asked_for_is_kept_whatever_labels_say(self):
        X, y = long_tails(1)
        assert self.fit(X, y, "kernel", fit_both_shapes).straight is None
        assert self.fit(X, y, "kernel").kernel_map is not None

    def test_where_noise_is_not_measured_the_first_look_decides(self):
        X, y = rings()
        both = self.fit(X, y, "auto", fit_both_shapes, "sample")
        assert both.straight is None
        assert self.fit(X, y, "auto", estimator="sample").kernel_map is not None

    def test_labels_that_are_known_do_not_decide(self):
        """All of them together do, for then there are no others."""
        X, y = rings()
        choice = resolve_options("auto", None, {})
        for known in (np.arange(len(y)) < 100, np.ones(len(y), bool)):
            data = group_by_class(X, y, 2, trusted=known)
            fitted = fit_gaussians(data, np.arange(2), choice, np.random.default_rng(0))
            assert fitted.kernel_map is not None


class TestDoubts:
    def test_they_are_those_of_both_opinions(self, skewed):
        """To the Gaussians alone most samples labelled 0 belong elsewhere. They do not."""
        X, true = skewed(1400)
        X, true = np.hstack([X, X[:, :4]])[:900], true[:900]
        y = np.where(np.random.default_rng(0).random(1400)[:900] < 0.2, (true + 1) % 3, true)
        right = np.bincount(y, weights=y == true) / np.bincount(y)
        assert right.min() > 0.6
        choice = resolve_options("auto", None, {"feature_map": "none"})
        data = group_by_class(X, y, 3)
        fitted = fit_gaussians(data, np.arange(3), choice, np.random.default_rng(0))
        assert not fitted.notes
        assert fitted.without_second().notes[0].startswith("Most samples labelled 0 seem")


def counts_of_three_classes(n, seed):
    """Counts whose classes lie far apart, so that straight lines tell them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    usual = np.random.default_rng(4).gamma(1, 2, size=(3, 20))
    return rng.poisson(usual[y]).astype(float), y


@pytest.mark.parametrize("kind", ["annotator", "polynomial-margin"])
@pytest.mark.parametrize("layers", [False, True], ids=["classifier", "ensemble"])
def test_a_map_does_not_learn_to_guess_where_classes_are_far_apart(kind, layers):
    """On a map these labels are more likely by .12 to .25 nats, and 86 to 90 % are told apart."""
    X, y = counts_of_three_classes(2000, 10)
    new, true = counts_of_three_classes(1000, 50)
    noisy = INSTANCE_NOISES[kind](X, y, 0.2, random_state=0)
    if layers:
        made = {"one": X[:1600]}, noisy.labels[:1600]
        held_out = {"one": X[1600:]}, noisy.labels[1600:]
        model = LayerEnsemble(random_state=0).fit(*made, validation=held_out)
        new, found = {"one": new}, model.fitted_.consensus.noise
    else:
        model = RobustGaussianClassifier(random_state=0).fit(X, noisy.labels)
        found = model.noise_
    assert (model.predict(new) == true).mean() > 0.99
    assert found.least <= noisy.changed.mean() <= found.most


def test_far_held_out_samples_do_not_bring_a_map_back():
    X, y = counts_of_three_classes(2000, 10)
    new, true = counts_of_three_classes(1000, 50)
    noisy = INSTANCE_NOISES["annotator"](X, y, 0.2, random_state=0)
    X[1600:1608] = -999.0
    model = LayerEnsemble(random_state=0).fit(
        {"one": X[:1600]},
        noisy.labels[:1600],
        validation=({"one": X[1600:]}, noisy.labels[1600:]),
    )
    assert (model.predict({"one": new}) == true).mean() > 0.99


def two_classes_of_two_clusters(n, seed):
    """Clusters at the corners of a square; those of a class lie across from each other."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(4, size=n)
    corners = np.array([[0, 0], [6, 6], [0, 6], [6, 0]])
    return corners[cluster] + rng.normal(size=(n, 2)), cluster // 2


@pytest.mark.parametrize(
    ("seed", "rate"), [(5, 0.0), (10, 0.0), (11, 0.0), (18, 0.0), (19, 0.0), (11, 0.15)]
)
@pytest.mark.parametrize("layers", [False, True], ids=["classifier", "ensemble"])
def test_classes_that_seem_far_apart_may_still_have_another_shape(seed, rate, layers):
    """A line between them is a bad guess, but a sure one: it is chance on which side each ends."""
    X, true = two_classes_of_two_clusters(2000, seed)
    y = noise.uniform(true, rate, random_state=0).labels
    if layers:
        model = LayerEnsemble(random_state=0).fit(
            {"one": X[:1600]}, y[:1600], validation=({"one": X[1600:]}, y[1600:])
        )
        assert (model.predict({"one": X}) == true).mean() > 0.99
        return
    model = RobustGaussianClassifier(random_state=0).fit(X, y)
    assert (model.predict(X) == true).mean() > 0.99
    found = model.noise_
    assert found.least <= np.mean(y != true) <= found.most
