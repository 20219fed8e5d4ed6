"""``rehead fit``, ``predict`` and ``compare``: a head from features, and what it says."""

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.test_out_of_core import write_store

from rehead import LayerEnsemble, RobustGaussianClassifier, noise
from rehead.checkpoint import Checkpoint
from rehead.files.store import FeatureStore

pytestmark = pytest.mark.usefixtures("project")


def test_from_a_network_to_predictions_on_the_command_line(succeed):
    listed = succeed("layers", "mine:net", "--data", "mine:data")
    assert "2.input" in listed
    for name, source in (("train", "data"), ("held", "held_out"), ("test", "test")):
        said = succeed("features", "mine:net", "--data", f"mine:{source}", "-o", name)
        assert "input (6), 2.input (8), 4.input (8)" in said
    said = succeed("fit", "train", "--validation", "held", "-o", "head.safetensors")
    assert "3 classes" in said
    succeed("predict", "head.safetensors", "test", "-o", "out.csv")
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0] == "id,label,probability"
    assert lines[1].startswith("img400,1,")
    assert len(lines) == 201
    table = succeed("compare", "head.safetensors", "test")
    assert [line.split()[0] for line in table.splitlines()[1:]] == [
        "softmax",
        "input",
        "2.input",
        "4.input",
        "stack",
        "robust",
    ]


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_the_softmax_is_compared_in_the_order_of_its_names(succeed):
    """The network's outputs are 0, 1, 2, and the labels cat, ant, bee."""
    for name, source in (("train", "data"), ("test", "test")):
        succeed("features", "mine:net", "--data", f"mine:{source}", "-o", name)
    names = np.array(["cat", "ant", "bee"])
    for name in ("train", "test"):
        labels = FeatureStore(name).labels
        Path(f"{name}.txt").write_text("\n".join(names[labels]))
    Path("names.txt").write_text("\n".join(names))
    succeed("fit", "train", "--labels", "train.txt", "--estimator", "posterior", "-o", "head")
    stored = FeatureStore("test")
    accuracy = (stored.outputs.argmax(axis=1) == stored.labels).mean()
    compare = ("compare", "head", "test", "--labels", "test.txt")
    assert "softmax" not in succeed(*compare)
    for given in ("cat,ant,bee", "names.txt"):
        table = succeed(*compare, "--class-names", given)
        row = next(line for line in table.splitlines() if line.startswith("softmax"))
        assert float(row.split()[1]) == pytest.approx(accuracy, abs=1e-4)


def test_features_from_files(succeed):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = (rng.normal(size=(90, 6)) + 3 * np.eye(3, 6)[y]).astype(np.float32)
    np.save("x.npy", X)
    Path("y.csv").write_text("label\n" + "\n".join(f"class{c}" for c in y) + "\n")
    succeed("fit", "x.npy", "--labels", "y.csv", "--estimator", "posterior", "-o", "head")
    succeed("predict", "head", "x.npy", "-o", "out.csv")
    assert "class" in Path("out.csv").read_text().splitlines()[1]
    succeed("features", "mine:net", "--data", "x.npy", "--labels", "y.csv", "-o", "store")
    assert "robust" in succeed("compare", "head", "x.npy", "--labels", "y.csv")


def test_a_saved_classifier_predicts(succeed, blobs):
    X, y = blobs(sizes=(150, 150, 150), d=4)
    X = X.astype(np.float32)
    y = np.array(["ant", "bee", "cat"])[noise.uniform(y, 0.1, random_state=0).labels]
    model = RobustGaussianClassifier(random_state=0).fit(X, y)
    model.save("classifier")
    np.save("x.npy", X)
    succeed("predict", "classifier", "x.npy", "-o", "out.csv")
    with Path("out.csv").open(newline="") as file:
        assert [r["label"] for r in csv.DictReader(file)] == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.npy", "-o", "head"], "There is no file or folder none.npy"),
        (["fit", "none.npy", "--shrinkage", "big", "-o", "head"], "a number or auto, got 'big'"),
        (["predict", "none", "none.npy", "-o", "out.csv"], "There is no model file at none"),
        (["compare", ".", "none.npy"], "is a folder, not a head"),
    ],
)
def test_mistakes_are_one_line(fail, arguments, message):
    assert message in fail(*arguments)


def test_ids_that_repeat_are_an_error_before_anything_is_fitted(fail):
    np.save("X.npy", np.random.default_rng(0).normal(size=(40, 2)))
    np.save("y.npy", np.arange(40) % 2)
    np.save("names.npy", np.array([f"s{i // 2}" for i in range(40)]))
    said = fail("fit", "X.npy", "--labels", "y.npy", "--ids", "names.npy", "-o", "h.safetensors")
    assert "duplicates in the --ids ('s0' first). Name each sample once" in said
    assert not Path("h.safetensors").exists()


def test_a_fit_that_was_stopped_goes_on_with_the_same_command(succeed, fail, blobs, monkeypatch):
    X, y = blobs()
    write_store(Path("s"), {"x": X.astype("f4")}, y)
    succeed("fit", "s", "-o", "whole.safetensors")
    monkeypatch.setattr("rehead.checkpoint.LEAST_SECONDS", 0.0)
    monkeypatch.setattr("rehead.checkpoint.BYTES_A_SECOND", np.inf)
    keep, kept = Checkpoint.keep, []

    def keep_two(self, *step):
        if len(kept) == 2:
            raise ValueError("stopped")
        kept.append(step)
        keep(self, *step)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "keep", keep_two)
        assert "stopped" in fail("fit", "s", "-o", "head.safetensors")
    assert not Path("head.safetensors").exists()
    said = fail("fit", "s", "-o", "head.safetensors", "--seed", "1")
    assert "head.safetensors.checkpoint is of another fit: the random state" in said
    said = succeed("fit", "s", "-o", "head.safetensors")
    assert "It goes on: 2 steps are in head.safetensors.checkpoint." in said
    assert Path("head.safetensors").read_bytes() == Path("whole.safetensors").read_bytes()
    assert not Path("head.safetensors.checkpoint").exists()


