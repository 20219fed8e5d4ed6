"""The consensus of layers: who may judge, what is trusted, how members are mixed."""

import dataclasses
import warnings

import numpy as np
import pytest

from rehead import (
    LayerEnsemble,
    ReheadWarning,
    RobustGaussianClassifier,
    noise,
    score_labels,
)
from rehead.ensemble.judges import fit_judges, memorisation_gaps
from rehead.ensemble.problem import HeldOut, Problem
from rehead.gaussian.options import resolve_options
from rehead.gaussian.settings import SETTINGS


@pytest.fixture(scope="module")
def world():
    """An honest layer, one that has memorised its training labels, and held-out samples."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=3000)
    means = 2.2 * rng.normal(size=(4, 6))
    honest = rng.normal(size=(3000, 6)) + means[y]
    rows = {"train": slice(0, 1500), "held": slice(1500, 2000), "test": slice(2000, 3000)}

    def make(kind, rate):
        parts = {}
        for name, part in rows.items():
            labels = noise.NOISES[kind](y[part], rate, random_state=1 + len(name)).labels
            # The network fits the labels it saw; elsewhere it half knows the class.
            seen = labels if name == "train" else y[part]
            blur = 0.3 if name == "train" else 1.5
            deep = 3.0 * np.eye(4)[seen] + blur * rng.normal(size=(len(labels), 4))
            parts[name] = {"early": honest[part].copy(), "deep": deep}, labels, y[part]
        return parts

    return make


def softmax(logits):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def fitted(parts, **kwargs):
    (train, labels, _), (held, held_labels, _) = parts["train"], parts["held"]
    return LayerEnsemble(random_state=0, **kwargs).fit(
        train, labels, validation=(held, held_labels)
    )


@pytest.mark.parametrize(("kind", "rate"), [("uniform", 0.4), ("flip", 0.4), ("uniform", 0.0)])
def test_the_layer_that_memorised_does_not_judge(world, kind, rate):
    parts = world(kind, rate)
    ensemble = fitted(parts)
    gaps = ensemble.consensus_.gaps
    assert gaps["early"] < 0.1 < gaps["deep"]
    assert ensemble.consensus_.judges == ["early"]
    trust = ensemble.consensus_.trust
    wrong = parts["train"][1] != parts["train"][2]
    assert 1 - trust.mean() == pytest.approx(wrong.mean(), abs=0.05)
    if rate:
        assert trust[~wrong].mean() > trust[wrong].mean() + 0.5


@pytest.mark.parametrize(("kind", "rate"), [("uniform", 0.4), ("flip", 0.4)])
def test_it_is_not_worse_than_each_layer_on_its_own_labels(world, kind, rate):
    parts = world(kind, rate)
    test, _, truth = parts["test"]
    auto = fitted(parts).predict(test) == truth
    for other in ("sample", "mcd"):
        kwargs = {"weights": "equal"} if other == "sample" else {}
        plain = fitted(parts, estimator=other, **kwargs).predict(test) == truth
        gain = auto.astype(float) - plain
        assert gain.mean() >= -gain.std() / np.sqrt(len(gain))
        if other == "sample":
            assert gain.mean() > 0


def test_the_networks_softmax_is_kept_where_it_is_best(world):
    parts = world("uniform", 0.0)
    rng = np.random.default_rng(3)
    for layers, _, truth in parts.values():
        layers["early"] += 2.0 * rng.normal(size=layers["early"].shape)
        layers["softmax"] = softmax(6.0 * np.eye(4)[truth] + rng.normal(size=(len(truth), 4)))
    ensemble = fitted(parts, given=["softmax"])
    assert ensemble.members_[-1] == "softmax"
    assert ensemble.weights_.argmax() == len(ensemble.weights_) - 1
    test, _, truth = parts["test"]
    own = (test["softmax"].argmax(axis=1) == truth).mean()
    assert ensemble.score(test, truth) >= own - 0.003


def test_explain_says_what_was_found(world):
    text = fitted(world("uniform", 0.4)).explain()
    for words in ("Memorisation gaps: early", "judged by early", "wrong", "Weights of the members"):
        assert words in text
    assert "about clean" in fitted(world("uniform", 0.0)).explain()
    paper = LayerEnsemble("sample", weights="equal").fit(*world("flip", 0.1)["train"][:2])
    assert "Weights of the members: early 0.50" in paper.explain()


def test_labels_are_judged_by_the_judges_and_leave_one_out(world):
    parts = world("flip", 0.4)
    train, labels, truth = parts["train"]
    report = score_labels(fitted(parts), train, labels)
    wrong = labels != truth
    order = report.order[: int(wrong.sum())]
    assert wrong[order].mean() > 0.85
    alone = RobustGaussianClassifier("anchored", random_state=0).fit(train["early"], labels)
    again = score_labels(alone, train["early"], labels)
    assert np.corrcoef(report.quality, again.quality)[0, 1] > 0.95


def test_a_file_keeps_all_of_it(world, tmp_path):
    parts = world("uniform", 0.3)
    for layers, _, truth in parts.values():
        layers["softmax"] = softmax(2.0 * np.eye(4)[truth])
    ensemble = fitted(parts, given=["softmax"])
    ensemble.save(tmp_path / "head")
    again = LayerEnsemble.load(tmp_path / "head")
    test = parts["test"][0]
    np.testing.assert_array_equal(ensemble.predict_proba(test), again.predict_proba(test))
    assert ensemble.explain() == again.explain()
    train, labels, _ = parts["train"]
    a, b = (score_labels(e, train, labels).quality for e in (ensemble, again))
    np.testing.assert_array_equal(a, b)


def test_without_held_out_samples_it_says_so_and_makes_its_own_split(world):
    train, labels, _ = world("uniform", 0.3)["train"]
    with pytest.warns(ReheadWarning, match="No held-out samples"):
        ensemble = LayerEnsemble(random_state=0).fit(train, labels)
    assert ensemble.consensus_.judges == ["early"]
    one = LayerEnsemble(random_state=0).fit({"early": train["early"]}, labels)  # no warning
    assert one.members_ == ["early"]


def test_two_identical_layers_share_their_weight(world):
    parts = world("uniform", 0.3)
    for layers, _, _ in parts.values():
        layers["twin"] = layers["early"].copy()
    alone = fitted(parts_without(parts, "twin"))
    with pytest.warns(ReheadWarning, match="twin is identical to layer early"):
        ensemble = fitted(parts)
    assert ensemble.consensus_.judges == alone.consensus_.judges
    test, _, truth = parts["test"]
    assert ensemble.score(test, truth) == pytest.approx(
        alone.score(parts_without(parts, "twin")["test"][0], truth), abs=0.01
    )


def parts_without(parts, name):
    return {
        key: ({n: X for n, X in layers.items() if n != name}, *rest)
        for key, (layers, *rest) in parts.items()
    }


def test_layers_that_all_memorised_are_warned_of(world):
    parts = parts_without(world("uniform", 0.4), "early")
    with pytest.warns(ReheadWarning, match=r"memorised their labels .* raw input"):
        ensemble = fitted(parts)
    assert ensemble.consensus_.judges == ["deep"]


@pytest.mark.filterwarnings("ignore:All layers have memorised")
def test_where_nobody_can_judge_all_samples_count_and_held_out_labels_tell_the_noise(world):
    parts = parts_without(world("flip", 0.4), "early")
    ensemble = fitted(parts)
    assert (ensemble.consensus_.trust == 1).all()
    T = ensemble.transition_
    # They vouch for the training labels; of the held-out ones 40 % belong to the next class.
    assert ensemble.noise_.wrong < 0.05
    assert abs(np.diag(T).mean() - 0.6) < 0.15
    assert np.diag(np.roll(T, -1, axis=1)).mean() > 0.2


def held_out_by(layers, y, groups):
    """The rows that a fit held out."""
    with pytest.warns(ReheadWarning, match="No held-out samples"):
        ensemble = LayerEnsemble(random_state=0).fit(layers, y, groups=groups)
    return np.isnan(ensemble.consensus_.trust)


def test_groups_stay_together_where_samples_are_held_out(world):
    layers, y, _ = world("uniform", 0.2)["train"]
    groups = np.arange(len(y)) // 10
    groups[y == 3] = 1000 + np.arange((y == 3).sum()) % 2  # a class in two large groups
    held = held_out_by(layers, y, groups)
    assert 0.1 < held.mean() <= 0.2
    for group in np.unique(groups):
        assert len(set(held[groups == group])) == 1
    assert not held[y == 3].all()


def test_a_group_that_is_too_large_is_not_held_out(world):
    layers, y, _ = world("uniform", 0.2)["train"]
    held = held_out_by(layers, y, np.where(np.arange(len(y)) < 1300, 0, np.arange(len(y)) // 20))
    assert not held[:1300].any()
    assert held[1300:].any()


@pytest.mark.parametrize(
    ("groups", "match"), [(np.zeros(3), "one group for each"), (None, "All samples are in one")]
)
def test_groups_that_make_no_sense(world, groups, match):
    layers, y, _ = world("uniform", 0.2)["train"]
    groups = np.zeros(len(y)) if groups is None else groups
    with pytest.raises(ValueError, match=match):
        LayerEnsemble().fit(layers, y, groups=groups)


def test_setting_weights_or_options_of_mcd_is_not_auto(world):
    parts = world("flip", 0.2)
    assert fitted(parts, weights="nll").consensus_ is None
    assert fitted(parts, estimator="mcd", support_fraction=0.6).consensus_ is None
    assert fitted(parts, preset="paper").consensus_ is None
    assert fitted(parts, estimator="auto").consensus_ is not None


@pytest.mark.parametrize("priors", ["uniform", [0.7, 0.1, 0.1, 0.1], [0.5, 0.5, 0.0, 0.0]])
@pytest.mark.parametrize("held_out", [True, False])
def test_priors_are_those_of_every_member(world, priors, held_out, tmp_path):
    parts = world("uniform", 0.3)
    layers, y, _ = parts["train"]
    new = parts["test"][0]
    validation = parts["held"][:2] if held_out else None
    plain, told = (
        LayerEnsemble(priors=p, random_state=0).fit(
            layers if held_out else {"early": layers["early"]}, y, validation=validation
        )
        for p in (None, priors)
    )
    if not held_out:
        new = {"early": new["early"]}
    assert told.consensus_ is not None
    np.testing.assert_allclose(told.weights_, plain.weights_)
    assert told.noise_.wrong == plain.noise_.wrong
    wanted = np.full(4, 0.25) if isinstance(priors, str) else np.array(priors)
    ratios = []
    for a, b in zip(plain.member_posteriors(new), told.member_posteriors(new), strict=True):
        possible = wanted > 0
        assert (b[:, ~possible] < 1e-30).all()
        # Each class gains by the same factor, in every sample and member.
        gain = np.log(b[:, possible]) - np.log(a[:, possible])
        ratios.append(gain - gain[:, :1])
    np.testing.assert_allclose(ratios, np.broadcast_to(ratios[0][0], np.shape(ratios)), atol=1e-6)
    for member in told.estimators_.values():
        np.testing.assert_allclose(member.priors_, wanted)
    for member in plain.estimators_.values():
        np.testing.assert_allclose(member.priors_, 0.25, atol=0.05)
        assert len(set(member.priors_)) == 4
    told.save(tmp_path / "model")
    np.testing.assert_array_equal(
        LayerEnsemble.load(tmp_path / "model").predict_proba(new), told.predict_proba(new)
    )


def test_priors_of_what_is_predicted_make_it_better(world):
    parts = world("uniform", 0.3)
    layers, y, _ = parts["train"]
    new, _, truth = parts["test"]
    rare = (truth != 0) & (np.arange(len(truth)) % 10 > 0)
    some, truth = {name: X[~rare] for name, X in new.items()}, truth[~rare]
    shares = np.bincount(truth) / len(truth)
    assert shares[0] > 0.6
    plain, told = (
        LayerEnsemble(priors=p, random_state=0).fit(layers, y, validation=parts["held"][:2])
        for p in (None, shares)
    )
    likely = [
        np.log(m.predict_proba(some)[np.arange(len(truth)), truth]).mean() for m in (plain, told)
    ]
    assert likely[1] > likely[0]


def test_one_layer_needs_no_held_out_samples(world):
    layers, y, _ = world("uniform", 0.2)["train"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble = LayerEnsemble(random_state=0).fit({"early": layers["early"]}, y)
    assert len(ensemble.consensus_.trust) == len(y)
    assert ensemble.weights_.tolist() == [1.0]


def test_held_out_features_are_checked(world):
    parts = world("uniform", 0.2)
    layers, y, _ = parts["train"]
    held, labels, _ = parts["held"]
    narrow = {**held, "early": held["early"][:, :4]}
    with pytest.raises(ValueError, match="Layer early has 4 features, and had 6 in training"):
        LayerEnsemble().fit(layers, y, validation=(narrow, labels))
    broken = {**held, "early": np.full_like(held["early"], np.nan)}
    with pytest.raises(ValueError, match="NaN"):
        LayerEnsemble().fit(layers, y, validation=(broken, labels))
    with pytest.raises(ValueError, match="trusted must be a boolean mask"):
        LayerEnsemble().fit(layers, y, validation=(held, labels), trusted=[3, 5])


def test_trusted_labels_are_not_taken_for_memorised_ones():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=3000)
    y = noise.uniform(true, 0.5, random_state=0).labels
    trusted = np.arange(3000) < 1000
    y[trusted] = true[trusted]
    means = 3.0 * rng.normal(size=(3, 6))
    layers = {
        "good": rng.normal(size=(3000, 6)) + means[true],
        "poor": rng.normal(size=(3000, 6)) + 0.4 * means[true],
    }
    parts = slice(2000), slice(2000, None)
    train, held = ({n: X[p] for n, X in layers.items()} for p in parts)
    ensemble = LayerEnsemble(random_state=0).fit(
        train, y[:2000], validation=(held, y[2000:]), trusted=trusted[:2000]
    )
    assert "good" in ensemble.consensus_.judges
    wrong = (y != true)[:2000].mean()
    assert ensemble.consensus_.noise.wrong == pytest.approx(wrong, abs=0.03)


@pytest.mark.parametrize("far", ["early", "deep"])
def test_a_few_far_rows_hide_nothing(world, far):
    parts = world("uniform", 0.3)
    train, labels, truth = parts["train"]
    clean = fitted(parts)
    train[far][:6] = 1e4
    ensemble = fitted(parts)
    assert ensemble.consensus_.judges == clean.consensus_.judges == ["early"]
    assert ensemble.consensus_.noise.wrong == pytest.approx((labels != truth).mean(), abs=0.03)
    test, _, truth = parts["test"]
    assert ensemble.score(test, truth) > clean.score(test, truth) - 0.01


def test_far_held_out_samples_are_no_memory():
    """They are as hard to tell among new samples as among those of the training."""

    def made(n, rng):
        y = rng.integers(3, size=n)
        layers = {k: rng.normal(size=(n, 5)) + 2.5 * np.eye(3, 5)[y] for k in ("a", "b")}
        far = rng.random(n) < 0.05
        layers["a"][far] *= 1e3 * rng.choice([-1, 1], size=(far.sum(), 1))
        return layers, y

    rng = np.random.default_rng(0)
    (train, y), (held, new_y) = made(1500, rng), made(500, rng)
    gaps = memorisation_gaps(Problem(train, {}, y, np.arange(3), HeldOut(held, new_y)))
    assert max(gaps.values()) < SETTINGS.judge_gap


def test_class_shares_are_as_asked_where_all_layers_have_memorised():
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=600)
    y = np.where(rng.random(600) < 0.3, 1 - true, true)

    def layer(known):
        return rng.normal(size=(len(known), 4)) + np.outer(known, [0.0, 6.0, 0.0, 0.0])

    train, held = ({name: layer(known) for name in "ab"} for known in (y[:400], true[400:]))
    found, priors = {}, [0.95, 0.05]
    for asked in ("empirical", priors):
        ensemble = LayerEnsemble(priors=asked, random_state=0)
        with pytest.warns(ReheadWarning, match="All layers have memorised"):
            ensemble.fit(train, y[:400], validation=(held, y[400:]))
        p = np.clip(ensemble.predict_proba(held), 1e-300, None)
        found[str(asked)] = np.log(p[:, 1] / p[:, 0]), ensemble.estimators_["a"].priors_
    (usual, own), (other, wanted) = found["empirical"], found[str(priors)]
    np.testing.assert_allclose(wanted, priors)
    shift = np.log(wanted[1] / wanted[0]) - np.log(own[1] / own[0])
    np.testing.assert_allclose(np.median(other - usual), shift, atol=1e-3)


def test_what_others_saw_of_the_noise_is_applied_to_samples_that_are_not_far():
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=1100)
    X = rng.normal(size=(1100, 2)) + 3.0 * true[:, None]
    X[900:] = 1e4 * rng.normal(size=(200, 2))
    y = np.where(rng.random(1100) < 0.2, 1 - true, true)
    held = HeldOut({"x": X[:300]}, y[:300])
    problem = Problem({"x": X[300:]}, {}, y[300:], np.arange(2), held)
    judges = fit_judges(problem, ["x"], resolve_options(None, None, {"feature_map": "none"}), 0)
    assert (~judges.data.near).sum() > 150
    assert judges.opinion_given(judges.noise).noise.wrong == pytest.approx(
        judges.noise.wrong, abs=0.02
    )


def test_a_copy_of_a_layer_is_not_asked(world):
    parts = world("uniform", 0.3)
    for layers, _, _ in parts.values():
        # So weak that other layers are asked as well.
        layers["early"] = layers["early"] + 6.0 * np.random.default_rng(0).normal(
            size=layers["early"].shape
        )
        layers["copy"] = layers["early"].copy()
    with pytest.warns(ReheadWarning, match="copy is identical to layer early"):
        ensemble = fitted(parts)
    assert "copy" not in ensemble.consensus_.judges


def test_the_options_of_auto_reach_the_judge(world):
    parts = world("uniform", 0.3)
    assert fitted(parts, max_steps=1, estimator="auto").consensus_.rounds == 1
    with pytest.raises(ValueError, match="does not use n_starts"):
        fitted(parts, estimator="auto", n_starts=7)
    with pytest.raises(ValueError, match="shrinkage"):
        fitted(parts, shrinkage="nonsense")


def test_no_layer_may_have_the_name_of_joined_layers(world):
    layers, y, _ = world("uniform", 0.3)["train"]
    with pytest.raises(ValueError, match="cannot be called 'stack'"):
        LayerEnsemble().fit({"stack": layers["early"], "deep": layers["deep"]}, y)


def test_a_class_that_is_missing_from_validation_is_named_and_not_lost(world):
    parts = world("uniform", 0.2)
    (held, labels, _), (test, _, truth) = parts["held"], parts["test"]
    before = (fitted(parts).predict(test)[truth == 2] == 2).mean()
    parts["held"] = {n: X[labels != 2] for n, X in held.items()}, labels[labels != 2], None
    with pytest.warns(ReheadWarning, match="No held-out sample is labelled 2"):
        after = (fitted(parts).predict(test)[truth == 2] == 2).mean()
    assert after > before - 0.15


def test_less_noise_on_held_out_samples_is_believed(monkeypatch):
    """Where the mixture of all layers sees clearly less noise than weak judges did."""
    rng = np.random.default_rng(0)
    true = rng.integers(4, size=5000)
    y = noise.uniform(true, 0.2, random_state=0).labels
    means = rng.normal(size=(4, 6))
    weak = rng.normal(size=(5000, 6)) + 0.7 * means[true]
    strong = rng.normal(size=(5000, 6)) + 3.0 * means[true]
    strong[:3000] += 6.0 * means[y[:3000]]  # memorised
    layers = {"weak": weak, "strong": strong}
    parts = slice(3000), slice(3000, None)
    train, held = ({n: X[p] for n, X in layers.items()} for p in parts)
    train["weak"][:3] = 1e5
    fit = LayerEnsemble(random_state=0).fit
    found = fit(train, y[:3000], validation=(held, y[3000:])).consensus_
    never = dataclasses.replace(SETTINGS, held_out_for_noise=10**9)
    monkeypatch.setattr("rehead.ensemble.consensus.SETTINGS", never)
    of_judges = fit(train, y[:3000], validation=(held, y[3000:])).consensus_
    assert found.judges == of_judges.judges == ["weak"]
    truth = (y != true)[:3000].mean()
    assert abs(found.noise.rate - truth) < abs(of_judges.noise.rate - truth) - 0.05
    assert (found.trust[:3] == 0).all()


@pytest.mark.parametrize("kind", ["uniform", "flip"])
def test_judges_that_have_memorised_do_not_call_labels_clean(world, kind):
    """The interval contains what they cannot see, and the words say so."""
    parts = world(kind, 0.4)
    train, labels, truth = parts["train"]
    for layers in (train, parts["held"][0]):
        del layers["early"]
    with pytest.warns(ReheadWarning, match="All layers have memorised"):
        ensemble = fitted(parts)
    found = ensemble.noise_
    wrong = (labels != truth).mean()
    assert found.wrong < 0.2 < wrong  # they vouch for wrong labels
    assert found.wrong + 2 * found.rate_error > wrong - 0.05
    assert "is unclear" in ensemble.explain()
    assert "about clean" not in ensemble.explain()
    report = score_labels(ensemble, train, labels)
    assert report.noise_rate + 2 * report.noise_rate_error > wrong - 0.05
    assert "about clean" not in str(report)
    again = LayerEnsemble.from_state(*ensemble.to_state())
    assert again.explain() == ensemble.explain()
    assert again.noise_.rate_error == found.rate_error


def test_judges_that_did_not_memorise_see_everything(world):
    assert fitted(world("uniform", 0.4)).noise_.unseen == 0.0
