"""How a run is carried out: what is refused at once, and where it reports."""

from pathlib import Path

import pytest

from rehead.torch.training import Run
from rehead.torch.training.run import Reports


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "float16"}, "precision must be one of"),
        ({"keep": "first"}, "keep must be one of"),
        ({"keep": "best"}, r"needs validation=\(X, y\)"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_a_bad_value_is_refused_at_once(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Run(**options)


def test_without_a_folder_nothing_is_written() -> None:
    assert Run().reports == Reports(None, None, None, "")
    assert Reports().of_stage("anchors").folder is None


def test_a_stage_has_a_folder_of_its_own_and_does_not_call_back() -> None:
    reports = Run(folder="runs/a", progress=False, on_epoch=print).reports
    assert reports.folder == Path("runs/a")
    stage = reports.of_stage("anchors")
    assert stage == Reports(Path("runs/a/anchors"), False, None, "anchors, ")
    assert stage.of_stage("again").label == "anchors, again, "
