"""Schedules of the paper, of co-teaching's code and of the text experiments."""

from dataclasses import FrozenInstanceError, replace

import pytest

from rehead.torch.training import RECIPES, Recipe, find_recipe


@pytest.mark.parametrize("table", ["table1", "table2", "table3", "table6", "table7", "table8"])
def test_the_papers_rate_falls_by_ten_after_epochs_40_and_80(table: str) -> None:
    recipe = find_recipe(table, "cifar10")
    rates = [recipe.learning_rate_at(epoch) for epoch in (0, 39, 39.99, 40, 79, 80, 119)]
    assert rates == pytest.approx([0.1, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001])
    assert (recipe.epochs, recipe.batch_size, recipe.optimizer) == (120, 128, "sgd")
    assert (recipe.momentum, recipe.weight_decay) == (0.9, 1e-4)
    assert recipe.augment == ("crop", "flip")


@pytest.mark.parametrize("table", ["table2", "table3", "table6"])
def test_cifar100_is_trained_longer(table: str) -> None:
    recipe = find_recipe(table, "cifar100")
    rates = [recipe.learning_rate_at(epoch) for epoch in (79, 80, 119, 120, 159, 160, 199)]
    assert rates == pytest.approx([1e-1, 1e-2, 1e-2, 1e-3, 1e-3, 1e-4, 1e-4])
    assert recipe.epochs == 200


@pytest.mark.parametrize(("data", "start"), [("cifar10", 80), ("cifar100", 100)])
def test_co_teachings_rate_falls_to_zero_and_beta1_becomes_a_tenth(data: str, start: int) -> None:
    recipe = find_recipe("table4", data)
    assert recipe.learning_rate_at(start - 1) == recipe.learning_rate_at(start) == 1e-3
    middle = (start + 200) // 2
    assert recipe.learning_rate_at(middle) == pytest.approx(0.5e-3)
    assert recipe.learning_rate_at(199) == pytest.approx(1e-3 / (200 - start))
    assert recipe.betas_at(start - 1) == (0.9, 0.999)
    assert recipe.betas_at(start) == (0.1, 0.999)
    assert (recipe.epochs, recipe.batch_size, recipe.drop_last) == (200, 128, True)
    assert (recipe.weight_decay, recipe.augment) == (0.0, ())


def test_the_text_recipe_is_that_of_the_gold_loss_correction_code() -> None:
    recipe = find_recipe("table5", "twitter_pos")
    assert (recipe.epochs, recipe.batch_size, recipe.optimizer) == (15, 64, "adam")
    assert {recipe.learning_rate_at(epoch) for epoch in range(15)} == {1e-3}
    assert (recipe.weight_decay, recipe.drop_last) == (5e-5, True)


@pytest.mark.parametrize("warmup", [0.0, 0.15])
def test_a_cosine_rises_to_the_rate_and_ends_near_zero(warmup: float) -> None:
    recipe = Recipe(epochs=40, schedule="cosine", warmup=warmup, learning_rate=0.2)
    rates = [recipe.learning_rate_at(e / 10) for e in range(400)]
    top = round(warmup * 400)
    assert rates[top] == pytest.approx(0.2)
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert recipe.learning_rate_at(20 + 20 * warmup) == pytest.approx(0.1)
    assert 0 < rates[-1] < 1e-4
    assert recipe.learning_rate_at(40) == pytest.approx(0, abs=1e-12)
    assert min(rates) > 0


def test_a_constant_rate_is_constant() -> None:
    recipe = Recipe(epochs=10, schedule="constant", learning_rate=0.3, milestones=(2,))
    assert {recipe.learning_rate_at(e) for e in range(10)} == {0.3}


def test_betas_without_a_late_value_never_change() -> None:
    assert {Recipe(epochs=10).betas_at(e) for e in range(10)} == {(0.9, 0.999)}


def test_a_recipe_for_a_data_set_goes_before_the_general_one() -> None:
    assert find_recipe("table2", "cifar100") is RECIPES["table2-cifar100"]
    assert find_recipe("table2", "svhn") is find_recipe("table2") is RECIPES["table2"]


def test_an_unknown_recipe_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="Did you mean 'table2'"):
        find_recipe("tabel2")


def test_a_recipe_cannot_be_changed_but_replaced() -> None:
    recipe = RECIPES["table2"]
    with pytest.raises(FrozenInstanceError):
        recipe.epochs = 3  # type: ignore[misc]
    assert replace(recipe, epochs=3).epochs == 3


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"epochs": 0}, "epochs must be a whole number"),
        ({"epochs": 2.5}, "epochs must be a whole number"),
        ({"epochs": 2, "batch_size": 0}, "batch_size must be a whole number"),
        ({"epochs": 2, "optimizer": "sdg"}, "Did you mean 'sgd'"),
        ({"epochs": 2, "schedule": "cosin"}, "Did you mean 'cosine'"),
        ({"epochs": 2, "augment": ("crop", "rotate")}, "augment must be one of"),
        ({"epochs": 2, "learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"epochs": 2, "schedule": "cosine", "warmup": 1.0}, "warmup"),
        ({"epochs": 2, "learning_rate": float("nan")}, "learning_rate must be above 0"),
    ],
)
def test_a_bad_value_is_refused_at_once(bad: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recipe(**bad)
