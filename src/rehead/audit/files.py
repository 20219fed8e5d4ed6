"""An audit of files: a saved model, features on disk, a CSV of what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.audit.inputs import DuplicateIdsError
from rehead.audit.protocol import SavedJudge
from rehead.audit.report import LabelReport
from rehead.audit.scoring import score_labels
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble import LayerEnsemble
from rehead.files.persist import ModelFileError, model_kind
from rehead.files.store import FeatureStore
from rehead.files.tables import read_column, read_ids, read_labels, read_layers


class Joined:
    """The shards of a layer as one array of which slices of rows are read.

    Joining memory maps would read all of them into memory.
    """

    def __init__(self, shards: list[Array]) -> None:
        self._shards = shards
        self._starts = np.cumsum([0, *(len(shard) for shard in shards)])
        self.shape = (len(self), *shards[0].shape[1:])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, rows: slice) -> Array:
        a, b, _ = rows.indices(len(self))
        parts = [
            shard[max(a - start, 0) : max(b - start, 0)]
            for start, shard in zip(self._starts, self._shards, strict=False)
        ]
        parts = [part for part in parts if len(part)] or [self._shards[0][:0]]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[: len(self)], dtype)


def audit_files(
    model: str | Path, data: str | Path, labels: str | None = None, ids: str | None = None
) -> LabelReport:
    """Judge the labels of features on disk, read in blocks.

    Parameters
    ----------
    model : path
        A LayerEnsemble (`rehead fit` writes one) or a RobustGaussianClassifier, saved.
    data : path
        Features: a store, .npy, .npz, .csv or .parquet.
    labels, ids : path or FILE:COLUMN, optional
        Default: those of the feature store; row numbers for ids where there is none.
    """
    judge = open_model(model)
    layers = _layers(Path(data), labels, ids)
    y = read_labels(labels, data)
    n = len(next(iter(layers.values()))) if layers else 0
    named = read_column(ids) if ids is not None else _store_ids(Path(data), n)
    try:
        return score_labels(judge, judge.inputs_of(layers), y, ids=named)
    except DuplicateIdsError as error:
        if ids is not None:
            raise
        raise ValueError(f"{error} On the command line: --ids FILE or FILE:COLUMN.") from error


MODELS: dict[str, type[SavedJudge]] = {
    cls.__name__: cls for cls in (LayerEnsemble, RobustGaussianClassifier)
}
"""Models that can judge labels, by the kind that their files name."""


def open_model(path: str | Path) -> SavedJudge:
    """A saved model that can judge labels, of any kind."""
    kind = model_kind(path)
    if kind not in MODELS:
        raise ModelFileError(
            f"{path} holds a {kind}, not one of {', '.join(MODELS)}. Load it with {kind}.load."
        )
    return MODELS[kind].load(path)


def _layers(path: Path, *beside: str | None) -> dict[str, Any]:
    if not path.is_dir():
        return dict(read_layers(path, beside))
    store = FeatureStore(path)
    return {name: Joined(store.shards(name)) for name in store.layers}


def _store_ids(path: Path, n: int) -> Array | None:
    """Ids of a store, unless they only number its samples."""
    return read_ids(path, n) if path.is_dir() and not FeatureStore(path).numbered else None
