"""Which axis of a layer's output holds features, and one vector a sample from it."""

import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch import extract_features
from rehead.torch.pooling import (
    CONVOLUTIONS,
    features_last,
    first_tensor,
    pool_output,
    pool_to_grid,
)

SECOND = [
    nn.Conv1d(2, 2, 1),
    nn.Conv2d(2, 2, 1),
    nn.Conv3d(2, 2, 1),
    nn.ConvTranspose1d(2, 2, 1),
    nn.ConvTranspose2d(2, 2, 1),
    nn.ConvTranspose3d(2, 2, 1),
    nn.LazyConv1d(2, 1),
    nn.LazyConv2d(2, 1),
    nn.LazyConv3d(2, 1),
    nn.LazyConvTranspose1d(2, 1),
    nn.LazyConvTranspose2d(2, 1),
    nn.LazyConvTranspose3d(2, 1),
    nn.BatchNorm1d(2),
    nn.BatchNorm2d(2),
    nn.BatchNorm3d(2),
    nn.SyncBatchNorm(2),
    nn.LazyBatchNorm1d(),
    nn.LazyBatchNorm2d(),
    nn.LazyBatchNorm3d(),
    nn.MaxPool1d(2),
    nn.MaxPool2d(2),
    nn.MaxPool3d(2),
    nn.AvgPool1d(2),
    nn.AvgPool2d(2),
    nn.AvgPool3d(2),
    nn.GroupNorm(1, 2),
    nn.InstanceNorm1d(2),
]
LAST = [
    nn.Linear(2, 2),
    nn.LazyLinear(2),
    nn.LayerNorm(2),
    nn.Embedding(2, 2),
    nn.MultiheadAttention(2, 1),
    nn.GRU(2, 2),
]


@pytest.mark.parametrize("layer", SECOND, ids=lambda layer: type(layer).__name__)
def test_layers_with_features_second(layer):
    assert features_last(nn.Sequential(layer), "0") is False
    assert isinstance(layer, CONVOLUTIONS) == ("Conv" in type(layer).__name__)


@pytest.mark.parametrize("layer", LAST, ids=lambda layer: type(layer).__name__)
def test_layers_with_features_last(layer):
    assert features_last(nn.Sequential(layer), "0") is True


def test_an_activation_follows_the_layer_before_it():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Conv1d(2, 2, 1), nn.ReLU())
    assert [features_last(net, name) for name in "0123"] == [True, True, False, False]
    assert features_last(nn.Sequential(nn.ReLU()), "0") is None


def test_the_last_part_of_a_block_decides():
    net = nn.Sequential(nn.Sequential(nn.Conv1d(2, 2, 1), nn.LayerNorm(3), nn.ReLU()))
    assert features_last(net, "0") is True


def test_tokens_are_averaged_where_the_mask_keeps_them():
    output = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]])
    mask = torch.tensor([[1, 1, 0]])
    found = pool_output(output, "mean", "layer", tokens=True, mask=mask)
    assert found.tolist() == [[2.0, 3.0]]
    assert pool_output(output, "first", "layer", tokens=None, mask=mask).tolist() == [[1.0, 2.0]]
    assert pool_output(output, "channels", "layer", tokens=None, mask=None).shape == (1, 3)
    with pytest.raises(ValueError, match=r"pool='channels' or pool='tokens'"):
        pool_output(output, "mean", "layer", tokens=None, mask=None)


def test_the_first_tensor_of_an_output():
    a, b = torch.ones(1), torch.zeros(1)
    assert first_tensor((None, a, b), "layer") is a
    assert first_tensor({"x": [b]}, "layer") is b
    assert first_tensor({"loss": a, "logits": b}, "layer") is b
    assert first_tensor({"logits": a, "last_hidden_state": b}, "layer") is b
    with pytest.raises(TypeError, match="gives no tensor but str"):
        first_tensor("text", "layer")


