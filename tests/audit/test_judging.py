"""Judging block by block: what each block is given, what is left out, and how much memory it is."""

import tracemalloc

import numpy as np
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels
from rehead.audit import judging
from rehead.audit.judging import judge_in_blocks, predict_in_blocks
from rehead.verdicts import LabelVerdicts


class Echo:
    """Says of each label what it was asked: many classes, so that blocks are short."""

    def __init__(self, usual=True):
        self.classes_ = np.arange(8000)
        self.usual, self.sizes, self.checked = usual, [], 0

    def judge_labels(self, X, codes, leave_out):
        self.sizes.append(len(X))
        if np.isnan(X).any():
            raise ValueError("bad row of a block")
        return LabelVerdicts(X[:, 0], codes, X[:, 1], X[:, 2], leave_out)

    def judge_typicality(self, X, codes=None):
        if not self.usual:
            return None
        return X[:, 0] + (0.0 if codes is None else 1000.0 * codes)

    def check_inputs(self, X):
        self.checked += 1
        raise ValueError(f"bad row {int(np.isnan(X).any(axis=1).argmax())}")


@pytest.fixture
def asked():
    rng = np.random.default_rng(0)
    return rng.random((2000, 3)), rng.integers(2000, size=2000), rng.random(2000) < 0.5


