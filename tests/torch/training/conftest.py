"""A small noisy problem, small networks, and ways to compare runs."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rehead.torch.models import FCN
from rehead.torch.training import Recipe, Run, train
from rehead.torch.training.epochs import step
from rehead.torch.training.method import Batch, Method, Moment
from rehead.torch.training.optimizers import make_optimizer
from rehead.torch.training.state import State

from .killed import ConvNet

OF_RUN = {field.name for field in fields(Run)}


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
    """Train the small network on the noisy problem; options of ``train`` and of ``Run``."""

    def run(method="cross-entropy", **options):
        defaults = {"make_net": make_net, "X": noisy.X, "y": noisy.y, "recipe": recipe}
        arguments = defaults | {"device": "cpu"} | options
        of_run = {name: arguments.pop(name) for name in OF_RUN & arguments.keys()}
        samples = [arguments.pop(name) for name in ("make_net", "X", "y")]
        return train(*samples, method=method, run=Run(**of_run), **arguments)

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
def close():
    """Whether two networks have about the same parameters."""

    def compare(a: nn.Module, b: nn.Module) -> bool:
        pairs = zip(a.parameters(), b.parameters(), strict=True)
        return all(torch.allclose(p, q, atol=1e-4) for p, q in pairs)

    return compare


@pytest.fixture
def numbers():
    """A run's history without the seconds, which differ from run to run."""

    def strip(history):
        return [
            {k: v for k, v in entry.items() if k not in ("seconds", "cpu_seconds")}
            for entry in history
        ]

    return strip


@pytest.fixture
def bench():
    """Networks with optimisers, a batch for them, and a moment: all that one step takes."""

    def make(seeds=(0, 1), momentum=0.0, epoch=0):
        nets = []
        for seed in seeds:
            torch.manual_seed(seed)
            nets.append(FCN(6, 3, hidden=(8,)))
        torch.manual_seed(9)
        recipe = Recipe(epochs=100, learning_rate=0.1, momentum=momentum, weight_decay=0.01)
        return SimpleNamespace(
            state=State(nets, [make_optimizer(net, recipe) for net in nets]),
            x=torch.randn(20, 6),
            batch=batch_of(torch.randint(3, (20,))),
            moment=Moment(epoch, 100, epoch * 10, 1000),
        )

    return make


class Logits(nn.Module):
    """A network whose logits are parameters, so that their gradient can be read off."""

    def __init__(self, z: Tensor) -> None:
        super().__init__()
        self.z = nn.Parameter(z.clone())

    def forward(self, x: Tensor) -> Tensor:
        return self.z


def batch_of(y: Tensor) -> Batch:
    return Batch(y, torch.zeros(len(y), dtype=torch.bool), torch.arange(len(y)))


@pytest.fixture
def gradients():
    """Gradients of two networks' logits, as a step of a method uses them."""

    def of(first: Tensor, second: Tensor, y: Tensor, method: Method, epoch: int = 0):
        nets: list[nn.Module] = [Logits(first), Logits(second)]
        state = State(nets, [torch.optim.SGD(net.parameters(), lr=1.0) for net in nets])
        moment = Moment(epoch, 100, epoch, 100)
        step(state, method, torch.zeros(len(y), 1), batch_of(y), moment)
        return [z - net.z.detach() for z, net in zip((first, second), nets, strict=True)]

    return of
