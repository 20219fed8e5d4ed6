"""A user's own network and data, named on the command line."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from rehead.torch.batches import read_loader
from rehead.torch.loading import Reading, load_loader, load_network, load_object


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
    for name in ("theirs", "prepare"):
        monkeypatch.delitem(sys.modules, name, raising=False)
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
        assert list(load_loader("theirs:loader").loader) == [1, 2]
        assert load_loader("theirs:batches") == ([1, 2], "")
        with pytest.raises(ValueError, match="--labels goes with files of inputs"):
            load_loader("theirs:batches", Reading(labels="labels.csv"))

    def test_arrays_with_labels_of_their_own_or_beside_them(self):
        X, y, ids = np.ones((2, 3)), np.array([1, 0]), np.array(["a", "b"])
        np.save("x.npy", X)
        np.savez("all.npz", X=X, y=y, ids=ids)
        Path("y.csv").write_text("label,name\ncat,007\ndog,8\n")
        beside = Reading(labels="y.csv:label")
        assert [column.tolist() for column in load_loader("x.npy").loader] == [X.tolist()]
        assert load_loader("x.npy", beside).loader[1].tolist() == ["cat", "dog"]
        assert [c.tolist() for c in load_loader("all.npz").loader[1:]] == [
            y.tolist(),
            ids.tolist(),
        ]
        assert [c.tolist() for c in load_loader("all.npz", beside).loader[1:]] == [
            ["cat", "dog"],
            ["a", "b"],
        ]
        named = load_loader("x.npy", beside._replace(ids="y.csv:name")).loader
        assert named[2].tolist() == ["007", "8"]
        with pytest.raises(ValueError, match=r"--size goes with a folder or a table, not with x.n"):
            load_loader("x.npy", Reading(size=5))

    def test_ids_without_labels_are_not_taken_for_labels(self):
        np.savez("ids.npz", X=np.ones((300, 3)), ids=np.arange(7, 307))
        batches = list(read_loader(load_loader("ids.npz").loader))
        assert [batch.labels for batch in batches] == [None, None]
        assert np.concatenate([batch.ids for batch in batches]).tolist() == list(range(7, 307))

    @pytest.mark.parametrize("name", ["other.npz", "text.txt"])
    def test_a_file_without_inputs(self, name):
        np.savez("other.npz", features=np.ones(3))
        Path("text.txt").write_text("1\n")
        with pytest.raises(ValueError, match=r"holds no inputs. Use .npy"):
            load_loader(name)


class TestTables:
    @pytest.fixture(autouse=True)
    def _files(self):
        Image.new("RGB", (4, 4)).save("a.png")
        Path("t.csv").write_text("file,text,label\na.png,Good.,x\na.png,Bad!,y\n")
        Path("prepare.py").write_text(
            "import torch\n"
            "def red(image):\n    return torch.ones(2)\n"
            "def lengths(texts):\n    return torch.tensor([[float(len(t))] for t in texts])\n"
        )

    def test_paths_and_texts(self):
        inputs = load_loader("t.csv", Reading("label", paths="file", size=6))
        images, labels, ids = next(iter(inputs.loader))
        assert images.shape == (2, 3, 6, 6)
        assert labels.tolist() == ["x", "y"]
        assert ids.tolist() == ["a.png", "a.png"]
        assert inputs.note.startswith("2 images of 2 classes (x, y): RGB, resized to 6 x 6")
        inputs = load_loader("t.csv", Reading(paths="file", ids="text", transform="prepare:red"))
        assert next(iter(inputs.loader))[0].tolist() == [[1, 1], [1, 1]]
        assert inputs.note == "2 images, without labels, prepared by prepare:red."
        Path("y.txt").write_text("u\nv\n")
        inputs = load_loader("t.csv", Reading("y.txt", "t.csv:text", paths="file", size=6))
        assert [c.tolist() for c in next(iter(inputs.loader))[1:]] == [
            ["u", "v"],
            ["Good.", "Bad!"],
        ]
        Path("y.txt").write_text("u\n")
        with pytest.raises(ValueError, match=r"t.csv has 2 rows, and there are 1 labels"):
            load_loader("t.csv", Reading("y.txt", paths="file"))
        inputs = load_loader("t.csv", Reading("label", texts="text", transform="prepare:lengths"))
        assert next(iter(inputs.loader))[0].tolist() == [[5], [4]]

    @pytest.mark.parametrize(
        ("how", "match"),
        [
            ({}, "--paths COLUMN, or texts, .* It has file, text, label"),
            ({"paths": "file", "texts": "text"}, "Say which of its columns"),
            ({"texts": "text"}, "Texts need --tokenizer FOLDER"),
            ({"paths": "fil"}, "no column 'fil'. Did you mean 'file'"),
            ({"paths": "file", "tokenizer": "x"}, "--tokenizer goes with --texts"),
            ({"texts": "text", "tokenizer": "x", "transform": "y"}, "do the same"),
            ({"paths": "file", "transform": "prepare:blue"}, "has no 'blue'"),
        ],
    )
    def test_mistakes_are_named(self, how, match):
        with pytest.raises(ValueError, match=match):
            load_loader("t.csv", Reading(**how))

    def test_a_folder_of_images(self):
        Path("photos/cat").mkdir(parents=True)
        Image.new("RGB", (4, 4)).save("photos/cat/a.png")
        inputs = load_loader("photos")
        assert inputs.note.startswith("1 image of 1 class (cat): RGB, resized to 224 x 224")
        assert next(iter(inputs.loader))[0].shape == (1, 3, 224, 224)
        with pytest.raises(ValueError, match="--labels goes with a table"):
            load_loader("photos", Reading(labels="x"))


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
