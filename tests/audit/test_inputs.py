"""What users pass to an audit: ids, masks, rows in blocks, and mistakes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rehead import LayerEnsemble, RobustGaussianClassifier, find_mislabelled, score_labels
from rehead.audit.inputs import (
    FEWEST_ROWS,
    MOST_ROWS,
    DuplicateIdsError,
    check_ids,
    rows_of,
    rows_of_samples,
    spans,
)


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
    def test_a_pandas_index_names_the_samples(self, noisy, report, where):
        X, y, _ = noisy
        index = np.array([f"s{i}" for i in range(len(y))])
        frame = pd.DataFrame(X, index=index if where != "y" else None).rename(columns=str)
        series = pd.Series(y, index=index if where != "X" else None)
        model = RobustGaussianClassifier(random_state=0).fit(frame, series)
        found = find_mislabelled(model, frame, series)
        np.testing.assert_array_equal(found, index[report.mislabelled()])

    def test_of_layers_as_frames(self, noisy):
        X, y, _ = noisy
        frame = pd.DataFrame(X, index=np.arange(len(y)) + 7)
        ensemble = LayerEnsemble("sample").fit({"a": X}, y)
        np.testing.assert_array_equal(score_labels(ensemble, {"a": frame}, y).ids, frame.index)

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
        with pytest.raises(ValueError, match=r"different pandas indexes.*reindex"):
            score_labels(model, frame, series)
        with pytest.raises(ValueError, match="different pandas indexes"):
            score_labels(model, frame, series, ids=np.arange(450))
        ids = np.arange(450)
        assert score_labels(model, frame, series.to_numpy(), ids=ids).ids[3] == 3

    def test_neighbours_among_rows_in_another_order(self, model, noisy):
        X, y, _ = noisy
        frame = pd.DataFrame(X, index=[f"s{i}" for i in range(450)])
        report = score_labels(model, frame, y)
        report.neighbours("s3", frame)
        report.neighbours("s3", X)
        with pytest.raises(ValueError, match=r"in another order. .*X.loc\[report.ids\]"):
            report.neighbours("s3", frame.iloc[::-1])
        labels = pd.Series(y, index=frame.index)
        with pytest.raises(ValueError, match="X and y have different pandas indexes"):
            report.neighbours("s3", frame, train=(frame, labels.iloc[::-1]))

    def test_an_index_that_numbers_the_rows_in_another_order(self, model, noisy):
        X, y, _ = noisy
        order = np.random.default_rng(0).permutation(450)
        frame = pd.DataFrame(X).loc[order]
        with pytest.raises(ValueError, match=r"different pandas indexes.*reindex"):
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
        with pytest.raises(DuplicateIdsError, match=r"duplicates in the pandas index.*reset_index"):
            score_labels(model, pd.DataFrame(X, index=np.zeros(450, int)), y)

    def test_only_duplicates_are_an_error_of_their_own(self):
        assert issubclass(DuplicateIdsError, ValueError)
        with pytest.raises(DuplicateIdsError, match=r"duplicates in the ids \('b' first\). Do so."):
            check_ids(["a", "b", "c", "b", "a"], 5, "ids", "Do so")
        for bad in (["a"], ["a", None]):
            with pytest.raises(ValueError, match="entry for") as caught:
                check_ids(bad, 2, "ids", "Do so")
            assert not isinstance(caught.value, DuplicateIdsError)


class TestRowsOfSamples:
    def test_row_numbers_where_there_are_no_ids(self):
        for which in (7, [7], np.array([7]), (7,), np.uint8(7)):
            assert rows_of_samples(which, None, 8).tolist() == [7]
        assert rows_of_samples([3, 0, 3], None, 8).tolist() == [3, 0, 3]

    @pytest.mark.parametrize("which", [8, -1, 2.0, "a", [[1, 2]], [], [0, 8], None])
    def test_what_is_no_row_number(self, which):
        with pytest.raises(ValueError, match=r"row number, 0 to 7|which must be"):
            rows_of_samples(which, None, 8)

    def test_ids_are_looked_up(self):
        ids = np.array([30, 10, 20])
        assert rows_of_samples(10, ids, 3).tolist() == [1]
        assert rows_of_samples(ids[::-1], ids, 3).tolist() == [2, 1, 0]
        with pytest.raises(ValueError, match="The id 1 names 0 of the samples"):
            rows_of_samples([10, 1], ids, 3)
        with pytest.raises(ValueError, match="The id 5 names 2 of the samples"):
            rows_of_samples(5, np.array([5, 5]), 2)


class TestInSample:
    def test_unrecognised_rows_cannot_be_left_out(self, model, noisy):
        X, y, _ = noisy
        changed = X.copy()
        changed[[7, 9]] += 1e-9
        with pytest.raises(ValueError, match=r"2 of 450, row 7 first.*Leave in_sample out"):
            score_labels(model, changed, y, in_sample=True)
        mask = np.ones(450, bool)
        mask[[7, 9]] = False
        np.testing.assert_array_equal(
            score_labels(model, changed, y, in_sample=mask).in_sample, mask
        )

    @pytest.mark.parametrize("mask", [[1, 0], "yes", np.ones(450), np.ones(3, bool)])
    def test_bad_masks(self, model, noisy, mask):
        with pytest.raises(ValueError, match="in_sample must be a boolean mask"):
            score_labels(model, *noisy[:2], in_sample=mask)


class TestBlocks:
    @pytest.mark.parametrize("n", [0, 1, FEWEST_ROWS, MOST_ROWS, 3 * MOST_ROWS + 5])
    @pytest.mark.parametrize("n_columns", [0, 1, 1000, 10**6])
    def test_have_every_row_once_and_in_order(self, n, n_columns):
        rows = [np.arange(n)[span] for span in spans(n, n_columns)]
        np.testing.assert_array_equal(np.concatenate([np.arange(0), *rows]), np.arange(n))

    def test_are_short_where_there_are_many_columns(self):
        sizes = [next(spans(10**6, columns)).stop for columns in (1, 512, 4096, 10**6)]
        assert sizes == [MOST_ROWS, 8192, 1024, FEWEST_ROWS]

    @pytest.mark.parametrize("rows", [slice(2, 5), np.array([4, 0])], ids=["slice", "numbers"])
    @pytest.mark.parametrize("wrap", [np.asarray, np.ndarray.tolist, pd.DataFrame, pl.DataFrame])
    def test_rows_of_any_container(self, wrap, rows):
        X = np.arange(14.0).reshape(7, 2)
        np.testing.assert_array_equal(np.asarray(rows_of(wrap(X), rows)), X[rows])
        layers = rows_of({"a": wrap(X), "b": wrap(-X)}, rows)
        np.testing.assert_array_equal(np.asarray(layers["b"]), -X[rows])

    def test_a_frame_is_taken_by_row_number_not_by_index(self):
        frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=[2, 1, 0])
        assert rows_of(frame, np.array([0])).x.tolist() == [1.0]
