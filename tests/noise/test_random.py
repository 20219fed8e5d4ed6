"""Noise on labels alone: how much, where to, and the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehead import noise

KINDS = pytest.mark.parametrize("make", [noise.uniform, noise.flip])
ALL = pytest.mark.parametrize("name", list(noise.NOISES))
CLASSES = (0, 1, 2, 7)
BALANCED = np.repeat(np.arange(5), 4000)


@pytest.fixture
def y():
    return np.random.default_rng(0).permutation(np.repeat(CLASSES, [10, 33, 50, 7]))


def three_sigma(p, n):
    return 3 * np.sqrt(p * (1 - p) / n)


# How many


@KINDS
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.45, 0.999, 1.0])
def test_exact_count_in_each_class_and_never_the_true_label(make, y, rate):
    noisy = make(y, rate, random_state=0)
    for c in CLASSES:
        assert noisy.changed[y == c].sum() == int(rate * (y == c).sum() + 1e-9)
    np.testing.assert_array_equal(noisy.labels != y, noisy.changed)
    assert set(noisy.labels.tolist()) <= set(CLASSES)
    assert noisy.rate == noisy.changed.mean()


@settings(deadline=None, derandomize=True)
@given(
    y=st.lists(st.integers(-3, 3), min_size=2, max_size=60).filter(lambda y: len(set(y)) > 1),
    rate=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_whatever_the_labels_the_counts_are_exact(y, rate, seed):
    y = np.array(y)
    for make in (noise.uniform, noise.flip):
        noisy = make(y, rate, random_state=seed)
        for c in np.unique(y):
            assert noisy.changed[y == c].sum() == int(rate * (y == c).sum() + 1e-9)
        overall = make(y, rate, count="overall", random_state=seed)
        assert overall.changed.sum() == int(rate * len(y) + 1e-9)
        assert set(overall.labels.tolist()) <= set(y.tolist())


@KINDS
def test_rates_that_floats_cannot_hold(make):
    # 0.29 * 100 is 28.999999999999996
    y = np.repeat([0, 1], 100)
    counts = [int(make(y, p / 100, random_state=0).changed[:100].sum()) for p in range(101)]
    assert counts == list(range(101))


@KINDS
def test_overall_count_leaves_the_count_of_a_class_to_chance(make):
    noisy = make(BALANCED, 0.3, count="overall", random_state=0)
    of_class = np.bincount(BALANCED[noisy.changed])
    assert of_class.sum() == 6000
    assert len(set(of_class.tolist())) > 1
    np.testing.assert_allclose(of_class / 4000, 0.3, atol=three_sigma(0.3, 4000))


@KINDS
@pytest.mark.parametrize("rate", [0.0, 0.2, 0.45, 1.0])
def test_bernoulli_rate_is_within_three_sigma(make, rate):
    noisy = make(BALANCED, rate, count="bernoulli", random_state=0)
    assert abs(noisy.rate - rate) <= three_sigma(rate, len(BALANCED))
    np.testing.assert_array_equal(noisy.labels != BALANCED, noisy.changed)


@pytest.mark.parametrize("count", ["per-class", "overall", "bernoulli"])
def test_including_the_true_class_changes_fewer(count):
    noisy = noise.uniform(BALANCED, 0.5, count=count, include_true=True, random_state=0)
    expected = 0.5 * 4 / 5
    assert abs(noisy.rate - expected) <= three_sigma(expected, len(BALANCED))


# Where to


def test_uniform_reaches_all_other_classes_alike():
    transition = noise.uniform(BALANCED, 0.8, random_state=0).transition
    np.testing.assert_allclose(np.diag(transition), 0.2)
    off_diagonal = transition[~np.eye(5, dtype=bool)]
    np.testing.assert_allclose(off_diagonal, 0.2, atol=0.03)


@KINDS
def test_transition_is_the_realised_one(make, y):
    noisy = make(y, 0.4, random_state=0)
    expected = [[(noisy.labels[y == a] == b).mean() for b in CLASSES] for a in CLASSES]
    np.testing.assert_allclose(noisy.transition, expected)
    np.testing.assert_array_equal(noisy.classes, CLASSES)


def test_flip_goes_to_the_next_class(y):
    noisy = noise.flip(y, 0.5, random_state=0)
    following = {0: 1, 1: 2, 2: 7, 7: 0}
    for before, after in zip(y[noisy.changed], noisy.labels[noisy.changed], strict=True):
        assert following[int(before)] == after


def test_flip_of_all_labels_as_often_as_there_are_classes_is_the_identity(y):
    labels = y
    for _ in range(4):
        labels = noise.flip(labels, 1.0).labels
    np.testing.assert_array_equal(labels, y)


def test_flip_by_a_map_leaves_other_classes_clean(y):
    noisy = noise.flip(y, 0.5, to={1: 7, 2: 7}, random_state=0)
    assert noisy.changed[y == 1].sum() == 16
    assert noisy.changed[y == 2].sum() == 25
    assert not noisy.changed[(y == 0) | (y == 7)].any()
    assert set(noisy.labels[noisy.changed].tolist()) == {7}
    # The rate of an overall count is that of the classes in the map.
    assert noise.flip(y, 0.5, to={1: 7, 2: 7}, count="overall").changed.sum() == 41


@pytest.mark.parametrize("count", ["per-class", "overall", "bernoulli"])
def test_an_empty_map_changes_nothing(y, count):
    assert noise.flip(y, 1.0, to={}, count=count).rate == 0.0


def test_random_flip_gives_each_class_one_other_class():
    noisy = noise.flip(BALANCED, 1.0, to="random", random_state=0)
    np.testing.assert_array_equal(np.sort(noisy.transition, axis=1), np.eye(5)[[4] * 5])
    assert np.diag(noisy.transition).sum() == 0
    targets = {
        tuple(noise.flip(np.arange(5), 1.0, to="random", random_state=s).labels) for s in range(9)
    }
    assert len(targets) > 5


def test_random_targets_are_the_same_for_other_labels_of_the_same_classes():
    train = noise.flip(BALANCED, 1.0, to="random", random_state=3)
    held_out = noise.flip([4, 2, 4], 1.0, to="random", classes=range(5), random_state=3)
    np.testing.assert_array_equal(held_out.transition[[2, 4]], train.transition[[2, 4]])


@pytest.mark.parametrize(
    ("to", "match"),
    [
        ({0: 9}, "to has 9, which is not among the classes"),
        ({9: 0}, "to has 9"),
        ({1: 1}, "to sends 1 to itself"),
        ("next", "'random' or None, got 'next'"),
        ([1, 0], "must be a dict"),
    ],
)
def test_maps_that_cannot_be_followed(y, to, match):
    with pytest.raises(ValueError, match=match):
        noise.flip(y, 0.5, to=to)


# Any matrix


def random_matrix(C, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(C), size=C)


def test_bernoulli_labels_follow_the_matrix():
    T = random_matrix(5, 0)
    realised = noise.transition(BALANCED, T, random_state=0).transition
    assert (abs(realised - T) <= 1.2 * three_sigma(T, 4000)).all()  # the largest of 25 deviations


@settings(deadline=None, derandomize=True)
@given(sizes=st.lists(st.integers(1, 40), min_size=3, max_size=3), seed=st.integers(0, 99))
def test_per_class_counts_are_within_one_of_the_matrix(sizes, seed):
    T = random_matrix(3, seed)
    y = np.repeat(np.arange(3), sizes)
    noisy = noise.transition(y, T, count="per-class", random_state=seed)
    for c, n in enumerate(sizes):
        counts = np.bincount(noisy.labels[y == c], minlength=3)
        assert counts.sum() == n
        assert (abs(counts - n * T[c]) < 1).all()


def test_largest_remainders_by_hand():
    # 7 * (0.5, 0.3, 0.2) = 3.5, 2.1, 1.4: the one left over goes to the first class.
    T = [[0.5, 0.3, 0.2], [0, 1, 0], [0.1, 0.2, 0.7]]
    noisy = noise.transition([0] * 7 + [1, 2], T, count="per-class", random_state=0)
    assert np.bincount(noisy.labels[:7]).tolist() == [4, 2, 1]
    assert noisy.labels[7:].tolist() == [1, 2]


@pytest.mark.parametrize("count", ["bernoulli", "per-class"])
def test_what_has_probability_zero_never_happens(count):
    T = np.array([[0.3, 0.7, 0.0], [0.0, 1 / 3, 2 / 3], [1.0, 0.0, 0.0]], np.float32)
    y = np.repeat([0, 1, 2], [999, 1000, 1001])
    realised = noise.transition(y, T, count=count, random_state=0).transition
    np.testing.assert_array_equal(realised[T == 0], 0)
    np.testing.assert_allclose(realised, T, atol=0.05 if count == "bernoulli" else 1e-3)


@pytest.mark.parametrize(
    ("T", "match"),
    [
        (np.eye(3), r"must be 2 x 2.*\('a', 'b'\); got shape \(3, 3\).*classes=\[...\]"),
        ([0.5, 0.5], r"must be 2 x 2.*got shape \(2,\)"),
        ([[1, 0], [-0.1, 1.1]], r"negative, NaN or infinite: row 1 \(class 'b'\)"),
        ([[1, 0], [np.nan, 1]], "infinite: row 1"),
        ([[0.5, 0.4], [0, 1]], r"row 0 \(class 'a'\) sums to 0\.9\. Divide each row by its sum"),
        ([[0.5, 0.2], [0.5, 0.8]], r"Its columns do: pass T\.T"),
    ],
)
def test_matrices_that_are_no_transitions(T, match):
    with pytest.raises(ValueError, match=match):
        noise.transition(["a", "b"], T)


# Seeds, names, errors


def test_labels_for_a_seed_stay_what_they_were():
    # Published figures were made with these.
    y = np.arange(20) % 4
    uniform = "03230110111210221033"
    flip = "02230133113012301220"
    assert "".join(map(str, noise.uniform(y, 0.6, random_state=0).labels)) == uniform
    assert "".join(map(str, noise.flip(y, 0.6, random_state=0).labels)) == flip


@ALL
def test_same_seed_same_labels_and_clean_ones_untouched(name, y):
    make = noise.NOISES[name]
    before = y.copy()
    a, b = (make(y, 0.4, random_state=3).labels for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert (a != make(y, 0.4, random_state=4).labels).any()
    np.testing.assert_array_equal(y, before)


def test_names_of_variants_and_what_they_stand_for():
    assert noise.NOISES["uniform"] is noise.uniform
    assert noise.NOISES["flip"] is noise.flip
    expected = {"symmetric": 0.5, "pair-flip": 0.5, "uniform-mix": 0.4, "random-flip": 0.5}
    for name, rate in expected.items():
        noisy = noise.NOISES[name](BALANCED, 0.5, random_state=0)
        assert abs(noisy.rate - rate) <= three_sigma(rate, len(BALANCED)), name
    with pytest.raises(TypeError):
        noise.NOISES["mine"] = noise.uniform


@ALL
@pytest.mark.parametrize("rate", [-0.1, 1.1, 40, np.nan, "0.4", None])
def test_a_rate_outside_of_0_to_1_is_an_error(name, y, rate):
    with pytest.raises(ValueError, match="rate must be in"):
        noise.NOISES[name](y, rate)


@KINDS
def test_a_count_that_does_not_exist(make, y):
    with pytest.raises(ValueError, match="Did you mean 'per-class'"):
        make(y, 0.4, count="per_class")
