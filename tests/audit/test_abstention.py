"""Abstention: the promised error is kept, on clean and on noisy labels, and it is not empty."""

import numpy as np
import pytest
from scipy.stats import beta, norm
from sklearn.linear_model import LogisticRegression

from rehead import (
    LayerEnsemble,
    ReheadWarning,
    RobustGaussianClassifier,
    abstention_threshold,
    predict_or_abstain,
)
from rehead.audit.abstention import (
    Losses,
    Promise,
    _laxest,
    corrected_losses,
    less_noise,
    p_value,
    upper_bound,
)
from rehead.gaussian import NoiseModel

pytestmark = pytest.mark.filterwarnings("ignore:No threshold can promise")


class World:
    """Gaussian classes, a transition matrix, and a classifier that was fitted on some samples."""

    def __init__(self, transition, distance, d=5, seed=0, n=1500):
        self.T, self.C, self.d = transition, len(transition), d
        self.rng = np.random.default_rng(seed)
        self.means = distance * self.rng.normal(size=(self.C, d)) / np.sqrt(d)
        X, y = self.draw(n)
        self.clf = RobustGaussianClassifier(random_state=0).fit(X, self.noisy(y))

    def draw(self, n):
        y = self.rng.integers(self.C, size=n)
        return self.rng.normal(size=(n, self.d)) + self.means[y], y

    def noisy(self, y):
        reached = np.cumsum(self.T, axis=1)[y]
        return (self.rng.random(len(y))[:, None] > reached).sum(axis=1).clip(max=self.C - 1)


def uniform(n_classes, rate):
    off = rate / (n_classes - 1)
    return (1 - rate - off) * np.eye(n_classes) + off


def flip(n_classes, rate):
    return (1 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=1)


def promises(world, n, error, runs=150, **options):
    """Share of runs in which the promise is broken, and the mean coverage."""
    X, y = world.draw(40_000)
    posterior = world.clf.predict_proba(X)
    sure, wrong = posterior.max(axis=1), posterior.argmax(axis=1) != y
    broken, coverage = 0, []
    for _ in range(runs):
        H, truth = world.draw(n)
        found = abstention_threshold(world.clf, H, world.noisy(truth), error=error, **options)
        accepted = sure >= found.threshold
        coverage.append(accepted.mean())
        broken += bool(accepted.any() and wrong[accepted].mean() > error)
    return broken / runs, np.mean(coverage)


@pytest.mark.parametrize(
    ("transition", "n"),
    [(np.eye(3), 300), (np.eye(3), 1000), (uniform(3, 0.3), 1500), (flip(4, 0.3), 3000)],
)
def test_the_promise_is_kept_where_classes_overlap(transition, n):
    world = World(transition, distance=3.0)
    broken, _ = promises(world, n, 0.05, transition=transition)
    assert broken < 0.1 + 2 * np.sqrt(0.1 * 0.9 / 150)


@pytest.mark.parametrize(
    ("transition", "n", "least"),
    [(np.eye(3), 300, 0.9), (uniform(4, 0.3), 2000, 0.8), (flip(4, 0.3), 3000, 0.7)],
)
def test_the_promise_is_not_empty_where_classes_are_apart(transition, n, least):
    world = World(transition, distance=7.0)
    broken, coverage = promises(world, n, 0.05, runs=60, transition=transition)
    assert broken <= 0.1
    assert coverage > least


def test_hard_samples_are_what_is_abstained_from():
    world = World(np.eye(3), distance=3.0)
    X, y = world.draw(2000)
    found = abstention_threshold(world.clf, X, y, error=0.03, transition=np.eye(3))
    assert 0.5 < found.coverage < 0.9
    assert found.error < found.bound <= 0.03
    said = predict_or_abstain(world.clf, X, found, abstain=-1)
    accepted = said >= 0
    assert accepted.mean() == found.coverage
    assert (said[accepted] != y[accepted]).mean() == pytest.approx(found.error)
    assert (world.clf.predict(X)[~accepted] != y[~accepted]).mean() > 0.1


def test_noise_that_was_measured_is_not_taken_at_its_word():
    transition = uniform(4, 0.3)
    world = World(transition, distance=7.0, n=12_000)
    broken, _ = promises(world, 3000, 0.05, runs=60)
    assert broken <= 0.15
    X, y = world.draw(3000)
    labels = world.noisy(y)
    known = abstention_threshold(world.clf, X, labels, error=0.1, transition=transition)
    measured = abstention_threshold(world.clf, X, labels, error=0.1)
    assert measured.coverage <= known.coverage
    assert measured.coverage > 0.5


