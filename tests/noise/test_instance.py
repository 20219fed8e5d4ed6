"""What holds for every noise that depends on the sample, and the draw that they share."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier

from rehead import noise
from rehead.noise.instance import draw, new_seed, spread

from .overlapping import gaussians, margins_of

X, Y, POSTERIOR = gaussians()
EVERY = pytest.mark.parametrize("kind", list(noise.INSTANCE_NOISES))


def make(kind, X, y, rate=0.2, **options):
    return noise.INSTANCE_NOISES[kind](X, y, rate, **{"random_state": 0, **options})


@EVERY
@pytest.mark.parametrize("rate", [0.0, 0.01, 0.05, 0.2, 1 / 3, 0.45, 0.7])
def test_the_rate_is_met_to_the_sample(kind, rate):
    noisy = make(kind, X, Y, rate)
    assert noisy.changed.sum() == int(rate * len(Y) + 1e-9)
    assert noisy.rate == noisy.changed.mean()
    np.testing.assert_array_equal(noisy.labels != Y, noisy.changed)
    # And the expectation is the rate as well: it was not met by force.
    right = noisy.probabilities[np.arange(len(Y)), Y]
    assert (1 - right).sum() == pytest.approx(noisy.changed.sum(), abs=1e-5)
    np.testing.assert_allclose(noisy.probabilities.sum(axis=1), 1)
    assert (noisy.probabilities >= -1e-12).all()


@EVERY
def test_the_record_counts_what_was_made(kind):
    noisy = make(kind, X, Y, 0.4)
    counts = np.zeros((4, 4))
    np.add.at(counts, (Y, noisy.labels), 1)
    np.testing.assert_allclose(noisy.transition, counts / counts.sum(axis=1, keepdims=True))
    assert noisy.classes.tolist() == [0, 1, 2, 3]


@EVERY
def test_the_seed_decides(kind):
    a, b = make(kind, X, Y), make(kind, X, Y, random_state=np.random.default_rng(0))
    np.testing.assert_array_equal(a.labels, b.labels)
    np.testing.assert_array_equal(a.label(X, Y), b.label(X, Y))
    c = make(kind, X, Y, random_state=1)
    assert (a.labels != c.labels).mean() > 0.05


@EVERY
def test_nothing_is_modified(kind):
    mine, labels = X.copy(), Y.copy()
    make(kind, mine, labels).label(mine, labels)
    np.testing.assert_array_equal(mine, X)
    np.testing.assert_array_equal(labels, Y)


@EVERY
@pytest.mark.parametrize("C", [2, 3, 10, 50])
@pytest.mark.parametrize("unequal", [False, True])
def test_any_number_of_classes_equal_or_not_with_names(kind, C, unequal):
    features, y, _ = gaussians(n=900, C=C, unequal=unequal)
    names = np.array([f"class {c}" for c in range(C)])[y]
    noisy = make(kind, features, names, 0.3)
    assert noisy.changed.sum() == 270
    assert set(noisy.labels) <= set(names)
    held_out = noisy.label(features[:200], names[:200])
    assert held_out.dtype == names.dtype
    assert 0.1 < (held_out != names[:200]).mean() < 0.5


@EVERY
def test_all_containers_give_the_same_labels(kind):
    x, y = X[:300], Y[:300]
    made = make(kind, x, y)
    expected, held_out = made.labels.tolist(), made.label(x[:50], y[:50]).tolist()
    for other, labels in [
        (x.reshape(-1, 1, 2, 3), pd.Series(y, index=range(300, 0, -1), name="label")),
        (torch.as_tensor(x), torch.as_tensor(y)),
        (pd.DataFrame(x, columns=list("abcdef")), pd.Categorical(y)),
        (x.tolist(), y.tolist()),
    ]:
        noisy = make(kind, other, labels)
        assert noisy.labels.tolist() == expected
        few = noisy.label(other.iloc[:50] if hasattr(other, "iloc") else other[:50], labels[:50])
        assert few.tolist() == held_out
        if not isinstance(labels, list):
            assert type(noisy.labels) is type(few) is type(labels)


@EVERY
def test_classes_that_do_not_occur(kind):
    part = Y < 3
    noisy = make(kind, X[part], Y[part], 0.3, classes=range(4))
    assert noisy.probabilities.shape == (part.sum(), 4)
    assert np.isnan(noisy.transition[3]).all()
    # Held-out samples may have them.
    held_out = noisy.label(X[:300], Y[:300])
    assert set(held_out) <= {0, 1, 2, 3}
    with pytest.raises(ValueError, match=r"not among classes: \[3\]"):
        make(kind, X[part], Y[part], 0.3).label(X, Y)


@EVERY
def test_a_class_of_one_sample(kind):
    y = Y.copy()
    y[0] = 4
    noisy = make(kind, X, y, 0.3)
    assert noisy.changed.sum() == 360
    assert np.isfinite(noisy.probabilities).all()


@EVERY
def test_other_samples_are_labelled_in_the_same_way(kind):
    features, y, _ = gaussians(n=6000)
    noisy = make(kind, features[:3000], y[:3000], 0.3)
    held_out = noisy.label(features[3000:], y[3000:])
    wrong = held_out != y[3000:]
    assert wrong.mean() == pytest.approx(0.3, abs=0.02)
    joint = [np.bincount(4 * y[3000:][wrong] + held_out[wrong], minlength=16)]
    joint += [np.bincount(4 * y[:3000][noisy.changed] + noisy.labels[noisy.changed], minlength=16)]
    np.testing.assert_allclose(joint[0] / joint[0].sum(), joint[1] / joint[1].sum(), atol=0.04)


@pytest.mark.parametrize("kind", ["annotator", "polynomial-margin"])
def test_the_chances_of_other_samples_do_not_depend_on_their_company(kind):
    chances, rng = make(kind, X, Y, 0.3).chances, np.random.default_rng(0)
    order = rng.permutation(len(Y))
    P = chances(X, Y, rng)
    np.testing.assert_allclose(chances(X[order], Y[order], rng), P[order], atol=1e-9)
    np.testing.assert_allclose(chances(X[:7], Y[:7], rng), P[:7], atol=1e-9)


@EVERY
@pytest.mark.parametrize("again", [None, 0])
def test_the_draws_for_other_samples_are_independent_of_the_first_ones(kind, again):
    """Even with the same seed and the same samples: what remains is their difficulty."""
    features, y, _ = gaussians(n=4000)
    noisy = make(kind, features, y, 0.4, random_state=0)
    P = noisy.probabilities
    wrong = 1 - P[np.arange(len(y)), y]
    # Beside its own chance, a first error says nothing about the second one.
    second = noisy.label(features, y, random_state=again) != y
    expected = 1 - noisy.chances(features, y, np.random.default_rng(5))[np.arange(len(y)), y]
    together = ((noisy.changed - wrong) * (second - expected)).mean()
    assert abs(together) < 4 * 0.25 / np.sqrt(len(y))


def test_several_parts_have_draws_of_their_own():
    noisy = make("part-dependent", X, Y, 0.4)
    a, b, c = (noisy.label(X, Y, random_state=s) for s in (None, None, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).mean() > 0.2


def test_the_first_draw_decides_the_others():
    """Of two noises, also where the chances are the same."""

    def even(X, codes, rng):
        return np.full((len(codes), 4), 0.25)

    first, same, other = (
        replace(make("part-dependent", X, Y, random_state=seed), chances=even).label(X, Y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).mean() > 0.5


@EVERY
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rate": 1.5}, r"rate must be in \[0, 1\]"),
        ({"rate": 40}, "For 40 % pass 0.4"),
        ({"rate": np.nan}, "rate must be"),
        ({"y": Y[:5]}, "X has 1200 rows and y has 5 labels"),
        ({"y": np.zeros(len(Y), int)}, "one class, 0"),
        (
            {"X": np.where(np.arange(X.size).reshape(X.shape) == 104, np.nan, X)},
            r"NaN \(row 17, feature 2 first",
        ),
        ({"X": X.astype(str)}, "text"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_what_cannot_be_made(kind, options, match):
    given = {"X": X, "y": Y, "rate": 0.2, **options}
    with pytest.raises((ValueError, TypeError), match=match):
        make(kind, given.pop("X"), given.pop("y"), **given)


@EVERY
def test_sparse_inputs_are_refused_with_the_fix(kind):
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="toarray"):
        make(kind, csr_array(X), Y)


@pytest.mark.parametrize("kind", ["annotator", "polynomial-margin"])
def test_a_rate_that_is_out_of_reach_is_an_error(kind):
    """Neighbours are certain of most samples: no label of those can be wrong."""
    sure = KNeighborsClassifier(1)
    with pytest.raises(ValueError, match=r"1080 of 1200 labels cannot be wrong: .* Lower rate"):
        make(kind, X, Y, 0.9, classifier=sure)
    with pytest.raises(ValueError, match=r"Two classes need two samples .* \['b'\]"):
        make(kind, X[:4], ["a", "a", "a", "b"])


@pytest.mark.parametrize("kind", ["annotator", "polynomial-margin"])
@pytest.mark.parametrize("rate", [0.1, 0.2, 0.4])
def test_wrong_labels_are_near_boundaries(kind, rate):
    features, y, posterior = gaussians(n=4000)
    margin = margins_of(posterior, y)
    noisy = make(kind, features, y, rate)
    hard = np.argsort(margin)[: int(0.5 * len(y))]
    assert noisy.changed[hard].sum() > 0.85 * noisy.changed.sum()
    assert np.median(margin[noisy.changed]) < np.median(margin[~noisy.changed]) - 0.05
    # They go to the class that is second, or first, by the truth.
    others = posterior.copy()
    others[np.arange(len(y)), y] = -1
    assert (noisy.labels == others.argmax(axis=1))[noisy.changed].mean() > 0.7


# The draw.


def test_spread_gives_what_is_wrong_to_the_others_in_proportion():
    P = spread(np.array([0.3, 0.0, 1.0]), np.array([[9, 2, 1], [1, 1, 1], [1, 0, 9]]), [0, 1, 2])
    np.testing.assert_allclose(P, [[0.7, 0.2, 0.1], [0, 1, 0], [1, 0, 0]])


def test_labels_are_drawn_by_their_probabilities_and_wrong_ones_are_counted():
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 3
    P = spread(rng.random(40), rng.random((40, 3)), codes)
    wrong = (1 - P[np.arange(40), codes]).sum()
    found, counts = np.zeros_like(P), []
    for _ in range(4000):
        noisy = draw(P, codes, rng)
        found[np.arange(40), noisy] += 1
        counts.append((noisy != codes).sum())
    assert set(counts) == {int(wrong), int(wrong) + 1}
    assert np.mean(counts) == pytest.approx(wrong, abs=0.04)
    np.testing.assert_allclose(found / 4000, P, atol=0.035)


def test_certain_labels_are_certain():
    codes = np.zeros(6, int)
    P = np.array([[1, 0, 0]] * 2 + [[0, 0, 1]] * 2 + [[0.5, 0.5, 0]] * 2, float)
    for seed in range(20):
        noisy = draw(P, codes, np.random.default_rng(seed))
        assert noisy[:4].tolist() == [0, 0, 2, 2]
        assert sorted(noisy[4:]) == [0, 1]


def test_a_new_seed_is_whole_numbers_that_differ():
    rng = np.random.default_rng(0)
    a, b = new_seed(rng), new_seed(rng)
    assert len(a) == 4
    assert a != b
    assert all(type(word) is int for word in a)
