"""What is done with a label report: kinds, review, neighbours, tables, files, words."""

import csv

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, find_mislabelled, noise, score_labels
from rehead.audit.kinds import KINDS, kinds, p_of_distances, small_p_values
from rehead.audit.review import n_review
from rehead.files.tables import read_column

NAMES = np.array(["ant", "bee", "cat"])


def part(layers, rows):
    return {name: layer[rows] for name, layer in layers.items()}


@pytest.fixture(scope="module")
def noisy(blobs):
    """Clear classes, a tenth of the labels wrong: features, given labels, which are wrong."""
    X, y = blobs(sizes=(150, 150, 150), d=4, distance=4.0)
    corrupted = noise.uniform(y, 0.1, random_state=0)
    return X, corrupted.labels, corrupted.changed


@pytest.fixture(scope="module")
def model(noisy):
    return RobustGaussianClassifier(random_state=0).fit(*noisy[:2])


@pytest.fixture(scope="module")
def report(model, noisy):
    return score_labels(model, *noisy[:2])


class TestIds:
    def test_explicit_ids_come_back_worst_first(self, model, noisy, report):
        X, y, _ = noisy
        ids = np.array([f"img{i}" for i in range(len(y))])
        for given in (ids, ids.tolist(), pd.Index(ids), pd.Series(ids, index=ids[::-1])):
            found = find_mislabelled(model, X, y, ids=given)
            np.testing.assert_array_equal(found, ids[report.mislabelled()])
        np.testing.assert_array_equal(score_labels(model, X, y, ids=ids).ids, ids)

    @pytest.mark.parametrize("start", [1, 1000])
    def test_whole_numbers_are_ids_too(self, model, noisy, report, start):
        ids = np.arange(start, start + len(noisy[1]))
        found = find_mislabelled(model, *noisy[:2], ids=ids)
        np.testing.assert_array_equal(found, report.mislabelled() + start)

    @pytest.mark.parametrize("where", ["X", "y", "both"])
    def test_a_pandas_index_names_the_samples(self, noisy, where):
        X, y, _ = noisy
        index = [f"s{i}" for i in range(len(y))]
        frame = pd.DataFrame(X, index=index if where != "y" else None).rename(columns=str)
        series = pd.Series(y, index=index if where != "X" else None)
        model = RobustGaussianClassifier(random_state=0).fit(frame, series)
        found = find_mislabelled(model, frame, series)
        assert set(found.tolist()) <= set(index)
        if where != "y":
            assert (series.to_numpy()[frame.index.get_indexer(found)] >= 0).all()

    def test_of_layers_as_frames(self, noisy):
        X, y, _ = noisy
        frame = pd.DataFrame(X, index=np.arange(len(y)) + 7)
        ensemble = LayerEnsemble("sample").fit({"a": X}, y)
        assert score_labels(ensemble, {"a": frame}, y).ids[0] == 7

    @pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame])
    def test_a_frame_that_only_numbers_its_rows_gives_row_numbers(self, noisy, wrap):
        X, y, _ = noisy
        X = wrap({f"x{i}": X[:, i] for i in range(4)})
        model = RobustGaussianClassifier(random_state=0).fit(X, y)
        report = score_labels(model, X, y)
        assert report.ids is None
        assert report.in_sample.all()

    def test_indexes_that_contradict_each_other(self, model, noisy):
        X, y, _ = noisy
        frame, series = pd.DataFrame(X, index=range(1, 451)), pd.Series(y, index=range(2, 452))
        with pytest.raises(ValueError, match=r"different pandas indexes.*pass ids="):
            score_labels(model, frame, series)
        assert score_labels(model, frame, series, ids=np.arange(450)).ids[3] == 3

    def test_an_index_that_numbers_the_rows_in_another_order(self, model, noisy):
        X, y, _ = noisy
        order = np.random.default_rng(0).permutation(450)
        frame = pd.DataFrame(X).loc[order]
        with pytest.raises(ValueError, match=r"different pandas indexes.*pass ids="):
            score_labels(model, frame, pd.Series(y))
        report = score_labels(model, frame, pd.Series(y).loc[order])
        np.testing.assert_array_equal(report.ids, order)
        assert score_labels(model, frame, y[order]).in_sample.all()
        # Part of the numbers: the labels may well be a new series of those rows.
        some = order[:200]
        assert score_labels(model, frame.loc[some], pd.Series(y[some])).in_sample.all()

    def test_times(self, model, noisy, tmp_path):
        X, y, _ = noisy
        index = pd.date_range("2020-01-01", periods=450).astype("datetime64[ns]")
        report = score_labels(model, pd.DataFrame(X, index=index), y)
        report.to_csv(tmp_path / "out.csv", worst_first=False)
        assert (tmp_path / "out.csv").read_text().splitlines()[2].startswith("2020-01-02T00:00")
        for name in (index[3], index.to_numpy()[3], "2020-01-04", [index[3]]):
            assert report.neighbours(name, X, k=1).samples == report.ids[3]

    def test_of_several_levels(self, model, noisy):
        X, y, _ = noisy
        frame = pd.DataFrame(X, index=pd.MultiIndex.from_arrays([["a"] * 450, range(450)]))
        report = score_labels(model, frame, y)
        assert report.neighbours(("a", 3), frame, k=1).samples.tolist() == [("a", 3)]
        both = report.neighbours([("a", 3), ("a", 5)], frame, k=1)
        assert both.samples.tolist() == [("a", 3), ("a", 5)]
        again = report.neighbours(report.worst(2), frame, k=1)
        assert again.samples.tolist() == report.worst(2).tolist()
        with pytest.raises(ValueError, match=r"'a' names 0"):
            report.neighbours(("a", 9999), frame)

    @pytest.mark.parametrize(
        ("ids", "match"),
        [
            (np.arange(449), "one entry for each of the 450 rows"),
            (np.arange(900).reshape(450, 2), r"shape \(450, 2\)"),
            ("name", "one entry for each"),
            (np.arange(450) % 449, r"duplicates in the ids \(0 first\)"),
            ([*range(449), None], "no entry for row 449"),
            (np.append(np.arange(449.0), np.nan), "no entry for row 449"),
        ],
    )
    def test_bad_ids(self, model, noisy, ids, match):
        with pytest.raises(ValueError, match=match):
            score_labels(model, *noisy[:2], ids=ids)

    def test_an_index_with_duplicates(self, model, noisy):
        X, y, _ = noisy
        with pytest.raises(ValueError, match=r"duplicates in the pandas index.*reset_index"):
            score_labels(model, pd.DataFrame(X, index=np.zeros(450, int)), y)


