"""Models on disk: the same to the last bit, whole or not at all, and damage is told."""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels, typicality
from rehead.files.persist import (
    ModelFileError,
    labels_from_json,
    labels_to_json,
    model_kind,
    read_model,
    write_model,
)

load = RobustGaussianClassifier.load


@pytest.fixture
def saved(fitted, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted[0].save(path)
    return path


def header_length(content):
    return 8 + struct.unpack("<Q", content[:8])[0]


def with_header(path, **changes):
    """Rewrite entries of our JSON header, leaving the arrays as they are."""
    content = path.read_bytes()
    end = header_length(content)
    header = json.loads(content[8:end])
    ours = json.loads(header["__metadata__"]["rehead"])
    header["__metadata__"]["rehead"] = json.dumps({**ours, **changes})
    new = json.dumps(header).encode()
    new += b" " * (-len(new) % 8)
    path.write_bytes(struct.pack("<Q", len(new)) + new + content[end:])


class TestRoundTrip:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize(
        "kwargs",
        [
            {"random_state": 0},
            {"estimator": "posterior", "shrinkage": "auto", "priors": np.array([0.2, 0.3, 0.5])},
            {"estimator": "identity", "priors": "empirical"},
            {
                "estimator": "mcd",
                "support_fraction": np.float64(0.7),
                "max_steps": np.int64(1),
                "random_state": 1,
            },
            {"priors": np.array([0.2, 0.8, 0.0])},
        ],
        ids=str,
    )
    def test_predictions_are_the_same_to_the_last_bit(self, blobs, tmp_path, kwargs, dtype):
        X, y = blobs()
        X = X.astype(dtype)
        clf = RobustGaussianClassifier(**kwargs).fit(X, y)
        clf.save(tmp_path / "m")
        again = load(tmp_path / "m")
        for method in ("predict", "predict_proba", "predict_log_proba", "score_samples"):
            a, b = getattr(clf, method)(X), getattr(again, method)(X)
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        for name, value in vars(clf).items():
            if name == "noise_" and value is not None:
                for mine, theirs in zip(value, again.noise_, strict=True):
                    np.testing.assert_array_equal(mine, theirs)
            elif name.endswith("_") and name != "fitted_":
                np.testing.assert_array_equal(getattr(again, name), value, err_msg=name)
        (mine, settings), (theirs, again_settings) = (m.fitted_.to_state() for m in (clf, again))
        assert settings == again_settings
        assert mine.keys() == theirs.keys()
        for name in mine:
            assert mine[name].dtype == theirs[name].dtype
            np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
        for name, value in clf.get_params().items():
            np.testing.assert_array_equal(again.get_params()[name], value, err_msg=name)
        reports = [score_labels(m, X, y) for m in (clf, again)]
        np.testing.assert_array_equal(reports[0].quality, reports[1].quality)

    @pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
    @pytest.mark.parametrize("feature", ["constant", "duplicate"])
    def test_singular_covariances_too(self, blobs, tmp_path, feature):
        X, y = blobs()
        X[:, 2] = 0.1 if feature == "constant" else X[:, 0]
        clf = RobustGaussianClassifier(random_state=0).fit(X, y)
        clf.save(tmp_path / "m")
        np.testing.assert_array_equal(load(tmp_path / "m").predict_proba(X), clf.predict_proba(X))

    @pytest.mark.parametrize(
        "names",
        [
            np.array(["ant", "bee", "a longer name"]),
            np.array(["ant", "bee", "käfer"], dtype=object),
            np.array([3, -1, 10], np.int16),
            np.array([0.0, 1.0, 5.0]),
            np.array([True, False, True]),
        ],
        ids=["str", "object", "int16", "float", "bool"],
    )
    def test_classes_keep_their_type(self, blobs, tmp_path, names):
        X, y = blobs()
        clf = RobustGaussianClassifier("posterior").fit(X, names[y])
        clf.save(tmp_path / "m")
        again = load(tmp_path / "m")
        assert again.classes_.dtype == clf.classes_.dtype
        np.testing.assert_array_equal(again.predict(X), clf.predict(X))

    def test_feature_names_are_kept_and_checked(self, blobs, tmp_path):
        X, y = blobs()
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        RobustGaussianClassifier(random_state=0).fit(frame, y).save(tmp_path / "m")
        again = load(tmp_path / "m")
        assert again.feature_names_in_.tolist() == ["a", "b", "c"]
        assert again.n_features_in_ == 3
        with pytest.raises(ValueError, match="feature names"):
            again.predict(frame.rename(columns={"a": "z"}))

    def test_a_generator_as_random_state_becomes_none(self, blobs, tmp_path):
        clf = RobustGaussianClassifier(random_state=np.random.default_rng(0)).fit(*blobs())
        clf.save(tmp_path / "m")
        assert load(tmp_path / "m").random_state is None

    def test_an_unfitted_model_cannot_be_saved(self, tmp_path):
        with pytest.raises(ValueError, match="not fitted"):
            RobustGaussianClassifier().save(tmp_path / "m")
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_pickled(self, saved):
        content = saved.read_bytes()
        assert b"\x80\x04\x95" not in content
        assert json.loads(content[8 : header_length(content)])["__metadata__"]["rehead"]


class TestDamage:
    def test_no_file(self, tmp_path):
        for read in (load, model_kind):
            with pytest.raises(FileNotFoundError, match=r"no model file at .*nothing"):
                read(tmp_path / "nothing")

    def test_no_folder(self, fitted, tmp_path):
        with pytest.raises(FileNotFoundError, match="no folder"):
            fitted[0].save(tmp_path / "nowhere" / "m")

    @pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
    def test_truncated(self, saved, share):
        content = saved.read_bytes()
        saved.write_bytes(content[: int(share * len(content))])
        for read in (load, model_kind):
            with pytest.raises(ModelFileError, match="damaged"):
                read(saved)

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
    def test_a_flipped_bit_in_the_arrays(self, saved, share):
        content = bytearray(saved.read_bytes())
        start = header_length(content)
        content[start + int(share * (len(content) - start))] ^= 4
        saved.write_bytes(content)
        with pytest.raises(ModelFileError, match="checksum"):
            load(saved)

    def test_a_flipped_bit_in_the_header(self, blobs, tmp_path):
        # Labels, names and parameters are in the header; a wrong one must not be believed.
        X, y = blobs()
        clf = RobustGaussianClassifier(random_state=0).fit(X, np.array(["ant", "bee", "cat"])[y])
        path = tmp_path / "m"
        clf.save(path)
        content = path.read_bytes()
        believed = []
        for at in range(8, header_length(content)):
            damaged = bytearray(content)
            damaged[at] ^= 1
            path.write_bytes(damaged)
            try:
                load(path)
            except ModelFileError:
                continue
            except Exception as error:
                believed.append((at, type(error).__name__))
            else:
                believed.append((at, "loaded"))
        assert believed == []

    @pytest.mark.parametrize(
        "content",
        [b"", b"\0" * 100, b"hello, world", np.random.default_rng(0).bytes(500)],
        ids=["empty", "zeros", "text", "random"],
    )
    def test_random_bytes(self, tmp_path, content):
        (tmp_path / "m").write_bytes(content)
        for read in (load, model_kind):
            with pytest.raises(ModelFileError, match="not a model file"):
                read(tmp_path / "m")

    def test_a_folder(self, tmp_path):
        for read in (load, model_kind):
            with pytest.raises(ModelFileError):
                read(tmp_path)

    @pytest.mark.parametrize(
        "metadata",
        [None, {"rehead": "yes"}, {"rehead": "[1]"}, {"rehead": "{}"}, {"rehead": '{"sha256": 0}'}],
    )
    def test_a_safetensors_file_of_someone_else(self, tmp_path, metadata):
        save_file({"means": np.eye(2)}, tmp_path / "m", metadata=metadata)
        for read in (load, model_kind):
            with pytest.raises(ModelFileError, match="not one that rehead wrote"):
                read(tmp_path / "m")

    def test_the_version_is_the_present_one(self, saved):
        header = json.loads(saved.read_bytes()[8 : header_length(saved.read_bytes())])
        assert json.loads(header["__metadata__"]["rehead"])["version"] == 4

    def test_a_newer_version(self, saved):
        with_header(saved, version=99)
        for read in (load, model_kind):
            with pytest.raises(ModelFileError, match=r"newer rehead \(format 99.*pip install"):
                read(saved)

    def test_another_kind(self, saved):
        assert model_kind(saved) == "RobustGaussianClassifier"
        with pytest.raises(
            ModelFileError, match=r"holds a Robust\w+, not a LayerEns.*Load it with"
        ):
            LayerEnsemble.load(saved)
        with_header(saved, kind="LayerEnsemble")
        assert model_kind(saved) == "LayerEnsemble"
        with pytest.raises(ModelFileError, match=r"holds a LayerEnsemble, not a Robust"):
            load(saved)


def test_arrays_of_any_layout_and_settings_come_back(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {
        "columns": np.asfortranarray(rng.normal(size=(3, 4))),
        "strided": rng.normal(size=(8, 3)).astype(np.float32)[::2],
        "whole": np.arange(5),
        "mask": np.array([True, False]),
        "number": np.array(3.5),
        "none": np.empty((0, 2)),
    }
    settings = {"a": [1, None, "ü"], "b": {"c": 0.1}}
    write_model(tmp_path / "m", "Thing", arrays, settings)
    assert model_kind(tmp_path / "m") == "Thing"
    found, found_settings = read_model(tmp_path / "m", "Thing")
    assert found_settings == settings
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)


OLD = Path(__file__).parent / "written_by_0_1_0"


@pytest.fixture(scope="module")
def old():
    with np.load(OLD / "expected.npz") as file:
        return dict(file)


class TestFilesOfEarlierVersions:
    """Version 0.1.0 was given 120 training rows, 80 held out, and 40 more."""

    def layers(self, old, names, rows=slice(None)):
        arrays = {"early": old["X"], "deep": old["deep"], "softmax": old["softmax"]}
        return {name: arrays[name][rows] for name in names}

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("classifier", "RobustGaussianClassifier"),
            ("mixture", "RobustGaussianClassifier"),
            ("ensemble", "LayerEnsemble"),
            ("paper", "LayerEnsemble"),
            ("head", "RobustHead"),
        ],
    )
    def test_their_kind_is_known(self, name, kind):
        assert model_kind(OLD / f"{name}.safetensors") == kind

    @pytest.mark.parametrize("name", ["classifier", "mixture"])
    def test_classifiers(self, old, name):
        clf = load(OLD / f"{name}.safetensors")
        np.testing.assert_allclose(clf.predict_proba(old["X"]), old[name], rtol=0, atol=1e-12)
        report = score_labels(clf, old["X"][:120], old["names"][:120])
        assert report.in_sample.all()
        if name == "classifier":
            np.testing.assert_allclose(report.quality, old["classifier_quality"], atol=1e-9)
        assert clf.noise_.wrong == pytest.approx(1 - report.quality.mean(), abs=0.05)
        assert not score_labels(clf, old["X"][120:], old["names"][120:]).in_sample.any()

    @pytest.mark.parametrize(
        ("name", "layers"),
        [("ensemble", ["early", "deep", "softmax"]), ("paper", ["early", "deep"])],
    )
    def test_ensembles(self, old, name, layers):
        ens = LayerEnsemble.load(OLD / f"{name}.safetensors")
        found = ens.predict_proba(self.layers(old, layers))
        np.testing.assert_allclose(found, old[name], rtol=0, atol=1e-12)
        train = self.layers(old, layers, slice(120))
        report = score_labels(ens, train, old["names"][:120])
        assert report.in_sample.all()
        np.testing.assert_allclose(report.quality, old[f"{name}_quality"], atol=1e-9)
        assert ((p := typicality(ens, train, old["names"][:120])) > 0).all()
        assert p.max() <= 1
        if name == "ensemble":
            np.testing.assert_array_equal(ens.weights_, old["ensemble_weights"])
        with pytest.raises(ValueError, match=r"Layers \['deep'.*\] are missing"):
            ens.predict_proba(self.layers(old, ["early"]))

    def test_heads(self, old):
        torch = pytest.importorskip("torch")
        from rehead.torch import RobustHead

        net = torch.nn.Sequential(
            torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)
        ).eval()
        with pytest.raises(ModelFileError, match="other weights"):
            RobustHead.load(OLD / "head.safetensors", net)
        weights = {k.removeprefix("net."): v for k, v in old.items() if k.startswith("net.")}
        net.load_state_dict({name: torch.from_numpy(a) for name, a in weights.items()})
        head = RobustHead.load(OLD / "head.safetensors", net)
        found = head.predict_proba(torch.from_numpy(old["X"].astype(np.float32)))
        np.testing.assert_allclose(found, old["head"], atol=1e-5)
        np.testing.assert_array_equal(head.report_.quality, old["head_quality"])
        np.testing.assert_array_equal(head.report_.ids, old["head_ids"])
        assert head.classes_.tolist() == [0, 1, 2]

    @pytest.mark.parametrize("name", ["classifier", "ensemble"])
    def test_saved_again_they_stay_what_they_are(self, old, tmp_path, name):
        kind = {"classifier": RobustGaussianClassifier, "ensemble": LayerEnsemble}[name]
        model = kind.load(OLD / f"{name}.safetensors")
        model.save(tmp_path / "m")
        X = old["X"] if name == "classifier" else self.layers(old, ["early", "deep", "softmax"])
        np.testing.assert_array_equal(
            kind.load(tmp_path / "m").predict_proba(X), model.predict_proba(X)
        )


