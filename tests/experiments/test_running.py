"""From a cell to its result: what is measured, once, and how wrong labels are counted."""

import dataclasses

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import f1_score, recall_score

from rehead import ReheadWarning, __version__
from rehead.data import DataMissingError
from rehead.experiments import running
from rehead.experiments.cache import Cache, digest
from rehead.experiments.columns import registry
from rehead.experiments.plans import columns_of, source_of
from rehead.experiments.results import NO_DATA, NOT_RUN, RAN, Measurement, Result, ResultError
from rehead.experiments.running import (
    at_true_budget,
    calibration_error,
    is_same_source,
    measure,
    measure_all,
    missing_columns,
    run,
)
from rehead.experiments.tables import table_cells
from rehead.experiments.task import Part, Prediction, Task

CELL = table_cells("5", "tiny", data="digits")[1]
CHEAP = ("softmax", "LDA")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def whole(cache):
    return run(CELL, cache)


def test_all_columns_of_the_table_are_measured(whole):
    assert whole.status == RAN
    assert whole.reason == ""
    assert list(whole.columns) == columns_of(CELL)
    assert len(whole.measurements) == len(whole.columns)
    for m in whole.measurements:
        assert 0 <= m.accuracy <= 1
        assert m.rehead == __version__
        assert m.seconds >= 0


def test_the_result_tells_about_its_network_and_machine(whole):
    assert whole.network["n_train"] == 1347
    assert whole.network["n_validation"] == 150
    assert whole.network["n_test"] == 300
    assert whole.network["noise_rate"] == pytest.approx(0.2, abs=0.01)
    assert whole.network["source"] == digest(source_of(CELL).what)
    assert {"fitted", "seconds", "cpu_seconds", "parameters"} <= set(whole.network)
    assert set(whole.circumstances) == {"hardware", "versions"}


def test_the_default_is_measured_as_an_audit(whole):
    auto = whole.columns["auto"]
    assert auto.auroc > 0.9
    assert auto.f1 == pytest.approx(1 - auto.false_negatives)
    assert auto.noise_rate == pytest.approx(0.2, abs=0.1)
    assert auto.calibration < 0.2
    assert whole.columns["softmax"].auroc is None


def test_the_same_cell_gives_the_same_accuracies(whole, tmp_path):
    again = run(CELL, Cache(tmp_path), columns=(*CHEAP, "RoG"))
    for name, m in again.columns.items():
        assert m.accuracy == whole.columns[name].accuracy
        assert m.details == whole.columns[name].details


def test_only_what_is_missing_is_measured(cache, monkeypatch):
    asked, faked = [], ("identity", "LDA")
    monkeypatch.setattr(running, "measure", lambda task, name: asked.append(name) or said(name))
    first = run(CELL, cache, columns=faked)
    assert asked == [*faked]
    later = run(CELL, cache, earlier=first, columns=("LDA", "RoG", "RoG"))
    assert asked == [*faked, "RoG"]
    assert later.measurements[:2] == first.measurements
    assert later.network == first.network
    assert [m.column for m in later.measurements] == [*faked, "RoG"]
    assert run(CELL, cache, earlier=later, columns=faked) == later


def said(name, accuracy=0.5):
    return Measurement(name, accuracy, 0.0, "0", "", "")


def test_missing_columns():
    earlier = Result(CELL, measurements=(said("LDA"),))
    assert missing_columns(None, CHEAP) == ["softmax", "LDA"]
    assert missing_columns(earlier, ("LDA", "RoG", "RoG")) == ["RoG"]


def test_what_another_version_measured_is_measured_anew():
    old, new = (dataclasses.replace(said("LDA"), rehead=v) for v in ("0.0.1", __version__))
    assert missing_columns(Result(CELL, measurements=(old,)), CHEAP, True) == ["softmax", "LDA"]
    assert missing_columns(Result(CELL, measurements=(old, new)), CHEAP, True) == ["softmax"]
    assert missing_columns(Result(CELL, measurements=(old,)), CHEAP) == ["softmax"]


def test_an_earlier_result_that_did_not_run_is_replaced(cache):
    found = run(CELL, cache, earlier=Result(CELL, NOT_RUN, "failed"), columns=CHEAP)
    assert (found.status, found.reason) == (RAN, "")
    assert found.network["n_train"] == 1347