def test_where_nothing_can_be_promised_it_abstains_and_says_so():
    world = World(np.eye(3), distance=3.0)
    X, y = world.draw(30)
    with pytest.warns(ReheadWarning, match="No threshold can promise"):
        found = abstention_threshold(world.clf, X, y, error=0.01)
    assert (found.threshold, found.coverage) == (np.inf, 0.0)
    assert predict_or_abstain(world.clf, X, found).tolist() == [None] * 30


@pytest.mark.parametrize("surest", [0.985, 0.94])
def test_modest_posteriors_do_not_end_it_at_a_threshold_that_cannot_pass(surest):
    # Right far more often than they say. Of the surest few, not even 40 right ones are enough.
    rng = np.random.default_rng(0)
    confidences = surest - 0.3 * rng.beta(1, 4, size=300)
    wrong = np.zeros(300)
    wrong[np.argsort(confidences)[:6]] = 1.0
    found = _laxest(confidences, Losses(wrong, 0.0, 1.0, True, 0.0), Promise(0.05, 0.1, 0.0))
    assert found is not None
    assert found.n == 300


def test_losses_are_without_bias():
    rng = np.random.default_rng(0)
    T = rng.dirichlet(np.ones(4), size=4) * 0.4 + 0.6 * np.eye(4)
    for true in range(4):
        for predicted in range(4):
            found = corrected_losses(T, np.full(4, predicted), np.arange(4), room=0.0)
            assert T[true] @ found.values == pytest.approx(float(true != predicted))
            assert found.low <= found.values.min()
            assert found.high >= found.values.max()


def test_nearly_binary_losses_are_raised_a_little():
    rng = np.random.default_rng(0)
    T = uniform(4, 0.2) + 1e-3 * rng.random((4, 4))
    T /= T.sum(axis=1, keepdims=True)
    predicted = np.arange(4)
    exact = [corrected_losses(T, predicted, np.full(4, k), 0.0) for k in range(4)]
    raised = [corrected_losses(T, predicted, np.full(4, k), 0.01) for k in range(4)]
    for a, b in zip(exact, raised, strict=True):
        assert not a.binary
        assert b.binary
        assert (b.values >= a.values).all()
        assert (b.values - a.values).max() < 0.01


def test_without_noise_the_bound_is_that_of_clopper_and_pearson():
    n, k = 200, 7
    wrong = (np.arange(n) < k).astype(np.int64)
    losses = corrected_losses(np.eye(2), np.zeros(n, np.int64), wrong, room=0.0)
    assert losses.values.sum() == k
    assert upper_bound(k / n, n, losses, 0.1) == pytest.approx(beta.ppf(0.9, k + 1, n - k))


def test_p_values_of_losses_between_the_bounds_are_valid():
    rng = np.random.default_rng(0)
    T = flip(4, 0.3)
    limit, n, rejected = 0.1, 300, 0
    for _ in range(500):
        predicted = rng.integers(4, size=n)
        true = np.where(rng.random(n) < limit, (predicted + 1) % 4, predicted)
        given = np.where(rng.random(n) < 0.3, (true + 1) % 4, true)
        losses = corrected_losses(T, predicted, given, room=0.0)
        assert not losses.binary
        rejected += p_value(losses.values.mean(), n, limit, losses) <= 0.1
    assert rejected / 500 <= 0.1


def test_less_noise_is_between_what_was_measured_and_none():
    T = flip(3, 0.3)
    sizes = (10.0, 100.0, 1000.0, 1e9)
    measured = [NoiseModel(1.0, np.full(3, 1 / 3), T, np.full(3, n), 0.0, 0.3) for n in sizes]
    rates = [1 - np.diag(less_noise(noise, 0.05)).mean() for noise in measured]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(0.3, abs=1e-4)
    # One in twenty times the true rate is still smaller.
    expected = [0.3 - norm.isf(0.05) * noise.rate_error for noise in measured]
    np.testing.assert_allclose(rates, np.maximum(expected, 0.0))
    few = measured[0]._replace(anchors=np.full(3, 1.0))
    np.testing.assert_array_equal(less_noise(few, 0.05), np.eye(3))