class TestFilesOfFormat2:
    """Given 60 training rows and 30 held out; recorded before each field was checked."""

    @pytest.fixture
    def old(self):
        with np.load(OLD / "format_2" / "expected.npz") as file:
            return dict(file)

    def test_classifiers(self, old):
        clf = load(OLD / "format_2" / "classifier.safetensors")
        X = pd.DataFrame(old["X"], columns=["a", "b", "c"])
        np.testing.assert_allclose(clf.predict_proba(X), old["classifier"], rtol=0, atol=1e-12)
        y = np.array(["ash", "elm", "oak"])[old["y"][:60]]
        report = score_labels(clf, X[:60], y)
        np.testing.assert_allclose(report.quality, old["classifier_quality"], atol=1e-9)

    def test_reports(self, old, tmp_path):
        clf = load(OLD / "format_2" / "classifier.safetensors")
        X = pd.DataFrame(old["X"][:60], columns=["a", "b", "c"])
        score_labels(clf, X, np.array(["ash", "elm", "oak"])[old["y"][:60]]).to_csv(tmp_path / "r")
        now, then = (
            pd.read_csv(path) for path in (tmp_path / "r", OLD / "format_2" / "report.csv")
        )
        # Typicality is another p-value since: one that holds.
        now, then = now.drop(columns="typicality"), then.drop(columns="typicality")
        pd.testing.assert_frame_equal(now, then, atol=1e-9)

    def test_ensembles(self, old):
        ens = LayerEnsemble.load(OLD / "format_2" / "ensemble.safetensors")
        layers = {"early": old["X"], "deep": old["deep"], "net": old["logits"]}
        np.testing.assert_allclose(ens.predict_proba(layers), old["ensemble"], rtol=0, atol=1e-9)
        assert ens.inputs_.given_as == {}, "not told, so found by looks, as before"

    def test_heads(self, old, tmp_path):
        torch = pytest.importorskip("torch")
        from rehead.torch import RobustHead

        net = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
        weights = {k.removeprefix("net."): v for k, v in old.items() if k.startswith("net.")}
        net.load_state_dict({name: torch.from_numpy(a) for name, a in weights.items()})
        head = RobustHead.load(OLD / "format_2" / "head.safetensors", net)
        X = torch.from_numpy(old["X"].astype(np.float32))
        np.testing.assert_allclose(head.predict_proba(X), old["head"], atol=1e-5)
        np.testing.assert_array_equal(head.report_.quality, old["head_quality"])
        assert head.report_.ids[:2].tolist() == ["s0", "s1"]
        assert list(head.baselines_) == ["sample"]
        np.testing.assert_allclose(
            head.to_module()(X).exp().detach().numpy(), old["head"], atol=1e-5
        )
        head.save(tmp_path / "head")
        again = RobustHead.load(tmp_path / "head", net)
        np.testing.assert_array_equal(again.predict_proba(X), head.predict_proba(X))


