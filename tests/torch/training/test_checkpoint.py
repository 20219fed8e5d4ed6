"""What a folder holds, and what happens if it is another run's, damaged or full."""

import errno
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from rehead.files import persist
from rehead.files.persist import ModelFileError
from rehead.torch.models import FCN
from rehead.torch.training import METHODS, Recipe, loop
from rehead.torch.training.checkpoint import DiskError


class StopError(Exception):
    """Raised to end a run early."""


@pytest.fixture(autouse=True)
def after_each_epoch(monkeypatch) -> None:
    """A checkpoint after each epoch, however short."""
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)


def stop_after(epoch: int):
    def on_epoch(entry):
        if entry["epoch"] == epoch:
            raise StopError

    return on_epoch


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_folder_holds_checkpoint_log_and_weights(fit, tmp_path) -> None:
    trained = fit(folder=tmp_path / "new" / "run")
    folder = tmp_path / "new" / "run"
    assert files(folder) == {"checkpoint.safetensors", "log.jsonl", "net.safetensors"}
    assert [json.loads(line) for line in (folder / "log.jsonl").open()] == trained.history


def test_weights_on_disk_load_into_a_new_network(fit, make_net, same, tmp_path) -> None:
    trained = fit(METHODS["co-teaching"](noise_rate=0.4, ramp=1), folder=tmp_path)
    for name, net in zip(("net", "net2"), trained.nets, strict=True):
        fresh = make_net()
        fresh.load_state_dict(load_file(tmp_path / f"{name}.safetensors"))
        assert same(fresh, net)


def test_a_folder_changes_nothing_about_the_weights(fit, same, tmp_path) -> None:
    assert same(fit(folder=tmp_path).net, fit().net)


def test_a_run_that_was_stopped_goes_on_where_it_was(fit, same, numbers, tmp_path) -> None:
    with pytest.raises(StopError):
        fit(folder=tmp_path, on_epoch=stop_after(2))
    epochs = []
    trained = fit(folder=tmp_path, on_epoch=lambda entry: epochs.append(entry["epoch"]))
    assert epochs == [3]
    assert same(trained.net, fit().net)
    assert numbers(trained.history) == numbers(fit().history)


@pytest.mark.parametrize("method", ["cross-entropy", "glc", "forward"])
def test_a_finished_run_returns_at_once(method, fit, same, tmp_path, monkeypatch) -> None:
    options = {"trusted": np.arange(96) % 8 == 0, "folder": tmp_path}
    first = fit(method, **options)

    def never(*_):
        raise AssertionError("trained again")

    monkeypatch.setattr(loop, "train_epoch", never)
    again = fit(method, **options)
    assert same(again.net, first.net)
    assert again.history == first.history
    assert not again.net.training


def test_a_finished_run_with_the_best_weights_returns_them_again(
    fit, same, noisy, tmp_path
) -> None:
    options = {"validation": (noisy.X, noisy.true), "keep": "best", "folder": tmp_path}
    recipe = Recipe(epochs=6, batch_size=16, learning_rate=0.5, schedule="constant")
    first = fit(recipe=recipe, **options)
    assert same(fit(recipe=recipe, **options).net, first.net)


def test_stages_have_folders_of_their_own(fit, tmp_path) -> None:
    fit("glc", trusted=np.arange(96) % 8 == 0, folder=tmp_path)
    assert {"checkpoint.safetensors", "log.jsonl"} <= files(tmp_path / "silver")


