"""Trusted labels that were drawn at random choose; those that looked wrong do not."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from rehead import (
    LayerEnsemble,
    ReheadWarning,
    RobustGaussianClassifier,
    noise,
    score_labels,
)
from rehead._typing import Known
from rehead.gaussian.labelnoise import fit_noise
from rehead.trusted import Judged, as_checked


@pytest.fixture
def tilted():
    rng = np.random.default_rng(1)
    true = rng.integers(2, size=1000)
    X = rng.normal(size=(1000, 3)) + 4.5 * true[:, None] * np.array([1.0, 0.0, 0.0])
    y = (X @ [1.0, 1.0, 0.0] > 2.25).astype(int)
    return X, true, y


@pytest.fixture
def random_noise():
    rng = np.random.default_rng(2)
    true = rng.integers(2, size=1000)
    X = rng.normal(size=(1000, 3)) + 3.0 * true[:, None] * np.array([1.0, 0.0, 0.0])
    return X, true, np.where(rng.random(1000) < 0.3, 1 - true, true)


def drawn_of(n, k, seed=0):
    drawn = np.zeros(n, bool)
    drawn[np.random.default_rng(seed).choice(n, k, replace=False)] = True
    return drawn


def test_they_find_out_that_a_machine_made_the_labels(tilted):
    X, true, y = tilted
    drawn = drawn_of(len(y), 100)
    plain = RobustGaussianClassifier(random_state=0).fit(X, y)
    told = RobustGaussianClassifier(random_state=0).fit(X, np.where(drawn, true, y), trusted=drawn)
    assert (plain.fitted_.way, told.fitted_.way) == ("", "mixture")
    assert told.score(X, true) > plain.score(X, true) + 0.02
    assert "100 trusted labels" in told.explain()


def test_they_say_where_it_was_none(random_noise):
    X, true, y = random_noise
    drawn = drawn_of(len(y), 200)
    y = np.where(drawn, true, y)
    usual = RobustGaussianClassifier(random_state=0).fit(X, y, trusted=drawn)
    plain = RobustGaussianClassifier(random_state=0).fit(X, y)
    assert usual.score(X, true) > plain.score(X, true) - 0.01


def test_labels_that_looked_wrong_choose_nothing(tilted):
    X, true, y = tilted
    words = np.where(y != true, "chosen", "")
    assert (words == "chosen").sum() > 20
    clf = RobustGaussianClassifier(random_state=0).fit(X, true, trusted=words)
    assert clf.fitted_.told == 0
    assert clf.support_[words == "chosen"].all()


def test_few_choose_nothing(tilted):
    X, true, y = tilted
    drawn = drawn_of(len(y), 19)
    clf = RobustGaussianClassifier(random_state=0).fit(X, np.where(drawn, true, y), trusted=drawn)
    assert (clf.fitted_.told, clf.fitted_.way) == (0, "")


def test_a_temperature_of_few_labels_stays_near_what_it_was():
    scores = np.array([[3.0, 0.0]] * 4)
    few, many = (
        Judged(scores, np.array([0, 0, 0, 1]), np.ones(4)),
        Judged(np.repeat(scores, 100, axis=0), np.tile([0, 0, 0, 1], 100), np.ones(400)),
    )
    assert many.slope() < few.slope() < 1.0
    assert many.slope() == pytest.approx(np.log(3.0) / 3.0, rel=0.1)


def test_telling_which_labels_were_chosen_and_corrected_does_not_hurt():
    """They looked wrong: without them, the other labels would vouch for the model that chose."""
    X, truth = load_digits(return_X_y=True)
    X, new, truth, new_truth = train_test_split(X, truth, train_size=1300, random_state=1)
    y = noise.semantic(X, truth, clean=0.02, random_state=1).labels
    first = RobustGaussianClassifier(random_state=0).fit(X, y)
    rows = score_labels(first, X, y).order[:500]
    corrected, words = y.copy(), np.full(len(y), "", dtype="U6")
    corrected[rows], words[rows] = truth[rows], "chosen"
    told, alone = (
        RobustGaussianClassifier(random_state=0).fit(X, corrected, trusted=t) for t in (words, None)
    )
    assert told.score(new, new_truth) > alone.score(new, new_truth) - 0.01
    assert told.score(new, new_truth) > first.score(new, new_truth) + 0.1


class TestUncorrected:
    """Labels before some were put right: the noise is read off these."""

    @pytest.fixture
    def reviewed(self):
        """Flipped labels, of which the worst by quality were put right."""
        rng = np.random.default_rng(3)
        true = rng.integers(4, size=1200)
        X = rng.normal(size=(1200, 6)) + 3.5 * np.eye(4, 6)[true]
        y = noise.flip(true, 0.4, random_state=5).labels
        first = RobustGaussianClassifier(random_state=0).fit(X, y)
        worst = score_labels(first, X, y).order[:250]
        corrected, words = y.copy(), np.full(1200, "", dtype="U6")
        corrected[worst], words[worst] = true[worst], "chosen"
        return X, true, y, corrected, words

    def test_the_noise_is_that_of_all_labels(self, reviewed):
        X, true, y, corrected, words = reviewed
        clf = RobustGaussianClassifier(random_state=0)
        clf.fit(X, corrected, trusted=words, uncorrected=y)
        assert abs(clf.noise_.rate - (y != true).mean()) < 0.04
        # but labels that are wrong now are fewer
        assert abs(clf.noise_.wrong - (corrected != true).mean()) < 0.04
        assert (clf.trust_[words == "chosen"] == 1.0).all()

    def test_without_them_it_is_misread(self, reviewed):
        X, true, y, corrected, words = reviewed
        clf = RobustGaussianClassifier(random_state=0).fit(X, corrected, trusted=words)
        assert abs(clf.noise_.rate - (y != true).mean()) > 0.1

    def test_known_labels_choose_how_to_fit(self):
        # Labels of a machine with a straight boundary where the classes have none: only what was
        # checked tells that a map is needed.
        rng = np.random.default_rng(0)
        X = rng.normal(size=(900, 2))
        true = (np.hypot(*X.T) > 1.2).astype(int)
        machine = (X[:, 0] > 0.3).astype(int)
        checked = np.flatnonzero(X[:, 0] > -0.5)
        y, words = machine.copy(), np.full(900, "", dtype="U6")
        y[checked], words[checked] = true[checked], "chosen"
        clf = RobustGaussianClassifier(random_state=0)
        clf.fit(X, y, trusted=words, uncorrected=machine)
        assert "mapped" in clf.explain()
        assert clf.score(X[checked], true[checked]) > 0.9

    def test_a_layer_among_others(self, reviewed):
        X, true, y, corrected, words = reviewed
        layers, held = {"x": X[300:]}, {"x": X[:300]}
        known = {"trusted": words[300:], "uncorrected": y[300:]}
        ens = LayerEnsemble(random_state=0)
        ens.fit(layers, corrected[300:], validation=(held, y[:300]), **known)
        assert abs(ens.noise_.wrong - (corrected[300:] != true[300:]).mean()) < 0.03
        before = LayerEnsemble(random_state=0).fit(layers, y[300:], validation=(held, y[:300]))
        assert ens.consensus_.gaps == before.consensus_.gaps

    def test_of_labels_that_nobody_corrected_nothing_changes(self, reviewed):
        X, _, y, *_ = reviewed
        plain = RobustGaussianClassifier(random_state=0).fit(X, y)
        nobody = np.full(len(y), "")
        same = RobustGaussianClassifier(random_state=0).fit(X, y, trusted=nobody, uncorrected=y)
        np.testing.assert_array_equal(plain.predict_proba(X), same.predict_proba(X))

    @pytest.mark.parametrize("labels_from", ["people", "machine"])
    @pytest.mark.parametrize("feature_map", ["none", "kernel"])
    def test_with_all_that_the_default_does(self, reviewed, labels_from, feature_map):
        X, true, y, corrected, words = reviewed
        clf = RobustGaussianClassifier(
            feature_map=feature_map, labels_from=labels_from, random_state=0
        )
        clf.fit(X, corrected, trusted=words, uncorrected=y)
        assert clf.score(X, true) > 0.85

    def test_text_and_repeated_rows(self, reviewed):
        X, true, y, corrected, words = reviewed
        names = np.array(["a", "b", "c", "d"])
        twice = {"trusted": np.tile(words, 2), "uncorrected": np.tile(names[y], 2)}
        clf = RobustGaussianClassifier(random_state=0)
        clf.fit(np.tile(X, (2, 1)), np.tile(names[corrected], 2), **twice)
        once = RobustGaussianClassifier(random_state=0)
        once.fit(X, names[corrected], trusted=words, uncorrected=names[y])
        assert abs(clf.noise_.rate - once.noise_.rate) < 0.02
        assert clf.score(X, names[true]) > 0.9

    def test_a_label_that_changed_must_be_trusted(self, reviewed):
        X, _, y, corrected, words = reviewed
        row = int((corrected != y).argmax())
        for trusted in (None, np.where(np.arange(len(y)) == row, "", words)):
            with pytest.raises(ValueError, match=rf"The label of row {row} is .* not say why"):
                RobustGaussianClassifier().fit(X, corrected, trusted=trusted, uncorrected=y)

    def test_alone_it_does_nothing(self, reviewed):
        X, _, y, *_ = reviewed
        for clf, features in ((RobustGaussianClassifier(), X), (LayerEnsemble(), {"x": X})):
            with pytest.raises(ValueError, match=r"Pass trusted= .* or leave uncorrected out"):
                clf.fit(features, y, uncorrected=y)

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [(lambda y: y[:-1], "1199"), (lambda y: y + 7, "y has no 10, 7, 8, 9 any more")],
    )
    def test_others_are_refused(self, reviewed, wrong, says):
        X, _, y, corrected, words = reviewed
        with pytest.raises(ValueError, match=says):
            RobustGaussianClassifier().fit(X, corrected, trusted=words, uncorrected=wrong(y))


def test_what_was_checked_bounds_the_noise(tilted):
    """A model that believes the labels does not outvote 100 that somebody looked at."""
    X, true, y = tilted
    y = np.where(np.random.default_rng(3).random(len(y)) < 0.5, 1 - y, y)  # half of them
    drawn = drawn_of(len(y), 100)
    clf = RobustGaussianClassifier(random_state=0)
    clf.fit(X, np.where(drawn, true, y), trusted=drawn, uncorrected=y)
    share = (np.where(drawn, true, y) != true).mean()  # those that were put right are no more
    assert clf.noise_.checked == 100
    assert clf.noise_.least <= share <= clf.noise_.most
    assert clf.noise_.most - clf.noise_.least < 0.21
    assert clf.noise_.least <= clf.noise_.wrong <= clf.noise_.most


def test_the_report_says_where_checked_labels_contradict_it(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) + 8.0 * np.repeat([[0, 0], [1, 0]], 300, axis=0)
    made = np.repeat([0, 1], 300)  # as clear as can be
    true = np.where(np.arange(600) % 3 == 0, 1 - made, made)
    drawn = drawn_of(600, 90)
    y = np.where(drawn, true, made)
    clf = RobustGaussianClassifier(random_state=0).fit(X, y, trusted=drawn, uncorrected=made)
    assert "about clean" not in clf.explain()
    said = str(score_labels(clf, X, y))
    assert "by the labels that were checked" in said
    clf.save(tmp_path / "m.safetensors")
    again = RobustGaussianClassifier.load(tmp_path / "m.safetensors")
    assert again.noise_.checked == 90
    assert str(score_labels(again, X, y)) == said


def test_a_frequent_class_without_any_was_not_drawn_at_random(tilted):
    X, true, y = tilted
    of_one = np.zeros(len(y), bool)
    of_one[np.flatnonzero(true == 1)[:60]] = True
    y = np.where(of_one, true, y)
    clf = RobustGaussianClassifier(labels_from="machine", random_state=0)
    with pytest.warns(ReheadWarning, match="60 trusted labels were not drawn at random.*0.*choose"):
        clf.fit(X, y, trusted=of_one)
    assert (clf.fitted_.told, clf.fitted_.way) == (0, "mixture")


def test_labels_of_a_machine_are_never_called_clean(tilted):
    X, _, y = tilted
    clf = RobustGaussianClassifier(labels_from="machine", random_state=0).fit(X, y)
    assert clf.noise_.most == 1.0
    assert "clean" not in clf.explain()
    assert "clean" not in str(score_labels(clf, X, y))


@pytest.mark.parametrize("priors", ["uniform", [0.1, 0.9]])
def test_they_do_not_mistake_other_class_shares_for_unsure_predictions(priors):
    """New samples have other class shares than those that were drawn; log odds move by that."""
    rng = np.random.default_rng(1)
    true = (rng.random(3000) < 0.1).astype(int)
    X = rng.normal(size=(3000, 3)) + 2.0 * true[:, None] * np.array([1.0, 0.0, 0.0])
    drawn = drawn_of(3000, 300)
    y = np.where(drawn, true, np.where(rng.random(3000) < 0.02, 1 - true, true))

    def log_odds(priors):
        clf = RobustGaussianClassifier(priors=priors, feature_map="none", random_state=0)
        p = clf.fit(X, y, trusted=drawn).predict_proba(X)
        return np.log(p[:, 1] / p[:, 0]), clf.priors_

    (usual, own), (other, wanted) = log_odds("empirical"), log_odds(priors)
    shift = np.log(wanted[1] / wanted[0]) - np.log(own[1] / own[0])
    np.testing.assert_allclose(other - usual, shift, atol=1e-3)


def test_the_range_is_of_labels_as_they_are_now():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=900)
    X = rng.normal(size=(900, 4)) + 5.0 * np.eye(3, 4)[true]
    made = np.where(rng.random(900) < 0.4, (true + 1) % 3, true)
    words = np.full(900, "", dtype="U6")
    words[np.flatnonzero(made != true)[:300]] = "chosen"
    words[rng.choice(900, 100, replace=False)] = "random"
    y = np.where(words == "", made, true)
    clf = RobustGaussianClassifier(random_state=0).fit(X, y, trusted=words, uncorrected=made)
    now = (y != true).mean()
    assert now < 0.1
    assert clf.noise_.checked == 100
    assert clf.noise_.least <= now <= clf.noise_.most < 0.2


@pytest.mark.parametrize("labels_from", [None, "machine"])
def test_labels_that_were_put_right_are_not_wrong(labels_from):
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=900)
    X = rng.normal(size=(900, 4)) + 5.0 * np.eye(3, 4)[true]
    made = np.where(rng.random(900) < 0.3, (true + 1) % 3, true)
    words = np.where(made != true, "chosen", "")
    clf = RobustGaussianClassifier(labels_from=labels_from, random_state=0)
    clf.fit(X, true, trusted=words, uncorrected=made)
    assert clf.noise_.wrong < 0.02
    assert clf.noise_.least < 0.02


def test_what_was_forbidden_stays_forbidden():
    """On rings labels are far more likely on a map, which the other way would take."""
    rng = np.random.default_rng(0)
    true, angle = rng.integers(2, size=1000), rng.uniform(0, 2 * np.pi, size=1000)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    X = (1 + true)[:, None] * circle + 0.1 * rng.normal(size=(1000, 2))
    drawn = drawn_of(1000, 100)
    y = np.where(drawn, true, np.where(rng.random(1000) < 0.2, 1 - true, true))
    maps = {}
    for asked in ("none", None):
        clf = RobustGaussianClassifier(labels_from="machine", feature_map=asked, random_state=0)
        maps[asked] = clf.fit(X, y, trusted=drawn).fitted_.kernel_map
    assert maps["none"] is None
    assert maps[None] is not None


def test_weights_of_trusted_rows_are_copies(random_noise):
    X, true, y = random_noise
    drawn = drawn_of(1000, 60)
    y = np.where(drawn, true, y)
    weights = np.where(drawn & (np.arange(1000) % 2 == 0), 20, 1)
    copies = np.repeat(np.arange(1000), weights)
    weighted, repeated = (
        RobustGaussianClassifier(feature_map="none", random_state=0).fit(
            X[rows], y[rows], sample_weight=w, trusted=drawn[rows]
        )
        for rows, w in ((np.arange(1000), weights.astype(float)), (copies, None))
    )
    assert weighted.fitted_.told == repeated.fitted_.told > 60
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_trusted_rows_of_no_weight_choose_nothing(tilted):
    X, true, y = tilted
    drawn = drawn_of(len(y), 205)
    y = np.where(drawn, true, y)
    kept = ~drawn
    kept[np.flatnonzero(drawn)[:5]] = True
    weighted = RobustGaussianClassifier(random_state=0)
    weighted.fit(X, y, sample_weight=kept.astype(float), trusted=drawn)
    without = RobustGaussianClassifier(random_state=0).fit(X[kept], y[kept], trusted=drawn[kept])
    found = [(clf.fitted_.told, clf.fitted_.way) for clf in (weighted, without)]
    assert found == [(0, ""), (0, "")]


def test_weights_do_not_silence_what_is_said_of_labels():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=900)
    true[(true == 2) & (rng.random(900) < 0.8)] = 0
    X = rng.normal(size=(900, 4)) + 4.0 * np.eye(3, 4)[true]
    y = true.copy()
    y[rng.choice(np.flatnonzero(true == 0), 200, replace=False)] = 2
    for weights in (None, np.ones(900), np.full(900, 0.01)):
        with pytest.warns(ReheadWarning, match="Most samples labelled 2"):
            RobustGaussianClassifier(random_state=0).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("n_drawn", [30, 100, 200])
@pytest.mark.parametrize(
    ("truth", "model"),
    [(0.12, (0.02, 0.0, 0.09)), (0.3, (0.1, 0.0, 0.35)), (0.2, (0.2, 0.18, 0.22))],
    ids=["blind", "low", "right"],
)
def test_the_range_of_checked_labels_holds_the_truth(n_drawn, truth, model):
    """Whatever the model says, in 95 of 100 draws."""
    rng, n, inside, middles = np.random.default_rng(0), 4000, [], []
    labels, ones = np.arange(n) % 2, np.ones(n)
    noise = fit_noise(8.0 * np.eye(2)[labels], labels)
    wrong, least, most = model
    noise = noise._replace(wrong=wrong, least=least, most=most)
    right = np.where(np.arange(n) < truth * n, 1 - labels, labels)
    for _ in range(1000):
        drawn = np.zeros(n, bool)
        drawn[rng.choice(n, n_drawn, replace=False)] = True
        now = np.where(drawn, right, labels)
        found = as_checked(noise, Known(drawn, drawn, labels), now, ones)
        inside.append(found.least <= (now != right).mean() <= found.most)
        middles.append(found.wrong)
    assert np.mean(inside) > 0.94
    if n_drawn == 200:  # fewer do not contradict the model each time
        assert abs(np.mean(middles) - truth) < 0.02


def put_right_at_random(rng, n=4000, n_drawn=60, truth=0.2):
    """Labels of which a share is wrong, and some that were drawn and put right."""
    made = np.arange(n) % 2
    right = np.where(rng.permutation(n) < truth * n, 1 - made, made)
    drawn = np.zeros(n, bool)
    drawn[rng.choice(n, n_drawn, replace=False)] = True
    return made, right, drawn


@pytest.mark.parametrize("weight", [1.0, 5.0])
def test_a_check_that_weighs_more_is_one_check(weight):
    rng, inside = np.random.default_rng(1), []
    for _ in range(300):
        made, right, drawn = put_right_at_random(rng)
        noise = fit_noise(8.0 * np.eye(2)[made], made)
        now, counts = np.where(drawn, right, made), np.where(drawn, weight, 1.0)
        found = as_checked(noise, Known(drawn, drawn, made), now, counts)
        inside.append(found.least <= np.average(now != right, weights=counts) <= found.most)
    assert found.checked == pytest.approx(60)
    assert np.mean(inside) > 0.93


def test_where_all_labels_are_checked_none_is_wrong():
    made, right, _ = put_right_at_random(np.random.default_rng(3), n=200)
    noise, every = fit_noise(8.0 * np.eye(2)[made], made), np.ones(200, bool)
    found = as_checked(noise, Known(every, every, made), right, np.ones(200))
    assert (found.least, found.wrong, found.most) == (0.0, 0.0, 0.0)


def test_the_audit_promises_no_share_of_wrong_labels_that_it_does_not_see():
    rng = np.random.default_rng(0)
    true = rng.integers(5, size=2000)
    centres = np.random.default_rng(99).normal(size=(5, 10)) * 1.5 / 2**0.5
    X = rng.normal(size=(2000, 10)) + centres[true]
    taught = rng.choice(2000, 150, replace=False)
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X[taught], true[taught])
    made, drawn = tree.predict(X), np.zeros(2000, bool)
    drawn[rng.choice(2000, 100, replace=False)] = True
    y = np.where(drawn, true, made)
    clf = RobustGaussianClassifier(random_state=0).fit(X, y, trusted=drawn, uncorrected=made)
    assert abs(clf.noise_.wrong - (y != true).mean()) < 0.05
    said = str(score_labels(clf, X, y))
    assert "by the labels that were checked" in said
    assert "as 100 that were checked tell" in clf.explain()
    assert "this model does not see which" in said
    assert "of all wrong labels" not in said


def test_checks_that_say_nothing_was_wrong_are_doubted():
    """Corrected labels were not put into y."""
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=900)
    X = rng.normal(size=(900, 5)) + 3 * np.eye(3, 5)[true]
    labels = noise.uniform(true, 0.3, random_state=0).labels
    drawn = np.zeros(900, bool)
    drawn[rng.choice(900, 150, replace=False)] = True
    told = {"trusted": drawn, "uncorrected": labels}
    with pytest.warns(ReheadWarning, match="None of the 150 trusted labels"):
        RobustGaussianClassifier(random_state=0).fit(X, labels, **told)
    corrected = np.where(drawn, true, labels)
    RobustGaussianClassifier(random_state=0).fit(X, corrected, **told)  # a warning would fail


def test_trusted_labels_choose_a_map_that_noisy_labels_do_not():
    """Six clusters, two for each class; annotators guess, and a first look finds no map."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(6, size=1500)
    X = 2.2 * rng.normal(size=(6, 6))[cluster] + rng.normal(size=(1500, 6))
    true, right = cluster % 3, {}
    made = noise.annotator(X[:1000], true[:1000], 0.3, random_state=1).labels
    for seed in range(3):
        drawn = np.isin(np.arange(1000), np.random.default_rng(seed).choice(1000, 100, False))
        y = np.where(drawn, true[:1000], made)
        for name, allowed in (("auto", "auto"), ("straight", "none")):
            model = RobustGaussianClassifier(feature_map=allowed, random_state=0)
            model.fit(X[:1000], y, trusted=drawn, uncorrected=made)
            right.setdefault(name, []).append(model.score(X[1000:], true[1000:]))
    assert np.mean(right["auto"]) > np.mean(right["straight"]) + 0.05
