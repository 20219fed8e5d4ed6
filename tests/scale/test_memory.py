"""A fit, predictions and an audit of features that would not fit in memory, under a real limit."""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from tests.test_out_of_core import write_store

from rehead import RobustGaussianClassifier, _typing, score_labels
from rehead.files.rows import stored_file

resource = pytest.importorskip("resource", reason="limits are those of Unix")

N, D, C = 160_000, 192, 10
SIZE = N * D * 4
"""Bytes of the features in memory: 123 MB."""
ROOM = 72 * 2**20
"""Beside what Python and its libraries take."""

LIMITED = """
import resource, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels
from rehead.files.store import FeatureStore

folder, room, estimator = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, 4)), rng.integers(3, size=3000)  # all that is loaded once
RobustGaussianClassifier(estimator, random_state=0, **eval(sys.argv[4])).fit(X, y)
store = FeatureStore(folder)
rows, labels = store.rows("a"), np.array(store.labels)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
try:
    np.empty(rows.shape, np.float32)
    raise SystemExit("the limit is none")
except MemoryError:
    pass
model = RobustGaussianClassifier(estimator, random_state=0, **eval(sys.argv[4])).fit(rows, labels)
right = model.predict(rows) == labels
report = score_labels(model, rows, labels)
print(right.mean(), report.noise_rate)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.integers(C, size=N)
    X = rng.standard_normal((N, D), dtype="f4")
    X += rng.standard_normal((C, D), dtype="f4")[y]
    noisy = np.where(rng.random(N) < 0.2, rng.integers(C, size=N), y)
    path = tmp_path_factory.mktemp("large") / "s"
    write_store(path, {"a": X.astype("f2")}, noisy, shard_rows=20_000)
    return path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("estimator", "settings"),
    [
        ("mcd", "{}"),
        pytest.param("auto", "{'feature_map': 'none'}", marks=pytest.mark.slow),
    ],
)
def test_features_that_do_not_fit_in_memory(folder, estimator, settings):
    assert SIZE > 1.5 * ROOM
    command = [sys.executable, "-c", LIMITED, str(folder), str(ROOM), estimator, settings]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        # Threads have address space of their own, which is not memory.
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    right, noise = map(float, done.stdout.split())
    assert right > 0.75
    assert 0.1 < noise < 0.3


FIT, REPORT, WORK = 40, 125, 35
"""Bytes a row, of the table in docs/how-to/scale.md: a fit; a report, and what it is made with."""


def traced_peak(work):
    """What comes of some work, and the most bytes that it took."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    found = work()
    return found, tracemalloc.get_traced_memory()[1] - before


def peaks(folder, n, model):
    """Most bytes of a fit, of predictions, and of an audit of n rows of 8 features on disk."""
    rng = np.random.default_rng(0)
    y = rng.integers(C, size=n)
    X = (rng.standard_normal((n, 8)) + 2 * rng.standard_normal((C, 8))[y]).astype("f2")
    np.save(folder / f"{n}.npy", X)
    rows = stored_file(folder / f"{n}.npy")
    y[::5] = rng.integers(C, size=len(y[::5]))
    tracemalloc.start()
    try:
        _, fit = traced_peak(lambda: model.fit(rows, y))
        _, predict = traced_peak(lambda: model.predict(rows))
        _, audit = traced_peak(lambda: score_labels(model, rows, y))
    finally:
        tracemalloc.stop()
    return np.array([fit, predict, audit])


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_bytes_a_row(tmp_path, monkeypatch):
    monkeypatch.setattr(_typing, "ENTRIES", 2**16)  # tables of scores do not grow with rows
    few, many = 60_000, 120_000
    model = RobustGaussianClassifier("mcd", random_state=0)
    more = peaks(tmp_path, many, model) - peaks(tmp_path, few, model)
    fit, predict, audit = more / (many - few)
    assert 15 < fit <= FIT
    assert 8 <= predict <= 16
    assert REPORT < audit <= REPORT + WORK


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_bytes_of_the_default(tmp_path, monkeypatch):
    monkeypatch.setattr(_typing, "ENTRIES", 2**16)
    n, model = 200_000, RobustGaussianClassifier(feature_map="none", random_state=0)
    fit, _, audit = peaks(tmp_path, n, model)
    of_sample = 750_000 * C + 80_000 * (8 + C)  # what noise and regression are measured on
    assert 24 * n < fit <= FIT * n + of_sample
    assert REPORT * n < audit <= (REPORT + WORK) * n + 24 * (8 + C) * 8192