class TestInSample:
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

    def test_unrecognised_rows_cannot_be_left_out(self, model, noisy):
        X, y, _ = noisy
        changed = X.copy()
        changed[[7, 9]] += 1e-9
        with pytest.raises(ValueError, match=r"2 of 450, row 7 first.*Leave in_sample out"):
            score_labels(model, changed, y, in_sample=True)
        mask = np.ones(450, bool)
        mask[[7, 9]] = False
        assert score_labels(model, changed, y, in_sample=mask).in_sample.sum() == 448

    @pytest.mark.parametrize("mask", [[1, 0], "yes", np.ones(450), np.ones(3, bool)])
    def test_bad_masks(self, model, noisy, mask):
        with pytest.raises(ValueError, match="in_sample must be a boolean mask"):
            score_labels(model, *noisy[:2], in_sample=mask)


class TestBadInput:
    def test_of_another_width(self, model, noisy):
        with pytest.raises(ValueError, match=r"3 features.*expecting 4"):
            score_labels(model, noisy[0][:, :3], noisy[1])

    def test_nothing(self, model):
        with pytest.raises(ValueError, match="no labels to judge"):
            score_labels(model, np.empty((0, 4)), [])

    def test_layers_for_a_classifier_and_features_for_an_ensemble(self, model, noisy):
        X, y, _ = noisy
        with pytest.raises(ValueError, match="one array of features"):
            score_labels(model, {"a": X}, y)
        ensemble = LayerEnsemble("sample").fit({"a": X}, y)
        with pytest.raises(ValueError, match="layers must be a non-empty dict"):
            score_labels(ensemble, X, y)
        with pytest.raises(ValueError, match="are missing"):
            score_labels(ensemble, {"b": X}, y)

    def test_a_model_of_another_library(self, noisy):
        from sklearn.linear_model import LogisticRegression

        with pytest.raises(TypeError, match="got LogisticRegression"):
            score_labels(LogisticRegression().fit(*noisy[:2]), *noisy[:2])

    def test_a_bad_row_of_a_late_block_is_named(self, noisy):
        X, y, _ = noisy
        many, labels = np.tile(X, (25, 1)), np.tile(y, 25)
        many[9001, 2] = np.nan
        ensemble = LayerEnsemble("sample").fit({"a": X}, y)
        with pytest.raises(ValueError, match=r"a contains NaN \(row 9001, feature 2"):
            score_labels(ensemble, {"a": many}, labels)
        with pytest.raises(ValueError, match=r"X contains NaN \(row 9001, feature 2"):
            score_labels(ensemble.estimators_["a"], many, labels)


