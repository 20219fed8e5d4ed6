"""One protocol for all models: a third kind is audited as soon as it has its methods."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from rehead import (
    LayerEnsemble,
    RobustGaussianClassifier,
    abstention_threshold,
    find_mislabelled,
    predict_or_abstain,
    score_labels,
    typicality,
)
from rehead.audit.pipelines import METHODS, as_judge
from rehead.gaussian import NoiseModel
from rehead.verdicts import LabelVerdicts

ENTRIES = {
    "score_labels": score_labels,
    "find_mislabelled": find_mislabelled,
    "typicality": typicality,
    "abstention_threshold": lambda model, X, y: abstention_threshold(model, X, y, checked=True),
    "predict_or_abstain": lambda model, X, y: predict_or_abstain(model, X, 0.5),
}
"""All that a model is asked for."""


class NearestMean:
    """A ball of radius 1 around the mean of each class. It knows nothing of rehead's models."""

    noise_ = None

    def fit(self, X, y):
        self.X = np.asarray(X, float)
        self.classes_, self.codes = np.unique(y, return_inverse=True)
        return self

    def squared(self, x, without=None):
        """Squared distances to the means, of which a training row can be left out."""
        keep = np.arange(len(self.X)) != without
        own = [self.X[keep & (self.codes == c)] for c in range(len(self.classes_))]
        return np.array([((x - rows.mean(axis=0)) ** 2).sum() for rows in own])

    def row(self, x, code):
        """The training row that this is, or None."""
        found = np.flatnonzero((x == self.X).all(axis=1) & (self.codes == code))
        return found[0] if len(found) else None

    def count_samples(self, X):
        return len(X)

    def check_inputs(self, X):
        bad = np.isnan(X).any(axis=1)
        if bad.any():
            raise ValueError(f"NaN in row {bad.argmax()}")

    def predict_proba(self, X):
        self.check_inputs(X)
        return softmax([-self.squared(x) / 2 for x in np.asarray(X)], axis=1)

    def judge_labels(self, X, codes, leave_out):
        self.check_inputs(X)
        known = [self.row(x, code) for x, code in zip(X, codes, strict=True)]
        without = [row if out else None for row, out in zip(known, leave_out, strict=True)]
        squared = np.array([self.squared(x, row) for x, row in zip(X, without, strict=True)])
        p, every = softmax(-squared / 2, axis=1), np.arange(len(X))
        best = p.argmax(axis=1)
        distance = squared.min(axis=1) / np.shape(X)[1]
        seen = np.array([row is not None for row in known])
        return LabelVerdicts(p[every, codes], best, p[every, best], distance, seen)

    def judge_typicality(self, X, codes=None):
        usual = [self.squared(x, i).min() for i, x in enumerate(self.X)]
        rows = [None] * len(X) if codes is None else map(self.row, X, codes)
        nearest = [self.squared(x, row).min() for x, row in zip(X, rows, strict=True)]
        return np.array([(1 + np.sum(usual >= d)) / (1 + len(usual)) for d in nearest])

    def judging_space(self, X):
        return np.asarray(X, float)


@pytest.fixture(scope="module")
def planted():
    """Two clear classes with three wrong labels: features, given labels, rows that are wrong."""
    rng = np.random.default_rng(0)
    truth = np.repeat(["cat", "dog"], 40)
    X = rng.normal(size=(80, 2)) + 6 * (truth == "dog")[:, None]
    y = truth.copy()
    y[[3, 20]], y[61] = "dog", "cat"
    return X, y, [3, 20, 61]


@pytest.fixture(scope="module")
def judge(planted):
    return NearestMean().fit(*planted[:2])


