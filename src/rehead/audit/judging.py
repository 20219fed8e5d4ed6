"""The quality of labels, each judged by estimates that did not see it, block by block.

The N x C posteriors are never all in memory: of each block only the probability of the given label,
the best label and its probability are kept. Features may be memory maps, and layers are joined only
within a block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rehead._features import array_of_rows
from rehead._typing import Array
from rehead.audit.inputs import rows_of, spans
from rehead.audit.protocol import LabelJudge


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
    parts = []
    for span in spans(len(codes), len(model.classes_)):
        block, labels = rows_of(X, span), codes[span]
        leave_out = np.ones(len(labels), bool) if wanted is None else wanted[span]
        try:
            found = model.judge_labels(block, labels, leave_out)
            typical = _typicality(model, block, labels, leave_out)
        except ValueError:
            model.check_inputs(X)  # the same error, with the number that the row has among all
            raise
        parts.append(Verdicts(*found, typical))
    return Verdicts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _typicality(model: LabelJudge, X: Any, codes: Array, leave_out: Array) -> Array:
    """P-values of the samples being like the trusted ones; without themselves where asked for."""
    without = model.judge_typicality(X, codes) if leave_out.any() else None
    plain = None if leave_out.all() else model.judge_typicality(X)
    if without is None and plain is None:
        return np.full(len(codes), np.nan)
    if without is None or plain is None:
        return without if plain is None else plain  # type: ignore[return-value]
    return np.where(leave_out, without, plain)
