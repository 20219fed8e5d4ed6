"""One decision on what a label is: a table of inputs and entries.

Every entry takes every input in the same way. An entry that is not in the table fails a test, and
one that reads labels by itself fails the table.
"""

import datetime
import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from torch import nn

import rehead
import rehead.noise
import rehead.torch
import rehead.torch.training
from rehead import (
    LayerEnsemble,
    RobustGaussianClassifier,
    abstention_threshold,
    find_mislabelled,
    noise,
    score_labels,
    typicality,
)
from rehead._labels import check_labels, encode_labels, in_type_of, known_codes
from rehead.evaluation import comparison
from rehead.evaluation.comparison import compare_ensemble
from rehead.torch import extract_features
from rehead.torch.training import RECIPES, NetworkClassifier, draw_trusted, train

N = 48
HALF = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 3)) + 4 * HALF[:, None]
AB = np.array(["a", "b"])[HALF]
BIG = 2**53 + 1


def classifier(good):
    return RobustGaussianClassifier("sample").fit(X, good)


def ensemble(good):
    return LayerEnsemble("sample", weights="equal").fit({"x": X}, good)


def network(good):
    recipe = replace(RECIPES["quick"], epochs=1, batch_size=8, augment=())
    return NetworkClassifier(lambda: nn.Linear(3, 2), recipe=recipe, progress=False).fit(XF, good)


XF = X.astype(np.float32)
T = [[0.5, 0.5], [0.5, 0.5]]


def held_out(y, good):
    model = LayerEnsemble("sample", weights="equal")
    return model.fit({"x": X}, good, validation=({"x": X + 0.1}, y))


def labels_of_batches(y, good):
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    return extract_features(net, (XF, y), progress=False).labels_for("training")


def codes_for_training(y, good):
    recipe = replace(RECIPES["quick"], epochs=1, batch_size=8, augment=())
    return train(nn.Linear(3, 2), XF, y, recipe=recipe, run=rehead.torch.training.Run(seed=0))


ENTRIES = {
    "RobustGaussianClassifier.fit": lambda y, good: classifier(y).classes_,
    "RobustGaussianClassifier.score": lambda y, good: classifier(good).score(X, y),
    "LayerEnsemble.fit": lambda y, good: ensemble(y).classes_,
    "LayerEnsemble.fit (validation)": held_out,
    "LayerEnsemble.score": lambda y, good: ensemble(good).score({"x": X}, y),
    "LabelReport.neighbours": lambda y, good: score_labels(classifier(good), X, good).neighbours(
        0, X, k=1, train=(X, y)
    ),
    "abstention_threshold": lambda y, good: abstention_threshold(
        classifier(good), X, y, error=0.4, checked=True
    ),
    "find_mislabelled": lambda y, good: find_mislabelled(classifier(good), X, y),
    "score_labels": lambda y, good: score_labels(classifier(good), X, y).given,
    "typicality": lambda y, good: typicality(RobustGaussianClassifier().fit(X, good), X, y),
    "compare_ensemble": lambda y, good: compare_ensemble(ensemble(good), {"x": X}, y),
    "flip": lambda y, good: noise.flip(y, 0.5).classes,
    "uniform": lambda y, good: noise.uniform(y, 0.5).classes,
    "transition": lambda y, good: noise.transition(y, T).classes,
    "semantic": lambda y, good: noise.semantic(X, y, clean=0.5).classes,
    "annotator": lambda y, good: noise.annotator(X, y, 0.1).classes,
    "part_dependent": lambda y, good: noise.part_dependent(X, y, 0.1).classes,
    "polynomial_margin": lambda y, good: noise.polynomial_margin(X, y, 0.1).classes,
    "InstanceLabels.label": lambda y, good: noise.part_dependent(X, good, 0.1).label(X, y),
    "open_set": lambda y, good: noise.open_set(X, y, 0.1, X).classes,
    "draw_trusted": lambda y, good: draw_trusted(y, 0.5),
    "NetworkClassifier.fit": lambda y, good: network(y).classes_,
    "NetworkClassifier.score": lambda y, good: network(good).score(XF, y),
    "extract_features": labels_of_batches,
}
ONLY_CODES = {"train": codes_for_training}
PASS_ON = {
    "RobustHead.fit": "takes loaders, whose labels are those of extract_features",
    "RobustHead.neighbours": "takes loaders",
    "Run.__init__": "a value",
}
SLOW_OR_LIMITED = pytest.mark.filterwarnings(
    "ignore::rehead.ReheadWarning", "ignore::UserWarning", "ignore::RuntimeWarning"
)


def with_first(value):
    """Labels as a list, the first of them another one."""
    return [value, *AB[1:].tolist()]


