"""Profiles: the paper's settings, smaller ones, and what is said about the difference."""

import dataclasses
import inspect

import numpy as np
import pytest
import torch

from rehead.experiments.cell import Cell
from rehead.experiments.noisy import held_out_of, load_inputs
from rehead.experiments.plans import source_of
from rehead.experiments.profiles import (
    FIRST_LOOK,
    LABELLER_IMAGES,
    LID_WINDOW,
    PROFILES,
    SAME_RECIPE,
    TINY,
    deviations,
    settings_of,
)
from rehead.experiments.tables import TABLES, all_cells, table_cells
from rehead.experiments.training import run_training
from rehead.experiments.variations import VARIATIONS
from rehead.torch.models import MODELS
from rehead.torch.training import METHODS, RECIPES, find_recipe
from rehead.torch.training.lid import turned
from rehead.torch.training.published import FIRST_LID

GIVEN = {
    "forward": {"transition": np.eye(2)},
    "backward": {"transition": np.eye(2)},
    "co-teaching": {"noise_rate": 0.1},
    "mentornet": {"noise_rate": 0.1},
}
"""What methods must be told."""
CELLS = [cell for table in TABLES for cell in table_cells(table, "paper")]


def test_the_profile_paper_deviates_only_where_something_is_not_public_or_our_choice():
    for cell in CELLS:
        found = deviations(cell)
        ours = cell.data in ("twitter_pos", "reuters8") or cell.noise == "open-set"
        assert bool(found) == ours
        assert ("RoG is fitted on the right labels" in str(found)) == (
            METHODS[cell.method](**GIVEN.get(cell.method, {})).needs_trusted
        )
        settings = settings_of(cell)
        assert settings.limit is settings.epochs is settings.labeller_samples is None
        assert settings.model_options == settings.method_options == settings.labeller_options == {}


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_settings_say_what_the_cell_says(cell):
    for profile in PROFILES:
        settings = settings_of(Cell(**{**vars(cell), "profile": profile, "seed": 7}))
        assert (settings.data, settings.model) == (cell.data, cell.network)
        assert (settings.noise, settings.method) == (cell.noise, cell.method)
        assert settings.labeller == (cell.labeller or None)
        assert settings.seed == 7
        assert "+".join(settings.outside) == cell.source
        assert find_recipe(settings.recipe, settings.data).epochs


def test_recipes_of_the_paper_are_those_of_their_tables():
    for cell in CELLS:
        found = find_recipe(settings_of(cell).recipe, cell.data)
        assert found == find_recipe(f"table{cell.table}", cell.data)
    for table, other in SAME_RECIPE.items():
        assert RECIPES[f"table{table}"] == RECIPES[f"table{other}"]


@pytest.mark.parametrize("profile", PROFILES)
def test_tables_1_2_and_8_share_networks(profile):
    sources = {}
    for table in "128":
        cells = table_cells(table, profile, seeds=1)
        sources[table] = {str(source_of(cell).what) for cell in cells}
    assert sources["1"] < sources["2"]
    assert sources["8"] < sources["2"]


def test_different_cells_of_a_table_never_share_settings():
    for cells in (CELLS, all_cells("quick")):
        for table in TABLES:
            own = [cell for cell in cells if cell.table == table]
            assert len({str(source_of(cell).what) for cell in own}) == len(own)


@pytest.mark.parametrize("profile", ["quick", "tiny"])
def test_every_network_takes_pictures_of_32_pixels(profile):
    settings = {
        (s.model, str(s.model_options)): s
        for s in map(settings_of, (c for c in all_cells(profile) if c.network != "fcn"))
    }
    for s in settings.values():
        net = MODELS[s.model](10, **s.model_options).eval()
        assert net(torch.zeros(2, 3, 32, 32, dtype=torch.uint8)).shape == (2, 10)
        assert net.feature_layers[-1] == [*net.block_layers, *net.feature_layers][-1]
    for cell in table_cells("6", profile):
        options = settings_of(cell).labeller_options
        net = MODELS[cell.labeller](10, **options).eval()
        assert net(torch.zeros(2, 3, 32, 32, dtype=torch.uint8)).shape == (2, 10)


def test_options_of_methods_are_options_that_they_have():
    for cell in all_cells("quick"):
        options = settings_of(cell).method_options
        assert set(options) <= set(inspect.signature(METHODS[cell.method]).parameters)


def test_quick_trains_text_as_published():
    for cell in table_cells("5"):
        paper = Cell(**{**vars(cell), "profile": "paper"})
        assert settings_of(cell) == settings_of(paper)


