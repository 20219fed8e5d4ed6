"""Sweeps: what is done is skipped, what was killed goes on, and nothing is measured twice."""

import dataclasses
import json
import subprocess
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from rehead.data import DataMissingError
from rehead.experiments import running, training
from rehead.experiments.cache import Cache
from rehead.experiments.cell import Cell
from rehead.experiments.columns import registry
from rehead.experiments.results import NO_DATA, NOT_RUN, RAN, ResultError, Results
from rehead.experiments.sweep import Sweep, SweepBrokenError, SweepBusyError, run_sweep
from rehead.experiments.tables import table_cells

CHEAP = ("softmax", "LDA")
CELLS = table_cells("5", "tiny", data="digits")[:4]
LOST = Cell("2", "resnet34", "tinyimagenet32", profile="tiny")
WRONG = Cell("2", "no-network", "digits32", profile="tiny")


@pytest.fixture
def sweep(tmp_path):
    return Sweep(Results(tmp_path / "results"), Cache(tmp_path / "cache"), columns=CHEAP)


@pytest.fixture
def trained(monkeypatch):
    """Settings of all networks that were trained."""
    found, run_training = [], training.run_training

    def counted(settings, *arguments, **options):
        found.append(settings)
        return run_training(settings, *arguments, **options)

    monkeypatch.setattr(training, "run_training", counted)
    return found


@pytest.fixture
def measured(monkeypatch):
    """Names of all columns that were measured."""
    found, measure = [], running.measure

    def counted(task, name):
        found.append(name)
        return measure(task, name)

    monkeypatch.setattr(running, "measure", counted)
    return found


def files(sweep):
    return {p: p.read_bytes() for p in sweep.results.folder.rglob("*.json")}


def test_every_cell_has_its_result(sweep):
    run_sweep(sweep, CELLS)
    for cell in CELLS:
        found = sweep.results.read(cell)
        assert found.status == RAN
        assert list(found.columns) == list(CHEAP)
        assert sweep.is_done(cell)


def test_tables_of_the_paper_end_to_end(sweep):
    """Pictures, the columns of the table, and one network for three tables."""
    whole = dataclasses.replace(sweep, columns=None)
    run_sweep(whole, table_cells("2", "tiny", data="digits")[2:3])
    (found,) = whole.results
    assert found.cell.data == "digits32"
    assert list(found.columns) == list(registry.PAPER)
    assert found.reason == ""


def test_what_is_done_is_skipped(sweep, trained, measured):
    run_sweep(sweep, CELLS[:2])
    before = files(sweep)
    told = []
    run_sweep(sweep, CELLS[:2], told.append)
    assert len(trained) == 2
    assert measured == [*CHEAP, *CHEAP]
    assert files(sweep) == before
    assert [(p.done, p.total) for p in told] == [(0, 0)]


def test_a_sweep_that_was_interrupted_goes_on(sweep, trained):
    def interrupt(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, CELLS, interrupt)
    before = files(sweep)
    assert len(before) == 2
    run_sweep(sweep, CELLS)  # the lock is free
    assert len(trained) == len(CELLS) == len(files(sweep))
    assert before.items() <= files(sweep).items()


def test_a_new_column_is_added_without_training_again(sweep, trained, measured):
    run_sweep(sweep, CELLS[:1])
    more = dataclasses.replace(sweep, columns=(*CHEAP, "RoG"))
    assert not more.is_done(CELLS[0])
    run_sweep(more, CELLS[:1])
    assert len(trained) == 1
    assert measured == [*CHEAP, "RoG"]
    assert more.is_done(CELLS[0])


def test_one_network_serves_several_tables(sweep, trained):
    cells = [Cell(table, "resnet34", "digits32", "uniform", 0.4, profile="tiny") for table in "218"]
    told = []
    run_sweep(sweep, [cells[0], *CELLS[:1], *cells[1:]], told.append)
    assert [s.data for s in trained] == ["digits32", "digits"]
    accuracies = {tuple(m.accuracy for m in sweep.results.read(c).measurements) for c in cells}
    assert len(accuracies) == 1
    assert [(p.done, p.total) for p in told] == [(n, 4) for n in range(5)]
    assert [p.result.cell.table for p in told[1:]] == ["2", "1", "8", "5"]


def test_the_time_that_is_left_is_guessed_from_networks(sweep):
    told = []
    run_sweep(sweep, CELLS[:2], told.append)
    assert told[0].seconds_left != told[0].seconds_left  # nothing is known yet
    assert told[1].seconds_left > 0
    assert told[2].seconds_left == 0


def test_a_second_sweep_on_the_same_results_is_refused(sweep):
    refused = []

    def try_another(progress):
        with pytest.raises(SweepBusyError, match=r"Another sweep writes to .*results\. Wait for"):
            run_sweep(sweep, CELLS)
        refused.append(progress.done)

    run_sweep(sweep, CELLS[:1], try_another)
    assert refused == [0, 1]
    assert len(files(sweep)) == 1


def test_a_cell_that_fails_is_told_and_the_others_go_on(sweep):
    run_sweep(sweep, [WRONG, *CELLS[:1]])
    failed = sweep.results.read(WRONG)
    assert failed.status == NOT_RUN
    assert failed.reason.startswith("ValueError: model must be one of")
    assert ".py:" in failed.reason
    assert sweep.is_done(CELLS[0])
    assert not sweep.is_done(WRONG)  # and is tried again