def test_missing_data_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("REHEAD_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cell = dataclasses.replace(CELL, network="resnet34", data="tinyimagenet32", table="2")
    found = run(cell, Cache(tmp_path / "cache"))
    assert found.status == NO_DATA
    assert "docs/data-sets.md tells how" in found.reason
    assert found.measurements == ()


def test_another_file_that_is_missing_is_not_called_missing_data(cache, monkeypatch):
    def lost(*_):
        raise FileNotFoundError("a file of ours")

    monkeypatch.setattr(running, "load_task", lost)
    with pytest.raises(FileNotFoundError, match="of ours"):
        run(CELL, cache)
    assert issubclass(DataMissingError, FileNotFoundError)


def test_a_column_that_fails_does_not_take_the_others_with_it(cache, monkeypatch):
    monkeypatch.setitem(registry.COLUMNS, "broken", lambda task: 1 / 0)
    found = run(CELL, cache, columns=("broken", *CHEAP))
    assert found.status == RAN
    assert list(found.columns) == [*CHEAP]
    assert found.reason.startswith("broken: ZeroDivisionError: division by zero (test_running.py:")
    # Once it works, the reason is gone.
    monkeypatch.setitem(registry.COLUMNS, "broken", registry.COLUMNS["LDA"])
    mended = run(CELL, cache, earlier=found, columns=("broken", *CHEAP))
    assert mended.reason == ""
    assert list(mended.columns) == [*CHEAP, "broken"]
    alone = run(CELL, cache, columns=("broken",))
    assert alone.status == RAN


def test_a_cell_of_which_every_column_fails_did_not_run(cache, monkeypatch):
    monkeypatch.setitem(registry.COLUMNS, "broken", lambda task: 1 / 0)
    found = run(CELL, cache, columns=("broken",))
    assert found.status == NOT_RUN
    assert "broken: ZeroDivisionError" in found.reason


def test_a_wrong_name_of_a_column_is_an_error_before_anything_is_trained(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "load_task", None)
    with pytest.raises(ValueError, match="Did you mean 'RoG'"):
        run(CELL, Cache(tmp_path), columns=("ROG",))


def test_results_of_other_settings_are_not_added_to(cache, monkeypatch):
    first = run(CELL, cache, columns=CHEAP)
    other = dataclasses.replace(first, network={**first.network, "source": "other"})
    assert is_same_source(first, source_of(CELL))
    assert not is_same_source(other, source_of(CELL))
    assert is_same_source(Result(CELL), source_of(CELL))  # from before this was kept
    with pytest.raises(ResultError, match="measured with other settings"):
        run(CELL, cache, earlier=other, columns=("RoG",))


def test_a_network_that_was_trained_again_must_be_the_same(tmp_path, monkeypatch):
    """Else columns of two networks would stand side by side."""
    first = run(CELL, Cache(tmp_path / "a"), columns=CHEAP)
    again = run(CELL, Cache(tmp_path / "b"), earlier=first, columns=(*CHEAP, "RoG"))
    assert list(again.columns) == [*CHEAP, "RoG"]
    other = dataclasses.replace(first, network={**first.network, "fitted": 0.5})
    with pytest.raises(ResultError, match=r"is another one: it fits .*, not 50.000%"):
        run(CELL, Cache(tmp_path / "b"), earlier=other, columns=("RoG",))
    # Two networks may both fit everything, and still not be the same one.
    worse = dataclasses.replace(first.columns["softmax"], accuracy=1.0)
    other = dataclasses.replace(first, measurements=(worse,))
    with pytest.raises(ResultError, match=r"it fits .* of the test labels, not 100.000%"):
        run(CELL, Cache(tmp_path / "b"), earlier=other, columns=("RoG",))


# What is measured


def tiny_task(changed=(True, False, False, True)):
    part = Part({"last": np.eye(4)}, np.array([0, 1, 0, 1]))
    return Task(part, part, part, part.y, np.array(changed), ("last",), ("last",), 2)


def measured(monkeypatch, prediction, **options):
    monkeypatch.setitem(registry.COLUMNS, "mine", lambda task: prediction)
    return measure(tiny_task(**options), "mine")


def test_accuracy_is_on_the_test_labels(monkeypatch):
    found = measured(monkeypatch, Prediction(np.array([0, 1, 1, 1]), details={"a": 1}))
    assert found.accuracy == 0.75
    assert found.details == {"a": 1}
    assert found.auroc is found.f1 is found.calibration is found.noise_rate is None


def test_predictions_of_another_number_of_samples_are_an_error(monkeypatch):
    for labels in (np.array([0]), np.zeros((4, 1))):
        with pytest.raises(ValueError, match="mine predicts"):
            measured(monkeypatch, Prediction(labels))


def test_quality_is_compared_with_the_wrong_labels(monkeypatch):
    quality = np.array([0.1, 0.9, 0.8, 0.2])
    found = measured(monkeypatch, Prediction(np.zeros(4), quality, 0.4))
    assert found.auroc == 1.0
    assert found.f1 == 1.0
    assert found.false_negatives == 0.0
    assert found.calibration == pytest.approx(0.15)
    assert found.noise_rate == 0.4
    upside_down = measured(monkeypatch, Prediction(np.zeros(4), 1 - quality))
    assert upside_down.auroc == 0.0
    assert upside_down.false_negatives == 1.0


def test_quality_of_any_scale_has_no_calibration(monkeypatch):
    found = measured(monkeypatch, Prediction(np.zeros(4), np.array([-3.0, 5.0, 4.0, 1.0])))
    assert found.calibration is None
    assert found.auroc == 1.0


def test_clean_labels_have_nothing_to_find(monkeypatch):
    prediction = Prediction(np.zeros(4), np.array([1.0, 0.9, 1.0, 1.0]))
    found = measured(monkeypatch, prediction, changed=[False] * 4)
    assert found.auroc is found.f1 is found.false_negatives is None
    assert found.calibration == pytest.approx(0.025)


def test_where_every_label_is_wrong_there_is_nothing_to_tell_apart(monkeypatch):
    prediction = Prediction(np.zeros(4), np.array([0.1, 0.2, 0.3, 0.4]))
    found = measured(monkeypatch, prediction, changed=[True] * 4)
    assert found.auroc is found.f1 is None
    assert found.calibration == pytest.approx(0.25)


def test_warnings_of_estimators_are_part_of_the_result(monkeypatch):
    import warnings

    def warn(task):
        warnings.warn("nothing left to trim", ReheadWarning, stacklevel=2)
        return Prediction(task.test.y)

    monkeypatch.setitem(registry.COLUMNS, "mine", warn)
    assert measure(tiny_task(), "mine").accuracy == 1


def test_errors_are_told_by_column():
    found, failed = measure_all(tiny_task(), ["softmax", "no such"])
    assert found == []
    assert failed.startswith("softmax: ValueError: Frozen features have no softmax. (gaussian.py:")
    assert "; no such: ValueError: column must be one of" in failed


@pytest.mark.parametrize("seed", range(5))
def test_as_many_are_flagged_as_are_wrong(seed):
    rng = np.random.default_rng(seed)
    quality, changed = rng.random(50), rng.random(50) < 0.3
    flagged = quality < np.sort(quality)[changed.sum()]
    found = at_true_budget(quality, changed)
    assert found["f1"] == pytest.approx(f1_score(changed, flagged))
    assert found["false_negatives"] == pytest.approx(1 - recall_score(changed, flagged))


@pytest.mark.parametrize("seed", range(5))
def test_calibration_is_the_usual_expected_error(seed):
    """Bins of equal width, weighted by how many samples they have."""
    rng = np.random.default_rng(seed)
    quality = rng.beta(0.5, 0.5, 400)
    right = rng.random(400) < quality**2
    share, mean = calibration_curve(right, quality, n_bins=running.BINS)
    edges = np.linspace(0, 1, running.BINS + 1)
    counts = np.histogram(quality, edges)[0]
    expected = (np.abs(share - mean) * counts[counts > 0]).sum() / 400
    assert calibration_error(quality, right) == pytest.approx(expected)


def test_calibration_of_certainty():
    assert calibration_error(np.array([1.0, 0.0]), np.array([True, False])) == 0
    assert calibration_error(np.array([1.0, 0.0]), np.array([False, True])) == 1


def test_what_was_measured_with_the_same_network_is_not_measured_again(tmp_path, monkeypatch):
    first = table_cells("1", "tiny", data="digits")[1]
    second = dataclasses.replace(first, table="2")
    cache = Cache(tmp_path)
    one = run(first, cache, columns=["softmax", "LDA"])
    measured = []
    monkeypatch.setattr(
        running, "find_column", lambda name: measured.append(name) or registry.COLUMNS[name]
    )
    two = run(second, cache, columns=["softmax", "LDA", "identity"], same=one)
    assert set(measured) == {"softmax", "LDA", "identity"}  # names are looked up before
    assert measured.count("LDA") == 1
    assert two.columns["LDA"] == one.columns["LDA"]
    assert two.columns["identity"].accuracy > 0
    other = run(dataclasses.replace(first, noise="flip"), cache, columns=["softmax"], same=one)
    assert other.columns["softmax"] != one.columns["softmax"]


def test_results_name_no_folder_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("REHEAD_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    said = running.without_folders(f"no x in {tmp_path}/data/svhn or {tmp_path}/.cache")
    assert said == "no x in $REHEAD_DATA/svhn or ~/.cache"
    error = ValueError(f"{tmp_path}/other/cache/labellers is taken")
    try:
        raise error
    except ValueError:
        said = running.reason_of(error, tmp_path / "other" / "cache")
    assert said.startswith("ValueError: .../cache/labellers is taken (")
