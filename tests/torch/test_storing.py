"""A store is used again for the same samples and network only; else it says what differs."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from rehead.files.store import SHARD_ROWS, FeatureStore, StoreError, StoreWriter
from rehead.torch import RobustHead, extract_features, open_features
from rehead.torch.storing import FUNCTION, made_from
from rehead.torch.taps import Tap

EARLIER = Path(__file__).parents[1] / "files" / "store_of_version_1"


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    init = StoreWriter.__init__
    monkeypatch.setattr(
        StoreWriter, "__init__", lambda self, *a, **k: init(self, *a, **k, shard_rows=25)
    )


@pytest.fixture
def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 5), nn.ReLU(), nn.Linear(5, 3))


def samples(n=64, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % 3
    return torch.randn(n, 6, generator=g) + 3 * torch.eye(3, 6)[y], y


def batches(x, y, size=10, ids=True, stop=None):
    out = []
    for a in range(0, len(x), size):
        part = slice(a, a + size)
        named = [f"img{i}" for i in range(len(x))][part]
        out.append((x[part], y[part], named) if ids else (x[part], y[part]))
    return out if stop is None else broken(out[:stop])


def broken(parts):
    yield from parts
    raise KeyboardInterrupt


def begin(net, store, parts, finished, **options):
    """A store that is complete, or was left after 30 samples."""
    if finished:
        extract_features(net, parts, ["1", "3"], store=store, **options)
        return
    with pytest.raises(KeyboardInterrupt):
        extract_features(net, broken(parts[:4]), ["1", "3"], store=store, **options)
    with pytest.raises(StoreError, match="30 rows so far"):
        open_features(store)


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_a_head_on_other_data_is_refused_and_not_wrong(net, tmp_path):
    """Once, it was fitted on the old features: 0.3 % accuracy on its own training data."""
    x, y = samples(600)
    RobustHead(net, random_state=0).fit((x, y), store=tmp_path)
    x2, y2 = samples(600, seed=1)
    with pytest.raises(StoreError, match=r"other inputs \(first at sample 0\)"):
        RobustHead(net, random_state=0).fit((x2, (y2 + 1) % 3), store=tmp_path)
    again = RobustHead(net, random_state=0).fit((x, y), store=tmp_path)
    assert again.score((x, y)) > 0.95


@pytest.mark.parametrize("finished", [True, False], ids=["complete", "resumed"])
class TestWhatDiffers:
    @pytest.fixture
    def refused(self, net, tmp_path, finished):
        """Begin a store, and use it again with a change; what it says."""
        x, y = samples()
        begin(net, tmp_path, batches(x, y), finished)
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

        def call(parts, layers=("1", "3"), **options):
            with pytest.raises(StoreError) as caught:
                extract_features(net, parts, list(layers), store=tmp_path, **options)
            assert {f.name: f.read_bytes() for f in tmp_path.iterdir()} == before
            assert "another folder" in str(caught.value)
            return str(caught.value)

        return call

    def test_inputs(self, refused):
        x, y = samples()
        x = x.clone()
        x[27, 3] += 1e-3
        said = refused(batches(x, y))
        assert "made from other inputs (first at sample 27)" in said
        assert "the same samples, in the same order, prepared in the same way?" in said

    def test_labels(self, refused):
        x, y = samples()
        y = y.clone()
        y[11] = 0
        said = refused(batches(x, y))
        assert "made from other labels (first at sample 11: 2, not 0)" in said
        assert "Features do not depend on labels" in said
        assert "open_features" in said

    def test_labels_that_are_missing(self, refused):
        parts = [{"x": x, "ids": ids} for x, _, ids in batches(*samples())]
        assert "made from samples with labels" in refused(parts)

    def test_ids(self, refused):
        x, y = samples()
        parts = batches(x, y)
        parts[0] = (*parts[0][:2], ["other", *parts[0][2][1:]])
        assert "made from other ids (first at sample 0: 'img0', not 'other')" in refused(parts)
        assert "made from samples with ids" in refused(batches(x, y, ids=False))

    def test_another_order(self, refused):
        x, y = samples()
        assert "made from other ids" in refused(batches(x, y)[::-1])

    def test_fewer_samples(self, refused):
        said = refused(batches(*samples())[:2])
        assert "samples, and there are only 20" in said

    def test_pooling(self, refused):
        said = refused(batches(*samples()), pool={"3": "flatten"})
        assert "another pool (of layer '3': mean, not flatten)" in said

    def test_other_sources_of_layers_by_the_same_names(self, net, tmp_path, finished):
        x, y = samples()
        extract_features(net, (x, y), {"a": "1"}, store=tmp_path)
        with pytest.raises(StoreError, match=r"another source \(of layer 'a': 1, not 0\)"):
            extract_features(net, (x, y), {"a": "0"}, store=tmp_path)

    def test_functions_are_known_by_what_they_give(self, net, tmp_path, finished):
        begin(net, tmp_path, batches(*samples()), finished, pool=lambda h: 2 * h)
        with pytest.raises(StoreError, match=r"other features \(1\).*or a function has changed"):
            extract_features(
                net, batches(*samples()), ["1", "3"], store=tmp_path, pool=lambda h: 3 * h
            )
        with pytest.raises(StoreError, match=r"another pool \(of layer '1': a function, not mean"):
            extract_features(net, batches(*samples()), ["1", "3"], store=tmp_path)
        same = extract_features(
            net, batches(*samples()), ["1", "3"], store=tmp_path, pool=lambda h: h + h
        )
        assert len(same) == 64

    def test_a_network_whose_code_has_changed(self, net, tmp_path, finished):
        """The weights are the same, and so are their names."""
        begin(net, tmp_path, batches(*samples()), finished)
        net[1] = nn.GELU()
        with pytest.raises(StoreError, match=r"other features \(1\).*The code of the network"):
            extract_features(net, batches(*samples()), ["1", "3"], store=tmp_path)

    def test_what_gives_other_features_each_time(self, net, tmp_path, finished):
        begin(net, tmp_path, batches(*samples()), finished, pool=noisy)
        torch.manual_seed(1)
        with pytest.raises(StoreError, match="gives other values each time"):
            extract_features(net, batches(*samples()), ["1", "3"], store=tmp_path, pool=noisy)

    def test_data_that_are_augmented_at_random(self, net, tmp_path, finished):
        loader = DataLoader(Augmented(), batch_size=10)
        if finished:
            extract_features(net, loader, ["1"], store=tmp_path)
        else:
            with pytest.raises(KeyboardInterrupt):
                extract_features(net, broken(list(loader)[:4]), ["1"], store=tmp_path)
        torch.manual_seed(1)
        with pytest.raises(StoreError, match="other samples each time it is read: it augments"):
            extract_features(net, loader, ["1"], store=tmp_path)


def noisy(h):
    return h + torch.randn_like(h)


class Augmented(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.full((6,), float(i)) + torch.randn(6), i % 3


def test_more_samples_than_a_complete_store_has(net, tmp_path):
    x, y = samples(80)
    extract_features(net, batches(x[:64], y[:64]), ["1"], store=tmp_path)
    with pytest.raises(StoreError, match="holds 64 samples, and there are more"):
        extract_features(net, batches(x, y), ["1"], store=tmp_path)


def test_batches_of_any_size_are_the_same_samples(net, tmp_path):
    x, y = samples()
    first = extract_features(net, (x, y), ["1"], store=tmp_path)
    for size in (1, 7, 64):
        loader = DataLoader(TensorDataset(x, y), batch_size=size, shuffle=True)
        again = extract_features(net, loader, ["1"], store=tmp_path)
        np.testing.assert_array_equal(again.layers["1"], first.layers["1"])


def test_a_generator_is_read_once_and_compared(net, tmp_path):
    x, y = samples()
    extract_features(net, iter(batches(x, y)), ["1"], store=tmp_path)
    assert len(extract_features(net, iter(batches(x, y)), ["1"], store=tmp_path)) == 64
    with pytest.raises(StoreError, match="made from other inputs"):
        extract_features(net, iter(batches(x + 1, y)), ["1"], store=tmp_path)


class Once:
    """Gives its batches only once, though it is no iterator."""

    def __init__(self, parts):
        self.parts = parts

    def __iter__(self):
        parts, self.parts = self.parts, []
        return iter(parts)


def test_what_cannot_be_read_again_is_said_to_differ(net, tmp_path):
    x, y = samples()
    extract_features(net, batches(x, y), ["1"], store=tmp_path)
    with pytest.raises(StoreError, match="made from other inputs"):
        extract_features(net, Once(batches(x + 1, y)), ["1"], store=tmp_path)


def test_the_network_runs_on_the_first_batch_only(net, tmp_path):
    x, y = samples()
    extract_features(net, batches(x, y), ["1"], store=tmp_path)
    runs = []
    net.register_forward_hook(lambda *_: runs.append(1))
    extract_features(net, batches(x, y), ["1"], store=tmp_path)
    assert len(runs) == 1


def test_features_that_are_only_rounded_otherwise_are_the_same(net, tmp_path):
    """Features round otherwise on other devices and in other batches."""
    x, y = samples()
    begin(net, tmp_path, batches(x, y), True, pool=lambda h: h)
    extract_features(
        net, batches(x, y), ["1", "3"], store=tmp_path, pool=lambda h: h.bfloat16().float()
    )


def test_a_resumed_run_takes_the_same_outputs(tmp_path):
    """The labels of the first batch decided which of two tensors are the logits."""

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 2), nn.Linear(6, 9)

        def forward(self, x):
            return self.b(x), self.a(x)

    net, (x, _) = Two(), samples()
    y = torch.cat([torch.arange(30) % 5, torch.zeros(34, dtype=torch.long)])
    with pytest.raises(KeyboardInterrupt):
        extract_features(net, broken(batches(x, y)[:4]), ["a"], store=tmp_path)
    assert extract_features(net, batches(x, y), ["a"], store=tmp_path).outputs.shape == (64, 9)


def test_a_store_of_version_1_is_read_but_not_used_again(tmp_path, net):
    features = open_features(EARLIER)
    assert (len(features), features.n_outputs, list(features.layers)) == (
        20,
        2,
        ["input", "2.input"],
    )
    with pytest.raises(StoreError, match=r"written by an earlier rehead.*can be read"):
        extract_features(net, samples(20), store=EARLIER)


def test_what_a_store_says_it_was_made_from(net, tmp_path):
    taps = [Tap("a", "1"), Tap("b", nn.Linear(2, 2)), Tap("c", len)]
    origin = made_from(taps, {"a": "mean", "b": len, "c": "first"})
    assert origin["source"]["a"] == "1"
    assert origin["source"]["b"].startswith("a network with weights ")
    assert origin["source"]["c"] == FUNCTION
    assert origin["pool"] == {"a": "mean", "b": FUNCTION, "c": "first"}


def test_an_encoder_with_other_weights(net, tmp_path):
    x, y = samples()
    encoder = nn.Linear(6, 4)
    extract_features(net, (x, y), {"e": encoder}, store=tmp_path)
    extract_features(net, (x, y), {"e": encoder}, store=tmp_path)
    with torch.no_grad():
        encoder.bias += 1
    with pytest.raises(StoreError, match="another source"):
        extract_features(net, (x, y), {"e": encoder}, store=tmp_path)


def extract_slowly(net, store):
    """In a process of its own, which may be killed."""
    x, y = samples(400)
    net.register_forward_hook(lambda *_: time.sleep(0.002))
    extract_features(net, batches(x, y), ["1", "3"], store=store, progress=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is started as a copy of this one")
def test_an_extraction_killed_at_any_moment_ends_bit_identical(net, tmp_path):
    torch.set_num_threads(1)  # a copy has none of the other threads
    start, rng = multiprocessing.get_context("fork").Process, np.random.default_rng(0)
    extract_slowly(net, tmp_path / "whole")
    broken = tmp_path / "broken"
    broken.mkdir()
    for _ in range(6):
        process = start(target=extract_slowly, args=(net, broken))
        process.start()
        some = len(list(broken.iterdir())) + rng.integers(1, 10)
        while process.is_alive() and len(list(broken.iterdir())) < some:
            time.sleep(0.0005)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    extract_slowly(net, tmp_path / "broken")
    whole, again = (
        {f.name: f.read_bytes() for f in (tmp_path / n).iterdir()} for n in ("whole", "broken")
    )
    assert again == whole
    assert len(FeatureStore(tmp_path / "whole", verify=True)) == 400


def test_shards_are_large_by_default():
    assert SHARD_ROWS == 16_384
