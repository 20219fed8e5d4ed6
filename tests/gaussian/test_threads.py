"""Threads change when work is done, not what comes out."""

import hashlib
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rehead import RobustGaussianClassifier, score_labels, typicality
from rehead.gaussian.threads import WORTH_IT, n_threads, ordered_map, own_threads, ranges


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


@pytest.mark.parametrize("n", [1, 5000, 100_000])
def test_ranges_do_not_depend_on_the_number_of_threads(n):
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(ranges(n, WORTH_IT * 2, 64))
    assert found[0] == found[1]


@pytest.mark.parametrize("estimator", ["mcd", "posterior", "mixture"])
def test_number_of_threads_changes_no_bit(blobs, estimator):
    X, y = blobs(sizes=(2100,) * 4, d=250, distance=0.15)
    assert len(X) * X.shape[1] ** 2 > WORTH_IT  # or all of this runs in one thread
    digests = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            digests.append(digest(RobustGaussianClassifier(estimator, random_state=0), X, y))
    assert digests[0] == digests[1]


@pytest.mark.parametrize("feature_map", ["none", "kernel"])
def test_number_of_threads_changes_no_bit_of_a_second_opinion(skewed, feature_map, monkeypatch):
    monkeypatch.setattr("rehead.gaussian.threads.WORTH_IT", 0.0)
    X, y = skewed(3000)
    digests = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            model = RobustGaussianClassifier(feature_map=feature_map, random_state=0)
            digests.append(digest(model, X, y))
            assert model.fitted_.second is not None
    assert digests[0] == digests[1]


def digest(model, X, y):
    """Everything that a fit gives, to the last bit."""
    model.fit(X, y)
    found = [model.coef_, model.covariance_, model.predict_proba(X), model.score_samples(X)]
    found += [score_labels(model, X, y).quality, typicality(model, X)]
    return hashlib.sha256(b"".join(np.ascontiguousarray(f).tobytes() for f in found)).hexdigest()


PROGRAM = """
import numpy as np, sys, warnings
sys.path.insert(0, {tests!r})
from test_threads import digest
from rehead import LayerEnsemble, RobustGaussianClassifier
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
y = rng.integers(3, size=900)
for n, d, dtype in ((900, 40, np.float64), (900, 150, np.float32)):
    X = (rng.normal(size=(n, d)) + 2 * rng.normal(size=(3, d))[y]).astype(dtype)
    for name in ("auto", "mcd", "sample", "trimmed-kmeans"):
        print(digest(RobustGaussianClassifier(name, random_state=0), X, y))
layers = {{"a": X[:, :60], "b": X[:, 60:]}}
model = LayerEnsemble(random_state=0).fit(
    {{n: F[:600] for n, F in layers.items()}}, y[:600],
    ({{n: F[600:] for n, F in layers.items()}}, y[600:]))
print(model.weights_.tobytes().hex(), model.predict_proba(layers).tobytes().hex())
"""


def test_processes_with_other_numbers_of_threads_agree_to_the_last_bit():
    program = PROGRAM.format(tests=str(Path(__file__).parent))
    found = []
    for threads in ("1", "2"):
        env = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-c", program]
        found.append(subprocess.run(command, env=env, capture_output=True, text=True, check=True))
    assert found[0].stdout
    assert found[0].stdout == found[1].stdout


def limits():
    """Threads of each BLAS in the process."""
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return [(library["filepath"], library["num_threads"]) for library in libraries]


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_fits_at_the_same_time_agree_and_give_the_threads_back(blobs):
    X, y = blobs(sizes=(150,) * 3, d=20, distance=1.0)
    names = ["auto", "mcd", "sample", "agreement"] * 6
    with threadpool_limits(2, user_api="blas"):
        before = limits()
        alone = {n: digest(RobustGaussianClassifier(n, random_state=0), X, y) for n in set(names)}
        with ThreadPoolExecutor(8) as pool:
            together = pool.map(
                lambda n: (n, digest(RobustGaussianClassifier(n, random_state=0), X, y)), names
            )
            assert all(alone[name] == found for name, found in together)
        assert limits() == before


def test_the_last_one_out_gives_the_threads_back():
    with threadpool_limits(2, user_api="blas"):
        before = limits()
        inside, leave = threading.Barrier(3), threading.Event()

        def hold():
            with own_threads():
                inside.wait()
                leave.wait()

        holders = [threading.Thread(target=hold) for _ in range(2)]
        for holder in holders:
            holder.start()
        inside.wait()
        with own_threads(), own_threads():
            pass
        assert {n for _, n in limits()} == {1}  # two are still at work
        leave.set()
        for holder in holders:
            holder.join()
        assert limits() == before


def test_an_error_gives_the_threads_back():
    with threadpool_limits(2, user_api="blas"):
        before = limits()
        with pytest.raises(ZeroDivisionError), own_threads():
            raise ZeroDivisionError
        assert limits() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_its_threads():
    with threadpool_limits(2, user_api="blas"), own_threads():
        child = os.fork()
        if child == 0:
            os._exit(0 if n_threads() == 2 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
