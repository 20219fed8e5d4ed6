"""Labels that a model changed and nobody checked: they are not trusted, and not as they came."""

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, noise, score_labels
from rehead._typing import Known
from rehead.gaussian.labelnoise import fit_noise
from rehead.trusted import as_checked


class Audited:
    """Overlapping classes with wrong labels; an audit has changed many, of which some spoil one."""

    def __init__(self, seed, n_drawn):
        rng = np.random.default_rng(seed)
        self.true = rng.integers(4, size=1500)
        self.X = rng.normal(size=(1500, 6)) + 2.2 * np.eye(4, 6)[self.true]
        self.before = noise.uniform(self.true, 0.3, random_state=1).labels
        self.checked = np.where(rng.permutation(1500) < n_drawn, "random", "")
        y = np.where(self.checked == "random", self.true, self.before)
        first = RobustGaussianClassifier(random_state=0)
        first.fit(self.X, y, trusted=self.checked, uncorrected=self.before)
        new = score_labels(first, self.X, y).corrected(0.6)
        self.changed = (new != y) & (self.checked == "")
        self.y = np.where(self.changed, new, y)

    @property
    def wrong(self):
        return (self.y != self.true).mean()

    def words(self, word):
        return np.where(self.changed, word, self.checked)

    def known(self, word="suggested"):
        return {"trusted": self.words(word), "uncorrected": self.before}


@pytest.fixture(params=[(0, 0), (1, 150), (3, 150)], ids=["no checks", "checks", "other checks"])
def audited(request):
    found = Audited(*request.param)
    assert found.changed.sum() > 300
    assert 0.1 < (found.y != found.true)[found.changed].mean() < 0.2
    assert 0.08 < found.wrong < 0.11  # three times as many before
    return found


def test_how_many_are_wrong_now_is_seen(audited):
    clf = RobustGaussianClassifier(random_state=0).fit(audited.X, audited.y, **audited.known())
    assert abs(clf.noise_.wrong - audited.wrong) < 0.02
    assert clf.noise_.least <= audited.wrong <= clf.noise_.most
    assert abs(clf.noise_.rate - 0.3) < 0.06  # that of labels as they came
    report = score_labels(clf, audited.X, audited.y)
    assert abs(report.noise_rate - audited.wrong) < 0.03
    assert report.noise_least <= audited.wrong <= report.noise_most


def test_without_the_labels_before_the_model_vouches_for_them(audited):
    """Which is why `--uncorrected` is asked for."""
    clf = RobustGaussianClassifier(random_state=0)
    clf.fit(audited.X, audited.y, trusted=audited.words("suggested"))
    assert clf.noise_.wrong < 0.01


def test_they_are_not_taken_for_labels_that_are_right():
    audited = Audited(3, 150)
    clf = RobustGaussianClassifier(random_state=0)
    clf.fit(audited.X, audited.y, **audited.known("chosen"))
    assert clf.noise_.most < 0.06  # all that was changed would be right
    clf.fit(audited.X, audited.y, **audited.known())
    assert clf.noise_.most > audited.wrong
    assert clf.fitted_.told == clf.noise_.checked == 150
    assert (clf.trust_[audited.checked == "random"] == 1.0).all()
    assert not (clf.trust_[audited.changed] == 1.0).all()


def test_the_estimates_of_a_machine_know_it_too():
    audited = Audited(0, 0)
    clf = RobustGaussianClassifier(labels_from="machine", random_state=0)
    clf.fit(audited.X, audited.y, **audited.known())
    assert clf.fitted_.way == "mixture"
    assert abs(clf.noise_.wrong - audited.wrong) < 0.015


def test_layers_know_it_too():
    audited = Audited(0, 0)
    kept, held = slice(300, None), slice(300)
    layers, others = ({"a": audited.X[of], "b": audited.X[of, :4]} for of in (kept, held))
    known = {name: of_all[kept] for name, of_all in audited.known().items()}
    ens = LayerEnsemble(random_state=0)
    ens.fit(layers, audited.y[kept], validation=(others, audited.before[held]), **known)
    wrong = (audited.y != audited.true)[kept].mean()
    assert abs(ens.noise_.wrong - wrong) < 0.05
    assert ens.noise_.least <= wrong <= ens.noise_.most


def test_they_have_to_be_named():
    audited = Audited(0, 150)
    clf = RobustGaussianClassifier(random_state=0)
    with pytest.raises(ValueError, match="'suggested' if a model changed it and nobody checked it"):
        clf.fit(audited.X, audited.y, trusted=audited.checked, uncorrected=audited.before)
    with pytest.raises(ValueError, match="'suggested' for labels that a model changed"):
        clf.fit(audited.X, audited.y, trusted=audited.words("guess"), uncorrected=audited.before)


def test_of_changed_labels_all_or_none_may_be_right_where_checks_alone_tell():
    """Of 400 that were changed, half spoil a label that was right."""
    rng, n = np.random.default_rng(2), 4000
    made = np.arange(n) % 2
    right = np.where(rng.permutation(n) < 0.1 * n, 1 - made, made)
    drawn, changed = np.zeros((2, n), bool)
    drawn[rng.choice(n, 200, replace=False)] = True
    changed[np.flatnonzero((made == right) & ~drawn)[:200]] = True
    changed[np.flatnonzero((made != right) & ~drawn)[:200]] = True
    now = np.where(drawn, right, np.where(changed, 1 - made, made))
    noise = fit_noise(8.0 * np.eye(2)[made], made)
    found = as_checked(noise, Known(drawn, drawn, made), now, np.ones(n))
    assert found.least <= (now != right).mean() <= found.most
