"""All networks: the paper's numbers, and what every one of them promises."""

import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch import extract_features
from rehead.torch.models import MODELS

from .models.miniatures import SMALL, parameters, pixels, small

# Name: parameters for 10 and 100 classes, pooled widths of the taps, their numbers, blocks.
# The parameters are counted by hand from the papers' descriptions.
CARDS = {
    "resnet34": (21_282_122, 21_328_292, [256, 512, 512, 512], [27, 29, 31, 33], 16),
    "resnet34-released": (11_773_258, 11_796_388, [256] * 4, [27, 29, 31, 33], 16),
    "resnet44": (662_826, 668_676, [64] * 3, [39, 41, 43], 21),
    "resnet44-wide": (10_528_074, 10_551_204, [256] * 3, [39, 41, 43], 21),
    "resnet-small": (696_618, 708_228, [64, 128, 128], [9, 11, 13], 6),
    "densenet100": (769_162, 800_032, [222, 282, 342], [79, 89, 99], 48),
    "vgg13": (9_416_010, 9_462_180, [512] * 3, [8, 9, 10], 10),
    "cnn9": (4_434_570, 4_446_180, [512, 256, 128], [7, 8, 9], 9),
}
images = pytest.mark.parametrize("name", CARDS)


def test_every_network_has_a_card():
    assert {*CARDS, "fcn"} == set(MODELS) == {*SMALL, "fcn"}


@images
def test_parameters_are_as_published(name):
    with torch.device("meta"):
        assert parameters(MODELS[name](10)) == CARDS[name][0]
        assert parameters(MODELS[name](num_classes=100)) == CARDS[name][1]


@images
def test_taps_have_the_published_widths_and_end_at_the_classifier_s_input(name):
    net = MODELS[name](10)
    seen = []
    net.classifier.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    features = extract_features(net, pixels(2), net.feature_layers, progress=False)
    assert features.outputs.shape == (2, 10)
    assert [features.layers[tap].shape[1] for tap in net.feature_layers] == CARDS[name][2]
    assert net.classifier.in_features == CARDS[name][2][-1]
    penultimate = features.layers[net.feature_layers[-1]]
    np.testing.assert_allclose(penultimate, seen[0].numpy(force=True), rtol=1e-5, atol=1e-6)


@images
def test_blocks_are_modules_with_the_paper_s_numbers(name):
    with torch.device("meta"):
        net = MODELS[name](10)
    assert [net.layer_numbers[tap] for tap in net.feature_layers] == CARDS[name][3]
    assert len(net.block_layers) == CARDS[name][4]
    for layer in net.layer_numbers:
        assert isinstance(net.get_submodule(layer), nn.Module)
    numbers = [net.layer_numbers[block] for block in net.block_layers]
    assert numbers == sorted(set(numbers))


def test_layers_are_counted_as_in_the_paper():
    with torch.device("meta"):
        resnet, densenet = MODELS["resnet34"](10), MODELS["densenet100"](10)
    assert [resnet.layer_numbers[b] for b in resnet.block_layers] == list(range(3, 34, 2))
    assert resnet.layer_numbers["stage3.block1"] == 17
    for j in range(1, 17):
        assert densenet.layer_numbers[f"dense3.bottleneck{j}"] == 67 + 2 * j
    assert densenet.layer_numbers["dense1.bottleneck1"] == 3


@images
def test_layer_numbers_count_convolutions(name):
    # Run order is registration order; 1 x 1 shortcuts are not counted.
    net = small(name)
    number, found = 0, {}
    for path, module in net.named_modules():
        if isinstance(module, nn.Conv2d) and "shortcut" not in path:
            number += 1
            for block in net.block_layers:
                if path.startswith(block + "."):
                    found[block] = number
    assert found == {block: net.layer_numbers[block] for block in net.block_layers}


@images
def test_small_versions_learn_with_all_their_parameters(name):
    net = small(name)
    before = {path: p.detach().clone() for path, p in net.named_parameters()}
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    x, y = pixels(4), torch.arange(4)
    losses = []
    for _ in range(5):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.85 * losses[0]
    for path, p in net.named_parameters():
        assert not torch.equal(p, before[path]), path


