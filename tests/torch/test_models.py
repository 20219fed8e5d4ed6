import math

import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch import extract_features
from rehead.torch.models import FCN, MODELS, Normalise

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
SMALL = {
    "resnet34": {"width": 4},
    "resnet34-released": {"width": 4},
    "resnet44": {"width": 4, "blocks": (2, 2, 4)},
    "resnet44-wide": {"width": 4, "blocks": (1, 1, 1)},
    "resnet-small": {"width": 4},
    "densenet100": {"growth": 4, "depth": 22},
    "vgg13": {"width": 4},
    "cnn9": {"width": 4},
}
images = pytest.mark.parametrize("name", CARDS)


def parameters(net):
    return sum(p.numel() for p in net.parameters())


def small(name, seed=0, **options):
    torch.manual_seed(seed)
    return MODELS[name](5, **{**SMALL[name], **options})


def pixels(n=3, seed=0, channels=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (n, channels, 32, 32), generator=generator, dtype=torch.uint8)


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
def test_small_versions_learn(name):
    net = small(name)
    x, y = pixels(4), torch.arange(4)
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    for path, p in net.named_parameters():
        assert p.grad is not None, path
        assert torch.isfinite(p.grad).all(), path


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


def test_a_bottleneck_gives_its_input_and_new_maps():
    net = small("densenet100").eval()
    names = ("dense2.bottleneck1", "dense2.bottleneck2")
    out = {}
    for name in names:
        module = net.get_submodule(name)
        module.register_forward_hook(lambda m, a, o, name=name: out.__setitem__(name, o))
    net(pixels())
    first, second = (out[name] for name in names)
    assert torch.equal(second[:, : first.shape[1]], first)
    assert second.shape[1] == first.shape[1] + 4


def test_blocks_end_after_relu_only_in_post_activation_networks():
    for name, negative in (("resnet-small", False), ("resnet44", True)):
        net = small(name)
        layers = extract_features(net, pixels(), net.block_layers, progress=False).layers
        assert any((features < 0).any() for features in layers.values()) == negative


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


# The input


def test_normalise_defaults_to_the_constants_of_the_paper_s_code():
    white = torch.full((1, 3, 1, 1), 255, dtype=torch.uint8)
    expected = [(255 - m) / s for m, s in ((125.3, 63.0), (123.0, 62.1), (113.9, 66.7))]
    assert Normalise()(white).flatten().tolist() == pytest.approx(expected)
    assert Normalise(1)(white[:, :1]).item() == pytest.approx((255 - 362.2 / 3) / (191.8 / 3))


def test_cnn9_takes_images_as_they_are():
    x = torch.rand(2, 3, 32, 32)
    assert torch.equal(MODELS["cnn9"](10, width=1).normalise(x), x)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_normalise_keeps_channels_last(dtype):
    x = torch.zeros(2, 3, 4, 5, dtype=dtype).to(memory_format=torch.channels_last)
    assert Normalise()(x).is_contiguous(memory_format=torch.channels_last)


def test_normalise_refuses_what_it_would_have_to_guess():
    with pytest.raises(ValueError, match=r"\(batch, 3, height, width\), got \(2, 1, 4, 4\)"):
        Normalise()(torch.zeros(2, 1, 4, 4))
    with pytest.raises(ValueError, match=r"uint8 .* got torch.int64"):
        Normalise()(torch.zeros(2, 3, 4, 4, dtype=torch.int64))


# Details of single networks


def test_densenet_is_initialised_by_its_outputs():
    net = MODELS["densenet100"](10)
    conv = net.get_submodule("dense1.bottleneck1.new")[5]
    assert conv.weight.std().item() == pytest.approx(math.sqrt(2 / (9 * 12)), rel=0.05)
    assert (net.classifier.bias == 0).all()


def test_resnet44_follows_keras():
    net = MODELS["resnet44"](10)
    convs = [m for m in net.modules() if isinstance(m, nn.Conv2d)]
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d)]
    assert all((conv.bias == 0).all() for conv in convs)
    assert convs[-1].weight.std().item() == pytest.approx(math.sqrt(2 / (9 * 64)), rel=0.05)
    assert {(norm.eps, round(norm.momentum, 6)) for norm in norms} == {(1e-3, 0.01)}


def test_dropout_of_cnn9_acts_in_training_only():
    net = small("cnn9", dropout=0.5)
    assert not torch.equal(net(pixels()), net(pixels()))
    net.eval()
    assert torch.equal(net(pixels()), net(pixels()))
    plain = small("cnn9").train()
    assert torch.equal(plain(pixels()), plain(pixels()))


@pytest.mark.parametrize(
    ("depth", "taps"), [(10, []), (16, [1]), (22, [1, 2]), (40, [2, 4]), (100, [6, 11])]
)
def test_taps_of_densenet_adapt_to_depth(depth, taps):
    net = MODELS["densenet100"](10, growth=2, depth=depth)
    assert net.feature_layers == (*(f"dense3.bottleneck{j}" for j in taps), "final")
    assert net.layer_numbers["final"] == net.layer_numbers[net.block_layers[-1]] == depth - 1


@pytest.mark.parametrize(
    ("blocks", "taps"),
    [
        ((1,), ["stage1.block1"]),
        ((1, 1), ["stage1.block1", "stage2.block1"]),
        ((2, 3), ["stage1.block2", "stage2.block1", "stage2.block2", "stage2.block3"]),
        ((2, 5), ["stage2.block3", "stage2.block4", "stage2.block5"]),
    ],
)
def test_taps_of_resnet_adapt_to_depth(blocks, taps):
    assert MODELS["resnet34"](10, width=2, blocks=blocks).feature_layers == tuple(taps)


def test_taps_of_vgg_adapt_to_depth():
    assert MODELS["vgg13"](10, width=2, blocks=[1]).feature_layers == ("pool1",)
    assert MODELS["vgg13"](10, width=2, blocks=[1, 3]).feature_layers == ("conv2", "conv3", "pool2")


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


# The network for text


@pytest.mark.parametrize(
    ("in_features", "num_classes", "count"),
    [(150, 19, 109_331), (150, 25, 110_873), (1000, 7, 323_847)],
)
def test_fcn_has_the_published_number_of_parameters(in_features, num_classes, count):
    net = FCN(in_features, num_classes)
    assert parameters(net) == parameters(MODELS["fcn"](num_classes, in_features=in_features))
    assert parameters(net) == count
    assert net(torch.zeros(2, in_features)).shape == (2, num_classes)


def test_fcn_lists_its_hidden_layers():
    net = FCN(4, 2, hidden=(5, 6, 7))
    assert net.feature_layers == net.block_layers == ("hidden1", "hidden2", "hidden3")
    assert set(net.feature_layers) <= dict(net.named_modules()).keys()
    assert net.layer_numbers == {"hidden1": 1, "hidden2": 2, "hidden3": 3}
