"""Fits that are stopped: they go on, to the same bits, or say why they cannot."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier
from rehead.checkpoint import Checkpoint, CheckpointError, checkpoint, digest
from rehead.files.atomic import replacing
from rehead.files.rows import stored_file
from rehead.gaussian import ESTIMATORS
from tests.test_out_of_core import OTHER_WAYS, same, write_store

pytestmark = pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
N, C = 1200, 4


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    y = rng.integers(C, size=N)
    layers = {
        name: (rng.normal(size=(N, d)) + 2.0 * rng.normal(size=(C, d))[y]).astype("f4")
        for name, d in (("a", 8), ("b", 5))
    }
    return layers, np.where(rng.random(N) < 0.3, rng.integers(C, size=N), y)


@pytest.fixture(scope="module")
def store(noisy, tmp_path_factory):
    layers, y = noisy
    return write_store(tmp_path_factory.mktemp("store") / "s", layers, y, shard_rows=500)


@pytest.fixture
def everything_is_kept(monkeypatch):
    monkeypatch.setattr("rehead.checkpoint.LEAST_SECONDS", 0.0)
    monkeypatch.setattr("rehead.checkpoint.BYTES_A_SECOND", np.inf)


class StoppedError(Exception):
    pass


def stop_after(monkeypatch, n):
    """A fit is stopped when it has kept ``n`` more steps; what they are is returned."""
    keep, kept = Checkpoint.keep, []

    def keep_some(self, key, result, seconds):
        if len(kept) == n:
            raise StoppedError
        kept.append(key)
        keep(self, key, result, seconds)

    monkeypatch.setattr(Checkpoint, "keep", keep_some)
    return kept


def fit_and_stop(fit, folder, found):
    with checkpoint(folder):
        found.append(fit())
        raise StoppedError


def continued(fit, folder, monkeypatch):
    """What a fit gives that is stopped several times, and what it gives if all is remembered.

    No step is done twice.
    """
    steps, found = [], []
    for n in (1, 5, 4, 10**6, 0):
        with monkeypatch.context() as patch:
            now = stop_after(patch, n)
            with pytest.raises(StoppedError):
                fit_and_stop(fit, folder, found)
        steps += now
        assert len(list(folder.glob("step-*"))) == len(set(steps)) == len(steps)
    return found[-2:]


WAYS = {name: {"estimator": name} for name in sorted(ESTIMATORS)} | OTHER_WAYS


@pytest.mark.parametrize("params", WAYS.values(), ids=WAYS.keys())
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(
    params, store, tmp_path, monkeypatch, everything_is_kept
):
    X = store.rows("a")

    def fit():
        return RobustGaussianClassifier(**params, random_state=0).fit(X, store.labels)

    whole = fit()
    for found in continued(fit, tmp_path / "c", monkeypatch):
        same(whole, found)
        np.testing.assert_array_equal(whole.predict_proba(X), found.predict_proba(X))


def test_steps_of_one_giant_class_are_kept(store, tmp_path, monkeypatch, everything_is_kept):
    monkeypatch.setattr("rehead.gaussian.split.PART_ROWS", 512)
    monkeypatch.setattr("rehead.gaussian.classwise.classes_to_split", lambda *sizes: {0})
    labels = np.where(np.arange(N) % 10 == 0, 1, 0)

    def fit():
        return RobustGaussianClassifier("mcd", random_state=0).fit(store.rows("a"), labels)

    whole = fit()
    for found in continued(fit, tmp_path / "c", monkeypatch):
        same(whole, found)
    n_classes, start_and_distances = 2, 2
    assert len(list((tmp_path / "c").glob("step-*"))) >= n_classes + start_and_distances


@pytest.mark.parametrize("params", [{}, {"estimator": "mcd", "weights": "equal"}])
def test_so_does_an_ensemble(params, store, tmp_path, monkeypatch, everything_is_kept):
    layers = {name: store.rows(name) for name in store.layers}

    def fit():
        return LayerEnsemble(**params, random_state=0).fit(layers, store.labels)

    whole = fit()
    for found in continued(fit, tmp_path / "c", monkeypatch):
        np.testing.assert_array_equal(whole.predict_proba(layers), found.predict_proba(layers))
        for name, member in whole.fitted_.members.items():
            same(member, found.fitted_.members[name])


KILLED = """
import os, signal, sys, time, warnings
from pathlib import Path
warnings.simplefilter("ignore")
import rehead.checkpoint
from rehead import RobustGaussianClassifier
from rehead.files.store import FeatureStore
rehead.checkpoint.LEAST_SECONDS, rehead.checkpoint.BYTES_A_SECOND = 0.0, float("inf")
store, folder = FeatureStore(sys.argv[1]), Path(sys.argv[2])