class TestAThirdKindOfModel:
    def test_is_not_one_of_ours(self):
        assert NearestMean.__mro__ == (NearestMean, object)

    def test_judges_labels_without_themselves(self, judge, planted):
        X, y, wrong = planted
        report = score_labels(judge, X, y)
        assert report.in_sample.all()
        assert sorted(report.mislabelled().tolist()) == wrong
        assert report.suggested[wrong].tolist() == ["cat", "cat", "dog"]
        assert (report.kind[wrong] == "wrong label").all()
        for i in range(80):
            rest = np.arange(80) != i
            means = [X[rest & (y == label)].mean(axis=0) for label in ("cat", "dog")]
            p = np.exp([-((X[i] - mean) ** 2).sum() / 2 for mean in means])
            assert report.quality[i] == pytest.approx((p / p.sum())[int(y[i] == "dog")])
        assert report.noise_rate == pytest.approx(3 / 80, abs=0.01)
        assert np.isnan(report.noise_rate_error)
        np.testing.assert_allclose(
            report.transition, [[38 / 40, 2 / 40], [1 / 40, 39 / 40]], atol=0.01
        )
        assert f"Review the {report.n_review()} worst" in str(report)

    def test_may_be_asked_to_judge_rows_as_new_ones(self, judge, planted):
        X, y, _ = planted
        report = score_labels(judge, X, y, in_sample=False)
        plain = judge.predict_proba(X)[np.arange(80), (y == "dog").astype(int)]
        np.testing.assert_allclose(report.quality, plain)
        with pytest.raises(ValueError, match=r"does not recognise: 80 of 80"):
            score_labels(judge, X + 1e-9, y, in_sample=True)

    def test_names_the_wrong_labels(self, judge, planted):
        X, y, wrong = planted
        ids = np.array([f"img{i}" for i in range(80)])
        assert set(find_mislabelled(judge, X, y, ids=ids)) == {f"img{i}" for i in wrong}

    def test_tells_what_is_usual(self, judge, planted):
        X, y, _ = planted
        means = [X[y == label].mean(axis=0) for label in ("cat", "dog")]
        p = typicality(judge, np.array([*means, [99.0, -99.0]]))
        np.testing.assert_allclose(p, [1.0, 1.0, 1 / 81])
        # Training rows without themselves are ranked from 1 to 80.
        np.testing.assert_allclose(np.sort(typicality(judge, X, y)), np.arange(2, 82) / 81)
        assert (typicality(judge, X, y) < typicality(judge, X)).mean() > 0.5
        np.testing.assert_array_equal(score_labels(judge, X, y).typicality, typicality(judge, X, y))

    def test_may_not_know_what_is_usual(self, planted):
        X, y, wrong = planted
        model = NearestMean().fit(X, y)
        model.judge_typicality = lambda X, codes=None: None
        assert np.isnan(score_labels(model, X, y).typicality).all()
        assert sorted(find_mislabelled(model, X, y).tolist()) == wrong
        with pytest.raises(ValueError, match="does not know what is usual"):
            typicality(model, X)

    def test_shows_what_speaks_against_a_label(self, judge, planted):
        X, y, wrong = planted
        found = score_labels(judge, X, y).neighbours(wrong, X, k=4)
        for i, row in enumerate(wrong):
            distance = np.where(y == y[row], np.inf, np.linalg.norm(X - X[row], axis=1))
            np.testing.assert_array_equal(found.rows[i], np.argsort(distance)[:4])
            np.testing.assert_allclose(found.distances[i], np.sort(distance)[:4])

    def test_promises_an_error_and_abstains(self, judge):
        rng = np.random.default_rng(1)
        truth = rng.integers(2, size=600)
        X = rng.normal(size=(600, 2)) + 6 * truth[:, None]
        y = np.array(["cat", "dog"])[truth]
        X[:60] = rng.normal(size=(60, 2)) + 3  # between the classes, where it is a guess
        posterior = judge.predict_proba(X)
        sure, said = posterior.max(axis=1), judge.classes_[posterior.argmax(axis=1)]
        found = abstention_threshold(judge, X, y, error=0.04, checked=True)
        accepted = sure >= found.threshold
        assert 0.9 <= found.coverage < 1
        assert found.coverage == accepted.mean()
        assert found.error == pytest.approx((said[accepted] != y[accepted]).mean())
        assert found.error < found.bound <= 0.04
        assert (said[~accepted] != y[~accepted]).mean() > 0.2
        np.testing.assert_array_equal(
            predict_or_abstain(judge, X, found, "?"), np.where(accepted, said, "?")
        )

    def test_may_have_measured_the_noise(self, planted):
        X, y, _ = planted
        model = NearestMean().fit(X, y)
        T = np.array([[0.95, 0.05], [0.02, 0.98]])
        model.noise_ = NoiseModel(1.0, np.full(2, 0.5), T, np.full(2, 400.0), 0.0, 0.035)
        report = score_labels(model, X, y)
        np.testing.assert_array_equal(report.transition, T)
        by_chance = (report.quality * (1 - report.quality)).mean() / 80
        assert report.noise_rate_error == pytest.approx(
            np.hypot(model.noise_.rate_error, np.sqrt(by_chance))
        )
        # Labels that disagree are blamed on known noise in part, so that more can be promised.
        blamed = abstention_threshold(model, X, y, error=0.15, transition=T)
        taken_as_right = abstention_threshold(model, X, y, error=0.15, checked=True)
        assert blamed.error < taken_as_right.error == pytest.approx(3 / 80)

    def test_names_a_bad_row_by_its_number_among_all(self, planted):
        many, quick = np.tile(planted[0], (120, 1)), NearestMean().fit(*planted[:2])
        many[9001] = np.nan  # in the second block

        def judge_labels(X, codes, leave_out):
            quick.check_inputs(X)
            return LabelVerdicts(*np.ones((5, len(X))))

        quick.judge_labels = judge_labels
        quick.judge_typicality = lambda X, codes=None: None
        with pytest.raises(ValueError, match="NaN in row 9001"):
            score_labels(quick, many, np.tile(planted[1], 120))