def test_quick_says_what_is_smaller():
    cell = next(c for c in table_cells("6") if c.labeller == "vgg13")
    text = "; ".join(deviations(cell))
    for part in (
        "5,000 training images, 555 held out",
        "a smaller network (depth 22",
        "recipe 'quick'",
    ):
        assert part in text
    assert "a smaller labeller (width 16)" in text
    assert f"taught on {LABELLER_IMAGES['vgg13']:,} other images" in text
    taught = next(c for c in table_cells("4") if c.method == "co-teaching")
    assert "other settings of the method (ramp 5)" in "; ".join(deviations(taught))
    for name, variation in VARIATIONS.items():
        varied = Cell("5", "fcn", "reuters8", variation=name)
        assert deviations(varied)[-1] == f"variation {name!r}: {variation.text}"


def test_what_is_held_out_is_said_as_it_is():
    """The numbers of held-out samples in the texts are those of the data."""
    for data, held_out in (("reuters8", "210 samples held out"), ("twitter_pos", "not 570")):
        assert held_out in "; ".join(deviations(Cell("5", "fcn", data)))
    small = dataclasses.replace(settings_of(Cell("2", "resnet34", "digits32")), limit=900)
    assert len(load_inputs(small).validation.y) == held_out_of(900) == 100
    assert "training" not in "; ".join(deviations(Cell("2", "resnet34", "digits32")))


@pytest.mark.parametrize("data", FIRST_LOOK)
@pytest.mark.parametrize("network", ["resnet44-wide", "densenet100"])
def test_d2l_begins_to_look_as_early_as_published(data, network):
    """Its window included, which is 5 epochs however short the training is."""
    published = find_recipe("table3", data).epochs
    paper = FIRST_LID[data] * published + LID_WINDOW
    assert paper / published == pytest.approx(FIRST_LOOK[data])
    settings = settings_of(Cell("3", network, data, "uniform", 0.4, "d2l"))
    rising = [float(n * n) for n in range(settings.epochs)]
    looks = next(n for n in range(settings.epochs) if turned(rising[: n + 1], **options(settings)))
    # Epochs that were trained before it looks, of all; a window needs values before the newest.
    assert looks == max(LID_WINDOW, int(paper / published * settings.epochs))


def options(settings):
    window = inspect.signature(METHODS["d2l"]).parameters["window"].default
    assert window == LID_WINDOW
    return {"first": settings.method_options["first"], "window": window}


def test_d2l_on_other_data_is_as_on_cifar10():
    found = {
        data: settings_of(Cell("3", "resnet44-wide", data, "uniform", 0.4, "d2l"))
        for data in ("cifar10", "digits32")
    }
    assert found["cifar10"].method_options == found["digits32"].method_options == {"first": 2}
    # Nothing is known of epochs that a profile does not set.
    assert settings_of(Cell("3", "vgg13", "cifar10", "uniform", 0.4, "d2l")).method_options == {}


def test_a_variant_of_a_network_is_said():
    (network,) = [t for t in deviations(Cell("2", "resnet34", "cifar10")) if "network" in t]
    assert "stem_stride 2, multiples (1, 2, 4, 4)" in network


def test_tiny_says_that_it_trains_less():
    text = deviations(Cell("5", "fcn", "reuters8", profile="tiny"))
    assert text[0] == "600 training samples, 66 held out"
    assert "2 epochs" in text


def test_tiny_takes_all_digits_and_little_of_the_rest():
    assert settings_of(Cell("2", "resnet34", "digits32", profile="tiny")).limit is None
    assert settings_of(Cell("2", "resnet34", "cifar10", profile="tiny")).limit == 600
    assert settings_of(Cell("5", "fcn", "reuters8", profile="tiny")).limit == 600


def test_a_wrong_profile_is_an_error():
    with pytest.raises(ValueError, match="Did you mean 'quick'"):
        settings_of(Cell("2", "resnet34", "cifar10", profile="quik"))


@pytest.mark.parametrize("table", TABLES)
def test_the_profile_paper_runs_in_a_tiny_form(table):
    """Its hyperparameters, on digits, with one epoch of a tiny network: all that is tried of it."""
    cells = table_cells(table, "paper", data="digits")
    cell = cells[len(cells) // 2]
    settings = dataclasses.replace(
        settings_of(cell),
        epochs=1,
        model_options=TINY[cell.network],
        labeller_options=TINY.get(cell.labeller, {}),
    )
    assert settings.recipe.startswith("table")
    result = run_training(settings, progress=False)
    assert 0.0 < result.accuracy <= 1.0
    assert result.task.labels.shape == result.task.splits.train.y.shape
