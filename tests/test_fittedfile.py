"""Fields of a fitted classifier in a file: what is right is read, anything else is refused."""

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels, typicality
from rehead.files.persist import ModelFileError
from rehead.files.schema import FieldError
from rehead.fittedfile import check_gaussians, check_params

from .files import crafted


@pytest.fixture(scope="module")
def mapped(blobs):
    X, y = blobs()
    return RobustGaussianClassifier("sample", feature_map="kernel", random_state=0).fit(X, y), X


@pytest.mark.parametrize(
    ("field", "change", "match"),
    [
        ("centre", lambda a: a[:-1], r"scale has shape \(3,\), and must have \(D\), D = 2"),
        ("scale", lambda a: 0 * a, "scale must be positive and finite"),
        ("scale", lambda a: np.append(a, 1.0), "scale has shape"),
        ("landmarks", lambda a: a[:-1], "projection has shape"),
        ("landmarks", lambda a: np.where(a == a[0, 0], np.nan, a), "landmarks must be between"),
        ("gamma", lambda a: np.asarray(-a), "gamma must be between"),
        ("gamma", lambda a: np.asarray(a * np.inf), "gamma must be between"),
        ("gamma", lambda a: a[None], "gamma has shape"),
        ("projection", lambda a: a[:, 1:], "projection has shape"),
        ("projection", lambda a: a * np.nan, "projection must be between"),
    ],
)
def test_fields_of_a_map_are_checked(mapped, field, change, match):
    arrays, settings = mapped[0].fitted_.to_state()
    check_gaussians(arrays, settings)
    name = f"kernel_map.{field}"
    with pytest.raises(FieldError, match=match):
        check_gaussians({**arrays, name: change(arrays[name])}, settings)


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        (np.ones(2), "importance has shape"),
        (np.array([1.0, 0.0, 0.5]), "importance must be positive"),
        (np.array([1.0, np.nan, 0.5]), "importance must be positive"),
        (np.array([1.0, 1.5, 0.5]), "importance must be between"),
    ],
)
def test_the_importance_of_columns_is_checked(mapped, columns, match):
    arrays, settings = mapped[0].fitted_.to_state()
    check_gaussians({**arrays, "kernel_map.importance": np.array([1.0, 0.01, 0.5])}, settings)
    with pytest.raises(FieldError, match=match):
        check_gaussians({**arrays, "kernel_map.importance": columns}, settings)


@pytest.mark.parametrize("field", ["centre", "scale", "landmarks", "gamma", "projection"])
def test_a_map_is_whole_or_absent(mapped, field):
    arrays, settings = mapped[0].fitted_.to_state()
    del arrays[f"kernel_map.{field}"]
    with pytest.raises(FieldError, match=rf"kernel_map\.{field} is missing"):
        check_gaussians(arrays, settings)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_map_of_other_values_is_refused_or_does_no_harm(mapped, tmp_path, dtype):
    clf, X = mapped
    clf.save(tmp_path / "good")
    arrays, header = crafted.read(tmp_path / "good")
    some = X[:5].astype(dtype)
    for what, others in crafted.other_arrays(arrays):
        if not what.startswith("kernel_map"):
            continue
        crafted.write(tmp_path / "other", others, header)
        try:
            found = RobustGaussianClassifier.load(tmp_path / "other")
        except ModelFileError:
            continue
        p = found.predict_proba(some)
        assert np.isfinite(p).all(), what
        assert np.isfinite(score_labels(found, some, found.predict(some)).quality).all(), what
        assert np.isfinite(typicality(found, some)).all(), what


