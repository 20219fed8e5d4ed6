"""One large class: cut by its number of rows alone, so that nothing else changes a bit."""

import numpy as np
import pytest
from tests.gaussian.test_tasks import Pickling
from tests.test_out_of_core import same, write_store
from threadpoolctl import threadpool_limits

from rehead import RobustGaussianClassifier
from rehead.gaussian import classwise, kernels, split
from rehead.gaussian.kernels import Moments, Rows
from rehead.gaussian.tasks import run_on

pytestmark = pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
N, D = 5000, 6


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(split, "PART_ROWS", 1024)
    monkeypatch.setattr(classwise, "PART_ROWS", 1024)
    monkeypatch.setattr("rehead.gaussian.tasks.WORTH_SENDING", 0.0)
    monkeypatch.setattr("rehead.gaussian.threads.WORTH_IT", 0.0)


@pytest.fixture(scope="module")
def features():
    return np.random.default_rng(0).normal(size=(N, D)).astype("f4") + 3.0


@pytest.mark.parametrize("n", [1, 512, 1024, 1025, 5000])
def test_parts_hold_every_row_once(small_parts, n):
    spans = split.part_spans(n)
    assert [i for s in spans for i in range(n)[s]] == list(range(n))
    assert all(s.stop - s.start <= 1024 and s.start % 512 == 0 for s in spans)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_and_distances_are_those_of_the_whole(small_parts, features, weighted):
    rows, index = Rows(features, np.float64), np.arange(N)[::-1].copy()
    shift = features.mean(axis=0)
    w = np.random.default_rng(1).random(N) if weighted else None
    expected, found = (m(rows, index, shift, w) for m in (kernels.moments, split.moments))
    assert found.weight == pytest.approx(expected.weight)
    np.testing.assert_allclose(found.total, expected.total, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.tril(found.gram), np.tril(expected.gram), rtol=1e-9, atol=1e-9)
    factor = kernels.cholesky(expected.scatter() / expected.weight)
    distances = [m(rows, index, shift, factor) for m in (kernels.mahalanobis, split.mahalanobis)]
    np.testing.assert_array_equal(*distances)


def test_many_rows_can_be_taken_away_again(small_parts, features):
    rows, shift = Rows(features, np.float64), features[0]
    m = split.with_rows(
        rows, split.moments(rows, np.arange(N), shift), np.arange(3000), shift, -1.0
    )
    expected = kernels.moments(rows, np.arange(3000, N), shift)
    assert m.weight == 2000
    np.testing.assert_allclose(m.total, expected.total, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(np.tril(m.gram), np.tril(expected.gram), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8])
def test_sums_of_parts_are_added_in_a_fixed_tree(n):
    def tree(values):
        while len(values) > 1:
            pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
            values = [p[0] + p[1] if len(p) == 2 else p[0] for p in pairs]
        return values[0]

    values = np.random.default_rng(0).random(n).astype("f4") * 10.0 ** np.arange(n, dtype="f4")
    one_by_one = (Moments(1.0, np.array([v]), np.array([[v]])) for v in values)
    found = split.added_up(one_by_one)
    assert (found.weight, found.total[0]) == (n, tree(list(values)))


@pytest.fixture(scope="module")
def giant(tmp_path_factory):
    """One class with most of the rows, behind and before small ones: in an array, and on disk."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(9000) < 0.8, 40, rng.integers(80, size=9000))
    Z = (rng.normal(size=(9000, D)) + 2 * rng.normal(size=(80, D))[y]).astype("f4")
    return Z, write_store(tmp_path_factory.mktemp("s") / "s", {"a": Z}, y).rows("a"), y


@pytest.mark.parametrize("params", [{}, {"start": "pooled"}, {"n_starts": 2, "max_steps": 4}])
def test_a_giant_class_is_split_and_no_bit_depends_on_workers(
    small_parts, giant, params, monkeypatch
):
    Z, stored, y = giant
    split_by, choose = [], classwise.classes_to_split

    def watched(sizes, workers):
        split_by.append((workers, choose(sizes, workers)))
        return split_by[-1][1]

    monkeypatch.setattr(classwise, "classes_to_split", watched)
    fitted = {}
    for threads in (1, 2):
        with threadpool_limits(threads):
            fitted[threads] = RobustGaussianClassifier("mcd", random_state=0, **params).fit(Z, y)
    executor = Pickling()
    executor._max_workers = 5
    with run_on(executor):
        sent = RobustGaussianClassifier("mcd", random_state=0, **params).fit(stored, y)
    assert split_by == [(1, set()), (2, {40}), (5, {40})]
    same(fitted[1], fitted[2])
    same(fitted[1], sent)


def test_each_part_of_a_giant_class_is_sent(small_parts, giant):
    _, stored, y = giant
    executor = Pickling()
    executor._max_workers = 5
    with run_on(executor):
        RobustGaussianClassifier("mcd", random_state=0).fit(stored, y)
    largest = np.bincount(y).max()
    assert largest > 7 * 1024
    assert max(executor.sent) < 8 * largest  # not even the row numbers of the whole class


@pytest.mark.parametrize(
    ("sizes", "workers", "expected"),
    [
        ([10**6], 1, set()),
        ([10**6, 10], 2, {0}),
        ([10, 10**6, 10**6], 8, {1, 2}),
        ([10**5] * 10, 2, set()),
        ([10**5] * 10, 64, set()),  # four parts each: side by side is quicker
        ([10**6] * 10, 32, set(range(10))),
        ([1000, 10], 8, set()),
    ],
)
def test_which_classes_are_split(sizes, workers, expected):
    assert classwise.classes_to_split(np.array(sizes), workers) == expected
