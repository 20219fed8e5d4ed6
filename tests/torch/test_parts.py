"""Parts of the samples: together they are all of them, in order."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from rehead.files.merge import merge_stores
from rehead.files.store import FeatureStore
from rehead.torch.batches import read_loader
from rehead.torch.features import Wanted, extract
from rehead.torch.parts import Part, read_part, samples_of

N = 23
X, Y = torch.arange(2.0 * N).reshape(N, 2), torch.arange(N) % 3
SOURCES = {
    "loader": DataLoader(TensorDataset(X, Y), batch_size=4, shuffle=True),
    "data set": TensorDataset(X, Y),
    "array": X.numpy(),
    "tensor": X,
    "arrays": (X, Y),
    "with ids": (X.numpy(), Y.numpy(), [f"s{i}" for i in range(N)]),
}


@pytest.mark.parametrize("n", [1, 2, 5, N])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_parts_are_all_samples_in_order(source, n):
    batches = [b for i in range(n) for b in read_loader(samples_of(source, Part(i + 1, n)))]
    np.testing.assert_array_equal(torch.cat([b.args[0] for b in batches]), X)
    assert samples_of(source, None) is source


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_part_without_samples_is_an_error(source):
    with pytest.raises(ValueError, match="Part 1 of 24 has no samples"):
        samples_of(source, Part(1, N + 1))


class Stream(IterableDataset):
    def __iter__(self):
        return iter(TensorDataset(X, Y))


@pytest.mark.parametrize("source", [DataLoader(Stream()), iter([X]), [X[:3]], Stream()])
def test_samples_without_numbers_have_no_parts(source):
    with pytest.raises(ValueError, match="an order of their own"):
        samples_of(source, Part(1, 2))


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "a/b", "1/0", "-1/2"])
def test_what_is_no_part(text):
    with pytest.raises(ValueError, match=r"must be i/n|numbered from 1"):
        read_part(text)


def test_the_environment_says_which_part_it_is():
    assert read_part("env", {"RANK": "2", "WORLD_SIZE": "3"}) == Part(3, 3)
    with pytest.raises(ValueError, match="torchrun"):
        read_part("env", {})


@pytest.mark.parametrize("ids", [True, False])
def test_merged_parts_are_the_store_of_all(tmp_path, ids):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 3))
    source = SOURCES["with ids"] if ids else SOURCES["arrays"]
    extract(net, source, Wanted("hidden"), store=tmp_path / "whole")
    for i in (3, 1, 2):
        extract(net, source, Wanted("hidden", part=Part(i, 3)), store=tmp_path / f"p{i}")
    with pytest.raises(ValueError, match="another order"):
        extract(net, source, Wanted("hidden", part=Part(2, 3)), store=tmp_path / "p1")
    found = merge_stores([tmp_path / f"p{i}" for i in (2, 3, 1)], tmp_path / "merged")
    whole = FeatureStore(tmp_path / "whole")
    for name in whole.layers:
        np.testing.assert_allclose(found.layer(name), whole.layer(name), rtol=1e-6)
    np.testing.assert_array_equal(found.ids, whole.ids)
    np.testing.assert_array_equal(found.labels, whole.labels)
    assert found.numbered == whole.numbered
    assert whole.difference(found) == ""