def test_data_that_is_not_here_is_told_and_the_others_go_on(sweep, monkeypatch, tmp_path):
    monkeypatch.setenv("REHEAD_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    run_sweep(sweep, [LOST, *CELLS[:1]])
    assert sweep.results.read(LOST).status == NO_DATA
    assert "cannot be downloaded" in sweep.results.read(LOST).reason
    assert sweep.is_done(CELLS[0])


def test_data_that_is_not_here_is_looked_for_once(sweep, monkeypatch):
    asked = []

    def look(source, cache):
        asked.append(source)
        raise DataMissingError("gone")

    monkeypatch.setattr(running, "load_task", look)
    others = [LOST, dataclasses.replace(LOST, seed=1), dataclasses.replace(LOST, seed=2)]
    run_sweep(sweep, others)
    assert len(asked) == 1
    assert {sweep.results.read(cell).reason for cell in others} == {"gone"}
    run_sweep(sweep, others)
    assert len(asked) == 2  # in the next sweep it may be there


@pytest.mark.parametrize(
    ("error", "status"), [(DataMissingError("gone"), NO_DATA), (MemoryError("full"), NOT_RUN)]
)
def test_what_was_measured_stays_where_more_cannot_be(sweep, monkeypatch, error, status):
    run_sweep(sweep, CELLS[:2])
    before, told = files(sweep), []

    def fail(*_):
        raise error

    monkeypatch.setattr(running, "load_task", fail)
    more = dataclasses.replace(sweep, columns=(*CHEAP, "RoG"))
    run_sweep(more, CELLS[:2], told.append)
    assert files(sweep) == before
    assert [p.result.status for p in told[1:]] == [status, status]


def test_a_column_that_fails_is_tried_again_next_time(sweep, monkeypatch):
    more = dataclasses.replace(sweep, columns=(*CHEAP, "mine"))
    monkeypatch.setitem(registry.COLUMNS, "mine", lambda task: 1 / 0)
    run_sweep(more, CELLS[:1])
    found = more.results.read(CELLS[0])
    assert list(found.columns) == list(CHEAP)
    assert "mine: ZeroDivisionError" in found.reason
    monkeypatch.setitem(registry.COLUMNS, "mine", registry.COLUMNS["RoG"])
    run_sweep(more, CELLS[:1])
    found = more.results.read(CELLS[0])
    assert list(found.columns) == [*CHEAP, "mine"]
    assert found.reason == ""


def test_results_of_other_settings_are_not_taken_for_these(sweep, monkeypatch):
    run_sweep(sweep, CELLS[:1])
    before, told = files(sweep), []
    monkeypatch.setattr("rehead.experiments.sources.FEATURES_VERSION", 2)
    assert not sweep.is_done(CELLS[0])
    run_sweep(sweep, CELLS[:1], told.append)
    assert "measured with other settings" in told[-1].result.reason
    assert files(sweep) == before


def test_a_damaged_result_stops_the_sweep_before_anything_is_trained(sweep, trained):
    path = sweep.results.path(CELLS[1])
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(ResultError, match="Delete it"):
        run_sweep(sweep, CELLS)
    assert trained == []


def test_cells_that_are_named_twice_run_once(sweep, trained, measured):
    run_sweep(sweep, [CELLS[0], CELLS[0]])
    assert len(trained) == 1
    assert measured == list(CHEAP)


# Several processes


def kill_sweeps(folder, *arguments):
    script = Path(__file__).with_name("killed.py")
    command = [sys.executable, str(script), str(folder), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["killed"]


needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@needs_proc
def test_sweeps_that_are_killed(tmp_path):
    """With one job and with two, which must give the same results. See ``killed.py``."""
    assert kill_sweeps(tmp_path, 3, 3, 1) == [3, 1]


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("kills", [(20,), (0, 20)], ids=["one job", "two jobs"])
def test_sweeps_that_are_killed_twenty_times(tmp_path, kills):
    assert kill_sweeps(tmp_path, 1, *kills) == list(kills)


def test_a_cluster_does_the_same_work(sweep, tmp_path):
    pytest.importorskip("distributed", reason="needs the extra dask")
    elsewhere = dataclasses.replace(
        sweep, results=Results(tmp_path / "of-the-cluster"), cluster="local"
    )
    for each in (sweep, elsewhere):
        run_sweep(each, CELLS[:1])
    here, there = (each.results.read(CELLS[0]).measurements for each in (sweep, elsewhere))
    assert [(m.column, m.accuracy) for m in here] == [(m.column, m.accuracy) for m in there]


def test_a_worker_that_is_killed_ends_the_sweep_with_advice(sweep, monkeypatch):
    """As systems do that run out of memory."""

    class Pool:
        def __init__(self, *_, **__): ...
        def __enter__(self):
            return self

        def __exit__(self, *_): ...
        def submit(self, *_):
            future = Future()
            future.set_exception(BrokenProcessPool("a child was terminated"))
            return future

    monkeypatch.setattr("rehead.experiments.sweep.process_pool", Pool)
    two = dataclasses.replace(sweep, jobs=2)
    with pytest.raises(SweepBrokenError, match="start it again, with fewer jobs"):
        run_sweep(two, CELLS)
    run_sweep(sweep, CELLS[:1])  # the lock is free