def test_features_are_mapped_where_that_is_asked_for(succeed, fail):
    rng = np.random.default_rng(0)
    y, angle = rng.integers(2, size=400), rng.uniform(0, 7, size=400)
    X = (1 + y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    np.save("x.npy", X + 0.05 * rng.normal(size=X.shape))
    np.save("y.npy", y)
    train = ["fit", "x.npy", "--labels", "y.npy", "-o", "head"]
    assert "mapped by their similarity to 66" in succeed(*train, "--feature-map", "kernel")
    succeed("predict", "head", "x.npy", "-o", "out.csv")
    with Path("out.csv").open(newline="") as file:
        right = np.array([int(r["label"]) for r in csv.DictReader(file)]) == y
    assert right.mean() > 0.95
    assert "mapped" not in succeed(*train, "--feature-map", "none", "--estimator", "sample")
    assert "Did you mean 'kernel'" in fail(*train, "--feature-map", "kernal")


def test_stores_of_different_networks_or_pooling_do_not_go_together(succeed, fail):
    Path("other.py").write_text(
        "import torch\nfrom mine import net as first\n"
        "def net():\n"
        "    net = first()\n"
        "    with torch.no_grad():\n"
        "        net[0].bias += 1\n"
        "    return net\n"
    )
    common = ["--layers", "input,1", "--data"]
    succeed("features", "mine:net", *common, "mine:data", "-o", "train")
    succeed("features", "mine:net", *common, "mine:held_out", "-o", "held")
    succeed("features", "other:net", *common, "mine:held_out", "-o", "foreign")
    succeed("features", "mine:net", *common, "mine:held_out", "-o", "flat", "--pool", "flatten")
    fit = ["fit", "train", "-o", "head", "--estimator", "posterior", "--validation"]
    succeed(*fit, "held")
    assert "The store foreign was written by another network" in fail(*fit, "foreign")
    assert "another pool (of layer '1': flatten, not mean)" in fail(*fit, "flat")
    succeed("predict", "head", "held", "-o", "p.csv")
    for command in (["predict", "-o", "q.csv"], ["compare"], ["audit"]):
        said = fail(command[0], "head", "foreign", *command[1:])
        assert "foreign was written by another network" in said


def test_priors_belong_to_the_default(succeed, fail):
    rng = np.random.default_rng(0)
    y = rng.choice(2, size=400, p=[0.9, 0.1])
    np.save("x.npy", rng.normal(size=(400, 2)) + 1.5 * y[:, None])
    np.save("y.npy", y)
    found = {}
    for priors in ("empirical", "uniform"):
        said = succeed("fit", "x.npy", "--labels", "y.npy", "--priors", priors, "-o", priors)
        assert "Labels were judged by" in said
        succeed("predict", priors, "x.npy", "-o", f"{priors}.csv")
        with Path(f"{priors}.csv").open() as file:
            found[priors] = sum(row["label"] == "1" for row in csv.DictReader(file))
    assert found["uniform"] > found["empirical"] + 20
    assert "Did you mean 'uniform'" in fail(
        "fit", "x.npy", "--labels", "y.npy", "--priors", "unifrom", "-o", "head"
    )


OUT = ("-o", "head")


class TestMachineAndTrustedLabels:
    @pytest.fixture
    def table(self):
        """A table whose labels a tilted machine made; one row in five was drawn and checked."""
        rng = np.random.default_rng(0)
        true = rng.integers(2, size=500)
        X = rng.normal(size=(500, 3)) + 4.5 * true[:, None] * np.array([1.0, 0.0, 0.0])
        y = (X @ [1.0, 1.0, 0.0] > 2.25).astype(int)
        checked = np.arange(500) % 5 == 0
        y = np.where(checked, true, y)
        words = np.where(checked, "random", "")
        words[1] = "chosen"
        with open("made.csv", "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["a", "b", "c", "label", "checked"])
            out.writerows([*row, label, word] for row, label, word in zip(X, y, words, strict=True))
        np.save("checked.npy", checked)
        np.save("X.npy", X)
        np.save("y.npy", y)

    def test_who_made_the_labels_is_said(self, table, succeed, fail):
        made = ("fit", "X.npy", "--labels", "y.npy", "-o", "head")
        assert "taken for a machine's" not in succeed(*made)
        assert "taken for a machine's" in succeed(*made, "--labels-from", "machine")
        assert "labels_from must be one of" in fail(*made, "--labels-from", "robots")

    @pytest.mark.parametrize("where", ["checked", "made.csv:checked", "checked.npy"])
    def test_trusted_labels_are_read_and_no_feature(self, table, succeed, where):
        ignored = () if where.endswith("checked") else ("--ignore", "checked")
        named = ("--labels", "label", "--trusted", where, *ignored)
        said = succeed("fit", "made.csv", *named, *OUT)
        assert "100 trusted labels" in said
        assert LayerEnsemble.load("head").column_names("features").tolist() == ["a", "b", "c"]

    def test_other_words_are_an_error(self, table, fail):
        Path("odd.txt").write_text("\n".join(["maybe"] * 500))
        said = fail("fit", "X.npy", "--labels", "y.npy", "--trusted", "odd.txt", *OUT)
        for accepted in ("'maybe'", "'random'", "'chosen'", "yes", "true", "1", "no", "false", "0"):
            assert accepted in said
        assert "mask" not in said
