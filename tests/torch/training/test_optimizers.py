"""Optimisers are those of the recipe, and follow its schedule."""

from dataclasses import replace

import torch

from rehead.torch.training import RECIPES, Recipe
from rehead.torch.training.optimizers import make_optimizer, set_betas, set_learning_rate


def test_the_optimiser_is_the_recipes() -> None:
    net = torch.nn.Linear(3, 2)
    sgd = make_optimizer(net, RECIPES["table2"])
    assert isinstance(sgd, torch.optim.SGD)
    group = sgd.param_groups[0]
    assert (group["momentum"], group["weight_decay"], group["nesterov"]) == (0.9, 1e-4, False)
    adam = make_optimizer(net, RECIPES["table4"])
    assert isinstance(adam, torch.optim.Adam)
    set_betas(adam, RECIPES["table4"], 79)
    assert adam.param_groups[0]["betas"] == (0.9, 0.999)
    set_betas(adam, RECIPES["table4"], 80)
    assert adam.param_groups[0]["betas"] == (0.1, 0.999)


def test_parameters_that_are_frozen_are_not_optimised() -> None:
    net = torch.nn.Linear(3, 2)
    net.weight.requires_grad_(False)
    assert [p.shape for p in make_optimizer(net, Recipe(epochs=1)).param_groups[0]["params"]] == [
        net.bias.shape
    ]


def test_adams_late_beta_takes_part(fit, same) -> None:
    recipe = Recipe(
        epochs=3, batch_size=16, optimizer="adam", learning_rate=0.01, schedule="tail", tail_from=1
    )
    assert not same(fit(recipe=replace(recipe, late_beta1=0.1)).net, fit(recipe=recipe).net)


def test_the_learning_rate_is_set_for_every_optimiser() -> None:
    optimizers = [make_optimizer(torch.nn.Linear(3, 2), Recipe(epochs=1)) for _ in "ab"]
    set_learning_rate(optimizers, 0.025)
    assert [o.param_groups[0]["lr"] for o in optimizers] == [0.025, 0.025]
