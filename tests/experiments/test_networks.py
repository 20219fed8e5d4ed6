"""Networks by name, made for a data set."""

import numpy as np
import pytest

from rehead import data
from rehead.experiments.networks import network_factory


@pytest.mark.parametrize(
    ("shape", "name", "kind"),
    [((64,), None, "FCN"), ((3, 8, 8), None, "ResNet"), ((3, 8, 8), "fcn", "FCN")],
)
def test_the_network_fits_the_inputs(shape, name, kind):
    split = data.Split(np.zeros((2, *shape), np.float32), np.zeros(2, int), np.arange(2))
    splits = data.Splits(split, split, split, ["a", "b", "c"])
    net = network_factory(name, {}, splits)()
    assert type(net).__name__ == kind
    assert net.classifier.out_features == 3
    if kind == "FCN":
        assert net.hidden1[0].in_features == np.prod(shape)


def test_an_unknown_name_is_an_error():
    splits = data.load("digits")
    with pytest.raises(ValueError, match="Did you mean 'resnet34'"):
        network_factory("resnet35", {}, splits)
