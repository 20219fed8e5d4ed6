"""``rehead layers`` and ``rehead features``: a user's own network, weights and data."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("project")


def test_weights_and_trust(succeed, fail):
    import mine
    import torch
    from safetensors.torch import save_file

    net = mine.net()
    save_file(net.state_dict(), "net.safetensors")
    torch.save({"state_dict": net.state_dict()}, "net.pt")
    torch.save({"state_dict": net.state_dict(), "extra": Path("x")}, "unsafe.pt")
    for weights in ("net.safetensors", "net.pt"):
        succeed("layers", "mine:net", "--data", "mine:data", "--weights", weights)
    common = ["layers", "mine:net", "--data", "mine:data", "--weights", "unsafe.pt"]
    assert "--trust" in fail(*common)
    succeed(*common, "--trust")


@pytest.mark.parametrize(
    ("net", "message"),
    [
        ("mine", "must be package.module:name"),
        ("nomodule:net", "Cannot import 'nomodule'"),
        ("mine:nothing", "has no 'nothing'"),
        ("mine:data", "not an nn.Module"),
    ],
)
def test_mistakes_are_one_line(fail, net, message):
    assert message in fail("layers", net, "--data", "mine:data")
