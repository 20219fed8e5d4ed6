"""Which layers memorised their labels, who may judge, and what judges think."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rehead import LayerEnsemble, noise
from rehead.ensemble.judges import (
    all_memorised,
    choose_judges,
    fit_judges,
    memorisation_gaps,
    more_judges,
    warn_if_all_memorised,
)
from rehead.ensemble.problem import HeldOut, Problem
from rehead.fitting import fit_gaussians
from rehead.gaussian.calibration import calibrate
from rehead.gaussian.options import resolve_options
from rehead.gaussian.settings import SETTINGS

AUTO = resolve_options("auto", None, {})


def split(layers, y, n, trusted=None):
    """A problem of the first n samples, the others held out."""
    train, held = ({k: X[p] for k, X in layers.items()} for p in (slice(n), slice(n, None)))
    known = None if trusted is None else trusted[:n]
    return Problem(train, {}, y[:n], np.unique(y), HeldOut(held, y[n:]), known)


def test_judges_are_those_with_the_smallest_gaps():
    assert choose_judges({"a": 0.01, "b": 0.04, "c": 0.3}) == ["a", "b"]
    assert choose_judges({"a": 0.4, "b": 0.9}) == ["a"]
    assert choose_judges({"a": -0.3, "b": 0.04}) == ["a", "b"]


def test_the_gap_of_an_honest_layer_is_about_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=2000)
    X = rng.normal(size=(2000, 5)) + 2.0 * np.eye(3, 5)[y]
    assert abs(memorisation_gaps(split({"x": X}, y, 1500))["x"]) < 0.1


def test_the_gap_is_what_a_layer_tells_of_its_labels_that_it_cannot_know():
    """Labels are coins; a layer that carries the training ones knows log 2 nats of each."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = rng.normal(size=(3000, 3))
    X[:2000, 0] += 20.0 * (y[:2000] - 0.5)
    gap = memorisation_gaps(split({"x": X}, y, 2000))["x"]
    assert gap > np.log(2)  # and the layer is sure of itself where it should not be


@pytest.fixture(scope="module")
def weak_and_strong():
    rng = np.random.default_rng(0)
    true = rng.integers(5, size=4000)
    means = rng.normal(size=(5, 8))
    y = noise.uniform(true, 0.3, random_state=0).labels
    weak = rng.normal(size=(4000, 8)) + 0.4 * means[true]
    strong = rng.normal(size=(4000, 8)) + 1.6 * means[true]
    # It also knows a little about the labels it was trained on, and would not be asked at first.
    strong[:3000] += 0.35 * means[y[:3000]]
    return {"weak": weak, "strong": strong}, y, means


def test_weak_judges_ask_a_layer_that_knows_more(weak_and_strong):
    layers, y, _ = weak_and_strong
    problem = split(layers, y, 3000)
    gaps = memorisation_gaps(problem)
    assert gaps["strong"] > SETTINGS.judge_gap
    assert choose_judges(gaps) == ["weak"]
    assert more_judges(problem, gaps, ["weak"]) == ["weak", "strong"]
    ensemble = LayerEnsemble(random_state=0).fit(
        problem.layers, problem.codes, validation=problem.held_out
    )
    assert ensemble.consensus_.judges == ["weak", "strong"]


def test_a_layer_that_knows_its_labels_by_heart_is_not_asked(weak_and_strong):
    layers, y, means = weak_and_strong
    memorised = layers["strong"].copy()
    memorised[:3000] += 4 * means[y[:3000]]
    problem = split({**layers, "strong": memorised}, y, 3000)
    assert more_judges(problem, memorisation_gaps(problem), ["weak"]) == ["weak"]


def test_absence_of_proof_is_not_proof(weak_and_strong):
    """A few held-out labels cannot speak against a layer; its gap can."""
    layers, y, _ = weak_and_strong
    few = {name: X[:3040] for name, X in layers.items()}
    problem = split(few, y[:3040], 3000)
    small, large = SETTINGS.asked_gap - 0.01, SETTINGS.asked_gap + 0.01
    assert more_judges(problem, {"weak": 0.0, "strong": small}, ["weak"]) == ["weak", "strong"]
    assert more_judges(problem, {"weak": 0.0, "strong": large}, ["weak"]) == ["weak"]


def test_layers_that_all_memorised_are_warned_of():
    with pytest.warns(UserWarning, match=r"smallest memorisation gap is 0.70 nats, of a\)"):
        warn_if_all_memorised({"b": 0.74, "a": 0.7})
    warn_if_all_memorised({"a": 0.4, "b": 0.9})  # not all