BASE = Recipe(epochs=3, batch_size=16, learning_rate=0.05, schedule="constant")
FIRST = np.arange(96) == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "its seed differs (seed: 0 there, 1 now)"),
        ({"recipe": replace(BASE, learning_rate=0.01)}, "its recipe differs"),
        ({"recipe": replace(BASE, epochs=9), "seed": 4}, "its recipe, seed differ ("),
        ({"method": "bootstrap-soft"}, "its method, settings differ (method: cross-entropy"),
        ({"precision": "bfloat16"}, "its precision differs"),
        ({"trusted": FIRST}, "its data differs"),
        ({"make_net": lambda: FCN(6, 3, hidden=(9,))}, "its network differs"),
    ],
)
def test_a_folder_of_another_run_is_refused_and_the_difference_named(
    change, named, fit, tmp_path
) -> None:
    fit(folder=tmp_path)
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    with pytest.raises(ValueError, match="holds a checkpoint of another run") as error:
        fit(folder=tmp_path, **change)
    assert named in str(error.value)
    assert "Choose another folder, or delete this one" in str(error.value)
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before


def test_other_labels_or_inputs_are_another_run(fit, noisy, tmp_path) -> None:
    fit(folder=tmp_path)
    labels = noisy.y.copy()
    labels[17] = (labels[17] + 1) % 3
    for change in ({"y": labels}, {"X": noisy.X + 1}):
        with pytest.raises(ValueError, match="its data differs"):
            fit(folder=tmp_path, **change)


def test_other_settings_are_another_run(fit, tmp_path) -> None:
    fit(METHODS["bootstrap-hard"](beta=0.8), folder=tmp_path)
    with pytest.raises(ValueError, match="its settings differs"):
        fit(METHODS["bootstrap-hard"](beta=0.7), folder=tmp_path)


def test_other_held_out_samples_are_another_run_if_they_choose_the_weights(
    fit, noisy, tmp_path
) -> None:
    fit(folder=tmp_path, keep="best", validation=(noisy.X[:20], noisy.true[:20]))
    with pytest.raises(ValueError, match="another run"):
        fit(folder=tmp_path, keep="best", validation=(noisy.X[20:], noisy.true[20:]))


def test_another_run_is_refused_before_any_stage_is_trained(fit, tmp_path) -> None:
    fit(folder=tmp_path)
    before = files(tmp_path)
    with pytest.raises(ValueError, match="another run"):
        fit("glc", trusted=np.arange(96) % 8 == 0, folder=tmp_path)
    assert files(tmp_path) == before


def test_a_student_of_other_rows_is_not_taken_for_this_one(
    fit, noisy, tmp_path, monkeypatch
) -> None:
    def method(rows):
        clean = (rows, noisy.true[rows])
        return METHODS["mentornet"](form="teacher", clean=clean, teacher_steps=20)

    # The student is finished then, and nothing is kept of the network that it was for.
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 1000.0)
    with pytest.raises(StopError):
        fit(method(np.arange(40)), folder=tmp_path, on_epoch=stop_after(1))
    with pytest.raises(ValueError, match=r"student holds a checkpoint .* its settings differs"):
        fit(method(np.arange(40, 80)), folder=tmp_path)


def damage_end(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        damage_end,
        lambda path: path.write_bytes(path.read_bytes()[:-40]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"not a checkpoint" * 20),
    ],
    ids=["one byte", "cut off", "empty", "something else"],
)
def test_a_damaged_checkpoint_is_an_error_that_names_it(damage, fit, tmp_path) -> None:
    fit(folder=tmp_path)
    damage(tmp_path / "checkpoint.safetensors")
    with pytest.raises(ModelFileError, match=r"checkpoint\.safetensors is.*damaged"):
        fit(folder=tmp_path)


def fill_disk(monkeypatch, call: int) -> None:
    """Let the disk be full at one of the times that a file is written whole."""
    calls = []

    def full(_):
        calls.append(1)
        if len(calls) == call:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(persist.os, "fsync", full)


def test_short_epochs_do_not_each_write_a_checkpoint(fit, same, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 1000.0)
    with pytest.raises(StopError):
        fit(folder=tmp_path, on_epoch=stop_after(2))
    assert files(tmp_path) == {"log.jsonl"}
    epochs = []
    trained = fit(folder=tmp_path, on_epoch=lambda entry: epochs.append(entry["epoch"]))
    assert epochs == [1, 2, 3]
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 3
    assert same(trained.net, fit().net)
    assert "checkpoint.safetensors" in files(tmp_path)


