"""Result files: round trip, damage of every kind, and that nothing measured is ever lost."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from rehead.experiments.cache import digest
from rehead.experiments.cell import Cell
from rehead.experiments.results import (
    NO_DATA,
    NOT_RUN,
    Measurement,
    Result,
    ResultError,
    Results,
    encode,
    is_result,
    read_result,
)

CELL = Cell("2", "resnet34", "cifar10", "uniform", 0.4, seed=2)


def measured(column="RoG", accuracy=0.75, **more):
    return Measurement(column, accuracy, 1.5, "0.2.0", "abc", "2026-01-01T00:00:00+00:00", **more)


def result(*measurements, cell=CELL, **more):
    return Result(cell, measurements=measurements or (measured(),), **more)


FULL = result(
    measured("softmax", 0.6),
    measured(
        "auto",
        0.8,
        noise_rate=0.4,
        auroc=0.99,
        f1=0.9,
        false_negatives=0.1,
        calibration=0.01,
        details={"weights": {"last": 0.5}, "judges": ["a"], "noise_error": None},
    ),
    network={"fitted": 0.99, "source": "1234"},
    circumstances={"hardware": {"cores": 2}},
)


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path)


@pytest.mark.parametrize(
    "kept", [FULL, result(), Result(CELL, NO_DATA, "no file"), Result(CELL, NOT_RUN, "Fehler: ä")]
)
def test_a_result_comes_back_as_it_was(results, kept):
    assert results.read(CELL) is None
    results.write(kept)
    assert results.read(CELL) == kept
    assert list(results) == [kept]


def test_numbers_keep_all_their_digits(results):
    accuracy = 1 / 3
    results.write(result(measured(accuracy=accuracy)))
    assert results.read(CELL).measurements[0].accuracy == accuracy


def test_the_file_is_json_that_others_can_read(results):
    results.write(FULL)
    content = json.loads(results.path(CELL).read_text(encoding="utf-8"))
    assert content["cell"] == asdict(CELL)
    assert content["key"] == CELL.key
    assert [m["column"] for m in content["measurements"]] == ["softmax", "auto"]
    assert results.path(CELL).name == f"{CELL.name}-{CELL.key[:8]}.json"
    assert results.path(CELL).parent.parts[-2:] == ("quick", "table2")


def test_accuracy_is_in_per_cent_and_the_latest_counts():
    twice = result(measured(accuracy=0.5)).with_more([measured(accuracy=0.75)])
    assert twice.accuracy("RoG") == 75
    assert np.isnan(twice.accuracy("auto"))
    assert len(twice.measurements) == 2


# Damage


def test_a_truncated_file_is_an_error_wherever_it_is_cut(results):
    results.write(FULL)
    path = results.path(CELL)
    whole = path.read_bytes()
    for end in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:end])
        with pytest.raises(ResultError, match="damaged"):
            results.read(CELL)
        with pytest.raises(ResultError, match="damaged"):
            list(results)  # not passed over


def test_a_changed_byte_is_an_error_wherever_it_is(results):
    results.write(FULL)
    path = results.path(CELL)
    whole = path.read_bytes()
    for i in range(0, len(whole), 3):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        with pytest.raises(ResultError):
            read_result(path)


def test_a_number_that_somebody_improved_is_noticed(results):
    results.write(FULL)
    path = results.path(CELL)
    path.write_bytes(path.read_bytes().replace(b"0.6", b"0.9"))
    with pytest.raises(ResultError, match=r"checksum is wrong\. Delete it"):
        results.read(CELL)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "3", '"rehead-result"', '{"format": "rehead-result"}', "{" * 9]
)
def test_a_foreign_file_in_its_place_is_an_error_and_stays(results, text):
    path = results.path(CELL)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(ResultError, match="is no result, or a damaged one"):
        results.read(CELL)
    with pytest.raises(ResultError):
        results.write(FULL)
    assert path.read_text() == text


def test_deep_nesting_is_an_error(results):
    path = results.path(CELL)
    path.parent.mkdir(parents=True)
    path.write_text("[" * 100_000)
    with pytest.raises(ResultError, match="damaged"):
        results.read(CELL)


def test_other_json_files_beside_results_are_passed_over(results):
    results.write(FULL)
    (results.folder / "quick" / "notes.json").write_text('{"anything": 1}')
    (results.folder / "broken.json").write_text("{")
    assert list(results) == [FULL]


def test_the_file_of_another_cell_is_an_error(results):
    other = replace(CELL, seed=3)
    results.write(result())
    results.path(CELL).rename(results.path(other))
    with pytest.raises(ResultError, match="is the result of another cell"):
        results.read(other)
    with pytest.raises(ResultError, match="is the result of another cell"):
        list(results)


def test_a_copy_does_not_count_twice(results):
    results.write(result())
    path = results.path(CELL)
    path.with_name("copy.json").write_bytes(path.read_bytes())
    with pytest.raises(ResultError, match=r"copy.json is the result of another cell"):
        list(results)


def changed(results, **fields):
    """The file with other fields, and a checksum that is right for them."""
    results.write(FULL)
    content = json.loads(results.path(CELL).read_bytes())
    del content["checksum"]
    content = {**content, **fields}
    content["checksum"] = digest(content)
    results.path(CELL).write_text(json.dumps(content))


def test_a_newer_version_is_not_called_damaged(results):
    changed(results, version=2, something=1)
    with pytest.raises(ResultError, match=r"written by a newer rehead .* Upgrade") as caught:
        results.read(CELL)
    assert "Delete" not in str(caught.value)
    with pytest.raises(ResultError, match="newer rehead"):
        results.write(FULL)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"status": "running"}, "status must be one of"),
        ({"version": 0}, "version must be"),
        ({"version": "1"}, "version must be"),
        ({"key": "0" * 16}, "key is not that of the cell"),
        ({"more": 1}, "more is nothing that this version of rehead knows"),
        ({"measurements": {}}, "measurements must be a list"),
        ({"measurements": [{"column": "RoG"}]}, "measurements.accuracy is missing"),
        ({"cell": {**CELL.to_json(), "rate": "0.4"}}, "cell.rate must be a number"),
        ({"cell": {**CELL.to_json(), "seed": 1.5}}, "cell.seed must be a whole number"),
        ({"cell": {**CELL.to_json(), "data": 3}}, "cell.data must be text"),
        ({"cell": {**CELL.to_json(), "source": "../x"}}, "is no name"),
        ({"cell": {}}, "cell.table is missing"),
    ],
)
def test_what_makes_no_sense_is_an_error_though_its_checksum_is_right(results, fields, problem):
    changed(results, **fields)
    with pytest.raises(ResultError, match=problem):
        results.read(CELL)


def test_a_measurement_out_of_its_range_is_neither_read_nor_written(results):
    for bad in (measured(accuracy=1.5), measured(accuracy=float("nan")), measured(auroc=-1.0)):
        with pytest.raises(
            ResultError, match=f"result of {CELL.name} cannot be kept: measurements"
        ):
            results.write(result(bad))
    assert results.read(CELL) is None
    changed(results, measurements=[{**asdict(measured()), "accuracy": 1.5}])
    with pytest.raises(ResultError, match="between 0 and 1"):
        results.read(CELL)


# What was measured stays


def test_more_measurements_are_added(results):
    results.write(result())
    results.write(results.read(CELL).with_more([measured("auto")]))
    assert [*results.read(CELL).columns] == ["RoG", "auto"]


@pytest.mark.parametrize(
    "later",
    [
        Result(CELL, NOT_RUN, "failed"),
        result(measured("auto")),
        result(measured(accuracy=0.76)),
        result(measured("RoG", details={"kept": 3})),
    ],
)
def test_measurements_that_would_be_lost_are_refused(results, later):
    results.write(result())
    before = results.path(CELL).read_bytes()
    with pytest.raises(ResultError, match="measurements that would be lost"):
        results.write(later)
    assert results.path(CELL).read_bytes() == before


def test_a_cell_that_did_not_run_may_run_later(results):
    results.write(Result(CELL, NO_DATA, "no file"))
    results.write(Result(CELL, NOT_RUN, "failed"))
    results.write(result())
    assert results.read(CELL).status == "ran"


def test_numbers_as_names_in_details_do_not_look_like_damage(results):
    """JSON has names that are text, and sorts them as such."""
    by_number = result(measured(details={"by round": {2: 0.1, 10: 0.2}}))
    results.write(by_number)
    results.write(by_number.with_more([measured("auto")]))
    assert results.read(CELL).columns["RoG"].details == {"by round": {"2": 0.1, "10": 0.2}}


def test_what_json_cannot_hold_is_an_error_and_leaves_no_file(results):
    with pytest.raises(TypeError):
        results.write(result(measured(details={"array": np.zeros(3)})))
    assert not results.path(CELL).exists()


def test_a_write_that_fails_leaves_the_earlier_result(results, monkeypatch):
    results.write(result())
    before = results.path(CELL).read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rehead.files.atomic.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        results.write(result().with_more([measured("auto")]))
    assert results.path(CELL).read_bytes() == before
    assert [p.name for p in results.path(CELL).parent.iterdir()] == [results.path(CELL).name]


def test_results_are_told_from_other_files_by_name_or_content(tmp_path):
    (tmp_path / "any.json").write_bytes(encode(FULL))
    (tmp_path / f"{CELL.name}-{CELL.key[:8]}.json").touch()
    (tmp_path / "other.json").write_text("{}")
    found = {p.name for p in tmp_path.iterdir() if is_result(p)}
    assert found == {"any.json", f"{CELL.name}-{CELL.key[:8]}.json"}