class TestPooledByExtraction:
    def test_maps_are_averaged_over_space(self, network, twin):
        case = network("resnet")
        features = extract_features(case.net, case.x, ["layer3", "fc.input"])
        twin(features.layers["layer3"], features.layers["fc.input"])
        assert features.layers["layer3"].dtype == np.float32

    def test_1d_maps_have_features_second_and_tokens_last(self, network):
        case = network("conv1d")
        assert extract_features(case.net, case.x, ["3"]).layers["3"].shape == (60, 9)
        case = network("transformer")
        layer = "encoder.layers.1"
        assert extract_features(case.net, case.x, [layer]).layers[layer].shape == (60, 12)

    def test_3d_maps_are_averaged_too(self, twin):
        net = nn.Sequential(nn.Conv3d(2, 4, 1), nn.Flatten(), nn.Linear(32, 2))
        x = torch.randn(6, 2, 2, 2, 2)
        twin(extract_features(net, x, ["0"]).layers["0"], net[0](x).mean((2, 3, 4)).detach())

    def test_first_token_flatten_and_functions(self, network, twin):
        case = network("transformer")
        layer = "encoder.layers.0"

        def pooled(pool):
            return extract_features(case.net, case.x, [layer], pool=pool).layers[layer]

        states = pooled("flatten").reshape(60, 7, 12)
        twin(pooled("first"), states[:, 0])
        twin(pooled(lambda t: t.amax(1)), states.max(1))

    def test_attention_mask(self, twin):
        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding, self.out = nn.Embedding(9, 4), nn.Linear(4, 2)

            def forward(self, input_ids, attention_mask):
                return self.out(self.embedding(input_ids).mean(1))

        net = Masked()
        tokens = torch.randint(0, 9, (3, 5))
        mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]])
        batch = {"input_ids": tokens, "attention_mask": mask, "labels": ["a", "b", "a"]}
        features = extract_features(net, [batch], ["embedding"])
        expected = [
            net.embedding(t[: m.sum()]).mean(0).tolist() for t, m in zip(tokens, mask, strict=True)
        ]
        twin(features.layers["embedding"], expected)
        assert features.labels.tolist() == ["a", "b", "a"]

    def test_an_unclear_3d_output(self):
        net = nn.Sequential(nn.Identity(), nn.Flatten(), nn.Linear(6, 2))
        x = torch.ones(4, 2, 3)
        with pytest.raises(ValueError, match=r"pool='channels' or pool='tokens'"):
            extract_features(net, x, ["0"])
        assert extract_features(net, x, ["0"], pool="tokens").layers["0"].shape == (4, 3)

    def test_a_function_must_give_one_vector_a_sample(self, network):
        case = network("resnet", 4)
        with pytest.raises(ValueError, match=r"'layer1' gives \(4, 8, 8, 8\) after pooling"):
            extract_features(case.net, case.x, ["layer1"], pool=lambda t: t)


class TestGrid:
    """Raw inputs as a few numbers a sample."""

    @pytest.mark.parametrize(
        ("shape", "width"),
        [
            ((3, 32, 32), 75),
            ((1, 28, 28), 100),
            ((3, 224, 224), 75),
            ((1, 8, 8), 64),
            ((2, 1000), 100),
            ((1, 9, 9, 9), 27),
            ((28, 28), 100),
            ((300, 7), 100),
            ((500,), 500),
        ],
        ids=str,
    )
    def test_it_is_as_fine_as_it_may_be(self, shape, width):
        assert pool_to_grid(torch.zeros(2, *shape)).shape == (2, width)

    def test_cells_are_means(self):
        x = torch.arange(2 * 32 * 32.0).reshape(2, 1, 32, 32)
        found = pool_to_grid(x)
        size = 32 // 8
        expected = x.reshape(2, 8, size, 8, size).mean((2, 4)).reshape(2, -1)
        torch.testing.assert_close(found, expected)

    def test_cells_at_the_border_are_means_of_what_is_there(self):
        x = torch.ones(1, 3, 32, 32)
        torch.testing.assert_close(pool_to_grid(x), torch.ones(1, 75))