@images
def test_what_a_hook_sees_is_not_changed_later(name):
    net = small(name)
    seen = []
    for path, module in net.named_modules():
        module.register_forward_hook(
            lambda m, args, out, path=path: seen.append((path, out, out.clone()))
        )
    net(pixels())
    assert {path for path, _, _ in seen} >= {*net.block_layers, *net.feature_layers}
    for path, out, copy in seen:
        assert torch.equal(out, copy), path


@images
def test_the_seed_decides_and_evaluation_is_deterministic(name):
    a, b, c = small(name).eval(), small(name).eval(), small(name, seed=1).eval()
    x = pixels()
    assert torch.equal(a(x), a(x))
    assert torch.equal(a(x), b(x))
    assert not torch.allclose(a(x), c(x))


@images
def test_state_dict_round_trip_brings_the_normalisation(name):
    net = small(name, mean=0.3, std=(0.2, 0.3, 0.4))
    net(pixels())
    other = small(name, seed=1)
    other.load_state_dict(net.state_dict())
    assert torch.equal(net.eval()(pixels()), other.eval()(pixels()))


@images
def test_bytes_and_floats_agree_in_every_precision(name):
    net = small(name).eval()
    x = pixels()
    assert torch.equal(net(x), net(x.float() / 255))
    net.double()
    assert net(x).dtype == torch.float64
    torch.testing.assert_close(net(x), net(x.double() / 255), rtol=0, atol=0)


@pytest.mark.parametrize("channels", [1, 3])
@images
def test_other_channels_and_memory_formats(name, channels):
    net = small(name, in_channels=channels).eval()
    x = pixels(channels=channels).float() / 255
    torch.testing.assert_close(
        net.to(memory_format=torch.channels_last)(x.to(memory_format=torch.channels_last)),
        net(x),
        rtol=1e-4,
        atol=1e-5,
    )


@pytest.mark.parametrize("name", ["resnet-small", "densenet100"])
def test_autocast(name):
    net = small(name).eval()
    with torch.autocast("cpu", torch.bfloat16):
        half = net(pixels())
    torch.testing.assert_close(half.float(), net(pixels()), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("name", ["resnet-small", "densenet100"])
def test_export_with_any_batch_size(name):
    net = small(name).eval()
    batch = {0: torch.export.Dim("batch", min=1)}
    program = torch.export.export(net, (pixels(2),), dynamic_shapes=(batch,)).module()
    torch.testing.assert_close(program(pixels(5)), net(pixels(5)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("densenet100", {"depth": 50}, r"depth must be 6 n \+ 4 .* got 50. Did you mean 52\?"),
        ("densenet100", {"depth": 4}, r"Did you mean 10\?"),
        ("densenet100", {"growth": 0}, "growth must be a whole number of at least 1, got 0"),
        ("resnet34", {"num_classes": 2.5}, "num_classes must be a whole number"),
        ("resnet34", {"width": -8}, "width must be a whole number"),
        ("resnet34", {"blocks": 18}, r"blocks must have one number for each stage, such as"),
        ("resnet34", {"blocks": ()}, "blocks must have one number for each stage"),
        ("resnet34", {"blocks": (2, 0)}, "each of blocks must be a whole number"),
        ("resnet34-released", {"blocks": (2, 2, 2)}, "each of the 3 stages of blocks, got"),
        ("resnet34", {"in_channels": 0}, "in_channels must be a whole number"),
        ("resnet34", {"mean": (0.5, 0.5)}, "mean must be one or 3 numbers"),
        ("vgg13", {"std": 0.0}, "std must be one or 3 positive numbers"),
        ("vgg13", {"blocks": "22"}, "blocks must have one number for each stage"),
        ("cnn9", {"dropout": 1.0}, r"dropout must be in \[0, 1\), got 1.0"),
        ("fcn", {}, r'Pass in_features, such as MODELS\["fcn"\]\(10, in_features=64\)'),
        ("fcn", {"in_features": 0}, "in_features must be a whole number"),
    ],
)
def test_bad_options_are_refused_with_advice(name, options, message):
    with torch.device("meta"), pytest.raises(ValueError, match=message):
        MODELS[name](**{"num_classes": 10, **options})
