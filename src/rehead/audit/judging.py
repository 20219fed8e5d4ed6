"""The quality of labels, each judged by estimates that did not see it, block by block.

The N x C posteriors are never all in memory: of each block only the probability of the given label,
the best label and its probability are kept. Features may be memory maps, and layers are joined only
within a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rehead._features import array_of_rows
from rehead._typing import Array, LazyFeatures, cut_rows, row_spans
from rehead.audit.inputs import rows_of, spans
from rehead.audit.protocol import LabelJudge, SavedJudge
from rehead.gaussian.tasks import are_sent

FROM_DISK, SENT = 2**16, 2**18
"""Rows in a block of features on disk, which are read in parts; where an executor does them."""
COPIED = 2**25
"""Features in a block of them that may have to be copied: 256 MB, at most."""


class Verdicts(NamedTuple):
    """What was found of each sample: one entry a row.

    The fields of :class:`rehead.fitted.LabelVerdicts`, and ``typical``: low for samples unlike all
    classes, NaN where the model cannot tell.
    """

    quality: Array
    best: Array
    probability: Array
    distance: Array
    known: Array
    typical: Array


def judge_in_blocks(model: LabelJudge, X: Any, codes: Array, wanted: Array | None) -> Verdicts:
    """Judge all labels; rows of the fit (or those of them that are ``wanted``) without themselves.

    The best label is that with the highest posterior, given the features and, where the noise was
    measured, the label.
    """
    if isinstance(X, (list, tuple)):
        X = array_of_rows(X, "X")  # once, not for each block
    columns: list[Array] = []
    for span, block in _blocks(model, X, len(codes)):
        labels = codes[span]
        leave_out = np.ones(len(labels), bool) if wanted is None else wanted[span]
        try:
            found = model.judge_labels(block, labels, leave_out)
            typical = _typicality(model, block, labels, leave_out)
        except ValueError:
            model.check_inputs(X)  # the same error, with the number that the row has among all
            raise
        if not columns:
            columns = [np.empty(len(codes), each.dtype) for each in (*found, typical)]
        for column, each in zip(columns, (*found, typical), strict=True):
            column[span] = each
    return Verdicts(*columns)


def _blocks(model: LabelJudge, X: Any, n: int) -> Iterator[tuple[slice, Any]]:
    """Rows of features, block by block.

    Blocks are large where the model cuts them into parts itself: what it prepares for each, of all
    classes, takes longer than a thousand rows. They are small where it has the posteriors of a
    whole block in memory: of several layers, unless an executor does them, or where they are given.
    """
    layers = X if isinstance(X, Mapping) else {"X": X}
    on_disk = all(isinstance(values, LazyFeatures) for values in layers.values())
    one_layer = not isinstance(X, Mapping)
    cuts = hasattr(model, "fitted_") and not getattr(model, "given", None)
    if cuts and on_disk and (one_layer or are_sent()):
        size = SENT if are_sent() else FROM_DISK
        for a in range(0, n, size):
            span = slice(a, min(a + size, n))
            cut = {name: cut_rows(values, span) for name, values in layers.items()}
            yield span, cut["X"] if one_layer else cut
        return
    if cuts and one_layer:
        blocks = row_spans(n, np.shape(X)[-1], COPIED)
    else:
        blocks = spans(n, len(model.classes_))
    for span in blocks:
        yield span, rows_of(X, span)


class Predictions(NamedTuple):
    """Code of the most probable class of each sample, and its probability."""

    best: Array
    probability: Array


def predict_in_blocks(model: SavedJudge, X: Any, n: int) -> Predictions:
    """Predict ``n`` samples; their posteriors are never all in memory."""
    best, probability = np.empty(n, np.int64), []
    for span in row_spans(max(n, 1), len(model.classes_)):  # none is an error
        try:
            posterior = model.predict_proba(rows_of(X, span))
        except ValueError:
            model.check_inputs(X)  # the same error, with the number that the row has among all
            raise
        best[span] = posterior.argmax(axis=1)
        probability.append(posterior.max(axis=1))
    return Predictions(best, np.concatenate(probability))


def _typicality(model: LabelJudge, X: Any, codes: Array, leave_out: Array) -> Array:
    """P-values of the samples being like the trusted ones; without themselves where asked for."""
    without = model.judge_typicality(X, codes) if leave_out.any() else None
    plain = None if leave_out.all() else model.judge_typicality(X)
    if without is None and plain is None:
        return np.full(len(codes), np.nan)
    if without is None or plain is None:
        return without if plain is None else plain  # type: ignore[return-value]
    return np.where(leave_out, without, plain)
