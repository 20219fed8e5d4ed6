"""What the methods' own code sets for a data set."""

import pytest

from rehead.torch.training import METHODS, find_recipe, published_settings


@pytest.mark.parametrize(("data", "first"), [("svhn", 20), ("cifar10", 40), ("cifar100", 60)])
def test_d2l_begins_to_look_when_its_code_does(data: str, first: int) -> None:
    epochs = find_recipe("table3", data).epochs
    assert published_settings("d2l", data, epochs) == {"first": first}
    assert published_settings("d2l", data, epochs // 4) == {"first": first // 4}
    assert published_settings("d2l", "digits", epochs) == {}


@pytest.mark.parametrize("method", ["forward", "backward", "forward-gold"])
def test_anchors_of_cifar100_are_not_filtered(method: str) -> None:
    assert published_settings(method, "cifar100", 200) == {"percentile": None}
    assert published_settings(method, "cifar10", 120) == {}


def test_the_methods_take_these_settings() -> None:
    for name, make in METHODS.items():
        told = published_settings(name, "cifar100", 200)
        if told:
            assert make(**told).name == name
