import pytest
import torch

from rehead.torch.models import FCN


@pytest.mark.parametrize(
    ("in_features", "num_classes", "parameters"),
    [(150, 19, 109_331), (150, 25, 110_873), (1000, 7, 323_847)],
)
def test_fcn_has_the_published_number_of_parameters(
    in_features: int, num_classes: int, parameters: int
) -> None:
    net = FCN(in_features, num_classes)
    assert sum(p.numel() for p in net.parameters()) == parameters
    assert net(torch.zeros(2, in_features)).shape == (2, num_classes)


def test_fcn_lists_its_hidden_layers() -> None:
    net = FCN(4, 2, hidden=(5, 6, 7))
    assert net.feature_layers == ("hidden1", "hidden2", "hidden3")
    assert set(net.feature_layers) <= dict(net.named_modules()).keys()