class TestBlocks:
    def test_many_blocks_are_as_one(self, model, noisy, report):
        X, y, _ = noisy
        many = score_labels(model, np.tile(X, (40, 1)), np.tile(y, 40))
        np.testing.assert_allclose(many.quality, np.tile(report.quality, 40), rtol=1e-9)
        np.testing.assert_allclose(many.typicality, np.tile(report.typicality, 40), rtol=1e-9)

    @pytest.mark.parametrize("kind", ["classifier", "mixture", "consensus"])
    def test_posteriors_are_never_all_in_memory(self, kind, tmp_path):
        import tracemalloc

        n_classes, n, d = 100, 80_000, 6
        rng = np.random.default_rng(0)
        means = 6 * rng.normal(size=(n_classes, d))
        y = np.arange(n) % n_classes
        X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (n, d))
        X[:] = rng.normal(size=(n, d)) + means[y]
        some, held = slice(0, 3000), slice(3000, 5000)
        if kind == "classifier":
            model, inputs = RobustGaussianClassifier(random_state=0).fit(X[some], y[some]), X
        else:
            inputs = {"a": X, "b": X[:, ::-1]}
            model = LayerEnsemble("sample" if kind == "mixture" else None, random_state=0)
            model.fit(part(inputs, some), y[some], validation=(part(inputs, held), y[held]))
        tracemalloc.start()
        report = score_labels(model, inputs, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (report.suggested == y).mean() > 0.9
        # A block's posteriors and what is made of them; all would be 64 MB, several times over.
        assert peak < 50e6


class TestKinds:
    def test_what_the_rules_say(self, report):
        assert set(report.kind.tolist()) <= set(KINDS)
        clear = report.suggested_probability >= 2 / 3
        inside = report.kind != "out of distribution"
        np.testing.assert_array_equal(report.kind == "ok", clear & ~report.suspect & inside)
        np.testing.assert_array_equal(report.kind == "wrong label", clear & report.suspect & inside)
        np.testing.assert_array_equal(report.kind == "ambiguous", ~clear & inside)

    def test_an_outlier_is_nothing_else(self):
        p = np.array([0.9, 1e-6, 0.5])
        found = kinds(np.zeros(3), np.ones(3), np.array([0.9, 0.9, 0.5]), p, np.ones(3))
        assert found.tolist() == ["wrong label", "out of distribution", "ambiguous"]

    def test_without_p_values_only_what_is_far_is_strange(self):
        far = np.random.default_rng(0).chisquare(4, size=100)
        far[7] = 500.0
        found = kinds(np.zeros(100), np.zeros(100), np.ones(100), np.full(100, np.nan), far)
        assert np.flatnonzero(found != "ok").tolist() == [7]

    @pytest.mark.parametrize("d", [1, 3, 30, 1000])
    def test_gaussians_have_no_strange_distances(self, d):
        rng = np.random.default_rng(d)
        for _ in range(20):
            p = p_of_distances(rng.chisquare(d, size=2000), np.arange(2000) % 4)
            assert not small_p_values(p, 0.05).any()

    @pytest.mark.parametrize("d", [3, 50])
    def test_a_class_may_be_wider_than_others(self, blobs, d):
        X, y = blobs(sizes=(300,) * 4, d=d, distance=8.0)
        X[y == 0] += 2 * np.random.default_rng(1).normal(size=(300, d))
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert (report.kind == "out of distribution").mean() < 0.01

    @pytest.mark.parametrize("squared", [np.zeros(60), np.ones(60), np.append(np.ones(59), 9.0)])
    def test_without_spread_nothing_is_strange(self, squared):
        np.testing.assert_array_equal(p_of_distances(squared, np.zeros(60)), 1.0)

    @pytest.mark.parametrize("share", [0.01, 0.1])
    def test_strange_training_samples_are_found(self, blobs, share):
        X, y = blobs(sizes=(400, 400, 400), d=8, distance=3.0)
        strange = np.random.default_rng(0).random(len(y)) < share
        X[strange] = 8 * np.random.default_rng(1).normal(size=(strange.sum(), 8))
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        called = report.kind == "out of distribution"
        assert called[strange].mean() > 0.8
        assert called[~strange].mean() < 0.01

    def test_ordinary_p_values_are_seldom_called_small(self):
        rng = np.random.default_rng(0)
        calls = [small_p_values(rng.random(1000), 0.1).sum() for _ in range(300)]
        assert np.mean(np.array(calls) > 0) < 0.16  # 0.1 in expectation
        assert np.mean(calls) < 1

    def test_the_share_of_false_calls_is_kept(self):
        rng = np.random.default_rng(0)
        shares = []
        for _ in range(200):
            p = rng.random(1000)
            p[:100] *= 1e-3
            called = small_p_values(p, 0.1)
            shares.append(called[100:].sum() / max(called.sum(), 1))
            assert called[:100].mean() > 0.9
        assert np.mean(shares) < 0.11

    def test_strange_new_samples_are_found(self, blobs):
        X, y = blobs(sizes=(400, 400, 400), d=6, distance=3.0)
        model = RobustGaussianClassifier(random_state=0).fit(X[:900], y[:900])
        rng = np.random.default_rng(0)
        strange = 12 * rng.normal(size=(30, 6))
        new = np.vstack([X[900:], strange])
        report = score_labels(model, new, np.append(y[900:], rng.integers(3, size=30)))
        called = report.kind == "out of distribution"
        assert called[300:].mean() > 0.9
        assert called[:300].mean() < 0.04

    def test_one_stray_sample_is_found(self, blobs):
        X, y = blobs(sizes=(200, 200), d=5)
        X[17] = 1e3
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert np.flatnonzero(report.kind == "out of distribution").tolist() == [17]

    def test_a_member_of_a_consensus_can_be_asked(self, blobs):
        X, y = blobs(sizes=(200, 200), d=4)
        layers = {"a": X[:, :2], "b": X[:, 2:]}
        ensemble = LayerEnsemble(random_state=0)
        train, held = part(layers, slice(0, 300)), part(layers, slice(300, 400))
        ensemble.fit(train, y[:300], validation=(held, y[300:]))
        for name in ("a", "b"):
            report = score_labels(ensemble.estimators_[name], layers[name], y)
            assert len(report) == 400


class TestCleanLabels:
    @pytest.mark.parametrize("distance", [1.0, 1.5, 3.0, 10.0])
    @pytest.mark.parametrize("seed", [0, 1])
    def test_next_to_nothing_is_flagged(self, blobs, distance, seed):
        X, y = blobs(sizes=(400,) * 4, d=12, distance=distance, seed=seed)
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert report.suspect.mean() < 0.01
        assert (report.kind != "ok").mean() < 0.02
        assert report.noise_rate < max(2.5 * report.noise_rate_error, 0.02)
        assert report.n_review() < 0.03 * len(y)

    def test_on_digits(self):
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert report.suspect.mean() < 0.01
        assert (report.kind != "ok").mean() < 0.01
        assert report.noise_rate < 2 * report.noise_rate_error
        assert "about clean" in str(report)

    def test_held_out_rows(self, blobs):
        X, y = blobs(sizes=(500,) * 3, d=8, distance=2.0)
        model = RobustGaussianClassifier(random_state=0).fit(X[:1000], y[:1000])
        report = score_labels(model, X[1000:], y[1000:])
        assert (report.kind != "ok").mean() < 0.02


class TestNoise:
    @pytest.mark.parametrize("rate", [0.1, 0.3])
    def test_the_rate_is_measured_within_its_error(self, blobs, rate):
        X, y = blobs(sizes=(400,) * 4, d=10, distance=3.0)
        corrupted = noise.uniform(y, rate, random_state=1)
        model = RobustGaussianClassifier(random_state=0).fit(X, corrupted.labels)
        report = score_labels(model, X, corrupted.labels)
        assert abs(report.noise_rate - corrupted.rate) < 3 * report.noise_rate_error
        assert report.noise_rate_error < 0.05
        np.testing.assert_allclose(report.transition.sum(axis=1), 1.0)

    def test_quality_is_calibrated(self, blobs):
        X, y = blobs(sizes=(800,) * 3, d=6, distance=1.2)
        corrupted = noise.uniform(y, 0.25, random_state=1)
        model = RobustGaussianClassifier(random_state=0).fit(X, corrupted.labels)
        quality = score_labels(model, X, corrupted.labels).quality
        for low, high in ((0, 0.3), (0.3, 0.8), (0.8, 1.01)):
            there = (quality >= low) & (quality < high)
            right = (~corrupted.changed)[there].mean()
            assert right == pytest.approx(quality[there].mean(), abs=0.12)

    def test_the_error_falls_with_more_labels(self, model, noisy, report):
        few = score_labels(model, noisy[0][:20], noisy[1][:20])
        assert few.noise_rate_error >= model.noise_.rate_error
        assert report.noise_rate_error >= model.noise_.rate_error

    def test_without_a_measure_there_is_no_error(self, noisy):
        X, y, _ = noisy
        report = score_labels(RobustGaussianClassifier("mcd", random_state=0).fit(X, y), X, y)
        assert np.isnan(report.noise_rate_error)
        assert "the noise was not measured" in str(report)


class TestReview:
    def test_the_wanted_share_is_found_in_expectation(self, report, noisy):
        n = report.n_review()
        assert report.expected_wrong(n) >= 0.95 * report.expected_wrong()
        assert report.expected_wrong(n - 1) < 0.95 * report.expected_wrong()
        assert noisy[2][report.order[:n]].sum() >= 0.9 * noisy[2].sum()
        np.testing.assert_array_equal(report.worst(), report.order[:n])
        np.testing.assert_array_equal(report.worst(3), report.order[:3])
        assert report.expected_wrong() == pytest.approx(report.noise_rate * len(report))

    def test_no_label_is_looked_at_that_is_hardly_wrong(self):
        assert n_review(np.full(10_000, 0.99)) == 0
        assert n_review(np.full(10_000, 0.99), one_in=np.inf) == 9500
        assert n_review(np.full(10, 0.9)) == 10  # one in ten is worth a look
        assert n_review(np.array([0.0, 1.0, 1.0])) == 1
        assert n_review(np.ones(5)) == 0

    def test_more_is_never_less(self, report):
        shares = [report.n_review(share=s, one_in=1e9) for s in (0.1, 0.5, 0.9, 0.99, 1.0)]
        assert shares == sorted(shares)
        limits = [report.n_review(share=1.0, one_in=k) for k in (1.01, 2, 10, 100)]
        assert limits == sorted(limits)

    @pytest.mark.parametrize("wrong", [{"share": 0}, {"share": 1.5}, {"one_in": 0.5}])
    def test_bad_rules(self, report, wrong):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            report.n_review(**wrong)
        for n in (-1, 1.5, "3"):
            with pytest.raises(ValueError, match="n must be"):
                report.worst(n)
            with pytest.raises(ValueError, match="n must be"):
                report.expected_wrong(n)


class TestNeighbours:
    def brute(self, model, X, given, row, k):
        P = np.linalg.inv(model.covariance_)
        distance = np.array([np.sqrt((x - X[row]) @ P @ (x - X[row])) for x in X])
        distance[given == given[row]] = np.inf
        return np.argsort(distance, kind="stable")[:k], np.sort(distance)[:k]

    def test_are_the_nearest_with_other_labels(self, model, noisy, report):
        X, y, _ = noisy
        found = report.neighbours([3, 200], X, k=4)
        assert found.rows.shape == (2, 4)
        for i, row in enumerate((3, 200)):
            rows, distances = self.brute(model, X, y, row, 4)
            np.testing.assert_array_equal(found.rows[i], rows)
            np.testing.assert_allclose(found.distances[i], distances, rtol=1e-6)
            np.testing.assert_array_equal(found.labels[i], y[rows])
            np.testing.assert_allclose(found.quality[i], report.quality[rows])
        assert found.given.tolist() == y[[3, 200]].tolist()

    def test_a_wrong_label_has_neighbours_of_the_right_one(self, noisy, report):
        worst = report.order[:20]
        found = report.neighbours(worst, noisy[0])
        assert (found.labels == report.suggested[worst][:, None]).mean() > 0.9

    def test_by_id_and_in_words(self, model, noisy):
        X, y, _ = noisy
        ids = np.array([f"img{i}" for i in range(450)])
        names = RobustGaussianClassifier(random_state=0).fit(X, NAMES[y])
        report = score_labels(names, X, NAMES[y], ids=ids)
        found = report.neighbours("img5", X, k=2)
        assert found.samples.tolist() == ["img5"]
        np.testing.assert_array_equal(found.ids, ids[found.rows])
        text = str(found)
        assert text.startswith(f"img5 is labelled {NAMES[y[5]]}.")
        assert f"{found.ids[0, 0]}: {found.labels[0, 0]}, distance" in text
        with pytest.raises(ValueError, match=r"'img9999' names 0 of the samples"):
            report.neighbours("img9999", X)

    def test_of_new_samples_among_the_training_samples(self, model, noisy):
        X, y, _ = noisy
        new = score_labels(model, X[:5] + 0.01, y[:5])
        ids = np.arange(450) + 1000
        found = new.neighbours(2, X[:5] + 0.01, k=3, train=(X, y, ids))
        assert found.quality is None
        np.testing.assert_array_equal(found.ids, found.rows + 1000)
        assert (found.labels != y[2]).all()
        with pytest.raises(ValueError, match=r"train must be \(X, y\)"):
            new.neighbours(2, X[:5] + 0.01, train=X)

    def test_over_many_blocks(self, model, noisy):
        X, y, _ = noisy
        far = np.tile(X + 50.0, (40, 1))
        X, y = np.vstack([far, X]), np.append(np.tile(y, 40), y)
        found = score_labels(model, X, y).neighbours(len(far) + 3, X)
        assert (found.rows >= len(far)).all()

    @pytest.mark.parametrize("estimator", ["sample", None])
    def test_of_layers(self, noisy, estimator):
        X, y, _ = noisy
        layers = {"a": X[:, :2], "b": X[:, 2:]}
        held = {name: layer[300:] for name, layer in layers.items()}
        ensemble = LayerEnsemble(estimator, random_state=0).fit(
            layers, y, validation=(held, y[300:])
        )
        found = score_labels(ensemble, layers, y).neighbours(0, layers, k=3)
        assert (found.labels != y[0]).all()

    def test_fewer_where_there_are_fewer(self, blobs):
        X, y = blobs(sizes=(40, 3))
        report = score_labels(RobustGaussianClassifier("identity").fit(X, y), X, y)
        row = int(np.flatnonzero(y == 0)[0])
        assert report.neighbours(row, X, k=9).rows.shape == (1, 3)

    def test_bad_questions(self, noisy, report):
        X = noisy[0]
        with pytest.raises(ValueError, match=r"450 rows; got 449"):
            report.neighbours(0, X[1:])
        with pytest.raises(ValueError, match="row number, 0 to 449"):
            report.neighbours(450, X)
        with pytest.raises(ValueError, match="row number"):
            report.neighbours("img", X)
        with pytest.raises(ValueError, match="k must be"):
            report.neighbours(0, X, k=0)
        with pytest.raises(ValueError, match="which must be"):
            report.neighbours([], X)
        with pytest.raises(ValueError, match="not fitted on these labels"):
            report.neighbours(0, X, train=(X, report.given.astype(str)))
        with pytest.raises(ValueError, match="450 samples and 2 ids"):
            report.neighbours(0, X, train=(X, report.given, ["a", "b"]))

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_of_frames_whatever_their_layout(self, noisy, order):
        # A frame of several columns gives its rows column by column.
        X = np.asarray(noisy[0], np.float32, order=order)
        frame, y = pd.DataFrame(X), noisy[1]
        model = RobustGaussianClassifier(random_state=0).fit(frame, y)
        found = score_labels(model, frame, y).neighbours([3, 8], frame, k=2)
        again = score_labels(model, X, y).neighbours([3, 8], X, k=2)
        np.testing.assert_array_equal(found.rows, again.rows)

    def test_where_all_have_the_same_label(self, report, noisy):
        X, y, _ = noisy
        same = y == report.given[0]
        found = report.neighbours(0, X, train=(X[same], y[same]))
        assert found.rows.shape == (1, 0)
        assert str(found).endswith("with other labels: none")


class TestTables:
    @pytest.mark.parametrize("names", [None, NAMES], ids=["ints", "strings"])
    @pytest.mark.parametrize("worst_first", [True, False])
    def test_csv_gives_back_what_was_written(self, noisy, tmp_path, names, worst_first):
        X, y, _ = noisy
        y = y if names is None else names[y]
        model = RobustGaussianClassifier(random_state=0).fit(X, y)
        ids = np.array([f'a "b", {i}' for i in range(450)])
        report = score_labels(model, X, y, ids=ids)
        report.to_csv(tmp_path / "report.csv", worst_first=worst_first)
        table = report.table(worst_first=worst_first)
        assert next(iter(table)) == "id"
        for name, column in table.items():
            again = read_column(f"{tmp_path}/report.csv:{name}")
            np.testing.assert_array_equal(again, column, err_msg=name)
        by = report.order if worst_first else np.arange(450)
        np.testing.assert_array_equal(table["id"], ids[by])
        assert len(list(tmp_path.iterdir())) == 1

    def test_without_ids_rows_are_numbered(self, report, tmp_path):
        report.to_csv(tmp_path / "r.csv")
        with (tmp_path / "r.csv").open() as file:
            first = next(csv.DictReader(file))
        assert int(first["row"]) == report.order[0]

    def test_a_frame(self, report):
        frame = report.to_frame()
        assert frame.index.name == "row"
        assert frame.quality.is_monotonic_increasing
        same = report.to_frame(worst_first=False)
        np.testing.assert_array_equal(same.quality, report.quality)
        assert list(frame.columns)[:3] == ["given", "suggested", "quality"]

    def test_without_pandas_it_says_what_to_install(self, report, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "pandas", None)
        for method in (report.to_frame, report.as_cleanlab):
            with pytest.raises(ImportError, match="pip install pandas"):
                method()
        assert len(report.table()["quality"]) == 450

    def test_a_folder_that_is_not_there(self, report, tmp_path):
        with pytest.raises(FileNotFoundError, match="no folder"):
            report.to_csv(tmp_path / "none" / "r.csv")


class TestCleanlab:
    def test_columns_are_those_of_get_label_issues(self, noisy):
        X, y, _ = noisy
        model = RobustGaussianClassifier(random_state=0).fit(X, NAMES[y])
        report = score_labels(model, X, NAMES[y])
        frame = report.as_cleanlab()
        assert list(frame.columns) == [
            "is_label_issue",
            "label_quality",
            "given_label",
            "predicted_label",
        ]
        assert frame.index.equals(pd.RangeIndex(450))
        assert frame.is_label_issue.dtype == bool
        np.testing.assert_array_equal(frame.given_label, y)
        np.testing.assert_array_equal(NAMES[frame.predicted_label], report.suggested)

    def test_against_cleanlab_itself(self, noisy, report):
        cleanlab = pytest.importorskip("cleanlab.classification")
        from sklearn.linear_model import LogisticRegression

        X, y, _ = noisy
        theirs = cleanlab.CleanLearning(LogisticRegression()).find_label_issues(X, y)
        ours = report.as_cleanlab()
        assert list(theirs.columns) == list(ours.columns)
        assert theirs.index.equals(ours.index)
        assert [t.kind for t in theirs.dtypes] == [t.kind for t in ours.dtypes]
        # What one calls an issue, the other nearly always does too: here classes are clear.
        assert (theirs.is_label_issue == ours.is_label_issue).mean() > 0.95

    def test_issues_are_ranked_as_it_ranks_them(self, report):
        by_confidence = report.ranked_issues()
        np.testing.assert_array_equal(by_confidence, report.mislabelled())
        by_margin = report.ranked_issues("normalized_margin")
        margin = report.quality - report.suggested_probability
        assert (np.diff(margin[by_margin]) >= 0).all()
        assert set(by_margin.tolist()) == set(by_confidence.tolist())
        with pytest.raises(ValueError, match="ranked_by must be one of"):
            report.ranked_issues("entropy")


class TestWords:
    def test_a_summary(self, report):
        text = str(report)
        assert text.startswith("450 labels: ")
        assert "standard error" in text
        assert f"Review the {report.n_review()} worst" in text
        assert str(report.order[0]) in text
        assert "Most common confusions" in text
        assert len(report.summary(20).splitlines()) == len(text.splitlines()) + 15
        assert repr(report).startswith("LabelReport(450 labels")
        assert len(repr(report)) < 120
        assert "-&gt;" in report._repr_html_()

    def test_of_clean_labels(self, blobs):
        X, y = blobs(sizes=(300, 300), distance=8.0)
        report = score_labels(RobustGaussianClassifier(random_state=0).fit(X, y), X, y)
        assert "about clean" in str(report)
        assert "Nothing to review" in str(report)
        assert "Worst" not in str(report)
