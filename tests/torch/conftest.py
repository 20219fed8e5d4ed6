"""Small networks of the kinds people have, and one that was trained on noisy labels."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rehead.torch import RobustHead


class ResidualBlock(nn.Module):
    def __init__(self, inside: int, outside: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(out)) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, 1, 1)
        self.layer1 = nn.Sequential(ResidualBlock(8, 8), ResidualBlock(8, 8))
        self.layer2 = nn.Sequential(ResidualBlock(8, 12, 2), ResidualBlock(12, 12))
        self.layer3 = nn.Sequential(ResidualBlock(12, 16, 2), ResidualBlock(16, 16))
        self.fc = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.layer3(self.layer2(self.layer1(torch.relu(self.conv1(x)))))
        return self.fc(x.mean((2, 3)))


class DenseLayer(nn.Module):
    def __init__(self, inside: int, growth: int) -> None:
        super().__init__()
        self.bn, self.conv = nn.BatchNorm2d(inside), nn.Conv2d(inside, growth, 3, 1, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.conv(torch.relu(self.bn(x)))], dim=1)


class DenseNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, 1, 1)
        self.block1 = nn.Sequential(DenseLayer(6, 4), DenseLayer(10, 4))
        self.transition = nn.Sequential(nn.BatchNorm2d(14), nn.ReLU(), nn.AvgPool2d(2))
        self.block2 = nn.Sequential(DenseLayer(14, 4), DenseLayer(18, 4))
        self.bn = nn.BatchNorm2d(22)
        self.classifier = nn.Linear(22, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.block2(self.transition(self.block1(self.conv1(x))))
        return self.classifier(torch.relu(self.bn(x)).mean((2, 3)))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 12)
        layer = nn.TransformerEncoderLayer(12, 2, 24, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.out = nn.Linear(12, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(self.encoder(self.embedding(tokens)).mean(dim=1))


class TupleNet(nn.Module):
    """Returns (logits, features), and has a layer that returns a tuple too."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(4, 6, batch_first=True)
        self.out = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        states, _ = self.rnn(x)
        return self.out(states[:, -1]), states


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(5, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 7), nn.ReLU(), nn.Linear(7, 3)
    )


def conv1d() -> nn.Module:
    return nn.Sequential(
        nn.Conv1d(4, 6, 3, padding=1),
        nn.ReLU(),
        nn.Conv1d(6, 9, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(9, 3),
    )


def images(n: int) -> Tensor:
    return torch.randn(n, 3, 8, 8)


KINDS = {
    "resnet": (ResNet, images),
    "densenet": (DenseNet, images),
    "mlp": (mlp, lambda n: torch.randn(n, 5)),
    "conv1d": (conv1d, lambda n: torch.randn(n, 4, 10)),
    "transformer": (Encoder, lambda n: torch.randint(0, 40, (n, 7))),
    "tuple": (TupleNet, lambda n: torch.randn(n, 6, 4)),
}


@pytest.fixture
def network():
    """Make a network of a kind (in evaluation mode), inputs for it, and three balanced classes."""

    def make(kind: str, n: int = 60) -> SimpleNamespace:
        torch.manual_seed(0)
        factory, inputs = KINDS[kind]
        x = inputs(n)
        return SimpleNamespace(net=factory().eval(), x=x, y=torch.arange(n) % 3)

    return make


@pytest.fixture
def twin():
    """Assert that arrays are the same up to single precision."""

    def check(a, b, atol=1e-5):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), atol=atol, rtol=1e-4)

    return check


@pytest.fixture(scope="session")
def trained():
    """A network trained on noisy labels: samples to train on, held-out ones, and clean new ones."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        y = torch.arange(600) % 3
        x = torch.randn(600, 5) + 3.0 * torch.eye(3, 5)[y]
        noisy = torch.where(torch.rand(600) < 0.3, (y + 1) % 3, y)
        net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
        for _ in range(150):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[:400]), noisy[:400]).backward()
            optimizer.step()
    return SimpleNamespace(
        net=net,
        x=x,
        noisy=noisy,
        wrong=(noisy != y)[:400].numpy(),
        train=(x[:400], noisy[:400]),
        held_out=(x[400:500], noisy[400:500]),
        new=(x[500:], y[500:]),
    )


@pytest.fixture(scope="session")
def head(trained):
    """A head of the trained network that knows its samples by name; not to be changed."""
    x, noisy = trained.train
    ids = [f"sample {i}" for i in range(400)]
    train = [(x[i : i + 50], noisy[i : i + 50], ids[i : i + 50]) for i in range(0, 400, 50)]
    head = RobustHead(trained.net, estimator="posterior", random_state=0)
    return head.fit(train, validation=trained.held_out)


@pytest.fixture(scope="session")
def audited():
    """A head with the default estimator, loaders with ids, and which tenth of labels is wrong."""
    rng = np.random.default_rng(0)
    truth = np.arange(900) % 3
    x = torch.as_tensor(rng.normal(size=(900, 6)) + 4 * np.eye(3, 6)[truth], dtype=torch.float32)
    wrong = rng.random(900) < 0.1
    y = torch.as_tensor(np.where(wrong, (truth + 1) % 3, truth))
    ids = [f"img{i}" for i in range(900)]

    def loader(a, b):
        return [(x[i : i + 100], y[i : i + 100], ids[i : i + 100]) for i in range(a, b, 100)]

    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    head = RobustHead(net, random_state=0)
    head.fit(loader(0, 500), validation=loader(500, 700), baselines=["paper", "sample"])
    return SimpleNamespace(head=head, loader=loader, wrong=wrong)
