"""FittedEnsemble: what judges, mixes and is saved, whichever way it was fitted."""

import numpy as np
import pytest

from rehead import LayerEnsemble, noise, score_labels, typicality
from rehead.ensemble import FittedEnsemble


@pytest.fixture(scope="module")
def layers():
    """Two layers and a softmax of 600 samples, a third of them held out."""
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=600)
    y = noise.flip(true, 0.3, random_state=0).labels
    early = rng.normal(size=(600, 5)) + 2.5 * np.eye(3, 5)[true]
    deep = rng.normal(size=(600, 4)) + 6 * np.eye(3, 4)[np.where(np.arange(600) < 400, y, true)]
    softmax = rng.dirichlet(np.ones(3), size=600) + 0.5 * np.eye(3)[true]
    layers = {"early": early, "deep": deep, "softmax": softmax / 1.5}
    return {n: X[:400] for n, X in layers.items()}, y[:400], layers, y


def fit(layers, **kwargs):
    train, y, every, labels = layers
    held = {n: X[400:] for n, X in every.items()}
    model = LayerEnsemble(random_state=0, given=["softmax"], **kwargs)
    return model.fit(train, y, validation=(held, labels[400:])).fitted_


WAYS = [{}, {"preset": "paper"}, {"weights": "corrected"}, {"estimator": "mcd", "stack": True}]


