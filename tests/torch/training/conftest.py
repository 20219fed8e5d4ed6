"""A small noisy problem, small networks, and ways to compare runs."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch.models import FCN
from rehead.torch.training import Recipe, train
from rehead.torch.training.loop import make_optimizer
from rehead.torch.training.method import Batch, Moment

from .killed import ConvNet


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def noisy():
    """Three classes in six dimensions, 96 samples, 40 % of the labels drawn anew."""
    rng = np.random.default_rng(0)
    true = np.arange(96) % 3
    X = (rng.normal(size=(96, 6)) + 3 * np.eye(6)[true]).astype(np.float32)
    y = np.where(rng.random(96) < 0.4, rng.integers(3, size=96), true)
    return SimpleNamespace(X=X, y=y, true=true)


@pytest.fixture
def make_net():
    return lambda: FCN(6, 3, hidden=(8,))


@pytest.fixture
def conv_net():
    """Convolutions, batch normalisation and dropout: whatever has a state or draws numbers."""
    return ConvNet


@pytest.fixture
def images():
    rng = np.random.default_rng(1)
    return rng.integers(256, size=(50, 3, 8, 8), dtype=np.uint8), np.arange(50) % 3


@pytest.fixture
def recipe():
    return Recipe(epochs=3, batch_size=16, learning_rate=0.05, schedule="constant")


@pytest.fixture
def fit(noisy, make_net, recipe):
    """Train the small network on the noisy problem."""

    def run(method="cross-entropy", **options):
        defaults = {"X": noisy.X, "y": noisy.y, "recipe": recipe, "device": "cpu"}
        arguments = defaults | options
        return train(
            arguments.pop("make_net", make_net),
            arguments.pop("X"),
            arguments.pop("y"),
            method=method,
            **arguments,
        )

    return run


@pytest.fixture
def same():
    """Whether two networks have the same state, to the bit."""

    def compare(a: nn.Module, b: nn.Module) -> bool:
        a_state, b_state = a.state_dict(), b.state_dict()
        return list(a_state) == list(b_state) and all(
            torch.equal(a_state[name], b_state[name]) for name in a_state
        )

    return compare


@pytest.fixture
def numbers():
    """A run's history without the seconds, which differ from run to run."""

    def strip(history):
        return [{k: v for k, v in entry.items() if k != "seconds"} for entry in history]

    return strip


@pytest.fixture
def bench():
    """Networks with optimisers, a batch for them, and a moment: all that one step takes."""

    def make(n=20, classes=3, networks=2, seeds=(0, 1), momentum=0.0, epoch=0):
        nets = []
        for seed in seeds[:networks]:
            torch.manual_seed(seed)
            nets.append(FCN(6, classes, hidden=(8,)))
        torch.manual_seed(9)
        recipe = Recipe(epochs=100, learning_rate=0.1, momentum=momentum, weight_decay=0.01)
        return SimpleNamespace(
            nets=nets,
            optimizers=[make_optimizer(net, recipe) for net in nets],
            x=torch.randn(n, 6),
            batch=Batch(
                torch.randint(classes, (n,)), torch.zeros(n, dtype=torch.bool), torch.arange(n)
            ),
            moment=Moment(epoch, 100, epoch * 10, 1000),
        )

    return make
