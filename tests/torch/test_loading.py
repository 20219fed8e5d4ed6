"""A user's own network and data, named on the command line."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from rehead.torch.loading import load_loader, load_network, load_object


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A module of the user's in the current folder, which is not on the path."""
    (tmp_path / "theirs.py").write_text(
        "from torch import nn\n"
        "def net():\n    return nn.Linear(3, 2)\n"
        "made = net()\n"
        "batches = [1, 2]\n"
        "def loader():\n    return iter(batches)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    return tmp_path


class TestObjects:
    def test_a_module_of_the_current_folder_is_found(self, project):
        assert load_object("theirs:batches") == [1, 2]
        assert str(project) in sys.path

    @pytest.mark.parametrize(
        ("target", "match"),
        [
            ("theirs", "must be package.module:name"),
            ("theirs:", "must be package.module:name"),
            ("nowhere:net", "Cannot import 'nowhere'"),
            ("theirs:nothing", "'theirs' has no 'nothing'"),
        ],
    )
    def test_mistakes_are_named(self, target, match):
        with pytest.raises(ValueError, match=match):
            load_object(target)


class TestLoaders:
    def test_loaders_are_made_or_taken_as_they_are(self):
        assert list(load_loader("theirs:loader")) == [1, 2]
        assert load_loader("theirs:batches") == [1, 2]
        with pytest.raises(ValueError, match="--labels goes with a file of inputs"):
            load_loader("theirs:batches", "labels.csv")

    def test_arrays_with_labels_of_their_own_or_beside_them(self):
        X, y, ids = np.ones((2, 3)), np.array([1, 0]), np.array(["a", "b"])
        np.save("x.npy", X)
        np.savez("all.npz", X=X, y=y, ids=ids)
        Path("y.csv").write_text("label\ncat\ndog\n")
        assert [column.tolist() for column in load_loader("x.npy")] == [X.tolist()]
        assert load_loader("x.npy", "y.csv")[1].tolist() == ["cat", "dog"]
        assert [c.tolist() for c in load_loader("all.npz")[1:]] == [y.tolist(), ids.tolist()]
        assert [c.tolist() for c in load_loader("all.npz", "y.csv")[1:]] == [
            ["cat", "dog"],
            ["a", "b"],
        ]

    def test_ids_without_labels_are_not_taken_for_labels(self):
        np.savez("ids.npz", X=np.ones((2, 3)), ids=[7, 8])
        assert len(load_loader("ids.npz")) == 1

    @pytest.mark.parametrize("name", ["other.npz", "table.csv"])
    def test_a_file_without_inputs(self, name):
        np.savez("other.npz", features=np.ones(3))
        Path("table.csv").write_text("1\n")
        with pytest.raises(ValueError, match=r"holds no inputs. Use .npy"):
            load_loader(name)


class TestNetworks:
    @pytest.fixture
    def net(self):
        torch.manual_seed(0)
        return nn.Linear(3, 2)

    def test_a_network_is_made_or_taken_as_it_is(self):
        assert isinstance(load_network("theirs:net", None), nn.Linear)
        assert load_network("theirs:made", None) is load_object("theirs:made")
        with pytest.raises(ValueError, match="gives list_iterator, not an nn"):
            load_network("theirs:loader", None)

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda state: state,
            lambda state: {"state_dict": state},
            lambda state: {"model": state, "epoch": 3},
            lambda state: {"model_state_dict": state},
            lambda state: {f"module.{name}": t for name, t in state.items()},
            lambda state: {f"_orig_mod.{name}": t for name, t in state.items()},
        ],
        ids=["plain", "state_dict", "model", "model_state_dict", "parallel", "compiled"],
    )
    def test_checkpoints_of_all_usual_kinds(self, net, wrap):
        torch.save(wrap(net.state_dict()), "net.pt")
        loaded = load_network("theirs:net", Path("net.pt"))
        assert torch.equal(loaded.weight, net.weight)

    def test_safetensors(self, net):
        save_file(net.state_dict(), "net.safetensors")
        loaded = load_network("theirs:net", Path("net.safetensors"))
        assert torch.equal(loaded.weight, net.weight)

    def test_a_checkpoint_that_could_run_code_needs_trust(self, net):
        torch.save({"state_dict": net.state_dict(), "extra": Path("x")}, "unsafe.pt")
        with pytest.raises(ValueError, match=r"more than tensors.*pass --trust"):
            load_network("theirs:net", Path("unsafe.pt"))
        loaded = load_network("theirs:net", Path("unsafe.pt"), trust=True)
        assert torch.equal(loaded.weight, net.weight)

    def test_weights_that_are_none(self):
        torch.save([torch.ones(2)], "list.pt")
        with pytest.raises(ValueError, match="holds list, not a state dict"):
            load_network("theirs:net", Path("list.pt"))