class TestBlocks:
    def test_each_is_given_its_own_rows_labels_and_mask(self, asked):
        X, codes, wanted = asked
        model = Echo()
        found = judge_in_blocks(model, X, codes, wanted)
        assert model.sizes == [512, 512, 512, 464]  # multiples of a block
        np.testing.assert_array_equal(
            np.column_stack([found.quality, found.probability, found.distance]), X
        )
        np.testing.assert_array_equal(found.best, codes)
        np.testing.assert_array_equal(found.known, wanted)
        np.testing.assert_array_equal(found.typical, X[:, 0] + np.where(wanted, 1000 * codes, 0))

    @pytest.mark.parametrize("wanted", [None, True, False])
    def test_all_rows_or_none_are_left_out(self, asked, wanted):
        X, codes, _ = asked
        mask = None if wanted is None else np.full(len(codes), wanted)
        found = judge_in_blocks(Echo(), X, codes, mask)
        left_out = wanted is not False
        assert (found.known == left_out).all()
        np.testing.assert_array_equal(found.typical, X[:, 0] + 1000 * codes * left_out)

    def test_are_large_where_the_model_cuts_them_itself(self, asked, monkeypatch):
        X, codes, wanted = asked
        model = Echo()
        model.fitted_ = None  # only that it is there counts
        judge_in_blocks(model, X, codes, wanted)
        assert model.sizes == [2000]
        monkeypatch.setattr(judging, "COPIED", 3 * 1024)
        found = judge_in_blocks(model, X, codes, wanted)
        assert model.sizes[1:] == [1024, 976]
        np.testing.assert_array_equal(found.best, codes)

    def test_a_model_that_cannot_tell_what_is_usual_gives_nan(self, asked):
        X, codes, wanted = asked
        assert np.isnan(judge_in_blocks(Echo(usual=False), X, codes, wanted).typical).all()

    def test_the_whole_is_checked_only_where_a_block_is_bad(self, asked):
        X, codes, _ = asked
        model = Echo()
        judge_in_blocks(model, X.tolist(), codes, None)
        assert model.checked == 0
        X[1500, 1] = np.nan
        with pytest.raises(ValueError, match="bad row 1500"):
            judge_in_blocks(model, X, codes, None)

    def test_many_are_as_one(self, model, noisy, report):
        X, y, _ = noisy
        many = score_labels(model, np.tile(X, (40, 1)), np.tile(y, 40))
        np.testing.assert_allclose(many.quality, np.tile(report.quality, 40), rtol=1e-9)
        np.testing.assert_allclose(many.typicality, np.tile(report.typicality, 40), rtol=1e-9)

    def test_a_bad_row_of_a_late_one_is_named(self, noisy):
        X, y, _ = noisy
        many, labels = np.tile(X, (25, 1)), np.tile(y, 25)
        many[9001, 2] = np.nan
        ensemble = LayerEnsemble("sample").fit({"a": X}, y)
        with pytest.raises(ValueError, match=r"Layer a: .*contains NaN \(row 9001, feature 2"):
            score_labels(ensemble, {"a": many}, labels)
        with pytest.raises(ValueError, match=r"X contains NaN \(row 9001, feature 2"):
            score_labels(ensemble.estimators_["a"], many, labels)

    def test_a_bad_row_of_a_given_posterior_is_named_too(self, noisy):
        X, y, _ = noisy
        given = np.eye(3)[y]
        ensemble = LayerEnsemble("sample", weights="equal", given=["softmax"])
        ensemble.fit({"a": X, "softmax": given}, y)
        many = {"a": np.tile(X, (25, 1)), "softmax": np.tile(given, (25, 1))}
        many["softmax"][9001, 2] = np.nan
        with pytest.raises(ValueError, match=r"softmax contains NaN \(row 9001, feature 2"):
            score_labels(ensemble, many, np.tile(y, 25))

    @pytest.mark.parametrize("kind", ["classifier", "mixture", "consensus"])
    def test_posteriors_are_never_all_in_memory(self, kind, tmp_path):
        n_classes, n, d = 100, 80_000, 6
        rng = np.random.default_rng(0)
        means = 6 * rng.normal(size=(n_classes, d))
        y = np.arange(n) % n_classes
        X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (n, d))
        X[:] = rng.normal(size=(n, d)) + means[y]
        if kind == "classifier":
            model, inputs = RobustGaussianClassifier(random_state=0).fit(X[:3000], y[:3000]), X
        else:
            inputs = {"a": X, "b": X[:, ::-1]}
            train = {name: layer[:3000] for name, layer in inputs.items()}
            held = {name: layer[3000:5000] for name, layer in inputs.items()}
            model = LayerEnsemble("sample" if kind == "mixture" else None, random_state=0)
            model.fit(train, y[:3000], validation=(held, y[3000:5000]))
        tracemalloc.start()
        report = score_labels(model, inputs, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (report.suggested == y).mean() > 0.9
        # A block's posteriors and what is made of them; all would be 64 MB, several times over.
        assert peak < 50e6


class TestLeftOut:
    def test_false_judges_all_rows_as_new(self, noisy):
        X, y, _ = noisy
        model = RobustGaussianClassifier("sample").fit(X, y)
        report = score_labels(model, X, y, in_sample=False)
        plain = model.predict_proba(X)[np.arange(len(y)), y]
        np.testing.assert_allclose(report.quality, plain, rtol=1e-9)
        assert not report.in_sample.any()
        assert score_labels(model, X, y).in_sample.all()

    def test_true_is_what_happens_to_recognised_rows(self, model, noisy, report):
        again = score_labels(model, *noisy[:2], in_sample=True)
        np.testing.assert_array_equal(again.quality, report.quality)
        np.testing.assert_array_equal(again.typicality, report.typicality)

    def test_a_mask_decides_for_each_row(self, model, noisy, report):
        mask = np.arange(450) % 2 == 0
        mixed = score_labels(model, *noisy[:2], in_sample=mask)
        plain = score_labels(model, *noisy[:2], in_sample=False)
        np.testing.assert_array_equal(mixed.in_sample, mask)
        for name in ("quality", "typicality"):
            expected = np.where(mask, getattr(report, name), getattr(plain, name))
            np.testing.assert_allclose(getattr(mixed, name), expected, rtol=1e-12)


class TestPredictions:
    def test_they_are_those_of_the_model(self, model, noisy):
        X, _, _ = noisy
        many = np.tile(X, (40, 1))
        found, posterior = predict_in_blocks(model, many, len(many)), model.predict_proba(many)
        np.testing.assert_array_equal(found.best, posterior.argmax(axis=1))
        np.testing.assert_array_equal(found.probability, posterior.max(axis=1))

    def test_a_bad_row_has_its_number_and_no_rows_are_an_error(self, model, noisy):
        X, _, _ = noisy
        many = np.tile(X, (40, 1))
        many[-1, 2] = np.nan
        with pytest.raises(ValueError, match=f"row {len(many) - 1}, feature 2"):
            predict_in_blocks(model, many, len(many))
        with pytest.raises(ValueError, match="0 sample"):
            predict_in_blocks(model, X[:0], 0)