def test_held_out_labels_that_are_cleaner_are_warned_of():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=1500)
    X = rng.normal(size=(1500, 4)) + 4.0 * np.eye(3, 4)[true]
    noisy = noise.uniform(true, 0.4, random_state=0).labels
    train, held = {"x": X[:1000], "half": X[:1000, :3]}, {"x": X[1000:], "half": X[1000:, :3]}
    with pytest.warns(UserWarning, match="they seem to be cleaner"):
        LayerEnsemble(random_state=0).fit(train, noisy[:1000], validation=(held, true[1000:]))
    LayerEnsemble(random_state=0).fit(train, noisy[:1000], validation=(held, noisy[1000:]))


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=900)
    y = noise.uniform(true, 0.3, random_state=0).labels
    X = rng.normal(size=(900, 4)) + 2.5 * np.eye(3, 4)[true]
    trusted = np.arange(900) < 60
    y[trusted] = true[trusted]
    problem = split({"x": X}, y, 600, trusted)
    return problem, fit_judges(problem, ["x"], AUTO, seed=0), true[:600]


def test_class_shares_are_probabilities_that_know_trusted_labels_and_mostly_the_truth(judged):
    problem, judges, true = judged
    shares = judges.opinion().class_shares(slice(None))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares[:60], np.eye(3)[problem.codes[:60]])
    part = slice(100, 250)
    np.testing.assert_allclose(judges.opinion().class_shares(part), shares[part])
    assert (shares.argmax(axis=1) == true).mean() > 0.9


def test_trust_is_the_share_of_the_label_at_the_judges_own_noise(judged):
    problem, judges, true = judged
    opinion = judges.opinion()
    right = problem.codes == true
    assert opinion.trust[right].mean() > opinion.trust[~right].mean() + 0.5
    assert opinion.noise.wrong == pytest.approx((~right).mean(), abs=0.04)


def test_an_opinion_given_less_noise_trusts_more(judged):
    _, judges, _ = judged
    cleaner = judges.noise._replace(transition=0.9 * np.eye(3) + 0.1 / 3)
    more = judges.opinion_given(cleaner)
    np.testing.assert_array_equal(more.noise.transition, cleaner.transition)
    assert more.trust.mean() > judges.opinion().trust.mean()
    assert (more.trust[:60] == 1.0).all()
    assert more.noise.wrong == pytest.approx(1.0 - more.trust.mean(), abs=1e-6)


def test_confidence_grows_with_the_distance_of_the_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    noise_of_x = rng.normal(size=(600, 4))
    near, far = (
        fit_judges(split({"x": noise_of_x + d * np.eye(3, 4)[y]}, y, 500), ["x"], AUTO, seed=0)
        for d in (1.0, 6.0)
    )
    assert near.confidence() < SETTINGS.sure_judges < far.confidence()


