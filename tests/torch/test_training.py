import numpy as np
import torch

from rehead.torch.models import FCN
from rehead.torch.training import train


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 8)).astype(np.float32), rng.integers(3, size=60)


def trained(epochs: int = 400, **options: float) -> tuple[FCN, float, list[float]]:
    torch.manual_seed(0)
    net = FCN(8, 3, hidden=(32,))
    seen: list[float] = []
    fitted = train(
        net,
        *data(),
        epochs=epochs,
        batch_size=20,
        learning_rate=0.01,
        seed=0,
        on_epoch=lambda _, share: seen.append(share),
        **options,
    )
    return net, fitted, seen


def test_random_labels_are_memorised_and_training_stops_then() -> None:
    _, fitted, seen = trained(stop_when_fitted=0.95)
    assert fitted >= 0.95
    assert len(seen) < 400
    assert all(share < 0.95 for share in seen[:-1])


def test_the_same_seed_gives_the_same_weights() -> None:
    a, b = trained(epochs=5)[0], trained(epochs=5)[0]
    assert all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))
