"""Reports as tables, files, and in the shape that cleanlab gives."""

import csv
import sys

import numpy as np
import pandas as pd
import pytest

from rehead import RobustGaussianClassifier, score_labels
from rehead.audit.export import as_text
from rehead.files.places import read_column

NAMES = np.array(["ant", "bee", "cat"])


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

    def test_columns_are_those_of_the_report(self, report):
        table = report.table()
        assert next(iter(table)) == "id"
        np.testing.assert_array_equal(table.pop("id"), report.order)
        for name, column in table.items():
            np.testing.assert_array_equal(column, getattr(report, name)[report.order])

    def test_without_ids_rows_are_numbered(self, report, tmp_path):
        report.to_csv(tmp_path / "r.csv")
        with (tmp_path / "r.csv").open() as file:
            first = next(csv.DictReader(file))
        assert int(first["id"]) == report.order[0]

    def test_times_are_written_as_text(self):
        times = np.array(["2020-01-02", "2020-01-03"], "datetime64[ns]")
        found = as_text({"id": times, "quality": np.ones(2)})
        assert found["id"].tolist() == [
            "2020-01-02T00:00:00.000000000",
            "2020-01-03T00:00:00.000000000",
        ]
        assert found["quality"].dtype == float

    def test_a_frame(self, report):
        frame = report.to_frame()
        assert frame.index.name == "id"
        assert frame.quality.is_monotonic_increasing
        same = report.to_frame(worst_first=False)
        np.testing.assert_array_equal(same.quality, report.quality)
        assert list(frame.columns)[:3] == ["given", "suggested", "quality"]

    def test_without_pandas_it_says_what_to_install(self, report, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        for method in (report.to_frame, report.as_cleanlab):
            with pytest.raises(ImportError, match="pip install pandas"):
                method()
        np.testing.assert_array_equal(report.table()["quality"], np.sort(report.quality))

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
        np.testing.assert_array_equal(frame.is_label_issue, report.suspect)
        np.testing.assert_array_equal(frame.label_quality, report.quality)
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