def fit():
    model = RobustGaussianClassifier("auto", random_state=0)
    model.fit(store.rows("a"), store.labels, checkpoint=folder)
    model.save(sys.argv[3])

for seconds in map(float, sys.argv[4:]):
    child = os.fork()
    if child == 0:
        fit()
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    print(os.WIFSIGNALED(status), len(list(folder.glob("step-*"))))
fit()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills with -9")
def test_a_fit_that_is_killed_at_any_moment_goes_on_to_the_same_bits(store, tmp_path):
    folder, file, expected = tmp_path / "c", tmp_path / "m", tmp_path / "expected"
    model = RobustGaussianClassifier("auto", random_state=0).fit(store.rows("a"), store.labels)
    model.save(expected)
    moments = ["0.05", "0.11", "0.17", "0.23", "0.31"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(store.path), str(folder), str(file), *moments],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kills = [line.split() for line in done.stdout.splitlines()]
    assert "True" in {killed for killed, _ in kills}, "it was never killed"
    assert max(int(steps) for _, steps in kills), "nothing was kept"
    assert file.read_bytes() == expected.read_bytes()
    assert not folder.exists()


@pytest.fixture
def stopped(store, tmp_path, monkeypatch, everything_is_kept):
    """The folder that a fit has left behind."""
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        with pytest.raises(StoppedError):
            fit_of(store, tmp_path / "c")
    return tmp_path / "c"


def fit_of(store, folder, labels=None, layer="a", **params):
    labels = store.labels if labels is None else labels
    model = RobustGaussianClassifier(**{"random_state": 0, **params})
    return model.fit(store.rows(layer), labels, checkpoint=folder)


def test_another_fit_is_an_error_that_says_what_differs(store, stopped, monkeypatch):
    y = store.labels.copy()
    y[0] = (y[0] + 1) % C
    for change, what in [
        ({"labels": y}, "labels were not the same"),
        ({"layer": "b"}, "features were not the same"),
        ({"priors": "uniform"}, "settings were not the same"),
        ({"random_state": 1}, "the random state were not the same"),
        ({"layer": "b", "labels": y}, "labels and features were not the same"),
    ]:
        with pytest.raises(CheckpointError, match=rf"another fit: {what}.*delete the folder"):
            fit_of(store, stopped, **change)
    with monkeypatch.context() as patch:
        patch.setattr("rehead.checkpoint.version", lambda name: "0.0")
        with pytest.raises(CheckpointError, match="versions were not the same"):
            fit_of(store, stopped)
    fit_of(store, stopped)  # nothing of it was lost
    assert not stopped.exists()


def test_a_damaged_step_is_an_error_that_names_it(store, stopped):
    file = sorted(stopped.glob("step-*"))[0]
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"{file.name} is damaged .* Delete it"):
        fit_of(store, stopped)
    file.unlink()
    same(fit_of(store, None), fit_of(store, stopped))


def test_a_step_is_not_taken_for_another(store, stopped):
    first, second, *_ = sorted(stopped.glob("step-*"))
    second.write_bytes(first.read_bytes())
    with pytest.raises(CheckpointError, match="was renamed"):
        fit_of(store, stopped)


