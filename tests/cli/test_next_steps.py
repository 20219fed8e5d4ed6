"""What an audit tells to do next works as it is told, with the user's own files."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from rehead import LayerEnsemble, noise
from rehead.cli.next_steps import _free_name
from rehead.files.samples import Source


@pytest.fixture
def table(tmp_path, monkeypatch, blobs):
    monkeypatch.chdir(tmp_path)
    X, truth = blobs(sizes=(100, 100, 100), d=4)
    y = noise.uniform(truth, 0.15, random_state=0).labels  # whole numbers: a feature by mistake
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(
        truth=truth, kind=y, name=[f"s {i}" for i in range(300)], town="x"
    )
    frame.drop(columns="truth").to_csv("my table.csv", index=False)
    return frame


def commands(said):
    lines = said[said.index("Next:") :].splitlines()
    return {line.strip().partition(": ")[0]: line.partition(": ")[2] for line in lines[1:]}


def run(succeed, command):
    program, *arguments = shlex.split(command)
    assert program == "rehead"
    return succeed(*arguments)


def test_the_commands_that_an_audit_names_work(table, succeed):
    options = ["--labels", "kind", "--ids", "name", "--ignore", "town"]
    succeed("fit", "my table.csv", *options, "-o", "head")
    audit = ["audit", "head", "my table.csv", *options[:4]]
    told = commands(succeed(*audit))
    assert list(told) == ["review", "review on a page", "correct", "fit again", "in Python"]
    page = "rehead review head 'my table.csv' --labels kind --ids name"
    assert told["review on a page"] == page
    run(succeed, told["review"].partition(", then")[0])
    assert len(pd.read_csv("suspects.csv")) == 300
    run(succeed, told["correct"])
    corrected = pd.read_csv("corrected.csv")
    assert corrected["id"].tolist() == table["name"].tolist()
    assert corrected["given"].tolist() == table["kind"].tolist()
    assert ((corrected["label"] != corrected["given"]) == corrected["changed"]).all()
    right = (corrected["label"] == table["truth"]).mean()
    assert right > (table["kind"] == table["truth"]).mean() + 0.1
    said = run(succeed, told["fit again"])
    assert "Features: 4 columns of my table.csv: a, b, c, d." in said
    assert Path("new-head.safetensors").exists()
    told = commands(succeed(*audit, "-o", "out.csv", "--corrected", "new.csv"))
    assert "rows of out.csv with the lowest quality" in told["review"]
    assert "correct" not in told
    assert "new.csv:label" in told["fit again"]


def test_a_higher_probability_corrects_fewer(table, succeed, fail):
    succeed("fit", "my table.csv", "--labels", "kind", "--ignore", "town,name", "-o", "head")
    audit = ["audit", "head", "my table.csv", "--labels", "kind", "--corrected", "c.parquet"]
    changed = []
    for least in ("0.5", "0.99"):
        succeed(*audit, "--min-probability", least)
        changed.append(pd.read_parquet("c.parquet")["changed"].sum())
    assert changed[0] >= changed[1] > 0
    for least in ("0", "1.5"):
        assert "must be above 0, and 1 at most" in fail(*audit, "--min-probability", least)
    assert "same file" in fail(*audit, "-o", "c.parquet")
    assert "must end in .csv or .parquet" in fail(*audit[:-1], "c.txt")


def test_clean_labels_need_nothing(succeed, tmp_path, monkeypatch, blobs):
    monkeypatch.chdir(tmp_path)
    X, y = blobs(sizes=(100, 100), d=3)
    np.savez("x.npz", X=X + 20 * y[:, None], labels=y)
    succeed("fit", "x.npz", "-o", "head")
    said = succeed("audit", "head", "x.npz")
    assert "Nothing to review" in said
    assert "Next:" not in said


def test_held_out_labels_are_corrected_too_where_features_are_of_a_network(
    tmp_path, monkeypatch, blobs, succeed
):
    torch = pytest.importorskip("torch")
    from rehead.torch import extract_features

    monkeypatch.chdir(tmp_path)
    X, truth = blobs(sizes=(150, 150, 150), d=4)
    order = np.random.default_rng(0).permutation(450)
    x, y = X[order].astype(np.float32), noise.uniform(truth[order], 0.2, random_state=0).labels
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    extract_features(net, (x[:300], y[:300]), store="train")
    extract_features(net, (x[300:], y[300:]), store="held")
    succeed("fit", "train", "--validation", "held", "-o", "head")
    told = commands(succeed("audit", "head", "train"))
    run(succeed, told["correct"])
    run(succeed, told["correct held-out labels too"].replace("HELD-OUT", "held"))
    said = run(succeed, told["fit again"].replace("HELD-OUT", "held"))
    assert "about clean" in said or "About 1%" in said


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Labels of a small tree, which a hundred checked ones give away; and samples to test on."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    means = np.random.default_rng(99).normal(size=(5, 10)) * 1.06
    true = rng.integers(5, size=3000)
    X = rng.normal(size=(3000, 10)) + means[true]
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X[:150], true[:150])
    made, drawn = tree.predict(X), rng.permutation(3000) < 150
    names = np.array(list("abcde"))
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(10)]).assign(
        kind=names[np.where(drawn, true, made)],
        before=names[made],
        checked=np.where(drawn, "yes", ""),
    )
    frame[:2000].to_csv("m.csv", index=False)
    new = frame[2000:].assign(kind=names[true[2000:]]).drop(columns=["before", "checked"])
    new.to_csv("new.csv", index=False)
    return frame[:2000]


def accuracy(head):
    new = pd.read_csv("new.csv")
    return LayerEnsemble.load(head).score({"features": new.drop(columns="kind")}, new["kind"])


FIT = ("fit", "m.csv", "--labels", "kind", "--trusted", "checked", "--uncorrected")
AUDIT = ("audit", "head", "m.csv", "--labels", "kind")


def test_trusted_labels_are_not_forgotten(machine, succeed):
    succeed(*FIT, "before", "-o", "head")
    told = commands(succeed(*AUDIT, "--corrected", "c.csv", "--min-probability", "0.7"))
    again = told["fit again"]
    assert "--trusted c.csv:trusted --uncorrected before" in again
    corrected, checked = pd.read_csv("c.csv"), machine["checked"] == "yes"
    assert corrected["changed"].sum() > 20
    assert not corrected["changed"][checked].any()  # they are known to be right
    assert (corrected["trusted"][checked] == "random").all()
    words = corrected["trusted"].fillna("")
    assert ((words == "suggested") == corrected["changed"]).all()
    assert "trusted labels chose this way" in run(succeed, again)
    assert accuracy("new-head.safetensors") > accuracy("head") - 0.01
    plain = again.replace("--trusted c.csv:trusted --uncorrected before", "--ignore checked,before")
    run(succeed, plain.replace("new-head", "plain"))
    assert accuracy("plain.safetensors") < accuracy("head") - 0.05
    # Once more: what was suggested before is suggested still.
    named = ("--labels", "c.csv:label", "--ignore", "kind,before,checked")
    second = commands(
        succeed("audit", "new-head.safetensors", "m.csv", *named, "--corrected", "d.csv")
    )
    assert (pd.read_csv("d.csv")["trusted"].fillna("")[words == "suggested"] == "suggested").all()
    run(succeed, second["fit again"])


def test_labels_that_were_checked_are_left_alone_and_it_is_said(table, succeed):
    wrong = np.flatnonzero(table["kind"] != table["truth"])[:10]
    chosen = np.where(np.isin(np.arange(300), wrong), "chosen", "")  # somebody kept them
    table.drop(columns="truth").assign(checked=chosen).to_csv("t.csv", index=False)
    options = ("t.csv", "--labels", "kind", "--ids", "name", "--ignore", "town")
    succeed("fit", *options, "--trusted", "checked", "-o", "head")
    said = succeed("audit", "head", *options, "--ignore", "checked", "--corrected", "c.csv")
    assert "10 more look wrong, but were checked: they are left alone." in said
    assert not pd.read_csv("c.csv")["changed"][wrong].any()


def test_files_of_trusted_labels_are_not_written_over(machine, succeed, fail):
    machine[["checked"]].replace("", "no").to_csv("corrected.csv", index=False)
    places = ("--trusted", "corrected.csv:checked", "--ignore", "checked,before")
    succeed("fit", "m.csv", "--labels", "kind", *places, "-o", "head")
    told = commands(succeed(*AUDIT, "--ignore", "checked,before"))
    assert "--corrected new-corrected.csv" in told["correct"]
    run(succeed, told["correct"])
    run(succeed, told["fit again"])
    for table in ("m.csv", "nowhere.csv"):  # before the work, whatever is audited
        said = fail("audit", "head", table, "--labels", "kind", "--corrected", "corrected.csv")
        assert "would be lost" in said


def test_files_of_trusted_labels_are_of_the_samples_of_the_fit(machine, succeed):
    machine[["checked"]].replace("", "no").to_csv("checked.csv", index=False)
    options = ("--labels", "kind", "--ignore", "checked,before")
    succeed("fit", "m.csv", *options, "--trusted", "checked.csv:checked", "-o", "head")
    audit = ("audit", "head", "m.csv", *options, "--corrected", "c.csv")
    assert "--trusted c.csv:trusted" in commands(succeed(*audit))["fit again"]
    machine.sample(frac=1, random_state=0).to_csv("m.csv", index=False)
    assert "--trusted TRUSTED" in commands(succeed(*audit))["fit again"]
    assert "trusted" not in pd.read_csv("c.csv").columns


def test_a_name_is_free_that_is_not_taken():
    names = ["corrected.csv", "new-corrected.csv:label", None, "new-2-corrected.csv"]
    source = Source("x.npy", labels="corrected.csv:label")
    found = [_free_name("corrected.csv", source, names[:n]) for n in range(5)]
    assert found == ["new-corrected.csv"] * 2 + ["new-2-corrected.csv"] * 2 + [
        "new-3-corrected.csv"
    ]
    assert _free_name("corrected.csv", Source("x.npy"), []) == "corrected.csv"


def test_trusted_labels_that_are_not_found_are_asked_for(machine, succeed):
    succeed(*FIT, "before", "-o", "head")
    machine.drop(columns=["before", "checked"]).to_csv("other.csv", index=False)
    audit = ("audit", "head", "other.csv", "--labels", "kind", "--corrected", "c.csv")
    told = commands(succeed(*audit))
    assert "--trusted TRUSTED" in told["fit again"]
    assert "in place of TRUSTED" in told["trusted labels"]
    assert "trusted" not in pd.read_csv("c.csv").columns
    # Fitted in Python, a head does not know where they are.
    X, y = machine.filter(regex="^f[0-9]").to_numpy(), machine["kind"].to_numpy()
    fitted = LayerEnsemble(random_state=0)
    fitted.fit({"features": X}, y, trusted=(machine["checked"] == "yes").to_numpy()).save("head")
    np.save("X.npy", X)
    np.save("y.npy", y.astype(str))
    told = commands(succeed("audit", "head", "X.npy", "--labels", "y.npy"))
    assert "--trusted TRUSTED" in told["fit again"]