def test_only_files_with_a_map_are_of_the_new_version(blobs, mapped, tmp_path):
    """Those without one can be read by a rehead that does not know maps."""
    X, y = blobs()
    file = tmp_path / "file"
    RobustGaussianClassifier("sample").fit(X, y).save(file)
    _, header = crafted.read(file)
    assert header["version"] == 3
    assert "feature_map" not in header["settings"]["params"]
    mapped[0].save(file)
    _, header = crafted.read(file)
    assert header["version"] == 4
    assert header["settings"]["params"]["feature_map"] == "kernel"
    layers = {"a": X, "b": X[:, :2]}
    ens = LayerEnsemble("sample", feature_map="kernel", weights="equal", random_state=0)
    ens.fit(layers, y).save(file)
    assert crafted.read(file)[1]["version"] == 4
    ens.set_params(feature_map=None).fit(layers, y).save(file)
    assert crafted.read(file)[1]["version"] == 3


def test_params_are_those_of_a_model_that_could_be_fitted():
    known, classes = RobustGaussianClassifier().get_params(), np.arange(2)
    check_params({"estimator": "mcd", "feature_map": "kernel"}, known, classes)
    for params in ({"feature_map": "kernels"}, {"feature_map": 1}, {"map": None}):
        with pytest.raises(FieldError, match="params"):
            check_params(params, known, classes)


@pytest.fixture(scope="module")
def joint(skewed):
    X, y = skewed()
    clf = RobustGaussianClassifier(feature_map="none", random_state=0).fit(X, y)
    assert clf.fitted_.second is not None
    return clf, X


SECOND = ("weights", "bias", "fold_weights", "fold_bias", "temperature", "folds")


@pytest.mark.parametrize(
    ("field", "change", "match"),
    [
        ("second.weights", lambda a: a[:, 1:], "weights has shape"),
        ("second.weights", lambda a: a * np.nan, "weights must be between"),
        ("second.weights", lambda a: a.astype(int), "weights"),
        ("second.bias", lambda a: a[1:], "bias has shape"),
        ("second.bias", lambda a: a * np.inf, "bias must be between"),
        ("second.fold_weights", lambda a: a[1:], "has shape"),
        ("second.fold_weights", lambda a: a[:, :, 1:], "fold_weights has shape"),
        ("second.fold_weights", lambda a: 1e200 * np.sign(a), "fold_weights must be between"),
        ("second.fold_bias", lambda a: a[:, 1:], "fold_bias has shape"),
        ("second.fold_bias", lambda a: a * np.nan, "fold_bias must be between"),
        ("second.temperature", lambda a: np.asarray(-a), "temperature must be between"),
        ("second.temperature", lambda a: np.asarray(0.0 * a), "temperature must be between"),
        ("second.temperature", lambda a: a[None], "temperature has shape"),
        ("second.folds", lambda a: a[1:], "folds has shape"),
        ("second.folds", lambda a: a + 1, "folds must be between"),
        ("second.folds", lambda a: a - 2, "folds must be between"),
        ("second.folds", lambda a: a.astype(float), "folds"),
        ("added_weights", lambda a: a[:, 1:], "added_weights has shape"),
        ("added_weights", lambda a: a * np.nan, "added_weights must be between"),
        ("added_bias", lambda a: a[1:], "added_bias has shape"),
        ("added_bias", lambda a: a * np.inf, "added_bias must be between"),
    ],
)
def test_fields_of_a_second_opinion_are_checked(joint, field, change, match):
    arrays, settings = joint[0].fitted_.to_state()
    check_gaussians(arrays, settings)
    with pytest.raises(FieldError, match=match):
        check_gaussians({**arrays, field: change(arrays[field])}, settings)


@pytest.mark.parametrize("field", [*(f"second.{f}" for f in SECOND), "added_weights", "added_bias"])
def test_a_second_opinion_is_whole_or_absent(joint, field):
    arrays, settings = joint[0].fitted_.to_state()
    del arrays[field]
    with pytest.raises(FieldError, match=r"is missing|belong together"):
        check_gaussians(arrays, settings)
    for name in [name for name in arrays if name.startswith(("second.", "added_"))]:
        del arrays[name]
    check_gaussians(arrays, settings)