BAD = {
    "None": (with_first(None), "missing labels: 1 in all, row 0"),
    "nan among text": (with_first(float("nan")), "missing labels: 1 in all, row 0"),
    "NA": (with_first(pd.NA), "missing labels: 1 in all, row 0"),
    "empty text": (with_first(""), "row 0 first. It is blank"),
    "blanks": (with_first("  "), "row 0 first. It is blank"),
    "masked": (np.ma.array(AB, mask=np.arange(N) == 5), "missing labels: 1 in all, row 5"),
    "masked numbers": (np.ma.array(HALF, mask=np.arange(N) == 5), "1 in all, row 5"),
    "categorical": (pd.Categorical(with_first(None)), "missing labels: 1 in all, row 0"),
    "series": (pd.Series(with_first(None), dtype="category"), "1 in all, row 0"),
    "Int64": (pd.array([None, *HALF[1:]], dtype="Int64"), "missing labels: 1 in all, row 0"),
    "boolean": (pd.array([None, *(HALF[1:] == 1)], dtype="boolean"), "1 in all, row 0"),
    "string": (pd.array(with_first(None), dtype="string"), "1 in all, row 0"),
    "arrow": (pd.Series(with_first(None), dtype=pd.ArrowDtype(pa.string())), "1 in all, row 0"),
    "pyarrow": (pa.array(with_first(None)).dictionary_encode(), "1 in all, row 0"),
    "polars": (pl.Series([None, *HALF[1:].tolist()]), "missing labels: 1 in all, row 0"),
    "text and numbers": (with_first(1), r"mix types \(int, str\), row 1 first"),
    "truths and numbers": ([True, *HALF[1:].tolist()], r"mix types \(bool, int\), row 1"),
    "NUL": (with_first("a\0"), r"'a\\x00' \(row 0\) holds a NUL"),
    "bytes": ([b"a", b"b"] * (N // 2), "text or whole numbers, got bytes. Decode"),
    "bytes array": (AB.astype("S"), "text or whole numbers, got bytes. Decode"),
    "complex": (HALF * 1j, "text or whole numbers, got complex"),
    "huge whole numbers": ([2**64 + int(c) for c in HALF], "do not fit into 64 bits"),
    "floats that lost digits": (HALF + 2.0**53, "drops its last digits"),
    "one-hot": (np.eye(2)[HALF], r"shape \(48, 2\). If it is one-hot, pass y.argmax"),
    "one label": (np.array("a"), "1d array"),
    "rows of different lengths": ([[0], [0, 1]] * (N // 2), "1d array"),
    "dates of Python": ([datetime.date(2020, 1, 1 + int(c)) for c in HALF], "datetime64"),
    "too few": (AB[:-1], "47"),
}
OF_BATCHES = {
    "one-hot": r"labels of shape \(48, 2\)",
    "one label": "len\\(\\) of unsized|iteration over a 0-d|single label",
    "rows of different lengths": "several labels for a sample",
    "too few": "different lengths",
}
LENGTH_IS_FREE = ("flip", "uniform", "transition", "draw_trusted", "NetworkClassifier.score")


@SLOW_OR_LIMITED
@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_no_label_is_refused_everywhere(entry, case):
    y, match = BAD[case]
    if case == "too few":
        if entry in LENGTH_IS_FREE:
            pytest.skip("takes as many labels as there are")
        if entry == "NetworkClassifier.fit":
            match = "48 inputs and 47 labels"
    if entry == "extract_features" and case in OF_BATCHES:
        match = OF_BATCHES[case]
    with pytest.raises((ValueError, TypeError), match=match):
        ENTRIES[entry](y, AB)


NUMBERS = [3, 7]
GOOD = {
    "list": (AB.tolist(), ["a", "b"]),
    "tuple": (tuple(AB.tolist()), ["a", "b"]),
    "numpy scalars": (list(AB), ["a", "b"]),
    "objects": (AB.astype(object), ["a", "b"]),
    "numbers as objects": (np.array(NUMBERS, object)[HALF], NUMBERS),
    "floats": (np.array([3.0, 7.0])[HALF], NUMBERS),
    "zeros with a sign": ([-0.0, 1.0] * (N // 2), [0, 1]),
    "truths": (HALF == 1, [False, True]),
    "arrays without dimensions": ([np.array(NUMBERS[c]) for c in HALF], NUMBERS),
    "tensors without dimensions": ([torch.tensor(NUMBERS[c]) for c in HALF], NUMBERS),
    "masked nowhere": (np.ma.array(AB), ["a", "b"]),
    "Int64": (pd.array([BIG, BIG + 1] * (N // 2), dtype="Int64"), [BIG, BIG + 1]),
    "arrow": (
        pd.Series([BIG, BIG + 1] * (N // 2), dtype=pd.ArrowDtype(pa.int64())),
        [BIG, BIG + 1],
    ),
    "uint64": (np.array([2**63, 2**63 + 1], np.uint64)[HALF], [2**63, 2**63 + 1]),
    "boolean": (pd.array(HALF == 1, dtype="boolean"), [False, True]),
    "string": (pd.array(AB, dtype="string"), ["a", "b"]),
    "unused categories": (pd.Categorical(AB, categories=["z", "b", "a"]), ["a", "b"]),
    "polars": (pl.Series(AB.tolist(), dtype=pl.Categorical), ["a", "b"]),
    "pyarrow": (pa.array(AB.tolist()), ["a", "b"]),
    "tensor": (torch.tensor(HALF), [0, 1]),
    "tensor of truths": (torch.tensor(HALF == 1), [False, True]),
    "tensor with gradients": (torch.tensor(HALF * 1.0, requires_grad=True), [0, 1]),
    "half precision": (torch.tensor(HALF, dtype=torch.bfloat16), [0, 1]),
}


@SLOW_OR_LIMITED
@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("entry", ENTRIES)
def test_labels_of_any_kind_are_the_same_classes_everywhere(entry, case):
    y, classes = GOOD[case]
    found = ENTRIES[entry](y, np.array(classes)[HALF])
    if isinstance(found, np.ndarray) and entry.endswith(("fit", "extract_features", "given")):
        assert np.unique(found).tolist() == classes


@pytest.mark.parametrize("case", [c for c in BAD if c != "too few"])
def test_codes_for_training_are_labels_too(case):
    y, match = BAD[case]
    with pytest.raises(ValueError, match=match):
        codes_for_training(y, None)


def entries_of(module):
    """Public functions and methods of a module that take labels."""
    for name in getattr(module, "__all__", dir(module)):
        found = getattr(module, name)
        if not getattr(found, "__module__", "").startswith("rehead"):
            continue
        functions = {name: found} if inspect.isfunction(found) else {}
        if inspect.isclass(found):
            members = inspect.getmembers(found, inspect.isfunction)
            functions = {f"{name}.{key}": f for key, f in members}
        for key, f in functions.items():
            own = f.__module__.startswith("rehead") or key.endswith(".score")
            private = key.partition(".")[2].startswith("_") and not key.endswith("__init__")
            if own and not private and {"y", "train", "validation"} & {*_parameters(f)}:
                yield key


def _parameters(function):
    return inspect.signature(function).parameters


@pytest.mark.parametrize(
    "module",
    [rehead, rehead.noise, rehead.torch, rehead.torch.training, comparison],
    ids=lambda m: m.__name__,
)
def test_every_entry_is_in_the_table(module):
    known = {*ENTRIES, *ONLY_CODES, *PASS_ON}
    assert set(entries_of(module)) <= known


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(match="column-vector y"):
        assert check_labels(AB[:, None]).tolist() == AB.tolist()
    with pytest.warns(match="column-vector y"):
        assert check_labels(pd.DataFrame({"label": AB})).tolist() == AB.tolist()


@pytest.mark.parametrize("word", ["nan", "NA", "None", "<NA>", "null"])
def test_words_for_no_value_are_classes_with_a_warning(word):
    labels = np.array(["a", word])
    with pytest.warns(rehead.ReheadWarning, match=f"label '{word}' counts as a class"):
        assert encode_labels(labels)[0].tolist() == sorted(labels)


@pytest.mark.parametrize(
    ("one", "other"),
    [("cat", " cat"), ("cat", "cat "), ("caf\u00e9", "cafe\u0301"), ("Zebra", "zebra")],
)
def test_labels_that_look_alike_are_two_classes_with_a_warning(one, other):
    labels = np.array([one, other])
    with pytest.warns(rehead.ReheadWarning, match="look alike, and count as two classes"):
        assert len(encode_labels(labels)[0]) == 2


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        ("1", "classes are of type int, and these of type str"),
        (9, "It knows 1, 2; fit it on all classes, or leave those rows out.$"),
    ],
)
def test_unknown_labels_are_told_from_those_of_another_type(label, hint):
    with pytest.raises(ValueError, match=hint):
        known_codes(np.array([label]), np.array([1, 2]))


def test_unknown_labels_that_differ_in_blanks():
    with pytest.raises(ValueError, match="' a' and 'a' differ in blanks"):
        known_codes(np.array([" a"]), np.array(["a", "b"]))


def test_codes_do_not_pass_through_floats():
    classes = np.array([2**63 - 2, 2**63 - 1])
    assert known_codes(classes.astype(np.uint64), classes).tolist() == [0, 1]


def test_labels_of_files_take_the_type_of_the_classes():
    assert in_type_of(np.array([1, 2]), np.array(["1", "2", "x"])).tolist() == ["1", "2"]
    assert in_type_of(np.array(["1", "2"]), np.array([1, 2, 3])).tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"not fitted on these labels: 'x'. It knows 1, 2"):
        in_type_of(np.array(["1", "x"]), np.array([1, 2]))