class TestLabels:
    @pytest.mark.parametrize(
        "labels",
        [
            np.array(["a", "bc"]),
            np.array(["a", 1], dtype=object),
            np.array([np.int64(3), np.str_("x")], dtype=object),
            np.array([1.5, np.inf]),
            np.array([2**64 - 1], np.uint64),
        ],
        ids=repr,
    )
    def test_they_come_back_as_they_are(self, labels):
        again = labels_from_json(json.loads(json.dumps(labels_to_json(labels))))
        assert again.dtype == labels.dtype
        assert again.tolist() == labels.tolist()

    @pytest.mark.parametrize(
        "labels",
        [
            np.array([("a", 1), ("b", 2)]),
            np.array([None, ("a", 1)], dtype=object),
            np.array(["2024-01-01"], "M8[s]"),
            np.array([b"a"]),
        ],
        ids=repr,
    )
    def test_those_that_would_not_are_refused(self, labels):
        with pytest.raises(TypeError, match=r"Ids of type .* would not come back as they are"):
            labels_to_json(labels, "Ids")


class TestAtomic:
    @pytest.mark.parametrize("step", ["fsync", "replace"])
    def test_a_failing_write_leaves_the_old_file_and_nothing_else(
        self, saved, fitted, monkeypatch, step
    ):
        before = saved.read_bytes()

        def fail(*args):
            raise OSError("disk full")

        fitted[0].fit(fitted[1] * 2, fitted[2])
        monkeypatch.setattr(os, step, fail)
        with pytest.raises(OSError, match="disk full"):
            fitted[0].save(saved)
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]

    @pytest.mark.parametrize("start", [object(), "nonsense"], ids=["no JSON", "unknown"])
    def test_a_model_that_could_not_be_read_is_not_written(self, saved, fitted, start):
        before = saved.read_bytes()
        fitted[0].set_params(estimator="mcd", start=start)
        with pytest.raises(ValueError, match="start must be one of"):
            fitted[0].save(saved)
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]

    def test_a_file_may_be_replaced(self, saved, fitted):
        clf, X, y = fitted
        clf.fit(X * 2, y).save(saved)
        np.testing.assert_array_equal(load(saved).means_, clf.means_)