def test_predictions_do_not_go_without_the_opinion_that_labels_are_judged_by(joint):
    arrays, settings = joint[0].fitted_.to_state()
    for part in ("second.", "added_"):
        some = {name: a for name, a in arrays.items() if not name.startswith(part)}
        with pytest.raises(FieldError, match="belong together"):
            check_gaussians(some, settings)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_second_opinion_of_other_values_is_refused_or_does_no_harm(joint, tmp_path, dtype):
    clf, X = joint
    clf.save(tmp_path / "good")
    arrays, header = crafted.read(tmp_path / "good")
    some = X[:5].astype(dtype)
    for what, others in crafted.other_arrays(arrays):
        if not what.startswith(("second", "added")):
            continue
        crafted.write(tmp_path / "other", others, header)
        try:
            found = RobustGaussianClassifier.load(tmp_path / "other")
        except ModelFileError:
            continue
        assert np.isfinite(found.predict_proba(some)).all(), what
        assert np.isfinite(score_labels(found, some, found.predict(some)).quality).all(), what


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("feature_map", ["none", "kernel"])
def test_a_second_opinion_comes_back_to_the_last_bit(skewed, tmp_path, feature_map, dtype):
    X, y = skewed()
    X = X.astype(dtype)
    clf = RobustGaussianClassifier(feature_map=feature_map, random_state=0).fit(X, y)
    assert clf.fitted_.second is not None
    clf.save(tmp_path / "model")
    assert crafted.read(tmp_path / "model")[1]["version"] == 4
    again = RobustGaussianClassifier.load(tmp_path / "model")
    assert again.explain() == clf.explain()
    for method in ("predict_proba", "decision_function", "score_samples"):
        np.testing.assert_array_equal(getattr(clf, method)(X), getattr(again, method)(X))
    np.testing.assert_array_equal(again.coef_, clf.coef_)
    one, other = (score_labels(model, X, y) for model in (clf, again))
    np.testing.assert_array_equal(one.quality, other.quality)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_files_of_ensembles_with_a_second_opinion_are_of_the_new_version(skewed, tmp_path):
    X, y = skewed()
    ens = LayerEnsemble(feature_map="none", random_state=0).fit({"x": X}, y)
    assert ens.fitted_.members["x"].second is not None
    ens.save(tmp_path / "ens")
    assert crafted.read(tmp_path / "ens")[1]["version"] == 4


@pytest.mark.parametrize(
    ("field", "change", "match"),
    [
        ("unmapped.means", lambda a: a[:, 1:], "has shape"),
        ("unmapped.means", lambda a: a * np.nan, "means must be between"),
        ("unmapped.covariance", lambda a: a[1:], "has shape"),
        ("unmapped.covariance", lambda a: a + np.triu(a, 1), "symmetric"),
        ("unmapped.estimated", lambda a: np.asarray(a + 2), "estimated must be between"),
    ],
)
def test_fields_of_what_was_mapped_are_checked(mapped, field, change, match):
    arrays, settings = mapped[0].fitted_.to_state()
    check_gaussians(arrays, settings)
    with pytest.raises(FieldError, match=match):
        check_gaussians({**arrays, field: change(arrays[field])}, settings)


def test_what_was_mapped_is_not_there_without_a_map(mapped):
    arrays, settings = mapped[0].fitted_.to_state()
    some = {name: a for name, a in arrays.items() if not name.startswith("kernel_map.")}
    with pytest.raises(FieldError, match="unmapped is there without a map"):
        check_gaussians(some, settings)
    early = {name: a for name, a in arrays.items() if not name.startswith("unmapped.")}
    check_gaussians(early, settings)


def test_what_was_mapped_must_have_an_inverse(mapped):
    arrays, settings = mapped[0].fitted_.to_state()
    flat = arrays["unmapped.covariance"] - 2 * np.diag(np.diag(arrays["unmapped.covariance"]))
    with pytest.raises(FieldError, match=r"unmapped\.covariance must"):
        type(mapped[0].fitted_).from_state({**arrays, "unmapped.covariance": flat}, settings)