def test_a_full_disk_says_so_and_leaves_the_checkpoint_before(
    fit, same, numbers, tmp_path, monkeypatch
) -> None:
    with pytest.raises(StopError):
        fit(folder=tmp_path, on_epoch=stop_after(1))
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    with monkeypatch.context() as patch:
        fill_disk(patch, call=2)  # the first is the log
        with pytest.raises(DiskError, match=r"Cannot write to .*No space left") as error:
            fit(folder=tmp_path)
    assert "start again with the same arguments" in str(error.value)
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before
    assert files(tmp_path) == {"checkpoint.safetensors", "log.jsonl"}
    trained = fit(folder=tmp_path)
    assert same(trained.net, fit().net)
    assert numbers(trained.history) == numbers(fit().history)


@pytest.mark.parametrize("call", [1, 2, 3, 4, 5], ids=["log", "1", "2", "3", "weights"])
def test_whatever_cannot_be_written_is_a_disk_error_and_nothing_is_lost(
    call, fit, same, tmp_path, monkeypatch
) -> None:
    with monkeypatch.context() as patch:
        fill_disk(patch, call)
        with pytest.raises(DiskError, match="No space left on device"):
            fit(folder=tmp_path)
    assert not [name for name in files(tmp_path) if name.startswith(".")]
    assert same(fit(folder=tmp_path).net, fit().net)


def test_settings_from_numpy_can_be_kept_too(fit, same, tmp_path) -> None:
    method = METHODS["bootstrap-hard"](beta=np.float32(0.75))
    assert same(fit(method, folder=tmp_path).net, fit(METHODS["bootstrap-hard"](beta=0.75)).net)


def test_a_network_that_is_given_goes_on_too(fit, make_net, same, tmp_path) -> None:
    torch.manual_seed(0)
    start = make_net().state_dict()

    def given():
        net = make_net()
        net.load_state_dict(start)
        return net

    with pytest.raises(StopError):
        fit(make_net=given(), folder=tmp_path, on_epoch=stop_after(1))
    assert same(fit(make_net=make_net(), folder=tmp_path).net, fit(make_net=given()).net)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda arrays, settings: arrays.pop("net0/hidden1.0.bias"), "net0 is another network"),
        (
            lambda arrays, settings: arrays.update({"net0/hidden1.0.bias": np.ones(99)}),
            "net0 is another network",
        ),
        (
            lambda arrays, settings: arrays.update({"optimizer0/99/exp_avg": np.ones(1)}),
            "optimizer0/99/exp_avg belongs to no parameter",
        ),
        (
            lambda arrays, settings: arrays.update({"optimizer0/x": np.ones(1)}),
            "optimizer0/x belongs to no parameter",
        ),
        (
            lambda arrays, settings: arrays.update({"optimizer0/0/strange": np.array(1.0)}),
            "optimizer0 is another optimiser",
        ),
        (lambda arrays, settings: arrays.update({"more": np.ones(1)}), "arrays of no part"),
        (lambda arrays, settings: settings.pop("history"), "history is missing"),
        (lambda arrays, settings: settings.update(history=[{}]), "history has no epoch 1"),
        (lambda arrays, settings: settings.update(history=3), "history must be a list"),
        (lambda arrays, settings: settings.update(identity=[]), "identity must be an object"),
    ],
)
def test_a_checkpoint_of_other_content_is_refused(change, match, fit, tmp_path) -> None:
    with pytest.raises(StopError):
        fit(folder=tmp_path, on_epoch=stop_after(1))
    path = tmp_path / "checkpoint.safetensors"
    arrays, settings = persist.read_model(path, "training checkpoint")
    change(arrays, settings)
    persist.write_model(path, "training checkpoint", arrays, settings)
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=match):
        fit(folder=tmp_path)
    assert path.read_bytes() == before
