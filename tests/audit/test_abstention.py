"""Abstention: the promised error is kept, on checked and on noisy labels, and it is not empty."""

import numpy as np
import pytest
from scipy.stats import beta, binom
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
    p_value,
    upper_bound,
)

pytestmark = pytest.mark.filterwarnings("ignore:No threshold can promise")


class World:
    """Gaussian classes, a transition matrix, and a classifier that was fitted on some samples."""

    def __init__(self, transition, distance=0.0, d=5, seed=0, n=1500, sigmas=None):
        self.T, self.C, self.d = transition, len(transition), d
        self.rng = np.random.default_rng(seed)
        self.means = distance * self.rng.normal(size=(self.C, d)) / np.sqrt(d)
        if sigmas is not None:  # that far apart, each from each
            self.means = sigmas / np.sqrt(2) * np.eye(d)[: self.C]
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


def promises(world, n, error, runs=150, *, checked=False, **options):
    """How many runs break the promise, and the mean coverage."""
    X, y = world.draw(40_000)
    posterior = world.clf.predict_proba(X)
    sure, wrong = posterior.max(axis=1), posterior.argmax(axis=1) != y
    broken, coverage = 0, []
    for _ in range(runs):
        H, truth = world.draw(n)
        labels = truth if checked else world.noisy(truth)
        found = abstention_threshold(world.clf, H, labels, error=error, checked=checked, **options)
        accepted = sure >= found.threshold
        coverage.append(accepted.mean())
        broken += bool(accepted.any() and wrong[accepted].mean() > error)
    return broken, np.mean(coverage)


def most_broken(runs, confidence=0.9):
    """So many runs break a promise that holds only once in a thousand times."""
    return binom.ppf(0.999, runs, 1 - confidence)


@pytest.mark.parametrize(
    ("transition", "n"), [(np.eye(3), 300), (uniform(3, 0.3), 1500), (flip(4, 0.3), 3000)]
)
def test_the_promise_is_kept_where_classes_overlap(transition, n):
    world = World(transition, distance=3.0)
    broken, _ = promises(world, n, 0.05, transition=transition)
    assert broken <= most_broken(150)


@pytest.mark.parametrize("n", [400, 2000])
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_it_is_kept_where_they_are_one_standard_deviation_apart(n, rate):
    # Hardly a sample is easy: what a model measures takes hard samples for wrong labels.
    T = uniform(3, rate)
    world = World(T, d=4, sigmas=1.0, n=3000)
    assert world.clf.noise_.rate > rate + 0.1
    broken, coverage = promises(world, n, 0.3, runs=200, checked=True)
    assert broken <= most_broken(200)
    assert coverage > 0.02
    if rate:
        broken, _ = promises(world, n, 0.3, runs=200, transition=T)
        assert broken <= most_broken(200)
    else:  # with the matrix that was measured it is not
        broken, _ = promises(world, n, 0.3, runs=50, transition=world.clf.noise_.transition)
        assert broken > most_broken(50)


@pytest.mark.parametrize(
    ("transition", "n", "least"),
    [(np.eye(3), 300, 0.9), (uniform(4, 0.3), 2000, 0.8), (flip(4, 0.3), 3000, 0.7)],
)
def test_the_promise_is_not_empty_where_classes_are_apart(transition, n, least):
    world = World(transition, distance=7.0)
    broken, coverage = promises(world, n, 0.05, runs=60, transition=transition)
    assert broken <= most_broken(60)
    assert coverage > least


def test_hard_samples_are_what_is_abstained_from():
    world = World(np.eye(3), distance=3.0)
    X, y = world.draw(2000)
    found = abstention_threshold(world.clf, X, y, error=0.03, checked=True)
    known = abstention_threshold(world.clf, X, y, error=0.03, transition=np.eye(3))
    assert known == found
    assert 0.5 < found.coverage < 0.9
    assert found.error < found.bound <= 0.03
    said = predict_or_abstain(world.clf, X, found, abstain=-1)
    accepted = said >= 0
    assert accepted.mean() == found.coverage
    assert (said[accepted] != y[accepted]).mean() == pytest.approx(found.error)
    assert (world.clf.predict(X)[~accepted] != y[~accepted]).mean() > 0.1


@pytest.mark.parametrize("estimator", [None, "sample"])
@pytest.mark.parametrize("said", [{}, {"checked": True, "transition": np.eye(3)}])
def test_nothing_is_promised_without_labels_that_somebody_vouches_for(fitted, estimator, said):
    _, X, y = fitted
    clf = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"drawn at random: pass those with checked=True.*transit"):
        abstention_threshold(clf, X, y, **said)


def test_where_nothing_can_be_promised_it_abstains_and_says_so():
    world = World(np.eye(3), distance=3.0)
    X, y = world.draw(30)
    with pytest.warns(ReheadWarning, match="No threshold can promise"):
        found = abstention_threshold(world.clf, X, y, error=0.01, checked=True)
    assert (found.threshold, found.coverage) == (np.inf, 0.0)
    assert predict_or_abstain(world.clf, X, found).tolist() == [None] * 30


@pytest.mark.parametrize("surest", [0.985, 0.94])
def test_modest_posteriors_do_not_end_it_at_a_threshold_that_cannot_pass(surest):
    # Right far more often than they say. Of the surest few, not even 40 right ones are enough.
    rng = np.random.default_rng(0)
    confidences = surest - 0.3 * rng.beta(1, 4, size=300)
    wrong = np.zeros(300)
    wrong[np.argsort(confidences)[:6]] = 1.0
    found = _laxest(confidences, Losses(wrong, 0.0, 1.0, True, 0.0), Promise(0.05, 0.1))
    assert found is not None
    assert found.n == 300


def test_losses_are_without_bias():
    rng = np.random.default_rng(0)
    T = rng.dirichlet(np.ones(4), size=4) * 0.4 + 0.6 * np.eye(4)
    for true in range(4):
        for predicted in range(4):
            found = corrected_losses(T, np.full(4, predicted), np.arange(4))
            assert T[true] @ found.values == pytest.approx(float(true != predicted))
            assert found.low <= found.values.min()
            assert found.high >= found.values.max()


def test_without_noise_the_bound_is_that_of_clopper_and_pearson():
    n, k = 200, 7
    wrong = (np.arange(n) < k).astype(np.int64)
    losses = corrected_losses(np.eye(2), np.zeros(n, np.int64), wrong)
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
        losses = corrected_losses(T, predicted, given)
        assert not losses.binary
        rejected += p_value(losses.values.mean(), n, limit, losses) <= 0.1
    assert rejected / 500 <= 0.1


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
    found = abstention_threshold(ens, layers[2], h, error=0.05, checked=True)
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
    bad_values = ({"error": 0}, {"error": "5%"}, {"confidence": 1.0}, {"transition": np.eye(2)})
    for bad in (*bad_values, {"checked": "yes"}):
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

    head = RobustHead(net, softmax=False).fit(loader(0, 400), validation=loader(400, 600))
    found = head.abstention_threshold(loader(600, 900), error=0.1, checked=True)
    said = head.predict_or_abstain(loader(600, 900), found, abstain=-1)
    assert (said >= 0).mean() == found.coverage > 0.5
    p = head.typicality(loader(600, 900))
    assert p.shape == (300,)
    assert 0.3 < np.median(p) < 0.7
