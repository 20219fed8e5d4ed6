"""Weights from files: what is missing or damaged is said to be so, and never to be trusted."""

import pickle

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from rehead.torch.weightfile import is_whole_pickle, load_weights, read_weights


class Extra:
    """Something in a checkpoint that is no tensor."""


OLD = {"_use_new_zipfile_serialization": False}


@pytest.fixture
def state():
    return {"weight": torch.ones(2, 3), "bias": torch.ones(2)}


def test_weights_under_the_usual_names_and_prefixes(tmp_path, state):
    net = nn.Linear(3, 2)
    wrapped = {"epoch": 3, "state_dict": {f"module.{k}": v for k, v in state.items()}}
    torch.save(wrapped, tmp_path / "a.pt")
    torch.save(state, tmp_path / "b.pt", **OLD)
    save_file(state, tmp_path / "c.safetensors")
    for name in ("a.pt", "b.pt", "c.safetensors"):
        nn.init.zeros_(net.weight)
        load_weights(net, tmp_path / name)
        assert torch.equal(net.weight, state["weight"])


@pytest.mark.parametrize("how", ["new", "old", "safetensors", "objects", "old objects"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.99])
@pytest.mark.parametrize("trust", [False, True])
def test_a_truncated_file_is_damaged_and_never_to_be_trusted(tmp_path, state, how, share, trust):
    path = tmp_path / ("w.safetensors" if how == "safetensors" else "w.pt")
    content = {**state, "extra": Extra()} if "objects" in how else state
    if how == "safetensors":
        save_file(content, path)
    else:
        torch.save(content, path, **(OLD if "old" in how else {}))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="is damaged or incomplete") as caught:
        read_weights(path, trust=trust)
    assert "--trust" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 300


@pytest.mark.parametrize("content", [b"hello world" * 9, b"\x00" * 99, b"\x80\x02"])
def test_what_is_no_checkpoint(tmp_path, content):
    (tmp_path / "w.pt").write_bytes(content)
    with pytest.raises(ValueError, match="holds no weights that can be read") as caught:
        read_weights(tmp_path / "w.pt")
    assert "--trust" not in str(caught.value)


@pytest.mark.parametrize("name", ["w.pt", "w.safetensors"])
def test_a_missing_file_and_a_folder(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=f"There is no file .*{name}"):
        read_weights(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_weights(tmp_path / name)


@pytest.mark.parametrize("how", ["new", "pickle"])
def test_objects_are_read_only_from_a_source_that_is_trusted(tmp_path, how, state):
    path = tmp_path / "w.pt"
    if how == "pickle":
        path.write_bytes(pickle.dumps(Extra()))
    else:
        torch.save({"model": state, "extra": Extra()}, path)
    assert is_whole_pickle(path)
    with pytest.raises(ValueError, match=r"holds more than tensors.*pass --trust"):
        read_weights(path)
    if how != "pickle":
        assert set(read_weights(path, trust=True)) == set(state)


def test_an_old_file_with_objects_may_be_damaged_for_all_that_is_known(tmp_path, state):
    torch.save({"model": state, "extra": Extra()}, tmp_path / "w.pt", **OLD)
    with pytest.raises(ValueError, match=r"or holds no weights that can be read.*Save"):
        read_weights(tmp_path / "w.pt")
    assert set(read_weights(tmp_path / "w.pt", trust=True)) == set(state)


def test_weights_of_another_network(tmp_path, state):
    save_file(state, tmp_path / "w.safetensors")
    with pytest.raises(ValueError, match=r"(?s)w.safetensors does not fit.*size mismatch"):
        load_weights(nn.Linear(5, 2), tmp_path / "w.safetensors")