@pytest.mark.parametrize("kwargs", WAYS, ids=str)
def test_the_state_holds_everything(layers, kwargs):
    fitted = fit(layers, **kwargs)
    again = FittedEnsemble.from_state(*fitted.to_state())
    every, codes = layers[2], layers[3]
    np.testing.assert_array_equal(fitted.posterior(every), again.posterior(every))
    np.testing.assert_array_equal(fitted.log_density(every), again.log_density(every))
    np.testing.assert_array_equal(fitted.typicality(every), again.typicality(every))
    np.testing.assert_array_equal(fitted.whitened(every), again.whitened(every))
    leave_out = np.ones(600, bool)
    for a, b in zip(
        fitted.verdicts(every, codes, leave_out),
        again.verdicts(every, codes, leave_out),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    assert fitted.explain() == again.explain()
    assert (fitted.names, fitted.judging_member, fitted.density_member) == (
        again.names,
        again.judging_member,
        again.density_member,
    )


@pytest.mark.parametrize("kwargs", WAYS, ids=str)
def test_the_posterior_is_the_weighted_mean_of_the_members(layers, kwargs):
    fitted = fit(layers, **kwargs)
    parts = fitted.member_posteriors(layers[2])
    assert len(parts) == len(fitted.names) == len(fitted.weights)
    np.testing.assert_allclose(
        fitted.posterior(layers[2]), np.tensordot(fitted.weights, parts, axes=1), rtol=1e-6
    )


@pytest.mark.parametrize("kwargs", WAYS, ids=str)
def test_rows_of_the_fit_are_known_with_their_labels_only(layers, kwargs):
    fitted = fit(layers, **kwargs)
    _, _, every, codes = layers
    everything = np.ones(600, bool)
    known = fitted.verdicts(every, codes, everything).known
    np.testing.assert_array_equal(known, np.arange(600) < 400)
    assert not fitted.verdicts(every, (codes + 1) % 3, everything).known.any()


def test_a_consensus_is_judged_by_its_judge_with_the_noise_it_found(layers):
    fitted = fit(layers)
    assert fitted.judging_member == "early"  # the other one has memorised its labels
    _, _, every, codes = layers
    leave_out = np.ones(600, bool)
    judge = fitted.members["early"]
    expected = judge.verdicts(every["early"], codes, leave_out, fitted.noise)
    found = fitted.verdicts(every, codes, leave_out)
    np.testing.assert_array_equal(found.quality, expected.quality)
    np.testing.assert_array_equal(fitted.whitened(every), judge.whitened(every["early"]))


def test_typicality_of_layers_that_are_alone_is_their_harmonic_mean(layers):
    fitted = fit(layers, preset="paper")
    every = layers[2]
    p = np.stack([m.typicality(every[n]) for n, m in fitted.members.items()])
    w = fitted.weights[: len(p)]
    np.testing.assert_allclose(fitted.typicality(every), w.sum() / (w @ (1 / p)))


class TestMapped:
    """Members whose features were mapped: the judges of a consensus, or layers on their own."""

    def layers(self, rng, y):
        radius, angle = 1 + y + 0.1 * rng.normal(size=len(y)), rng.uniform(0, 7, size=len(y))
        rings = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return {"rings": rings, "blobs": rng.normal(size=(len(y), 3)) + np.eye(3)[y]}

    def fitted(self, **options):
        rng = np.random.default_rng(0)
        y, held = rng.integers(3, size=900), rng.integers(3, size=300)
        noisy = np.where(rng.random(900) < 0.2, (y + 1) % 3, y)
        layers = self.layers(rng, y)
        ens = LayerEnsemble(feature_map="kernel", random_state=0, **options)
        ens.fit(layers, noisy, validation=(self.layers(rng, held), held))
        new = rng.integers(3, size=300)
        return ens, (layers, noisy, y), (self.layers(rng, new), new)

    @pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
    @pytest.mark.parametrize(
        ("options", "mapped"),
        [
            ({}, {"rings", "stack"}),
            ({"estimator": "sample", "shrinkage": 0.1}, {"rings", "blobs"}),
            ({"estimator": "sample", "shrinkage": 0.1, "stack": True}, {"stack"}),
        ],
    )
    def test_from_the_fit_to_the_file(self, tmp_path, options, mapped):
        ens, (layers, noisy, y), (new, truth) = self.fitted(**options)
        members = ens.fitted_.members
        assert {n for n, m in members.items() if m.kernel_map is not None} == mapped
        widths = {"rings": 2, "blobs": 3, "stack": 5}
        assert all(m.n_features == widths[n] for n, m in members.items())
        assert ens.score(new, truth) > 0.8  # straight lines: 0.5
        for name in mapped:
            assert f"{name}: Features were mapped by their similarity" in ens.explain()
        report = score_labels(ens, layers, noisy)
        assert report.in_sample.all()
        assert (y != noisy)[report.mislabelled()].mean() > 0.6
        far = {name: X + 1e4 for name, X in new.items()}
        assert typicality(ens, far).max() < 0.02
        assert ens.score_samples(far).max() < ens.score_samples(new).min()
        ens.save(tmp_path / "ens")
        again = LayerEnsemble.load(tmp_path / "ens")
        np.testing.assert_array_equal(again.predict_proba(new), ens.predict_proba(new))
        np.testing.assert_array_equal(typicality(again, new), typicality(ens, new))
        np.testing.assert_array_equal(score_labels(again, layers, noisy).quality, report.quality)
        assert again.estimators_["stack" if "stack" in members else "rings"].feature_map == "kernel"


class TestSecondOpinion:
    """A consensus whose judges had one: from the fit to the file."""

    @pytest.mark.parametrize(
        ("several", "feature_map"),
        [(False, "none"), (False, "kernel"), (True, "none"), (True, "kernel")],
    )
    def test_from_the_fit_to_the_file(self, skewed, tmp_path, several, feature_map):
        X, true = skewed(1400)
        y = np.where(np.random.default_rng(0).random(1400) < 0.2, (true + 1) % 3, true)
        layers = {"x": X, "some": X[:, :4]} if several else {"x": X}
        train, held = ({n: F[p] for n, F in layers.items()} for p in (slice(900), slice(900, None)))
        ens = LayerEnsemble(random_state=0, feature_map=feature_map)
        ens.fit(train, y[:900], validation=(held, y[900:]))
        judge = ens.fitted_.members["stack" if "stack" in ens.members_ else "x"]
        assert judge.second is not None
        assert "A logistic regression that knows of the noise" in ens.explain()
        assert ens.explain().count("second opinion") == 1
        report = score_labels(ens, train, y[:900])
        assert report.in_sample.all()
        wrong = (y != true)[:900]
        assert report.quality[~wrong].mean() > report.quality[wrong].mean() + 0.5
        ens.save(tmp_path / "ens")
        again = LayerEnsemble.load(tmp_path / "ens")
        assert again.explain() == ens.explain()
        np.testing.assert_array_equal(again.predict_proba(held), ens.predict_proba(held))
        np.testing.assert_array_equal(score_labels(again, train, y[:900]).quality, report.quality)
