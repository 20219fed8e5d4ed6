"""From a cell to its result."""

from __future__ import annotations

import os
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from rehead import __version__
from rehead._progress import silence
from rehead._typing import Array
from rehead._warnings import ReheadWarning
from rehead.data import DataMissingError, DownloadError
from rehead.experiments.cache import Cache, digest
from rehead.experiments.cell import Cell
from rehead.experiments.circumstances import commit, hardware, now, versions
from rehead.experiments.columns.registry import SOFTMAX, find_column
from rehead.experiments.plans import columns_of, source_of
from rehead.experiments.results import NO_DATA, NOT_RUN, Measurement, Result, ResultError
from rehead.experiments.sources import Source, load_task
from rehead.experiments.task import Prediction, Task

BINS = 15
SOURCE = "source"
"""Under this name a result keeps the digest of what its features were made of."""


def run(
    cell: Cell,
    cache: Cache,
    *,
    earlier: Result | None = None,
    columns: Sequence[str] | None = None,
    same: Result | None = None,
    anew: bool = False,
) -> Result:
    """Train what a cell needs, unless it is in the cache, and measure each way to predict.

    Parameters
    ----------
    cell : Cell
    cache : Cache
    earlier : Result, optional
        What was measured before. It stays, and is not measured again.
    columns : sequence of str, optional
        Ways to predict. Default: those of the cell's table.
    same : Result, optional
        Of another cell with the same network, just measured: what holds there holds here.
    anew : bool, default=False
        Measure again what another version of rehead measured.

    Returns
    -------
    Result
        Where some ways to predict failed, its reason says which and why, and the others are there.
    """
    wanted = columns_of(cell) if columns is None else columns
    missing, source = missing_columns(earlier, wanted, anew), source_of(cell)
    for name in missing:
        find_column(name)  # a name that is wrong is wrong before a network is trained
    if earlier is not None and not is_same_source(earlier, source):
        raise ResultError(
            f"{cell.name} was measured with other settings: its profile, or rehead, has changed "
            "since. Delete its file, and it is measured anew."
        )
    try:
        task, facts = load_task(source, cache)
    except (DataMissingError, DownloadError) as error:
        return Result(cell, NO_DATA, without_folders(str(error)))
    if earlier is not None and earlier.measurements:
        check_same_network(earlier, task, facts)
    shared = [m for m in _shared(same, source).values() if m.column in missing]
    measured, failed = measure_all(
        task, [n for n in missing if n not in {m.column for m in shared}]
    )
    measured = [*shared, *measured]
    if failed and not measured:
        return Result(cell, NOT_RUN, failed)
    if earlier is None or not earlier.measurements:
        circumstances = {"hardware": hardware(), "versions": versions()}
        network = {**_about(task, facts), SOURCE: digest(source.what)}
        earlier = Result(cell, network=network, circumstances=circumstances)
    return replace(earlier.with_more(measured), reason=failed)


def _about(task: Task, facts: Mapping[str, float]) -> dict[str, Any]:
    """What a result tells about its network and data."""
    return {
        **{name: round(value, 5) for name, value in facts.items()},
        "noise_rate": task.noise_rate,
        "n_train": len(task.train.y),
        "n_validation": len(task.validation.y),
        "n_test": len(task.test.y),
    }


def _shared(same: Result | None, source: Source) -> dict[str, Measurement]:
    """What was measured with the same network."""
    known = same is not None and same.network.get(SOURCE) == digest(source.what)
    return same.columns if same is not None and known else {}


def is_same_source(result: Result, source: Source) -> bool:
    """Whether a result is of this network; others could not be compared. Early ones do not say."""
    wanted = digest(source.what)
    return bool(result.network.get(SOURCE, wanted) == wanted)


