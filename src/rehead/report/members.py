"""What each layer of a model knows, and how clean the samples are that it kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.audit.inputs import rows_of, spans
from rehead.audit.scores import LabelScores
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble import LayerEnsemble
from rehead.fitted import FittedGaussians

MOST = 20_000
"""Samples that are asked about; of more, so many at random."""
ALL = "all together"


class Member(NamedTuple):
    """A member of a model. Shares are NaN where nothing is known.

    Attributes
    ----------
    name : str
    weight : float
        Its part in predictions.
    gap : float
        How much better it knows training labels than held-out ones, in nats a label.
    judge : bool
        Whether it judged labels.
    agrees : float
        Share of the given labels that it predicts, those it was fitted on among them.
    accuracy : float
        Share of the true labels that it predicts, where these are known.
    kept, clean : float
        Share of the samples that it was estimated from, and how many of these are labelled right:
        by the truth where that is known, else by the quality of the labels.
    """

    name: str
    weight: float
    gap: float
    judge: bool
    agrees: float
    accuracy: float
    kept: float
    clean: float


class Members(NamedTuple):
    """Members of a model, the model as a whole last, and how many samples were asked about."""

    rows: list[Member]
    n_asked: int


class Asked(NamedTuple):
    """Samples that are asked about: features, codes of labels and of the truth (-1), quality."""

    X: Any
    codes: Array
    truth: Array
    right: Array


def members_of(scores: LabelScores, X: Any, truth: Array, seed: int = 0) -> Members | None:
    """The members of an ensemble, or a classifier alone; None for models of other kinds.

    ``truth`` has the codes of the true labels, -1 where they are not known.
    """
    model = scores.model
    if not isinstance(model, (LayerEnsemble, RobustGaussianClassifier)):
        return None
    n = len(scores)
    rng = np.random.default_rng(seed)
    rows = np.arange(n) if n <= MOST else np.sort(rng.choice(n, MOST, replace=False))
    codes = np.searchsorted(scores.classes, scores.given[rows])
    known = truth[rows]
    right = np.where(known >= 0, known == codes, scores.quality[rows])
    asked = Asked(rows_of(X, rows), codes, known, right)
    of_kind = _of_ensemble if isinstance(model, LayerEnsemble) else _of_classifier
    return Members(of_kind(model, asked), len(rows))


def _of_classifier(model: Any, asked: Asked) -> list[Member]:
    found = _predictions(lambda X: [model.predict_proba(X)], asked)[0]
    kept = _kept(model.fitted_, np.asarray(asked.X), asked)
    return [Member("features", 1.0, np.nan, True, *found, *kept)]


def _of_ensemble(model: Any, asked: Asked) -> list[Member]:
    consensus = model.consensus_
    gaps: Mapping[str, float] = consensus.gaps if consensus else {}
    judges = consensus.judges if consensus else []

    def posteriors(X: Any) -> list[Array]:
        of_members = model.member_posteriors(X)
        mixed = sum(w * p for w, p in zip(model.weights_, of_members, strict=True))
        return [*of_members, mixed]

    found = _predictions(posteriors, asked)
    layers = {name: np.asarray(features) for name, features in asked.X.items()}
    rows = []
    for name, weight, shares in zip(model.members_, model.weights_, found, strict=False):
        fitted = model.fitted_.members.get(name)
        kept = (np.nan, np.nan)
        if fitted is not None:
            kept = _kept(fitted, np.asarray(model.fitted_.features(name, layers)), asked)
        gap = gaps.get(name, np.nan)
        rows.append(Member(name, float(weight), gap, name in judges, *shares, *kept))
    return [*rows, Member(ALL, 1.0, np.nan, False, *found[-1], np.nan, np.nan)]


def _predictions(posteriors: Any, asked: Asked) -> list[tuple[float, float]]:
    """Of each member: share of the given labels, and of the known true ones, that it predicts."""
    best = [
        [p.argmax(axis=1) for p in posteriors(rows_of(asked.X, span))]
        for span in spans(len(asked.codes), int(asked.codes.max()) + 1)
    ]
    known = asked.truth >= 0
    shares = []
    for parts in zip(*best, strict=True):
        codes = np.concatenate(parts)
        right = (codes == asked.truth)[known]
        accuracy = float(right.mean()) if known.any() else float("nan")
        shares.append((float((codes == asked.codes).mean()), accuracy))
    return shares


def _kept(fitted: FittedGaussians, X: Array, asked: Asked) -> tuple[float, float]:
    """Share of the samples that Gaussians are made of, and how many of these are right."""
    found, _ = fitted.recognise(X, asked.codes)
    # What counted for another class than its label's was not kept as what it was given as.
    weights = np.where(found.counted_as == asked.codes, found.weights, 0.0)
    if not found.known.any() or not weights.sum():
        return float("nan"), float("nan")
    kept = float(weights.sum() / found.known.sum())
    return kept, float((weights * asked.right).sum() / weights.sum())
