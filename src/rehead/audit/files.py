"""An audit of files: a saved model, features on disk, a CSV of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from rehead._labels import in_type_of
from rehead._warnings import warn
from rehead.audit.inputs import DuplicateIdsError
from rehead.audit.protocol import SavedJudge
from rehead.audit.report import LabelReport
from rehead.audit.scoring import score_labels
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble import LayerEnsemble
from rehead.files.persist import ModelFileError, model_kind
from rehead.files.samples import FEATURES, Samples, Source, read_samples


class FileAudit(NamedTuple):
    """A report, and the samples that it is of."""

    report: LabelReport
    samples: Samples

    @property
    def features(self) -> Any:
        """The features, as the model of the report takes them."""
        return cast(SavedJudge, self.report.model).inputs_of(self.samples.layers)


def audit_files(
    model: str | Path,
    data: str | Path,
    labels: str | None = None,
    ids: str | None = None,
    ignore: Sequence[str] = (),
) -> LabelReport:
    """Judge the labels of features on disk, read in blocks.

    Parameters
    ----------
    model : path
        A LayerEnsemble (`rehead fit` writes one) or a RobustGaussianClassifier, saved.
    data : path
        Features: a store, .npy, .npz, .csv or .parquet.
    labels, ids : column of a table, path or FILE:COLUMN, optional
        Default: those of the feature store; row numbers for ids where there is none.
    ignore : sequence of str
        Columns of a table that are not features.
    """
    return audit_source(model, Source(data, labels, ids, ignore)).report


def audit_source(model: str | Path | SavedJudge, source: Source) -> FileAudit:
    """As :func:`audit_files`, with the samples; the model may be open already."""
    judge = open_model(model) if isinstance(model, (str, Path)) else model
    samples = read_samples(source, known_columns(judge))
    check_network(judge, samples)
    warn_of_strangers(judge, samples)
    X = judge.inputs_of(samples.layers)
    try:
        labels = None if samples.labels is None else in_type_of(samples.labels, judge.classes_)
        report = score_labels(judge, X, labels, ids=samples.ids)
    except DuplicateIdsError as error:
        if source.ids is not None:
            raise
        raise ValueError(f"{error} On the command line: --ids FILE or FILE:COLUMN.") from error
    return FileAudit(report, samples)


def known_columns(model: SavedJudge) -> list[str] | None:
    """The columns of a table that a model was fitted on, where it knows them."""
    names = model.column_names(FEATURES)
    return None if names is None else [str(name) for name in names]


ASKED = 1000
"""Rows that tell whether samples are like those of the fit."""
UNLIKE = 0.01
"""With a usual p-value below this one, most samples are unlike those of the fit."""


def warn_of_strangers(model: SavedJudge, samples: Samples) -> None:
    """Say so if most samples are unlike those that a model was fitted on."""
    some = {name: X[:ASKED] for name, X in samples.layers.items()}
    typical = model.judge_typicality(model.inputs_of(some))
    if typical is not None and np.median(typical) < UNLIKE:
        warn(
            "Most of these samples are unlike those that the head was fitted on, so what it says "
            "of them means little. Were they measured, scaled or prepared in another way?"
        )


def check_network(model: SavedJudge, samples: Samples) -> None:
    """Raise if features come from another network than those that a head was fitted on."""
    known = model.inputs_.network if isinstance(model, LayerEnsemble) else None
    if known is None or samples.store is None or samples.store.fingerprint == known:
        return
    raise ValueError(
        f"The store {samples.store.path} was written by another network (weights "
        f"{samples.store.fingerprint:.12}) than that of the features that the head was fitted on "
        f"(weights {known:.12}). Extract them with the same --weights."
    )


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
