"""Variations: each changes one thing, and nothing else."""

import dataclasses

import pytest

from rehead.experiments.cell import Cell
from rehead.experiments.profiles import settings_of
from rehead.experiments.variations import VARIATIONS, vary
from rehead.torch.training import find_recipe

PLAIN = Cell("5", "fcn", "reuters8", "uniform", 0.4)
IMAGES = Cell("1", "resnet34", "cifar10", "uniform", 0.4)
CHANGED = {
    "short": "epochs",
    "long": "epochs",
    "cosine": "recipe",
    "held-out-1000": "validation",
    "tf-idf": "data",
    "narrow": "model_options",
    "with-true-class": "noise",
    "gold-at-random": "trusted_every_class",
    "half-as-long": "epochs",
    "augmented": "recipe",
    "more-images": "limit",
}


def differing(a, b):
    return {f.name for f in dataclasses.fields(a) if getattr(a, f.name) != getattr(b, f.name)}


@pytest.mark.parametrize("name", VARIATIONS)
def test_a_variation_changes_one_setting(name):
    cell = PLAIN if "5" in VARIATIONS[name].tables else IMAGES
    plain = settings_of(cell)
    varied = settings_of(dataclasses.replace(cell, variation=name))
    also = {"method_options"} if name == "gold-at-random" else set()  # the method must accept it
    assert differing(plain, varied) == {CHANGED[name], *also}


@pytest.mark.parametrize("data", ["reuters8", "twitter_pos"])
def test_the_learning_rate_alone_changes_with_cosine(data):
    """Not epochs, weight decay or the last batch, as with the recipe "quick"."""
    plain, varied = (
        find_recipe(vary(settings_of(PLAIN), name).recipe, data) for name in ("", "cosine")
    )
    assert differing(plain, varied) == {"schedule"}
    assert plain.learning_rate_at(14.9) == plain.learning_rate
    assert varied.learning_rate_at(14.99) < 1e-5


@pytest.mark.parametrize("profile", ["quick", "paper"])
def test_half_of_the_epochs_is_half_of_what_would_be_trained(profile):
    cell = dataclasses.replace(IMAGES, profile=profile)
    plain, varied = (
        settings_of(cell),
        settings_of(dataclasses.replace(cell, variation="half-as-long")),
    )
    whole = plain.epochs or find_recipe(plain.recipe, plain.data).epochs
    assert varied.epochs == whole // 2 > 1


def test_tfidf_is_trained_like_the_words():
    varied = vary(settings_of(PLAIN), "tf-idf")
    assert find_recipe(varied.recipe, varied.data) == find_recipe("table5", "reuters8")


def test_no_name_is_no_change_and_a_wrong_one_an_error():
    plain = settings_of(PLAIN)
    assert vary(plain, "") is plain
    with pytest.raises(ValueError, match="Did you mean 'cosine'"):
        vary(plain, "cosin")