class TestAsJudge:
    def test_asks_for_the_methods_of_the_protocol(self):
        assert set(METHODS) == {
            "count_samples",
            "check_inputs",
            "predict_proba",
            "judge_labels",
            "judge_typicality",
            "judging_space",
        }

    def test_gives_the_model_back(self, judge, model, noisy):
        ensemble = LayerEnsemble("sample").fit({"a": noisy[0]}, noisy[1])
        for good in (judge, model, ensemble):
            assert as_judge(good, "Labels are judged", "") is good

    @pytest.mark.parametrize("missing", METHODS)
    @pytest.mark.parametrize("entry", ENTRIES)
    def test_a_missing_method_is_named(self, planted, entry, missing):
        kept = {name: value for name, value in vars(NearestMean).items() if name != missing}
        model = type("Model", (), kept)()
        with pytest.raises(TypeError, match=f"LabelJudge; a Model has no {missing}\\.$"):
            ENTRIES[entry](model, *planted[:2])

    @pytest.mark.parametrize("entry", ENTRIES)
    def test_a_model_of_another_library(self, noisy, entry):
        other = LogisticRegression().fit(*noisy[:2])
        with pytest.raises(TypeError, match="a LogisticRegression has no count_samples"):
            ENTRIES[entry](other, *noisy[:2])

    @pytest.mark.parametrize("entry", ENTRIES)
    @pytest.mark.parametrize("kind", [NearestMean, RobustGaussianClassifier, LayerEnsemble])
    def test_an_unfitted_model(self, planted, entry, kind):
        with pytest.raises(NotFittedError, match=f"This {kind.__name__} is not fitted yet"):
            ENTRIES[entry](kind(), *planted[:2])

    def test_an_unfitted_model_is_a_value_error_too(self, blobs):
        with pytest.raises(ValueError, match="not fitted"):
            score_labels(RobustGaussianClassifier(), *blobs())

    @pytest.mark.parametrize(
        ("entry", "hint"),
        [
            ("score_labels", r"head\.report_; .*head\.score_labels\(loader\)"),
            ("find_mislabelled", r"head\.report_; .*head\.score_labels\(loader\)"),
            ("typicality", r"head\.typicality\(loader\)"),
            ("abstention_threshold", r"head\.abstention_threshold\(loader\)"),
            ("predict_or_abstain", r"head\.predict_or_abstain\(loader, threshold\)"),
        ],
    )
    def test_a_robust_head_is_told_what_it_has_instead(self, planted, entry, hint):
        torch = pytest.importorskip("torch")
        from rehead.torch import RobustHead

        with pytest.raises(TypeError, match=rf"a RobustHead has no \w+\. .*{hint}"):
            ENTRIES[entry](RobustHead(torch.nn.Linear(2, 2)), *planted[:2])
