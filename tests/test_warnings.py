"""Every warning points at the line of the user's that led to it."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import rehead
from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier, abstention_threshold
from rehead import _warnings as ours
from rehead.evaluation.baselines import fit_baselines

PACKAGE = Path(rehead.__file__).parent
GENERATOR = """
from contextlib import contextmanager
from rehead._warnings import warn

@contextmanager
def manager():
    warn("inside")
    yield
"""
TOO_SMALL = np.array([[0.0], [1.0], [2.0]]), [0, 0, 1]
"""Samples and labels; of the second class there is only one."""


def warned_about(call):
    """Messages of the warnings of a call on one line, all of which must point at that line."""
    with pytest.warns(ReheadWarning) as caught:
        call()
    code = call.__code__
    assert {(w.filename, w.lineno) for w in caught} == {(code.co_filename, code.co_firstlineno)}
    return [str(w.message) for w in caught]


def defined_in(file, source):
    """What a module would define if it were there."""
    names = {}
    exec(compile(source, str(file), "exec"), names)
    return names


def layers_of(X):
    return {"early": X, "late": 2 * X**2}


class TestOfOurs:
    def test_classifier(self):
        clf = RobustGaussianClassifier("sample")
        assert "one sample only" in warned_about(lambda: clf.fit(*TOO_SMALL))[0]

    def test_ensemble_that_finds_a_consensus(self, blobs):
        X, y = blobs()
        ensemble = LayerEnsemble(random_state=0)
        told = warned_about(lambda: ensemble.fit(layers_of(X), y))
        assert "No held-out samples were given" in told[0]

    def test_consensus_of_layers_of_which_two_are_the_same(self, blobs):
        X, y = blobs()
        layers, ensemble = {"one": X, "other": X.copy()}, LayerEnsemble(random_state=0)
        held_out = {name: Z[:90] for name, Z in layers.items()}, y[:90]
        train = {name: Z[90:] for name, Z in layers.items()}
        told = warned_about(lambda: ensemble.fit(train, y[90:], held_out))
        assert any("other is identical to layer one" in text for text in told)

    def test_held_out_samples_that_are_training_samples_or_lack_a_class(self, blobs):
        X, y = blobs()
        layers, ensemble = {"layer": X}, LayerEnsemble(random_state=0)
        held_out = {"layer": X[y > 0] + 1e-3}, y[y > 0], np.flatnonzero(y > 0)
        told = warned_about(lambda: ensemble.fit(layers, y, held_out, ids=np.arange(len(y))))
        assert "120 of 120 validation samples have ids of training samples" in told[0]
        assert "No held-out sample is labelled 0" in told[1]

    def test_ensemble_of_the_paper(self, blobs):
        X, y = blobs(sizes=(20, 4), d=5)
        ensemble = LayerEnsemble(preset="paper", weights="equal", random_state=0)
        told = warned_about(lambda: ensemble.fit(layers_of(X), y))
        # What layers have in common is said once.
        assert [text.split(":")[0] for text in told] == ["layers early, late"]
        assert "too few samples to trim" in told[0]

    def test_abstention(self, fitted):
        clf, X, y = fitted
        told = warned_about(lambda: abstention_threshold(clf, X[:9], y[:9], checked=True))
        assert "No threshold can promise" in told[0]

    def test_head(self):
        torch = pytest.importorskip("torch")
        from rehead.torch import RobustHead, extract_features

        torch.manual_seed(0)
        y = torch.arange(90) % 3
        x = torch.randn(90, 4) + 4 * torch.eye(3, 4)[y]
        net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
        head = RobustHead(net, random_state=0)
        told = warned_about(lambda: head.fit((x, y)))
        assert "No held-out samples were given" in told[0]
        told = warned_about(lambda: head.abstention_threshold((x[:9], y[:9]), checked=True))
        assert "No threshold can promise" in told[0]
        sampler = torch.utils.data.WeightedRandomSampler([1.0] * 90, 90)
        data = torch.utils.data.TensorDataset(x, y)
        loader = torch.utils.data.DataLoader(data, sampler=sampler, batch_size=30)
        told = warned_about(lambda: extract_features(net, loader, ["1"]))
        assert "WeightedRandomSampler" in told[0]

    def test_baselines_of_a_head(self):
        torch = pytest.importorskip("torch")
        from rehead.torch import RobustHead

        torch.manual_seed(0)
        y = torch.arange(60) % 3
        x = torch.randn(60, 4) + 4 * torch.eye(3, 4)[y]
        net = torch.nn.Sequential(torch.nn.Linear(4, 30), torch.nn.ReLU(), torch.nn.Linear(30, 3))
        head = RobustHead(net, estimator="identity")
        told = warned_about(lambda: head.fit((x, y), baselines=["paper"]))
        assert "too few samples to trim" in told[0]


class TestWarn:
    def test_the_category_is_public(self):
        assert rehead.ReheadWarning is ours.ReheadWarning
        assert issubclass(ReheadWarning, UserWarning)

    def test_a_generator_of_ours_is_not_the_user_s_line(self):
        names = defined_in(PACKAGE / "made_up.py", GENERATOR)
        assert warned_about(lambda: names["manager"]().__enter__()) == ["inside"]

    @pytest.mark.parametrize("folder", ["elsewhere", f"{PACKAGE}_plugin"])
    def test_other_packages_are_the_user_whatever_they_are_called(self, folder):
        file = f"{folder}/theirs.py"
        names = defined_in(file, "from rehead._warnings import warn\ndef f():\n    warn('here')\n")
        with pytest.warns(ReheadWarning, match="here") as caught:
            names["f"]()
        assert (caught[0].filename, caught[0].lineno) == (file, 3)


class TestInThreads:
    """``warnings.catch_warnings`` in two threads can leave the filters of the process changed."""

    @pytest.fixture(autouse=True)
    def _often(self):
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # so that threads meet
        yield
        sys.setswitchinterval(before)

    def test_filters_are_as_before(self):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=60)
        layers = {"a": rng.normal(size=(60, 2)) + 3 * y[:, None], "b": rng.normal(size=(60, 2))}
        before = list(warnings.filters)

        def fit(i):
            if i % 2:
                fit_baselines(["sample"], layers, y, None, 0)
            else:
                LayerEnsemble("mcd", weights="equal", random_state=0).fit(layers, list(y))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(fit, range(48)))
        assert warnings.filters == before

    def test_no_module_that_runs_in_threads_changes_them(self):
        # The command line may: it is the main thread of its own process. So may experiments, of
        # which several run in processes, not in threads.
        found = [
            file.relative_to(PACKAGE).as_posix()
            for file in PACKAGE.rglob("*.py")
            if "catch_warnings(" in file.read_text(encoding="utf-8")
        ]
        assert [name for name in found if not name.startswith("experiments/")] == ["cli/program.py"]

    def test_each_thread_has_its_own_prefix(self):
        def say(i):
            with ours.prefixed(f"{i}: "):
                ours.warn("something")

        with pytest.warns(ReheadWarning) as said, ThreadPoolExecutor(4) as pool:
            list(pool.map(say, range(8)))
        assert sorted(str(w.message) for w in said) == [f"{i}: something" for i in range(8)]
