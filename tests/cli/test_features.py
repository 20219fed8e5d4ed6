"""``rehead layers`` and ``rehead features``: a user's own network, weights and data."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rehead.files.store import FeatureStore

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


IMAGE_NET = (
    "import torch\nfrom torch import nn\n"
    "def net():\n"
    "    torch.manual_seed(0)\n"
    "    return nn.Sequential(nn.Flatten(), nn.Linear(75, 8), nn.ReLU(), nn.Linear(8, 2))\n"
    "def words():\n"
    "    torch.manual_seed(0)\n"
    "    return nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))\n"
    "def half(image):\n"
    "    return torch.full((3, 5, 5), image.convert('L').getpixel((0, 0)) / 255)\n"
    "def count(texts):\n"
    "    return torch.tensor([[float(len(t)), float(t.count('!'))] for t in texts])\n"
)


@pytest.fixture
def photos():
    Path("image_net.py").write_text(IMAGE_NET)
    sys.modules.pop("image_net", None)
    rng = np.random.default_rng(0)
    lines = ["file,kind"]
    for kind, level in (("ant", 60), ("owl", 180)):
        Path(f"photos/{kind}").mkdir(parents=True)
        for i in range(20):
            pixels = rng.normal(level, 15, size=(9, 7, 3)).clip(0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(f"photos/{kind}/{i:02d}.png")
            lines.append(f"{kind}/{i:02d}.png,{kind}")
    Path("photos/all.csv").write_text("\n".join(lines) + "\n")


def test_from_a_folder_of_images_to_an_audit(photos, succeed):
    common = ["image_net:net", "--size", "5", "--data"]
    listed = succeed("layers", *common, "photos")
    assert "40 images of 2 classes (ant, owl): RGB, resized to 5 x 5, values from 0" in listed
    said = succeed("features", *common, "photos", "--layers", "input, 1", "-o", "store")
    assert "40 samples, layers input (75), 1 (8): store" in said
    options = ["--labels", "kind", "--paths", "file"]
    succeed("features", *common, "photos/all.csv", *options, "--layers", "input,1", "-o", "table")
    first, second = FeatureStore("store"), FeatureStore("table")
    assert first.labels.tolist() == ["ant"] * 20 + ["owl"] * 20
    assert first.ids[0] == "ant/00.png"
    for name in ("ids", "labels", "outputs"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.layer("1"), second.layer("1"))
    options = ["--estimator", "sample", "--shrinkage", "0.5"]
    succeed("features", *common, "photos", "--layers", "1", "-o", "one")
    succeed("fit", "one", *options, "-o", "head")
    succeed("predict", "head", "one", "-o", "out.csv")
    assert Path("out.csv").read_text().splitlines()[-1].startswith("owl/19.png,owl,")


def test_a_transform_of_ones_own(photos, succeed):
    common = ["features", "image_net:net", "--data", "photos", "--layers", "input"]
    said = succeed(*common, "--transform", "image_net:half", "-o", "store")
    assert "prepared by image_net:half." in said
    assert np.ptp(FeatureStore("store").layer("input"), axis=1).max() == 0


def test_a_table_of_texts(photos, succeed, fail):
    Path("t.csv").write_text("text,kind,name\nGood!,1,07\nBad,0,8\n")
    common = ["features", "image_net:words", "--data", "t.csv", "--texts", "text", "-o", "store"]
    assert "Texts need --tokenizer FOLDER" in fail(*common)
    options = ["--transform", "image_net:count", "--labels", "kind", "--ids", "name"]
    assert "2 texts of 2 classes (0, 1), prepared by" in succeed(*common, *options)
    store = FeatureStore("store")
    assert store.layer("input").tolist() == [[5, 1], [3, 0]]
    assert (store.labels.tolist(), store.ids.tolist()) == ([1, 0], ["07", "8"])


def test_a_tokenizer_of_hugging_face(photos, succeed):
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad"]
    Path("vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer("vocab.txt").save_pretrained("bert")
    Path("bert_net.py").write_text(
        "import torch\nfrom transformers import BertConfig, BertForSequenceClassification\n"
        "def net():\n"
        "    torch.manual_seed(0)\n"
        "    sizes = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=1)\n"
        "    config = BertConfig(vocab_size=7, intermediate_size=8, **sizes)\n"
        "    return BertForSequenceClassification(config).eval()\n"
    )
    sys.modules.pop("bert_net", None)
    Path("t.csv").write_text("text,kind\ngood good,1\nbad,0\n")
    options = ["--texts", "text", "--tokenizer", "bert", "--labels", "kind", "-o", "store"]
    said = succeed("features", "bert_net:net", "--data", "t.csv", *options)
    assert "2 texts of 2 classes (0, 1), prepared by bert." in said
    assert len(FeatureStore("store")) == 2


def test_mistakes_with_files_are_one_line(photos, fail, succeed):
    common = ["features", "image_net:net", "-o", "store", "--data"]
    assert "--paths COLUMN" in fail(*common, "photos/all.csv")
    assert "'kin' is neither a column of photos/all.csv nor a file. Did you mean 'kind'" in fail(
        *common, "photos/all.csv", "--paths", "file", "--labels", "kin"
    )
    assert "The network fails on these inputs" in fail(*common, "photos", "--size", "6")
    Path("photos/owl/03.png").write_bytes(b"damaged")
    assert "Cannot read the image photos/owl/03.png" in fail(*common, "photos", "--size", "5")
    assert "--tokenizer goes with a table" in fail(*common, "photos", "--tokenizer", "x")
    assert "is what the command reads" in fail(*common[:3], "photos", "--data", "photos")
    Path("file").write_text("")
    assert "file is a file. Choose a folder" in fail(*common[:3], "file", "--data", "photos")


def test_runs_that_are_not_there_or_not_named_whole(fail):
    assert "There is no file or folder runs/ce" in fail(
        "layers", "mine:net", "--data", "runs/ce:train"
    )
    assert "must be package.module:name" in fail("layers", "none", "--data", "mine:data")
    assert "There is no file or folder runs/ce" in fail("layers", "runs/ce", "--data", "mine:data")
    Path("run").mkdir()
    for arguments in (["run", "--data", "mine:data"], ["mine:net", "--data", "run:train"]):
        assert "run holds no finished run" in fail("layers", *arguments)
    Path("run/run.json").write_text("{}")
    said = fail("layers", "mine:net", "--data", "run")
    assert "Say which part of its data: run:train, run:validation, run:test" in said
    said = fail("layers", "mine:net", "--data", "run:train", "--size", "5")
    assert "--size goes with inputs of your own" in said


def test_a_store_of_other_samples_is_refused(succeed, fail):
    """It once kept the old features, and said that all was well."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 6)).astype(np.float32)
    np.save("x.npy", x)
    np.save("other.npy", x + 1)
    np.save("ten.npy", x[:10])
    np.save("y.npy", np.arange(60) % 3)
    np.save("few.npy", np.arange(10) % 3)
    np.save("z.npy", np.arange(60) % 2)
    common = ["features", "mine:net", "-o", "st", "--layers", "1,3", "--data"]
    assert "60 samples" in succeed(*common, "x.npy", "--labels", "y.npy")
    assert "60 samples" in succeed(*common, "x.npy", "--labels", "y.npy")
    assert "made from other inputs (first at sample 0)" in fail(
        *common, "other.npy", "--labels", "y.npy"
    )
    assert "holds 60 samples, and there are only 10" in fail(
        *common, "ten.npy", "--labels", "few.npy"
    )
    assert "other labels (first at sample 2: 2, not 0)" in fail(
        *common, "x.npy", "--labels", "z.npy"
    )
    said = fail(*common, "x.npy", "--labels", "y.npy", "--pool", "flatten")
    assert "another pool (of layer '1': mean, not flatten)" in said


def test_parts_are_extracted_on_their_own_and_merged(succeed, fail, monkeypatch):
    rng = np.random.default_rng(0)
    np.savez("x.npz", X=rng.normal(size=(301, 6)).astype("f4"), y=rng.integers(3, size=301))
    common = ["features", "mine:net", "--data", "x.npz", "--layers", "hidden"]
    whole = succeed(*common, "-o", "whole")
    for i in (1, 2):
        succeed(*common, "-o", f"part{i}", "--shard", f"{i}/2")
        monkeypatch.setenv("RANK", str(i - 1))
        monkeypatch.setenv("WORLD_SIZE", "2")
        succeed(*common, "-o", "parts", "--shard", "env")
    assert "samples of 2 stores" in succeed("merge", "part2", "part1", "-o", "merged")
    succeed("merge", "parts/part-1", "parts/part-2", "-o", "of-ranks")
    for name in ("merged", "of-ranks"):
        assert FeatureStore(name).ids.tolist() == FeatureStore("whole").ids.tolist()
        assert f"{len(FeatureStore(name))} samples" in whole
    assert "must be i/n" in fail(*common, "-o", "x", "--shard", "3")
    assert "Give each part once" in fail("merge", "part1", "part1", "-o", "twice")