def check_same_network(earlier: Result, task: Task, facts: Mapping[str, float]) -> None:
    """Raise where a network was trained again, and came out differently.

    Networks that memorise all fit the same share of their labels, so test predictions count, too.
    """
    shares = {"of its labels": (earlier.network.get("fitted"), facts.get("fitted"))}
    if SOFTMAX in earlier.columns and task.test.outputs is not None:
        right = float((task.test.outputs.argmax(axis=1) == task.test.y).mean())
        shares["of the test labels"] = (earlier.columns[SOFTMAX].accuracy, right)
    for what, (before, after) in shares.items():
        if before is not None and round(after or 0.0, 5) != round(before, 5):
            raise ResultError(
                f"The network of {earlier.cell.name} was trained again, and is another one: it "
                f"fits {after or 0.0:.3%} {what}, not {before:.3%}. Another machine or other "
                "packages can do that. Delete the file of the result, and it is measured anew."
            )


def missing_columns(earlier: Result | None, wanted: Sequence[str], anew: bool = False) -> list[str]:
    """Ways to predict that were not measured yet; ``anew``: not with this version of rehead."""
    found = {} if earlier is None else earlier.columns
    measured = {name for name, m in found.items() if not anew or m.rehead == __version__}
    return [name for name in dict.fromkeys(wanted) if name not in measured]


def measure_all(task: Task, columns: Sequence[str]) -> tuple[list[Measurement], str]:
    """What can be measured, and which ways to predict failed, with the reasons."""
    measured, failed = [], []
    for name in columns:
        try:
            measured.append(measure(task, name))
        except Exception as error:  # one of many; the reason is kept and shown
            failed.append(f"{name}: {reason_of(error)}")
    return measured, "; ".join(failed)


def reason_of(error: Exception, *folders: Path) -> str:
    """An error in one line, with its place, and without these folders."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}:{last.lineno}"
    return without_folders(f"{type(error).__name__}: {error} ({place})", *folders)


def without_folders(text: str, *folders: Path) -> str:
    """A text without the folders of this machine, which a result must not name."""
    data = os.environ.get("REHEAD_DATA")
    known = [(str(folder), f".../{folder.name}") for folder in folders]
    known += [(str(Path(data).expanduser()), "$REHEAD_DATA")] if data else []
    for folder, name in [*known, (str(Path.home()), "~")]:
        text = text.replace(folder, name)
    return text


def measure(task: Task, column: str) -> Measurement:
    """Predict, compare with the truth."""
    predict = find_column(column)
    start = time.perf_counter()
    with silence(), warnings.catch_warnings():
        # The paper's estimator warns where it cannot trim, which is part of the result.
        warnings.simplefilter("ignore", ReheadWarning)
        found = predict(task)
    if found.labels.shape != task.test.y.shape:
        raise ValueError(f"{column} predicts {found.labels.shape} for {task.test.y.shape} samples.")
    return Measurement(
        column,
        float((found.labels == task.test.y).mean()),
        round(time.perf_counter() - start, 3),
        __version__,
        commit(),
        now(),
        noise_rate=found.noise_rate,
        details=dict(found.details or {}),
        **_audit(found, task),
    )


def _audit(found: Prediction, task: Task) -> dict[str, Any]:
    """How well wrong training labels are found."""
    if found.quality is None:
        return {}
    audit: dict[str, Any] = {}
    if found.quality.min() >= 0 and found.quality.max() <= 1:
        audit["calibration"] = calibration_error(found.quality, ~task.changed)
    if task.changed.any() and not task.changed.all():
        audit["auroc"] = float(roc_auc_score(~task.changed, found.quality))
        audit |= at_true_budget(found.quality, task.changed)
    return audit


def at_true_budget(quality: Array, changed: Array) -> dict[str, float]:
    """F1 and the share of wrong labels that is missed, where as many are flagged as are wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.experiments.running import at_true_budget
    >>> at_true_budget(np.array([0.1, 0.2, 0.9, 0.8]), np.array([True, False, True, False]))
    {'f1': 0.5, 'false_negatives': 0.5}
    """
    flagged = np.argsort(quality, kind="stable")[: int(changed.sum())]
    found = float(changed[flagged].mean())
    # As many are flagged as there are, so precision, recall and F1 are one number.
    return {"f1": found, "false_negatives": 1 - found}


def calibration_error(quality: Array, right: Array) -> float:
    """Mean distance, over bins, of the mean quality from the share of right labels."""
    which = np.clip((quality * BINS).astype(int), 0, BINS - 1)
    gaps = np.bincount(which, weights=quality - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(right))
