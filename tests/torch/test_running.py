"""A run of a network: chunks of features, with hashes of the inputs where they are asked for."""

import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch.batches import read_loader
from rehead.torch.pooling import pool_output
from rehead.torch.running import Pooling, Run, pools_of
from rehead.torch.taps import Tap


def run_of(case, names, pool="mean"):
    return Run.of(case.net, [Tap(name, name) for name in names], pool)


def test_a_chunk_for_each_batch(network, twin):
    case = network("mlp", 20)
    run = run_of(case, ["input", "1"])
    parts = [(case.x[:12], case.y[:12], list(range(12))), (case.x[12:], case.y[12:], range(12, 20))]
    plain = list(run.chunks(read_loader(parts)))
    hashed = list(run.chunks(read_loader(parts), hashed=True))
    assert [len(c.ids) for c in plain] == [12, 8]
    assert [c.inputs for c in plain] == [None, None]
    for a, b in zip(plain, hashed, strict=True):
        np.testing.assert_array_equal(a.layers["1"], b.layers["1"])
    np.testing.assert_array_equal(
        np.concatenate([c.inputs for c in hashed]), run.hashes(next(read_loader((case.x, case.y))))
    )
    with torch.no_grad():
        twin(plain[0].outputs, case.net(case.x[:12]))


def test_hashes_are_of_what_the_network_is_given(network):
    """Paths of files, which it is not given, may change."""
    case = network("mlp", 4)
    run = run_of(case, ["1"])
    here, there = (
        {"x": case.x, "path": [f"{folder}/{i}.png" for i in range(4)]} for folder in "ab"
    )
    first, second = (run.hashes(next(read_loader(rows))) for rows in (here, there))
    np.testing.assert_array_equal(first, second)


def test_the_width_of_the_logits_is_kept(network):
    class Two(nn.Module):
        """Two tensors that may be logits."""

        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(6, 8)

        def forward(self, x):
            out = self.inner(x)
            return out, out[:, :3]

    net = Two()
    batches = read_loader((torch.ones(4, 6), torch.zeros(4, dtype=torch.long)))
    run = Run.of(net, [Tap("inner", "inner")], "mean")
    (chunk,) = run.chunks(batches, 8)
    assert chunk.outputs.shape == (4, 8)
    (chunk,) = run.chunks(read_loader(torch.ones(4, 6)))
    assert chunk.outputs.shape == (4, 3)


def test_ways_to_pool():
    taps = [Tap("input", "input"), Tap("a", "layer1")]
    assert pools_of("mean", taps) == {"input": "grid", "a": "mean"}
    assert pools_of({"a": "first"}, taps) == {"input": "grid", "a": "first"}
    with pytest.raises(ValueError, match="layer in pool"):
        pools_of({"b": "first"}, taps)


def test_pooling_is_that_of_each_tap(network):
    case = network("resnet", 3)
    tap = Tap("layer1", "layer1")
    maps = torch.randn(3, 8, 5, 5)
    pooled = Pooling.of(case.net, [tap], "mean")(tap, maps, next(read_loader(case.x)))
    assert torch.equal(pooled, pool_output(maps, "mean", "layer1", tokens=False, mask=None))
