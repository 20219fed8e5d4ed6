"""LayerEnsemble: weights that are optimal, and chosen on the right half of the validation set."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone

from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier, noise, score_labels
from rehead.ensemble.weights import mixture_weights
from rehead.files.persist import ModelFileError


@pytest.fixture
def network(blobs):
    """Three layers of a pretended network, the last one best, with noisy labels, in two parts."""

    def part(seed, n):
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=n)
        means = 3 * np.random.default_rng(99).normal(size=(3, 4))
        layers = {
            name: rng.normal(size=(n, 4)) * spread + means[y]
            for name, spread in (("early", 4.0), ("middle", 2.0), ("late", 1.0))
        }
        return layers, np.where(rng.random(n) < 0.2, (y + 1) % 3, y), y

    return part(0, 300), part(1, 101)


def posteriors(ensemble, layers):
    return [ensemble.estimators_[name].predict_proba(layers[name]) for name in layers]


class TestLayerEnsemble:
    @pytest.mark.parametrize(
        ("estimator", "said"), [("mcd", "estimating late"), ("auto", "weighing members")]
    )
    def test_progress_is_shown_where_it_is_wanted(self, network, capsys, estimator, said):
        (layers, y, _), (held_out, noisy, _) = network
        model = LayerEnsemble(estimator, random_state=0)
        quiet = model.fit(layers, y, validation=(held_out, noisy)).predict_proba(held_out)
        assert capsys.readouterr() == ("", "")
        model.fit(layers, y, validation=(held_out, noisy), progress=True)
        assert said in capsys.readouterr().err
        np.testing.assert_array_equal(model.predict_proba(held_out), quiet)

    @pytest.mark.parametrize("weights", [None, "equal"])
    def test_without_validation_the_weights_are_equal_and_it_is_said(self, network, weights):
        (layers, y, _), (held_out, _, _) = network
        unsaid = pytest.warns(ReheadWarning, match="all members count equally")
        with unsaid if weights is None else nullcontext():
            ensemble = LayerEnsemble("mcd", weights=weights, random_state=0).fit(layers, y)
        np.testing.assert_array_equal(ensemble.weights_, np.full(3, 1 / 3))
        np.testing.assert_allclose(
            ensemble.predict_proba(held_out), np.mean(posteriors(ensemble, held_out), axis=0)
        )

    @pytest.mark.parametrize("penultimate", [None, "middle"])
    def test_weights_use_the_half_nearest_in_the_penultimate_layer(
        self, network, brute, penultimate
    ):
        (layers, y, _), (held_out, noisy, _) = network
        ensemble = LayerEnsemble("mcd", random_state=0, penultimate=penultimate).fit(
            layers, y, validation=(held_out, noisy)
        )
        name = penultimate or "late"
        last = ensemble.estimators_[name]
        D = brute.distances(held_out[name], last.means_, last.covariance_)
        near = brute.smallest(D[np.arange(101), noisy], 51)
        p = [q[np.arange(101), noisy] for q in posteriors(ensemble, held_out)]
        np.testing.assert_allclose(
            ensemble.weights_, mixture_weights(np.transpose(p)[near]), atol=1e-12
        )
        # All of the validation set, or the other half, would give something else.
        far = np.setdiff1d(np.arange(101), near)
        for rows in (np.arange(101), far):
            assert np.abs(ensemble.weights_ - mixture_weights(np.transpose(p)[rows])).max() > 1e-3

    def test_posterior_is_the_weighted_mean(self, network):
        (layers, y, _), (held_out, noisy, clean) = network
        ensemble = LayerEnsemble("posterior").fit(layers, y, validation=(held_out, noisy))
        expected = np.tensordot(ensemble.weights_, posteriors(ensemble, held_out), axes=1)
        p = ensemble.predict_proba(held_out)
        np.testing.assert_allclose(p, expected)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(ensemble.predict(held_out), expected.argmax(axis=1))
        assert ensemble.score(held_out, clean) > 0.9
        assert ensemble.weights_.argmax() == 2

    def test_one_layer_is_the_classifier(self, network):
        (layers, y, _), (held_out, _, _) = network
        ensemble = LayerEnsemble("posterior").fit({"late": layers["late"]}, y)
        alone = RobustGaussianClassifier("posterior").fit(layers["late"], y)
        np.testing.assert_array_equal(
            ensemble.predict_proba({"late": held_out["late"]}),
            alone.predict_proba(held_out["late"]),
        )

    def test_every_argument_of_the_classifier_is_passed_on(self, network):
        (layers, y, _), _ = network
        mine, theirs = LayerEnsemble().get_params(), RobustGaussianClassifier().get_params()
        assert theirs.keys() <= mine.keys()
        ensemble = LayerEnsemble(
            "mcd", support_fraction=0.6, shrinkage=0.1, priors=[0.2, 0.3, 0.5], weights="equal"
        )
        for member in ensemble.fit(layers, y).estimators_.values():
            assert member.support_.sum() == sum(int(0.6 * n) for n in np.bincount(y))
            np.testing.assert_allclose(member.priors_, [0.2, 0.3, 0.5])

    def test_same_random_state_same_ensemble(self, network):
        (layers, y, _), validation = network
        a, b = (
            LayerEnsemble("mcd", random_state=5).fit(layers, y, validation=validation[:2])
            for _ in range(2)
        )
        np.testing.assert_array_equal(a.weights_, b.weights_)
        np.testing.assert_array_equal(a.predict_proba(layers), b.predict_proba(layers))

    def test_string_labels_and_order_of_layers(self, network):
        (layers, y, _), (held_out, noisy, _) = network
        names = np.array(["x", "y", "z"])
        a = LayerEnsemble("posterior").fit(layers, y, validation=(held_out, noisy))
        b = LayerEnsemble("posterior").fit(layers, names[y], validation=(held_out, names[noisy]))
        backwards = dict(reversed(held_out.items()))
        np.testing.assert_array_equal(names[a.predict(held_out)], b.predict(backwards))

    def test_clone(self):
        ensemble = LayerEnsemble("posterior", penultimate="late", support_fraction=0.5)
        assert clone(ensemble).get_params() == ensemble.get_params()

    def test_a_warning_of_several_layers_is_given_once_with_their_names(self, blobs):
        X, y = blobs(sizes=(4, 4), d=8)
        with pytest.warns(ReheadWarning) as caught:
            LayerEnsemble("sample", weights="equal").fit({"one": X, "two": X}, y)
        assert len(caught) == 1
        assert "one, two" in str(caught[0].message)


class TestVariants:
    def test_equal_weights_ignore_the_validation_labels(self, network):
        (layers, y, _), (held_out, noisy, _) = network
        ensemble = LayerEnsemble(weights="equal").fit(layers, y, validation=(held_out, noisy))
        np.testing.assert_array_equal(ensemble.weights_, np.full(3, 1 / 3))

    def test_corrected_weights_maximise_the_likelihood_of_the_noisy_labels(self, network):
        (layers, y, _), (held_out, noisy, _) = network
        ensemble = LayerEnsemble("posterior", weights="corrected")
        ensemble.fit(layers, y, validation=(held_out, noisy))
        p = np.stack(posteriors(ensemble, held_out))
        mean = p.mean(axis=0)
        T = np.array([[mean[noisy == k, c].sum() for k in range(3)] for c in range(3)])
        T /= T.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(ensemble.transition_, T, rtol=1e-9)
        expected = mixture_weights(np.einsum("lnc,cn->nl", p, T[:, noisy]))
        np.testing.assert_allclose(ensemble.weights_, expected, atol=1e-9)
        with pytest.raises(ValueError, match="needs validation"):
            LayerEnsemble(weights="corrected").fit(layers, y)

    def test_a_stack_is_one_classifier_of_all_features(self, network):
        (layers, y, _), (held_out, _, _) = network
        ensemble = LayerEnsemble("posterior", stack=True).fit(layers, y)
        joined = [np.hstack(list(part.values())) for part in (layers, held_out)]
        alone = RobustGaussianClassifier("posterior").fit(joined[0], y)
        np.testing.assert_array_equal(
            ensemble.predict_proba(held_out), alone.predict_proba(joined[1])
        )

    @pytest.mark.parametrize("as_logits", [False, True])
    def test_given_posteriors_are_weighted_not_estimated(self, network, as_logits):
        (layers, y, _), (held_out, noisy, _) = network
        rng = np.random.default_rng(0)
        softmax = [rng.dirichlet(np.ones(3), size=n) for n in (300, 101)]
        parts = [
            {**part, "softmax": np.log(p) + 7.0 if as_logits else p}
            for part, p in zip((layers, held_out), softmax, strict=True)
        ]
        ensemble = LayerEnsemble("posterior", given=["softmax"]).fit(
            parts[0], y, validation=(parts[1], noisy)
        )
        members = [*posteriors(ensemble, held_out), softmax[1]]
        assert list(ensemble.estimators_) == ["early", "middle", "late"]
        np.testing.assert_allclose(
            ensemble.predict_proba(parts[1]), np.tensordot(ensemble.weights_, members, axes=1)
        )

    def test_validation_on_training_samples_is_warned_about(self, network):
        (layers, y, _), (held_out, noisy, _) = network
        with pytest.warns(ReheadWarning, match="2 of 101 validation samples have ids of training"):
            LayerEnsemble().fit(
                layers, y, validation=(held_out, noisy, np.arange(101) + 298), ids=np.arange(300)
            )

    @pytest.mark.parametrize("kwargs", [{}, {"weights": "corrected"}, {"stack": True}], ids=str)
    def test_saved_and_loaded_to_the_last_bit(self, network, tmp_path, kwargs):
        (layers, y, _), (held_out, noisy, _) = network
        names = np.array(["x", "y", "z"])
        ensemble = LayerEnsemble("posterior", penultimate="middle", **kwargs)
        ensemble.fit(layers, names[y], validation=(held_out, names[noisy])).save(tmp_path / "m")
        again = LayerEnsemble.load(tmp_path / "m")
        np.testing.assert_array_equal(
            again.predict_proba(held_out), ensemble.predict_proba(held_out)
        )
        np.testing.assert_array_equal(again.predict(held_out), ensemble.predict(held_out))
        np.testing.assert_array_equal(again.weights_, ensemble.weights_)
        np.testing.assert_array_equal(
            again.score_samples(held_out), ensemble.score_samples(held_out)
        )
        assert again.get_params() == ensemble.get_params()
        with pytest.raises(ModelFileError, match="holds a LayerEnsemble"):
            RobustGaussianClassifier.load(tmp_path / "m")

    def test_labels_are_judged_by_the_mixture_of_leave_one_out_posteriors(self, network):
        (layers, y, _), (held_out, noisy, _) = network
        ensemble = LayerEnsemble("sample").fit(layers, y, validation=(held_out, noisy))
        reports = [score_labels(ensemble.estimators_[name], layers[name], y) for name in layers]
        expected = np.tensordot(ensemble.weights_, [r.quality for r in reports], axes=1)
        np.testing.assert_allclose(score_labels(ensemble, layers, y).quality, expected, rtol=1e-9)


class TestNoiseWithoutConsensus:
    @pytest.fixture
    def overlapping(self, blobs):
        X, y = blobs((400, 400, 400), d=4, distance=1.2)
        labels = noise.uniform(y, 0.3, random_state=0).labels
        return {"all": X, "some": X[:, :3]}, labels

    @pytest.mark.parametrize("given", [False, True])
    def test_members_that_measured_the_noise_judge_by_it(self, overlapping, given):
        layers, y = overlapping
        settings = {"weights": "equal", "random_state": 0}
        if given:
            alone = RobustGaussianClassifier(random_state=0).fit(layers["all"], y)
            layers = {**layers, "net": alone.predict_proba(layers["all"])}
            settings["given"] = ["net"]
        ensemble = LayerEnsemble(**settings).fit(layers, y)
        each = [member.noise_.wrong for member in ensemble.estimators_.values()]
        assert ensemble.noise_.wrong == pytest.approx(np.mean(each))
        report = score_labels(ensemble, layers, y)
        assert report.noise_rate == pytest.approx(np.mean(each), abs=0.02)
        np.testing.assert_allclose(report.transition, ensemble.noise_.transition)
        assert "of the labels are wrong, or" in ensemble.explain()
        # By the posterior alone, hard samples seem wrong.
        posterior = ensemble.predict_proba(layers)[np.arange(len(y)), y]
        assert (1 - posterior).mean() > report.noise_rate + 0.03

    def test_it_is_kept_in_files(self, overlapping, tmp_path):
        layers, y = overlapping
        ensemble = LayerEnsemble(weights="equal", random_state=0).fit(layers, y)
        ensemble.save(tmp_path / "model")
        again = LayerEnsemble.load(tmp_path / "model")
        assert again.noise_.wrong == ensemble.noise_.wrong
        assert again.explain() == ensemble.explain()

    def test_one_member_that_did_not_is_enough_to_say_nothing(self, overlapping):
        layers, y = overlapping
        ensemble = LayerEnsemble("sample", weights="equal").fit(layers, y)
        assert ensemble.noise_ is None
        assert "wrong" not in ensemble.explain()


class TestErrors:
    @pytest.mark.parametrize("weights", ["nll", "corrected"])
    def test_weights_that_need_held_out_samples(self, network, weights):
        (layers, y, _), _ = network
        with pytest.raises(ValueError, match=rf"weights='{weights}' needs validation"):
            LayerEnsemble("sample", weights=weights).fit(layers, y)

    @pytest.mark.parametrize("own", [{}, {"weights": "equal"}, {"stack": True}], ids=str)
    def test_options_of_another_estimator_name_it(self, network, own):
        (layers, y, _), _ = network
        with pytest.raises(ValueError, match=r"the default, does not use n_starts.* does: mcd"):
            LayerEnsemble(n_starts=3, **own).fit(layers, y)

    def test_missing_and_unknown_layers_are_named(self, network):
        (layers, y, _), (held_out, noisy, _) = network
        ensemble = LayerEnsemble("mcd", weights="equal", random_state=0).fit(layers, y)
        some = {"early": held_out["early"]}
        with pytest.raises(ValueError, match=r"Layers \['middle', 'late'\] are missing"):
            ensemble.predict(some)
        with pytest.raises(ValueError, match=r"not fitted on \['other'\]"):
            ensemble.predict({**held_out, "other": held_out["late"]})
        with pytest.raises(ValueError, match="are missing"):
            LayerEnsemble().fit(layers, y, validation=(some, noisy))

    def test_layers_of_different_length(self, network):
        (layers, y, _), _ = network
        with pytest.raises(ValueError, match="different numbers of samples"):
            LayerEnsemble().fit({**layers, "late": layers["late"][1:]}, y)

    def test_labels_of_another_length(self, network):
        (layers, y, _), (held_out, noisy, _) = network
        with pytest.raises(ValueError, match="299 labels"):
            LayerEnsemble().fit(layers, y[1:])
        with pytest.raises(ValueError, match="100 labels"):
            LayerEnsemble().fit(layers, y, validation=(held_out, noisy[1:]))

    def test_unknown_penultimate_layer(self, network):
        (layers, y, _), _ = network
        with pytest.raises(ValueError, match=r"penultimate must be one of.*Did you mean 'late'"):
            LayerEnsemble(penultimate="lat").fit(layers, y)

    def test_labels_that_training_did_not_have(self, network):
        (layers, y, _), (held_out, noisy, _) = network
        with pytest.raises(ValueError, match="not fitted on these labels"):
            LayerEnsemble().fit(layers, y, validation=(held_out, noisy + 1))

    def test_not_fitted(self, network):
        with pytest.raises(ValueError, match="not fitted"):
            LayerEnsemble().predict(network[0][0])