def test_what_was_half_written_is_removed(store, stopped):
    half = stopped / ".step-0.safetensors.0123456789abcdef.rehead"
    half.write_bytes(b"half")
    fit_of(store, stopped)
    assert not stopped.exists()


def test_a_folder_of_other_things_is_left_alone(store, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CheckpointError, match=r"no checkpoint: it holds mine\.txt"):
        fit_of(store, tmp_path)
    with pytest.raises(CheckpointError, match=r"mine\.txt is a file"):
        fit_of(store, tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_two_fits_do_not_share_a_checkpoint(store, tmp_path):
    with (
        checkpoint(tmp_path / "c"),
        pytest.raises(CheckpointError, match="Another process is at work"),
    ):
        fit_of(store, tmp_path / "c")


def test_without_a_seed_there_is_nothing_to_go_on_from(store, tmp_path):
    with pytest.raises(ValueError, match="needs a random_state"):
        fit_of(store, tmp_path / "c", random_state=None)
    assert not (tmp_path / "c").exists()  # no step was done


def test_a_full_disk_does_not_stop_the_fit(store, tmp_path, monkeypatch, everything_is_kept):
    def full(*args):
        raise OSError("Cannot write it: No space left on device. No file was changed")

    monkeypatch.setattr("rehead.checkpoint.write_model", full)
    with pytest.warns(ReheadWarning, match="No space left.*The fit goes on"):
        found = fit_of(store, tmp_path / "c")
    same(fit_of(store, None), found)


def test_only_what_takes_long_is_kept(tmp_path):
    with checkpoint(tmp_path / "c") as kept:
        kept.keep("short", np.zeros(1), 0.01)
        kept.keep("large", np.zeros(10**7), 3.0)
        kept.keep("worth it", np.zeros(10), 0.2)
        assert [f.name for f in (tmp_path / "c").glob("step-*")] == ["step-worth it.safetensors"]


def test_what_is_kept_comes_back_as_it_was(tmp_path, everything_is_kept):
    by_column = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    value = (by_column, [1, None, True, 0.1, np.inf], np.float32(0.1), np.zeros((0, 2)), ("x",))
    with checkpoint(tmp_path / "c") as kept:
        kept.keep("k", value, 1.0)
        array, plain, one, empty, text = kept.recall("k")
    assert array.flags.f_contiguous
    assert array.flags.writeable
    np.testing.assert_array_equal(array, by_column)
    assert plain == (1, None, True, 0.1, np.inf)
    assert type(one) is np.float32
    assert one == np.float32(0.1)
    assert empty.shape == (0, 2)
    assert text == ("x",)


def test_values_are_told_apart(tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    for name in ("a", "b"):
        np.save(tmp_path / f"{name}.npy", X)
    rows = stored_file(tmp_path / "a.npy")
    values = [
        None, 1, 1.0, True, "1", b"1", [1], (1,), [[1]], {"a": 1}, {"b": 1}, [1, 1], slice(1),
        X, X.T, X.astype("f4"), X[:3], np.array([None, "a"], object), rows, rows.between(0, 3),
        stored_file(tmp_path / "b.npy"), rows.astype("f4"), sorted, partial(np.add, 1),
        partial(np.add, 2), partial(digest, 1), digest, fit_of, np.float64, np.dtype("f8"),
    ]  # fmt: skip
    known = [value for value in values if not (value is sorted or "ufunc" in repr(value))]
    assert len({digest(value) for value in known}) == len(known)
    with pytest.raises(TypeError, match="cannot tell one object from another"):
        digest(object())
    with pytest.raises(TypeError, match="cannot tell one function from another"):
        digest((lambda y: lambda: y)(1))  # what it holds is not seen


def test_replacing_leaves_names_that_are_known(tmp_path):
    """What a killed process leaves in a checkpoint is what is removed from it."""
    with replacing(tmp_path / "step-0.safetensors") as file:
        names = [path.name for path in tmp_path.iterdir()]
        file.write(b"x")
    assert all(n.startswith(".step-") and n.endswith(".rehead") for n in names)
