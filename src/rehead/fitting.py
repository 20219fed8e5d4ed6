"""From labelled rows to what a fit makes of them (``fitted.py``)."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.fingerprint import KnownRows
from rehead.fitted import FittedGaussians
from rehead.gaussian import ByClass, Composition, Fit, NoiseModel, estimate
from rehead.gaussian.anchored import are_guesses
from rehead.gaussian.choose_map import map_for
from rehead.gaussian.doubts import doubts_about_labels, doubts_about_sizes
from rehead.gaussian.guesses import Scored, posterior_of_margins
from rehead.gaussian.kernel_map import KernelMap
from rehead.gaussian.kernels import evenly_spaced
from rehead.gaussian.options import LEAVING_OUT, Choice
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.threads import own_threads
from rehead.gaussian.training import clearly_better
from rehead.gaussian.typical import Map, Reference, make_reference
from rehead.gaussian.unmapped import unmapped_gaussians
from rehead.nearcopies import doubt_about_copies
from rehead.repeated import Repeated, without_repetition
from rehead.verdicts import Told


class BothShapes(NamedTuple):
    """What was found on the features as they are, and on a map of them if that looked better.

    There is no other than the map where it was asked for, or where labels cannot tell.
    """

    straight: FittedGaussians | None
    mapped: FittedGaussians | None


def fit_gaussians(
    data: ByClass, classes: Array, choice: Choice, rng: np.random.Generator
) -> FittedGaussians:
    """Run an estimator on rows grouped by class, and keep what is needed to judge by it.

    Features are mapped first where the options say so, or where that is found to be better.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.gaussian import group_by_class
    >>> from rehead.gaussian.options import resolve_options
    >>> X, codes = np.array([[0.0], [2.0], [7.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> choice = resolve_options("sample", None, {})
    >>> data, rng = group_by_class(X, codes, 2), np.random.default_rng(0)
    >>> fitted = fit_gaussians(data, np.array(["a", "b"]), choice, rng)
    >>> fitted.gaussians.means.ravel(), fitted.class_totals
    (array([1., 8.]), array([2., 2.]))
    """
    return shapes_in_order(data, classes, choice, rng)[0]


def shapes_in_order(
    data: ByClass, classes: Array, choice: Choice, rng: np.random.Generator
) -> list[FittedGaussians]:
    """With a map and without, what the noisy labels prefer first; or the only one that there is."""
    rows = _rows_to_fit(data, choice)
    straight, mapped = _both_shapes(rows, classes, choice, rng)
    if straight is None or mapped is None:
        return [found for found in (straight, mapped) if found is not None]
    better = _is_still_better(mapped, straight, rows.different)
    return [mapped, straight] if better else [straight, mapped]


def fit_both_shapes(
    data: ByClass, classes: Array, choice: Choice, rng: np.random.Generator
) -> BothShapes:
    """Fit the features as they are, and on a map where the options or a first look say so."""
    return _both_shapes(_rows_to_fit(data, choice), classes, choice, rng)


def _rows_to_fit(data: ByClass, choice: Choice) -> Repeated:
    """The different ones, where rows are judged without themselves, and so without their copies."""
    if choice.estimator in LEAVING_OUT:
        return without_repetition(data)
    return Repeated(data, data)


@own_threads()
def _both_shapes(
    rows: Repeated, classes: Array, choice: Choice, rng: np.random.Generator
) -> BothShapes:
    # So that what is found without a map is the same where none was looked for.
    as_if_none = copy.deepcopy(rng)
    kernel_map = map_for(rows.different, choice.options, rng)
    mapped = None if kernel_map is None else _fit(rows, classes, choice, rng, kernel_map)
    asked_for = choice.options.feature_map == "kernel"
    if mapped is not None and (asked_for or mapped.noise is None):
        straight = None
    else:
        straight = _fit(rows, classes, choice, as_if_none)
    doubt = doubt_about_copies(rows.different) if choice.estimator in LEAVING_OUT else None
    return BothShapes(*(_with_note(found, doubt) for found in (straight, mapped)))


def _with_note(fitted: FittedGaussians | None, note: str | None) -> FittedGaussians | None:
    if fitted is None or note is None:
        return fitted
    return replace(fitted, notes=(*fitted.notes, note))


def _is_still_better(mapped: FittedGaussians, straight: FittedGaussians, data: ByClass) -> bool:
    """Whether labels are still more likely with the map, now that all is done.

    A map is chosen before there is any trust in labels. Trust, and a second opinion, may mend what
    the map was to mend: tails that are too long for Gaussians, for instance.
    """
    doubtful = data.doubtful
    rows = doubtful[evenly_spaced(len(doubtful), SETTINGS.noise_sample)]
    counts = np.ones(len(rows)) if data.weights is None else data.weights[rows]
    now, before = (fitted.joint_scores(data, rows) for fitted in (mapped, straight))
    told = Scored(before, data.evidence[rows], counts, of=float(data.counts.sum()))
    assert mapped.noise is not None
    assert straight.noise is not None
    on_map, as_they_are = mapped.noise.posterior(now), straight.noise.posterior(before)
    sure = sure_where_moved(on_map, as_they_are, counts)
    return clearly_better(
        corrected_nll(on_map, told.codes, mapped.noise.transition),
        corrected_nll(as_they_are, told.codes, straight.noise.transition),
        counts,
        gain_asked_of_map(straight, told, sure, SETTINGS.clear_gain),
        SETTINGS.errors_in_the_end,
    )


def sure_where_moved(mapped: Array, straight: Array, counts: Array) -> float:
    """How sure a map is of the samples that it takes for other classes; 0 if there are none.

    Examples
    --------
    >>> straight = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    >>> mapped = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> round(sure_where_moved(mapped, straight, np.ones(3)), 2)
    0.7
    """
    moved = mapped.argmax(axis=1) != straight.argmax(axis=1)
    weight = float(counts @ moved)
    return float((counts * moved) @ mapped.max(axis=1)) / weight if weight else 0.0


def gain_asked_of_map(straight: FittedGaussians, told: Scored, sure: float, usual: float) -> float:
    """Nats per label by which a map must be better than features as they are; ``usual`` or more.

    Where these show that labels of hard samples are guesses, a map mostly learns to guess. Only
    where classes have another shape, which looks the same, it is better by far. If classes seem far
    apart as they are, no gain is enough unless the map is ``sure`` of the samples that it takes for
    other classes: of guesses it is not.
    """
    noise = straight.noise
    if noise is None or not are_guesses(noise):
        return usual
    posterior = posterior_of_margins(noise, told)
    if posterior is None or sure >= SETTINGS.sure_of_moved:
        return SETTINGS.gain_over_guesses
    overlap = float(np.average(1.0 - posterior.max(axis=1), weights=told.counts))
    return np.inf if overlap < SETTINGS.far_apart else SETTINGS.gain_over_guesses


def _fit(
    rows: Repeated,
    classes: Array,
    choice: Choice,
    rng: np.random.Generator,
    kernel_map: KernelMap | None = None,
) -> FittedGaussians:
    data, different = rows.every, rows.different
    codes, options = data.codes, choice.options.with_priors(classes)
    seen = different if kernel_map is None else different.mapped(kernel_map)
    fit = rows.spread(estimate(choice.estimator, seen, options, rng))
    counts = np.broadcast_to(1.0, len(codes)) if data.weights is None else data.weights
    mapped_by = None
    if kernel_map is not None:
        mapped_by = Map(kernel_map, unmapped_gaussians(data, fit.composition))
    fitted = FittedGaussians(
        classes=classes,
        gaussians=fit.gaussians,
        known_rows=KnownRows.from_training(
            data.X, codes, fit.composition, None if fit.second is None else fit.second.folds
        ),
        class_totals=fit.composition.class_totals,
        trust=_trust_in_labels(fit.composition, codes, counts),
        support=_kept(fit, data.weights),
        n_iter=fit.n_iter,
        dtype=data.X.dtype,
        noise=fit.noise,
        reference=_reference(fit, data, counts, mapped_by),
        kernel_map=kernel_map,
        unmapped=None if mapped_by is None else mapped_by.unmapped,
        second=fit.second,
        way=fit.way,
        notes=(*doubts_about_sizes(codes, classes), *fit.notes),
    )
    if fit.alone is not None:
        gaussians, noise = fit.alone
        alone = replace(fitted, gaussians=gaussians, noise=noise, second=None)
        fitted = replace(fitted, alone=_with_doubts(alone, fit, data))
    return _with_doubts(fitted, fit, data)


def _trust_in_labels(inside: Composition, codes: Array, counts: Array) -> Array:
    """How far labels count. What counted for another class is not trusted by that much."""
    elsewhere = (inside.weights > 0) & (inside.counted_as != codes)
    if not elsewhere.any():
        return inside.weights  # no copy: there are many
    return np.where(elsewhere, counts - inside.weights, inside.weights)


def _kept(fit: Fit, counts: Array | None) -> Array:
    """Rows that count; for more than half, where that was measured."""
    weights = fit.composition.weights
    if fit.noise is None:
        kept: Array = weights > 0.0
    elif counts is None:
        kept = weights > 0.5
    else:
        kept = weights > 0.5 * np.maximum(counts, np.finfo(float).tiny)
    return kept


def _with_doubts(fitted: FittedGaussians, fit: Fit, data: ByClass) -> FittedGaussians:
    """With a note where labels of some classes are mostly wrong, in the opinion of all."""
    if fitted.noise is None:
        return fitted
    codes, counts = data.codes, data.counts
    trust = fitted.trust / data.unit
    if fitted.second is not None:
        trust = _joint_trust(fitted, fit, data) * counts
    doubts = doubts_about_labels(fitted.noise.wrong, trust, codes, fitted.classes, counts)
    return replace(fitted, notes=(*fitted.notes, *doubts))


def _joint_trust(fitted: FittedGaussians, fit: Fit, data: ByClass) -> Array:
    """How far labels are trusted by Gaussians and regression; what is far off, not at all."""
    noise, second, codes = fitted.noise, fitted.second, data.codes
    assert noise is not None
    assert second is not None
    told = Told(codes, second.folds)
    trust = fitted.leave_out(data.X, told, fit.composition, partial(_trust, noise))
    if data.trusted is not None:
        trust[data.trusted] = 1.0
    trust[fitted.trust <= 0] = 0.0
    return trust


def _trust(noise: NoiseModel, scores: Array, joint: Array, codes: Array) -> Array:
    return noise.trust(joint, codes)


def _reference(fit: Fit, data: ByClass, counts: Array, mapped_by: Map | None) -> Reference:
    """What is usual among the trusted training samples."""
    measured = fit.noise is not None
    trust = fit.composition.weights if measured else counts
    return make_reference(
        fit.gaussians,
        data.X,
        data.codes,
        fit.composition,
        trust,
        measured=measured,
        mapped_by=mapped_by,
    )