def test_half_of_the_doubt_is_spent_on_a_matrix_that_was_measured():
    world = World(uniform(4, 0.2), distance=7.0, n=4000)
    X, y = world.draw(2000)
    labels = world.noisy(y)
    found = abstention_threshold(world.clf, X, labels, error=0.1, confidence=0.9)
    T = less_noise(world.clf.noise_, 0.05)
    known = abstention_threshold(world.clf, X, labels, error=0.1, confidence=0.95, transition=T)
    assert found.coverage > 0.9
    assert found.confidence == 0.9
    for name in ("threshold", "coverage", "error", "bound"):
        assert getattr(found, name) == pytest.approx(getattr(known, name))


def test_a_confidence_at_the_threshold_is_enough(fitted):
    clf, X, _ = fitted
    sure = clf.predict_proba(X).max(axis=1)
    doubtful = int(sure.argmin())
    said = predict_or_abstain(clf, X, sure[doubtful], abstain=-1)
    np.testing.assert_array_equal(said, clf.predict(X))
    more = np.nextafter(sure[doubtful], 1.0)
    said = predict_or_abstain(clf, X, more, abstain=-1)
    assert np.flatnonzero(said == -1).tolist() == [doubtful]


def test_an_ensemble_promises_too():
    world = World(np.eye(3), distance=6.0)
    (X, y), (V, v), (H, h) = world.draw(600), world.draw(300), world.draw(600)
    layers = [{"all": F, "some": F[:, :3]} for F in (X, V, H)]
    ens = LayerEnsemble(random_state=0).fit(layers[0], y, validation=(layers[1], v))
    found = abstention_threshold(ens, layers[2], h, error=0.05)
    assert found.coverage > 0.5
    said = predict_or_abstain(ens, layers[2], found.threshold, abstain=-1)
    assert (said >= 0).mean() == found.coverage


@pytest.mark.parametrize(
    ("classes", "abstain", "dtype"),
    [
        ([0, 1], -1, np.dtype(int)),
        ([0, 1], None, np.dtype(object)),
        ([0, 1], "unknown", np.dtype(object)),
        (["a", "b"], "unknown", np.dtype("U7")),
        (["a", "b"], None, np.dtype(object)),
    ],
)
def test_what_is_said_where_it_abstains(classes, abstain, dtype):
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    clf = RobustGaussianClassifier("sample").fit(X, np.repeat(classes, 3))
    said = predict_or_abstain(clf, [[1.0], [5.0], [9.0]], 0.99, abstain)
    assert said.tolist() == [classes[0], abstain, classes[1]]
    assert said.dtype == dtype


def test_bad_input_is_refused(fitted):
    clf, X, y = fitted
    for bad in ({"error": 0}, {"error": "5%"}, {"confidence": 1.0}, {"transition": np.eye(2)}):
        with pytest.raises(ValueError, match="must be"):
            abstention_threshold(clf, X, y, **bad)
    with pytest.raises(ValueError, match="one array of features"):
        abstention_threshold(clf, {"a": X}, y)
    other = LogisticRegression().fit(X, y)
    with pytest.raises(TypeError, match="a LogisticRegression has no count_samples"):
        abstention_threshold(other, X, y)
    with pytest.raises(TypeError, match="a LogisticRegression has no count_samples"):
        predict_or_abstain(other, X, 0.5)
    with pytest.raises(ValueError, match="no inverse"):
        abstention_threshold(clf, X, y, transition=np.full((3, 3), 1 / 3))
    with pytest.raises(ValueError, match="is a class"):
        predict_or_abstain(clf, X, 0.5, abstain=1)
    for bad in (np.nan, 95, None, "0.9"):
        with pytest.raises(ValueError, match="threshold must be a probability"):
            predict_or_abstain(clf, X, bad)
    assert (predict_or_abstain(clf, X, np.inf, abstain=-1) == -1).all()


def test_a_network_with_a_new_head_has_all_of_it():
    torch = pytest.importorskip("torch")
    from rehead.torch import RobustHead

    rng = np.random.default_rng(0)
    y = rng.integers(3, size=900)
    X = (rng.normal(size=(900, 4)) + 6 * np.eye(4)[y]).astype(np.float32)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))

    def loader(a, b):
        part = torch.utils.data.TensorDataset(torch.tensor(X[a:b]), torch.tensor(y[a:b]))
        return torch.utils.data.DataLoader(part, batch_size=100)

    head = RobustHead(net).fit(loader(0, 400), validation=loader(400, 600))
    found = head.abstention_threshold(loader(600, 900), error=0.1, transition=np.eye(3))
    said = head.predict_or_abstain(loader(600, 900), found, abstain=-1)
    assert (said >= 0).mean() == found.coverage > 0.5
    p = head.typicality(loader(600, 900))
    assert p.shape == (300,)
    assert 0.3 < np.median(p) < 0.7