class TestSecondOpinion:
    """Held-out labels decide whether regressions judge beside the Gaussians."""

    LINEAR = resolve_options("auto", None, {"feature_map": "none"})

    def problem(self, X, y, n=1000, trusted=None):
        return split({"x": X}, y, n, trusted)

    def of_all(self, problem):
        """What is found where there are no held-out labels."""
        data = problem.joined(["x"]).with_known(problem.known)
        return fit_gaussians(data, problem.classes, self.LINEAR, np.random.default_rng(0))

    @pytest.fixture
    def honest(self, skewed):
        X, true = skewed(1600)
        return X, noise.flip(true, 0.2, random_state=0).labels, true

    @pytest.mark.parametrize("seed", [0, 1])
    def test_one_that_has_found_what_a_layer_memorised_is_dropped(self, seed):
        """Gaussian classes, and features with long tails that know the training labels."""
        rng = np.random.default_rng(seed)
        true = rng.integers(3, size=1600)
        y = noise.flip(true, 0.2, random_state=0).labels
        honest = rng.normal(size=(1600, 4)) + 1.5 * np.eye(3, 4)[true]
        memorised = np.random.default_rng(9).exponential(size=(1600, 3)) ** 2
        memorised[:1000] *= 1.0 + 4.0 * np.eye(3)[y[:1000]]
        X = np.hstack([honest, memorised])
        problem = self.problem(X, y)
        alone = self.of_all(problem)
        assert alone.second is not None
        judges = fit_judges(problem, ["x"], self.LINEAR, seed=0)
        assert judges.fitted.second is None
        assert judges.fitted.gaussians.added is None
        np.testing.assert_array_equal(
            judges.fitted.posterior(X), alone.without_second().posterior(X)
        )

    def test_one_that_knows_more_is_kept(self, honest):
        X, y, true = honest
        judges = fit_judges(self.problem(X, y), ["x"], self.LINEAR, seed=0)
        assert judges.fitted.second is not None
        alone = judges.fitted.without_second()
        held_out = slice(1000, None)
        right = [
            (f.posterior(X[held_out]).argmax(axis=1) == true[held_out]).mean()
            for f in (judges.fitted, alone)
        ]
        assert right[0] > right[1] + 0.03

    def test_training_samples_are_judged_without_themselves(self, honest):
        """As an audit judges them: regressions of other folds, Gaussians leave-one-out."""
        X, y, _ = honest
        judges = fit_judges(self.problem(X, y), ["x"], self.LINEAR, seed=0)
        every = np.arange(1000)
        p = judges.without_themselves(judges.noise.posterior_given_label)
        verdicts = judges.fitted.verdicts(X[:1000], y[:1000], every >= 0)
        np.testing.assert_allclose(p[every, y[:1000]], verdicts.quality, atol=1e-9)
        some = np.array([3, 700, 41])
        part = judges.without_themselves(judges.noise.posterior_given_label, some)
        np.testing.assert_allclose(part, p[some], atol=1e-9)

    def test_trust_is_that_of_both_opinions(self, honest):
        X, y, true = honest
        X = X.copy()
        X[1] = 1e7
        trusted = (np.arange(1600) % 7 == 0) & (np.arange(1600) > 1)
        problem = self.problem(X, y, trusted=trusted)
        judges = fit_judges(problem, ["x"], self.LINEAR, seed=0)
        assert judges.fitted.second is not None
        trust = judges.opinion().trust
        right = (y == true)[:1000]
        assert trust[right].mean() > trust[~right].mean() + 0.5
        assert (trust[trusted[:1000]] == 1.0).all()
        assert trust[1] == 0.0
        alone = judges.fitted.trust
        assert (trust[alone > 0] >= SETTINGS.least_trust).all()
        assert (trust[alone == 0] == 0.0).all()
        doubtful = ~trusted[:1000]
        assert roc_auc_score(right[doubtful], trust[doubtful]) > roc_auc_score(
            right[doubtful], alone[doubtful]
        )

    def test_where_nobody_can_judge_both_are_calibrated_on_held_out_labels(self, honest):
        X, y, _ = honest
        problem = self.problem(X, y)
        judges = fit_judges(problem, ["x"], self.LINEAR, seed=0)
        calibrated, opinion = judges.without_trust(problem.held_out)
        before = judges.fitted.scores(X[1000:])
        expected = calibrate(before, y[1000:], opinion.noise.transition)
        np.testing.assert_allclose(
            calibrated.fitted.posterior(X[1000:]), expected.posterior(before), atol=1e-9
        )


class TestCorrectedLabels:
    """After a review, training labels are cleaner than held-out ones, which nobody looked at."""

    @pytest.fixture
    def reviewed(self):
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=2400)
        X = rng.normal(size=(2400, 4)) + 4 * np.eye(4)[y]
        noisy = np.where(rng.random(2400) < 0.4, (y + 1) % 3, y)
        train, held = slice(0, 1600), slice(1600, 2400)
        looked_wrong = np.zeros(1600, bool)
        looked_wrong[np.flatnonzero(noisy[train] != y[train])[:500]] = True
        labels = np.where(looked_wrong, y[train], noisy[train])
        weak = X + 2 * rng.normal(size=X.shape)
        layers = {"clear": X[train], "weak": weak[train]}
        new = {"clear": X[held], "weak": weak[held]}
        return Problem(
            layers,
            {},
            labels,
            np.arange(3),
            HeldOut(new, noisy[held]),
            trusted=looked_wrong,
            drawn=np.zeros(1600, bool),
        )

    def test_all_are_not_taken_for_memorised(self, reviewed):
        assert reviewed.is_corrected
        gaps = memorisation_gaps(reviewed)
        assert min(gaps.values()) == 0
        assert not all_memorised(gaps)
        as_any_others = replace(reviewed, trusted=None, drawn=None)
        assert min(memorisation_gaps(as_any_others).values()) > 0.2

    def test_random_checks_correct_nothing_on_purpose(self, reviewed):
        assert not replace(reviewed, drawn=reviewed.trusted).is_corrected
        assert replace(reviewed, drawn=None).is_corrected
