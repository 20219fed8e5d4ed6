"""Stores made of stores, as a user makes them."""

import numpy as np
import pytest
from tests.files.test_chunks import N, write

from rehead.files.store import FeatureStore


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_a_store_is_partitioned_and_fitted(succeed, tmp_path):
    write(tmp_path / "s")
    assert f"{N} samples, class by class: t" in succeed("partition", "s", "-o", "t")
    assert (np.diff(FeatureStore("t").labels) >= 0).all()
    assert "4 classes" in succeed("fit", "t", "-o", "head.safetensors", "--estimator", "sample")
    succeed("predict", "head.safetensors", "t", "-o", "p.csv")
    succeed("audit", "head.safetensors", "s", "-o", "a.csv")


def test_with_labels_from_a_file(succeed, fail, tmp_path):
    write(tmp_path / "s", labels=False)
    np.save("y.npy", np.arange(N) % 5)
    assert "no labels" in fail("partition", "s", "-o", "t")
    succeed("partition", "s", "-o", "t", "--labels", "y.npy")
    assert FeatureStore("t").labels.tolist() == sorted((np.arange(N) % 5).tolist())


def test_stores_are_merged(succeed, fail, tmp_path):
    for name, part in (("one", slice(0, 90)), ("two", slice(90, N))):
        write(tmp_path / name, part=part)
    assert f"{N} samples of 2 stores: m" in succeed("merge", "one", "two", "-o", "m")
    assert "two stores or more" in fail("merge", "one", "-o", "n")
    assert "no folder nowhere" in fail("merge", "one", "nowhere", "-o", "n")


def test_the_result_must_be_another_folder(invoke, tmp_path):
    write(tmp_path / "s")
    for command in (["partition", "s", "-o", "s"], ["merge", "s", "s", "-o", "s"]):
        result = invoke(*command)
        assert result.exit_code != 0
        assert "Traceback" not in result.output


@pytest.mark.filterwarnings("ignore::rehead.ReheadWarning")
def test_processes_write_the_same_files(succeed, tmp_path, monkeypatch):
    monkeypatch.setattr("rehead.gaussian.tasks.WORTH_SENDING", 0.0)
    write(tmp_path / "s")
    for name, jobs in (("one", ()), ("two", ("--jobs", "2"))):
        succeed("fit", "s", "-o", f"{name}.safetensors", "--estimator", "mcd", *jobs)
        succeed("audit", f"{name}.safetensors", "s", "-o", f"{name}.csv", *jobs)
    for ending in ("safetensors", "csv"):
        one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
        assert one == two


def test_a_cluster_that_is_not_there(fail, tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr("rehead.scale.cluster.PATIENCE", 0.5)
    write(tmp_path / "s")
    said = fail("fit", "s", "-o", "h.safetensors", "--cluster", "tcp://127.0.0.1:1")
    assert "No Dask scheduler answers at tcp://127.0.0.1:1" in said
    assert not (tmp_path / "h.safetensors").exists()
    said = fail("fit", "s", "-o", "h.safetensors", "--cluster", "tcp://127.0.0.1:1", "--jobs", "2")
    assert "leave --jobs out" in said
