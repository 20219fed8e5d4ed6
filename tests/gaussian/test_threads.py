"""Threads change when work is done, not what comes out."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from rehead import RobustGaussianClassifier, score_labels
from rehead.gaussian.threads import WORTH_IT, n_threads, ordered_map, ranges


def test_results_come_in_order_and_from_other_threads_where_that_is_worth_it():
    with threadpool_limits(2, user_api="blas"):
        if n_threads() < 2:
            pytest.skip("BLAS has one thread here")

        def work(i):
            return i, threading.get_ident()

        numbers, threads = zip(*ordered_map(work, range(50), WORTH_IT * 2), strict=True)
        assert numbers == tuple(range(50))
        assert threading.get_ident() not in threads
        assert {t for _, t in ordered_map(work, range(9), 1.0)} == {threading.get_ident()}
        assert n_threads() == 2  # given back after the work


def test_an_error_in_a_thread_reaches_the_caller():
    def work(i):
        if i == 3:
            raise ArithmeticError("three")
        return i

    with pytest.raises(ArithmeticError, match="three"):
        list(ordered_map(work, range(9), WORTH_IT * 2))


@pytest.mark.parametrize("n", [0, 1, 10, 1024, 5000])
@pytest.mark.parametrize("flops", [0.0, WORTH_IT * 2])
def test_ranges_cover_all_rows_once(n, flops):
    covered = [i for s in ranges(n, flops, 64) for i in range(s.start, s.stop)]
    assert covered == list(range(n))


@pytest.mark.parametrize("estimator", ["mcd", "posterior"])
def test_number_of_threads_changes_nothing_beyond_rounding(blobs, same_model, estimator):
    X, y = blobs(sizes=(2100,) * 4, d=250, distance=0.15)
    assert len(X) * X.shape[1] ** 2 > WORTH_IT  # or all of this runs in one thread
    models, reports = [], []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            model = RobustGaussianClassifier(estimator, random_state=0).fit(X, y)
            models.append(model)
            reports.append(score_labels(model, X, y))
    same_model(*models, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(models[0].support_, models[1].support_)
    np.testing.assert_allclose(reports[0].quality, reports[1].quality, rtol=1e-7, atol=1e-12)
