"""An audit of files is the audit of what they hold."""

from pathlib import Path

import numpy as np
import pytest

from rehead import LayerEnsemble, ReheadWarning, RobustGaussianClassifier, score_labels
from rehead.audit.files import audit_files, open_model
from rehead.audit.inputs import DuplicateIdsError
from rehead.files.persist import ModelFileError, write_model
from rehead.files.store import Chunk, StoreWriter

IDS = np.array([f"img{i}" for i in range(450)])


def write_store(path, layers, y, ids=None, rows=100):
    """A store in several shards; without ids, samples are only numbered."""
    writer = StoreWriter(path, list(layers), fingerprint="none", shard_rows=rows)
    for a in range(0, len(y), rows):
        part = slice(a, a + rows)
        named = np.arange(len(y)) if ids is None else ids
        features = {name: X[part] for name, X in layers.items()}
        writer.append(Chunk(features, y[part], named[part], y[part, None], ids is None))
    writer.finish()


@pytest.fixture(scope="module")
def layers(noisy):
    return {"early": noisy[0][:, :2], "late": noisy[0]}


@pytest.fixture(scope="module")
def ensemble(layers, noisy):
    return LayerEnsemble("sample", weights="equal").fit(layers, noisy[1])


@pytest.fixture
def folder(tmp_path, monkeypatch, model, ensemble, noisy):
    """Both kinds of models, features and labels, in the current folder."""
    monkeypatch.chdir(tmp_path)
    model.save("classifier")
    ensemble.save("ensemble")
    np.save("x.npy", noisy[0])
    np.save("y.npy", noisy[1])
    return tmp_path


class TestModels:
    def test_the_file_says_of_which_kind_it_is(self, folder, model, ensemble, layers):
        classifier, several = open_model("classifier"), open_model(folder / "ensemble")
        assert type(classifier) is RobustGaussianClassifier
        assert type(several) is LayerEnsemble
        X = layers["late"]
        np.testing.assert_array_equal(classifier.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(several.predict_proba(layers), ensemble.predict_proba(layers))

    def test_a_file_of_another_kind(self, folder):
        write_model("head", "RobustHead", {"a": np.ones(2)}, {})
        with pytest.raises(ModelFileError, match=r"holds a RobustHead, not.*RobustHead\.load"):
            open_model("head")

    def test_what_is_no_model(self, folder):
        with pytest.raises(FileNotFoundError, match="no model file at none"):
            open_model("none")
        for bad in ("x.npy", "."):
            with pytest.raises(ModelFileError, match="not a model file"):
                open_model(bad)

    def test_a_damaged_file(self, folder):
        content = bytearray(Path("classifier").read_bytes())
        content[-1] ^= 1
        Path("classifier").write_bytes(content)
        with pytest.raises(ModelFileError, match="damaged"):
            open_model("classifier")


class TestAudit:
    def test_of_an_array_by_a_classifier(self, folder, report):
        found = audit_files("classifier", "x.npy", "y.npy")
        np.testing.assert_array_equal(found.quality, report.quality)
        np.testing.assert_array_equal(found.kind, report.kind)
        assert found.in_sample.all()
        assert found.ids is None

    def test_of_a_store_in_shards_by_an_ensemble(self, folder, ensemble, layers, noisy):
        write_store("store", layers, noisy[1], IDS)
        found = audit_files("ensemble", "store")
        expected = score_labels(ensemble, layers, noisy[1])
        np.testing.assert_allclose(found.quality, expected.quality, rtol=1e-9)
        np.testing.assert_array_equal(found.ids, IDS)
        assert found.in_sample.all()
        # Labels and ids from elsewhere go before its own.
        other = (noisy[1] + 1) % 3
        np.save("other.npy", other)
        np.save("numbers.npy", np.arange(450) + 1000)
        with pytest.warns(ReheadWarning, match="had another label then"):
            found = audit_files("ensemble", Path("store"), "other.npy", "numbers.npy")
        np.testing.assert_array_equal(found.given, other)
        np.testing.assert_array_equal(found.ids, np.arange(450) + 1000)

    def test_numbers_of_a_store_are_row_numbers(self, folder, layers, noisy):
        write_store("store", {"late": layers["late"]}, noisy[1])
        assert audit_files("classifier", "store").ids is None

    def test_ids_of_a_store_that_repeat_ask_for_others(self, folder, layers, noisy):
        twice = np.where(IDS == "img7", "img2", IDS)
        write_store("store", {"late": layers["late"]}, noisy[1], twice)
        with pytest.raises(ValueError, match=r"duplicates.*\('img2' first\).*--ids FILE") as caught:
            audit_files("classifier", "store")
        assert isinstance(caught.value.__cause__, DuplicateIdsError)
        np.save("ids.npy", IDS)
        np.testing.assert_array_equal(audit_files("classifier", "store", ids="ids.npy").ids, IDS)

    def test_ids_that_were_given_and_repeat_are_their_own_error(self, folder):
        np.save("ids.npy", np.zeros(450, int))
        with pytest.raises(DuplicateIdsError) as caught:
            audit_files("classifier", "x.npy", "y.npy", "ids.npy")
        assert "--ids" not in str(caught.value)

    def test_other_mistakes_do_not_ask_for_ids(self, folder, layers, noisy):
        write_store("store", {"late": layers["late"]}, noisy[1] + 1)
        with pytest.raises(ValueError, match="not fitted on these labels") as caught:
            audit_files("classifier", "store")
        assert "--ids" not in str(caught.value)

    def test_a_classifier_takes_one_layer(self, folder, layers, noisy):
        np.savez("two.npz", **layers, labels=noisy[1])
        with pytest.raises(ValueError, match=r"one array of features.*\['early', 'late'\]"):
            audit_files("classifier", "two.npz")
        np.savez("one.npz", late=layers["late"], labels=noisy[1])
        assert audit_files("classifier", "one.npz").in_sample.all()
