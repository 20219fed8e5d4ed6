"""What networks are called with: names, places and precision."""

import pytest
import torch
from torch import nn

from rehead.torch.arguments import as_arguments, in_precision, network_dtype, takes
from rehead.torch.batches import Batch

X, M = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.long)


class Masked(nn.Module):
    def forward(self, input_ids, attention_mask=None, flag=True):
        return input_ids


class Anything(nn.Module):
    def forward(self, pixel_values=None, **named):
        return pixel_values


class TestNames:
    def test_those_that_the_network_takes(self):
        batch = as_arguments(
            Batch((), {"input_ids": X, "attention_mask": M, "text": ["a", "b"]}), Masked()
        )
        assert list(batch.kwargs) == ["input_ids", "attention_mask"]
        assert batch.mask is M

    def test_a_single_tensor_under_another_name_is_the_input(self):
        for net in (nn.Linear(3, 2), Anything()):
            batch = as_arguments(Batch((), {"image": X, "path": ["a", "b"]}), net)
            assert batch.args == (X,)
            assert batch.kwargs == {}

    def test_a_network_that_takes_any_name_gets_all_tensors(self):
        batch = as_arguments(
            Batch((), {"pixel_values": X, "more": M, "text": ["a", "b"]}), Anything()
        )
        assert list(batch.kwargs) == ["pixel_values", "more"]

    def test_a_mask_in_its_place_is_a_mask(self):
        batch = as_arguments(Batch((X, M)), Masked())
        assert batch.mask is M
        assert as_arguments(Batch((X,)), Masked()).args == (X,)
        again = as_arguments(batch, Masked())
        assert again.kwargs == batch.kwargs

    def test_several_unknown_tensors(self):
        with pytest.raises(ValueError, match=r"not take 'image', 'depth'.*takes 'input'.*'labels'"):
            as_arguments(Batch((), {"image": X, "depth": X}), nn.Linear(3, 2))
        with pytest.raises(ValueError, match="not take 'mask' of the batch"):
            as_arguments(Batch((), {"input_ids": X, "mask": M}), Masked())

    def test_takes(self):
        assert takes(Masked(), "input_ids")
        assert not takes(Anything(), "named")


class TestPrecision:
    def test_floats_only_wherever_they_are(self):
        batch = Batch((X.double(), [X.half()]), {"ids": M, "deep": {"x": X.double()}})
        got = in_precision(batch, torch.float32)
        assert got.args[0].dtype == got.args[1][0].dtype == torch.float32
        assert got.kwargs["deep"]["x"].dtype == torch.float32
        assert got.kwargs["ids"].dtype == torch.int64
        assert in_precision(batch, None) is batch

    def test_that_of_a_network(self):
        assert network_dtype(nn.Linear(2, 2).double()) == torch.float64
        assert network_dtype(nn.ReLU()) is None
