"""True labels on disk."""

import numpy as np
import pytest

from rehead.report.truths import read_truth


def test_columns_files_and_gaps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a,t\n1,cat\n2,\n3,n/a\n")
    (tmp_path / "t.csv").write_text("t\ncat\n\ndog\n")
    np.save("t.npy", np.array([1, 2, 3]))
    assert read_truth("t", "x.csv").tolist() == ["cat", None, None]
    assert read_truth("x.csv:t", "features.npy").tolist() == ["cat", None, None]
    assert read_truth("t.csv", "x.csv").tolist() == ["cat", None, "dog"]
    assert read_truth("t.npy", "x.csv").tolist() == [1, 2, 3]


def test_bad_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a,t\n1,cat\n")
    with pytest.raises(ValueError, match="several columns"):
        read_truth("./x.csv", "features.npy")
    with pytest.raises(ValueError, match="no column 'u'"):
        read_truth("x.csv:u", "features.npy")
    with pytest.raises(ValueError, match="neither a column"):
        read_truth("u", "x.csv")
