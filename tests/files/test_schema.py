"""Files with the right checksum and the wrong content are refused, whatever is wrong."""

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels, typicality
from rehead.files.persist import ModelFileError, model_kind
from rehead.files.schema import (
    FieldError,
    ascending,
    by_name,
    check_fields,
    count,
    covariance,
    each,
    either,
    finite,
    floats,
    hashes,
    labels,
    mask,
    names,
    nullable,
    number,
    one_of,
    optional,
    permutation,
    positive,
    record,
    share,
    simplex,
    text,
    whole,
    within,
)

from . import crafted

RECORDED = Path(__file__).parent / "written_by_0_1_0"
FILES = {
    kind: [RECORDED / "format_2" / f"{name}.safetensors", RECORDED / f"{name}.safetensors"]
    for kind, name in (
        ("RobustGaussianClassifier", "classifier"),
        ("LayerEnsemble", "ensemble"),
        ("RobustHead", "head"),
    )
}
TRIED = 100
"""So many crafted files of each kind: of thousands, every so-manieth."""


class Case:
    """A recorded file, how it is loaded, and how the model is used."""

    def __init__(self, kind, path):
        self.path = path
        with np.load(path.parent / "expected.npz") as file:
            old = dict(file)
        self.X, self.deep = old["X"][:5], old["deep"][:5]
        self.given = (
            {"softmax": old["softmax"][:5]} if "softmax" in old else {"net": old["logits"][:5]}
        )
        if kind == "RobustHead":
            self.net = network(old)

    def load(self, path):
        kind = model_kind(path)
        if kind == "RobustGaussianClassifier":
            return RobustGaussianClassifier.load(path)
        if kind == "LayerEnsemble":
            return LayerEnsemble.load(path)
        from rehead.torch import RobustHead

        return RobustHead.load(path, self.net)

    def use(self, model):
        """All that may go wrong later: predictions, judgements, words, and saving it again."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.explain()
            if isinstance(model, (RobustGaussianClassifier, LayerEnsemble)):
                X = self.X
                if isinstance(model, LayerEnsemble):
                    X = {"early": self.X, "deep": self.deep, **self.given}
                score_labels(model, X, model.predict(X))
                typicality(model, X)
                return model.predict_proba(X)
            str(model.report_)
            return model.predict_proba(self.X.astype(np.float32))


def network(old):
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)).eval()
    weights = {k.removeprefix("net."): v for k, v in old.items() if k.startswith("net.")}
    net.load_state_dict({name: torch.from_numpy(a) for name, a in weights.items()})
    return net


CASES = [(kind, path) for kind, paths in FILES.items() for path in paths]


@pytest.fixture(
    scope="module", params=CASES, ids=lambda c: f"{c[0]} {c[1].parent.name.replace('_', ' ')}"
)
def case(request):
    return Case(*request.param)


def what_comes_of(case, path, arrays, header):
    """None if the file is refused or all is well; else what is not."""
    crafted.write(path, arrays, header)
    try:
        model = case.load(path)
    except ModelFileError as error:
        return None if str(path) in str(error) else f"does not name the file: {error}"
    except Exception as error:
        return f"load: {type(error).__name__}: {error}"
    try:
        p = case.use(model)
    except Exception as error:
        return f"loaded, then {type(error).__name__}: {error}"
    right = np.isfinite(p).all() and np.allclose(p.sum(axis=1), 1, atol=1e-4)
    return None if right else "loaded, then posteriors that are none"


def some(mutations):
    mutations = list(mutations)
    return mutations[:: max(1, len(mutations) // TRIED)]


def test_settings_of_any_other_value_are_refused_or_do_no_harm(case, tmp_path):
    arrays, header = crafted.read(case.path)
    harm = {}
    for what, settings in some(crafted.other_settings(header["settings"])):
        found = what_comes_of(case, tmp_path / "m", arrays, {**header, "settings": settings()})
        if found is not None:
            harm[what] = found
    assert harm == {}


def test_arrays_of_any_other_value_are_refused_or_do_no_harm(case, tmp_path):
    arrays, header = crafted.read(case.path)
    harm = {}
    for what, changed in some(crafted.other_arrays(arrays)):
        found = what_comes_of(case, tmp_path / "m", changed, header)
        if found is not None:
            harm[what] = found
    assert harm == {}


@pytest.mark.parametrize("kind", FILES)
def test_what_is_refused_and_how_it_is_said(kind, tmp_path):
    """The faults that did most harm: NaN and negative priors, temperature 0, claims of memory."""
    case = Case(kind, FILES[kind][0])
    arrays, header = crafted.read(case.path)
    prefix = {"RobustGaussianClassifier": "", "LayerEnsemble": "0.", "RobustHead": "ensemble.0."}[
        kind
    ]
    settings = header["settings"]
    member = settings
    if kind != "RobustGaussianClassifier":
        ensemble = settings if kind == "LayerEnsemble" else settings["ensemble"]
        member = next(iter(ensemble["members"].values()))

    def refused(match, **changes):
        crafted.write(tmp_path / "m", {**arrays, **changes}, header)
        with pytest.raises(ModelFileError, match=match) as error:
            case.load(tmp_path / "m")
        assert str(tmp_path / "m") in str(error.value)

    for value in (math.nan, -0.5, 2.0):
        priors = arrays[f"{prefix}priors"].copy()
        priors[0] = value
        refused("priors must not be negative and must sum to 1", **{f"{prefix}priors": priors})
    counted = arrays[f"{prefix}seen_members"].copy()
    counted[0] = 2**40
    refused("seen_members must be between -1 and 2", **{f"{prefix}seen_members": counted})
    matrix = -np.eye(len(arrays[f"{prefix}covariance"]))
    refused("covariance must be", **{f"{prefix}covariance": matrix})
    matrix = np.eye(len(matrix))
    matrix[0, 1] = matrix[1, 0] = 2.0
    refused("covariance must be positive definite", **{f"{prefix}covariance": matrix})
    member["temperature"] = 0
    refused("temperature must be a number between")
    member["temperature"] = 1e-308
    refused("temperature must be a number between")
    member["temperature"] = 1.0
    member["classes"]["dtype"] = "<U999999999"
    member["classes"]["values"] = ["a", "b", "c"]
    refused("classes has values that do not fit the dtype|other classes than the first")


def test_more_layers_than_the_file_holds_are_refused_at_once(tmp_path):
    case = Case("LayerEnsemble", FILES["LayerEnsemble"][0])
    arrays, header = crafted.read(case.path)
    header["settings"]["members"] |= {f"layer{i}": {} for i in range(60_000)}
    crafted.write(tmp_path / "m", arrays, header)
    with pytest.raises(ModelFileError, match="member 'layer0' has no arrays"):
        LayerEnsemble.load(tmp_path / "m")


@pytest.mark.parametrize("field", ["kind", "version", "settings", "sha256"])
@pytest.mark.parametrize("value", [None, [], {}, 0, -1, 1.5, True, math.inf, "x", 10**400])
def test_headers_of_any_other_value(field, value, tmp_path):
    arrays, header = crafted.read(FILES["RobustGaussianClassifier"][0])
    if field != "sha256":
        crafted.write(tmp_path / "m", arrays, {**header, field: value})
    else:
        crafted.write_as_it_is(tmp_path / "m", arrays, {**header, field: value})
    with pytest.raises(ModelFileError):
        RobustGaussianClassifier.load(tmp_path / "m")


def test_json_that_is_too_deep(tmp_path):
    arrays, _ = crafted.read(FILES["RobustGaussianClassifier"][0])
    crafted.write_text(tmp_path / "m", arrays, "[" * 100_000)
    with pytest.raises(ModelFileError, match="not one that rehead wrote"):
        RobustGaussianClassifier.load(tmp_path / "m")


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F8_E5M2"])
def test_types_that_numpy_does_not_have(tmp_path, dtype):
    content = FILES["RobustGaussianClassifier"][0].read_bytes()
    arrays, header = crafted.read(FILES["RobustGaussianClassifier"][0])
    size = {"BF16": 2}.get(dtype, 1)
    arrays["priors"] = arrays["priors"].astype({2: np.int16, 1: np.int8}[size])
    crafted.write(tmp_path / "m", arrays, header)
    content = (tmp_path / "m").read_bytes()
    old = b'"I16"' if size == 2 else b'"I8"'
    (tmp_path / "m").write_bytes(crafted.with_type(content, old, dtype))
    with pytest.raises(ModelFileError):
        RobustGaussianClassifier.load(tmp_path / "m")


# The checkers themselves.


def problem(field, value, sizes=None):
    return field.check(value, {} if sizes is None else sizes)


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        (floats("n", finite), np.ones(2), [np.array([1, np.nan]), np.ones(2, np.float16), [1.0]]),
        (
            floats("n", simplex),
            np.array([0.25, 0.75]),
            [np.array([1.5, -0.5]), np.array([0.5, 0.6])],
        ),
        (floats("n n", simplex), np.eye(2), [np.eye(2) * 2, np.ones((2, 3)) / 3, np.ones(2)]),
        (floats("n", share), np.array([0.0, 1.0]), [np.array([1.1]), np.array([np.nan])]),
        (floats("", positive), np.array(2.0), [np.array(0.0), np.array(np.inf), np.ones(1)]),
        (floats("d d", covariance), np.eye(2), [np.array([[1, 0.5], [0, 1]]), -np.eye(2)]),
        (floats("n", ascending), np.array([1.0, 1.0]), [np.array([2.0, 1]), np.array([np.nan])]),
        (whole("n", within(0, 3)), np.array([0, 3]), [np.array([4]), np.array([-1]), np.ones(1)]),
        (whole("n", permutation), np.array([1, 0]), [np.array([1, 1]), np.array([1, 2])]),
        (hashes("n"), np.ones(2, np.uint64), [np.ones(2, np.int64)]),
        (mask("n"), np.array([True]), [np.array([1])]),
        (number(0, 1), 0.5, [1.5, math.nan, True, "0.5", 10**400, None]),
        (number(0, 1, nan=True), math.nan, [math.inf, -1]),
        (count(1), 2, [0, 1.0, True, 10**400]),
        (names, ["a", "b"], [["a", "a"], ["a", 1], "a", None]),
        (one_of("a", "b"), "a", ["c", None, ["a"]]),
        (nullable(text), None, [1]),
        (each(text), ["a"], ["a", [1]]),
        (by_name(count()), {"a": 1}, [{"a": -1}, [1]]),
        (either(text, names), ["a"], [1, [1]]),
        (record({"a": text, "b": optional(text)}), {"a": "x"}, [{}, {"a": "x", "c": 1}, "x"]),
        (labels("n"), {"dtype": "<U3", "values": ["ab"]}, [{"dtype": "<U1", "values": ["ab"]}]),
        (labels("n"), {"dtype": "|i1", "values": [127]}, [{"dtype": "|i1", "values": [128]}]),
        (labels("n"), {"dtype": "|b1", "values": [True]}, [{"dtype": "<i8", "values": [True]}]),
        (labels("n"), {"dtype": "|O", "values": ["a", 1]}, [{"dtype": "|O", "values": [["a"]]}]),
        (
            labels("n", ascend=True),
            {"dtype": "<i8", "values": [1, 2]},
            [{"dtype": "<i8", "values": v} for v in ([2, 1], [1, 1], [], "12")]
            + [{"dtype": d, "values": [1]} for d in ("<M8[s]", "|S2", "no", None, "<U9999999999")]
            + [{"dtype": "|O", "values": ["a", 1]}, {"values": [1]}, [1]],
        ),
    ],
)
def test_checkers(field, right, wrong):
    assert problem(field, right) is None
    for value in wrong:
        assert isinstance(problem(field, value), str), value


def test_shapes_agree_with_each_other():
    table = {"means": floats("C d"), "priors": floats("C"), "covariance": floats("d d")}
    good = {"means": np.ones((2, 3)), "priors": np.ones(2), "covariance": np.ones((3, 3))}
    check_fields(good, table, {})
    with pytest.raises(
        FieldError, match=re.escape("priors has shape (3,), and must have (C), C = 2")
    ):
        check_fields({**good, "priors": np.ones(3)}, table, {})
    with pytest.raises(FieldError, match=r"means has shape \(2, 0\)"):
        check_fields({**good, "means": np.ones((2, 0))}, table, {})


def test_fields_that_are_missing_or_unknown():
    table = {"a": text, "b": optional(text)}
    check_fields({"a": "x"}, table, {})
    with pytest.raises(FieldError, match=r"part\.a is missing"):
        check_fields({}, table, {}, "part.")
    with pytest.raises(FieldError, match="c is nothing that this version of rehead knows"):
        check_fields({"a": "x", "c": 1}, table, {})


def test_text_may_not_claim_much_more_room_than_the_file_has():
    wide = {"dtype": "<U100000", "values": ["a"] * 1000}
    assert "do not fit" in problem(labels("n"), wide)
    assert problem(labels("n"), {"dtype": "<U200", "values": ["a" * 20] * 1000}) is None


def test_fields_that_would_give_nan_or_a_blank_class(tmp_path, blobs):
    X, y = blobs()
    RobustGaussianClassifier(random_state=0).fit(X, np.array([*"abc"])[y]).save(tmp_path / "good")
    arrays, header = crafted.read(tmp_path / "good")

    def refused(match, **changes):
        crafted.write(tmp_path / "m", {**arrays, **changes}, header)
        with pytest.raises(ModelFileError, match=match):
            RobustGaussianClassifier.load(tmp_path / "m")

    totals = arrays["class_totals"]
    for wrong in (0 * totals, np.minimum(totals, 1e-3)):
        refused("class_totals must not be less than one of their rows", class_totals=wrong)
    refused("noise.temperature must be between", **{"noise.temperature": np.array(1e-308)})
    header["settings"]["classes"]["values"][0] = " "
    refused("classes has a class without a name")
