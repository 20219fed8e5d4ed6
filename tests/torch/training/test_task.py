"""A task: seeds, new networks, parts of it."""

import numpy as np
import pytest
import torch

from rehead.torch.models import MODELS
from rehead.torch.training.inputs import as_task
from rehead.torch.training.task import Task, derived_seed, image_layout


@pytest.fixture
def task(noisy, make_net, recipe) -> Task:
    return as_task(make_net, noisy.X, noisy.y, recipe=recipe, trusted=np.arange(96) < 10)


def test_seeds_of_different_purposes_differ() -> None:
    paths = [(0,), (1,), (0, "network", 0), (0, "network", 1), (0, "epoch", 0), (0, "epoch", 1)]
    assert len({derived_seed(*path) for path in paths}) == len(paths)
    assert derived_seed(7, "epoch", 3) == derived_seed(7, "epoch", 3)


def test_a_new_network_depends_on_seed_and_number_only(task, same) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = task.network()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert same(task.network(0), first)
    assert not same(task.network(1), first)
    assert not same(task.stage("anchors").network(), first)


def test_a_part_has_the_labels_and_the_trust_of_its_rows(task, noisy) -> None:
    rows = np.array([50, 3, 7])
    part = task.only(rows)
    np.testing.assert_array_equal(part.X, noisy.X[rows])
    assert part.y.tolist() == noisy.y[rows].tolist()
    assert part.trusted.tolist() == [False, True, True]
    by_mask = task.only(np.isin(np.arange(96), rows))
    np.testing.assert_array_equal(by_mask.X, noisy.X[np.sort(rows)])


def test_samples_held_out_are_no_longer_trained_on(task) -> None:
    part = task.holding_out(0.1)
    assert (len(part.y), len(part.held_out.y)) == (86, 10)
    assert part.held_out.keep_best
    rows = torch.cat([part.X, part.held_out.X])
    assert sorted(rows.tolist()) == sorted(task.X.tolist())
    again = task.holding_out(0.1)
    assert torch.equal(part.held_out.X, again.held_out.X)
    assert len(task.holding_out(0.001).held_out.y) == 1


@pytest.mark.parametrize(
    ("width", "layout"), [(4, torch.contiguous_format), (8, torch.channels_last)]
)
def test_narrow_networks_keep_the_plain_layout(width, layout):
    # Backward passes of PyTorch 2.13 with 4 channels side by side did not end.
    assert image_layout(MODELS["resnet34"](10, width=width)) is layout
