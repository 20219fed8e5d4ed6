"""What a fit makes, as a value: the Gaussians, what they are composed of, noise, what is usual.

An estimator makes it, a file holds it, labels are judged by it. Classifiers are shells around it
that check what users pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from rehead._typing import Array, Features
from rehead.files import persist
from rehead.files.schema import (
    ROUNDING,
    TEMPERATURES,
    Fields,
    Sizes,
    ascending,
    by_part,
    check_fields,
    covariance,
    finite,
    floats,
    hashes,
    labels,
    mask,
    moderate,
    not_negative,
    number,
    one_of,
    optional,
    positive,
    require,
    simplex,
    whole,
    within,
)
from rehead.fingerprint import fingerprint
from rehead.gaussian import ByClass, Composition, Fit, NoiseModel, TiedGaussians, estimate
from rehead.gaussian.doubts import doubts_about_labels, doubts_about_sizes
from rehead.gaussian.kernels import whiten
from rehead.gaussian.leave_one_out import leave_one_out_scores
from rehead.gaussian.options import Choice
from rehead.gaussian.threads import own_threads
from rehead.gaussian.tied import tied_gaussians
from rehead.gaussian.typical import Reference, make_reference, strange_distances


class LabelVerdicts(NamedTuple):
    """What a model thinks of some labels; one entry a row.

    ``quality`` of the given label, the code of the ``best`` label and its ``probability``; the
    squared ``distance`` to the nearest class, for each feature; ``known`` says whether the model
    was fitted on the row with this label.
    """

    quality: Array
    best: Array
    probability: Array
    distance: Array
    known: Array


class KnownRows(NamedTuple):
    """How much of each training row some estimates contain, found again by its fingerprint.

    Sorted by ``fingerprints``; the others are those of a :class:`Composition`.
    """

    fingerprints: Array
    weights: Array
    counted_as: Array

    @classmethod
    def from_training(cls, X: Features, codes: Array, composition: Composition) -> Self:
        """Of training rows and their labels."""
        found = fingerprint(X, codes)
        order = np.argsort(found)
        return cls(found[order], composition.weights[order], composition.counted_as[order])

    def look_up(self, X: Features, codes: Array, dtype: Any = None) -> tuple[Array, Array, Array]:
        """Which rows are known with these labels; how much of them counted, and to which class.

        ``dtype`` is that of the training rows (default: the same as that of these).
        """
        wanted = fingerprint(X, codes, dtype)
        at = np.searchsorted(self.fingerprints, wanted).clip(max=len(self.fingerprints) - 1)
        known: Array = self.fingerprints[at] == wanted
        counted = known & (self.weights[at] > 0)
        weights = np.where(counted, self.weights[at], 0.0)
        return known, weights, np.where(counted, self.counted_as[at], codes)


@dataclass(frozen=True, eq=False)
class FittedGaussians:
    """A fitted generative classifier.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    gaussians : TiedGaussians
    known_rows : KnownRows
        What the Gaussians are composed of: weight and class of every training row.
    class_totals : array of shape (n_classes,)
        How much of each class they contain in all.
    trust : array of shape (n_samples,)
        How far each training label counts.
    support : boolean array of shape (n_samples,)
        The training rows that were kept.
    n_iter : array of shape (n_classes,)
        Rounds for each class.
    dtype : dtype
        Of the training features.
    noise : NoiseModel or None
    reference : Reference or None
        What is usual among the training samples, where that was found out.
    notes : tuple of str
        What the user should be told; not kept in files.
    """

    classes: Array
    gaussians: TiedGaussians
    known_rows: KnownRows
    class_totals: Array
    trust: Array
    support: Array
    n_iter: Array
    dtype: np.dtype[Any]
    noise: NoiseModel | None = None
    reference: Reference | None = None
    notes: tuple[str, ...] = ()

    def recognise(self, X: Features, codes: Array) -> tuple[Array, Composition]:
        """Which rows it was fitted on with these labels, and how much of each it contains."""
        known, weights, counted_as = self.known_rows.look_up(X, codes, self.dtype)
        return known, Composition(weights, counted_as, self.class_totals)

    def verdicts(
        self, X: Features, codes: Array, leave_out: Array, noise: NoiseModel | None = None
    ) -> LabelVerdicts:
        """Judge labels; rows of the fit without themselves, where they are to be left out.

        ``noise`` in place of its own. Without any, a label is as good as its posterior.
        """
        noise = self.noise if noise is None else noise

        def summary(scores: Array, codes: Array) -> Array:
            posterior = self.posterior_given_label(scores, codes, noise)
            return label_columns(posterior, codes, self.nearest_distance(scores))

        columns, known = self.without_themselves(X, codes, leave_out, summary)
        quality, best, probability, distance = columns.T
        return LabelVerdicts(quality, best.astype(np.int64), probability, distance, known)

    def without_themselves(
        self,
        X: Features,
        codes: Array,
        leave_out: Array,
        reduce: Callable[[Array, Array], Array],
    ) -> tuple[Array, Array]:
        """Reduced scores, rows of the fit left out where asked for; and which rows are known.

        All classes have the same prior in these scores.
        """
        known, inside = self.recognise(X, codes)
        inside = inside.only(leave_out)
        even = self.gaussians.without_priors()
        return leave_one_out_scores(even, X, codes, inside, reduce), known

    def posterior_given_label(self, scores: Array, codes: Array, noise: NoiseModel | None) -> Array:
        """What samples are, from their scores and labels; without noise, from scores alone."""
        if noise is None:
            with np.errstate(divide="ignore"):
                weights = np.log(self.gaussians.priors * len(self.classes))
            return self.gaussians.posterior_of_scores(scores + weights)
        # It has class shares of its own: those of the samples whose labels are judged.
        return noise.posterior_given_label(scores, codes)

    def nearest_distance(self, scores: Array) -> Array:
        """Squared distance to the nearest class, for each feature: about 1 for usual samples."""
        n_features = self.gaussians.means.shape[1]
        distance: Array = -2.0 * (scores.max(axis=1) + np.log(len(self.classes))) / n_features
        return distance

    def typicality(self, X: Features, codes: Array | None = None) -> Array | None:
        """How usual samples are, as p-values; None where it was not found out what is usual.

        With labels, rows of the fit are judged without themselves.
        """
        if self.reference is None:
            return None
        if codes is None:
            nothing = np.zeros(len(X))
            known = nothing > 0
            inside = Composition(nothing, nothing.astype(np.int64), self.class_totals)
        else:
            known, inside = self.recognise(X, codes)
        distances = strange_distances(self.gaussians, X, inside.counted_as, inside)
        return self.reference.pvalues(distances, own=known)

    @own_threads()
    def whitened(self, X: Features) -> Array:
        """Rows in the space where Euclidean distances are Mahalanobis distances."""
        centred = np.ascontiguousarray(np.subtract(X, self.gaussians.centre, dtype=np.float64))
        return whiten(centred, self.gaussians.factor)

    def to_state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Everything but the notes, as arrays and JSON."""
        g = self.gaussians
        arrays = {
            "means": g.means,
            "covariance": g.covariance,
            "priors": g.priors,
            "support": self.support,
            "trust": self.trust,
            "n_iter": self.n_iter,
            # The names that files have had from the start.
            "seen": self.known_rows.fingerprints,
            "seen_weights": self.known_rows.weights,
            "seen_members": self.known_rows.counted_as,
            "class_totals": self.class_totals,
        }
        if g.offsets is not None:
            arrays["offsets"] = g.offsets
        if self.reference is not None:
            arrays |= self.reference.to_arrays("reference.")
        if self.noise is not None:
            arrays |= self.noise.to_arrays("noise.")
        settings = {
            "classes": persist.labels_to_json(self.classes),
            "dtype": self.dtype.str,
            "temperature": g.temperature,
            "shrunk": g.shrunk,
            "estimated": g.estimated,
        }
        return arrays, settings

    @classmethod
    def from_state(cls, arrays: dict[str, Array], settings: dict[str, Any]) -> Self:
        """From :meth:`to_state`, or from what earlier versions wrote; each field is checked."""
        check_gaussians(arrays, settings)
        g = replace(
            _invertible(arrays),
            shrunk=settings["shrunk"],
            estimated=settings["estimated"],
            temperature=settings.get("temperature", 1.0),
            offsets=arrays.get("offsets"),
        )
        # Earlier files say -1 where a row counted for no class, and have no totals.
        weights, counted_as = arrays["seen_weights"], arrays["seen_members"].clip(min=0)
        composition = Composition.from_rows(weights, counted_as, len(g.means))
        return cls(
            classes=persist.labels_from_json(settings["classes"]),
            gaussians=g,
            known_rows=KnownRows(arrays["seen"], weights, counted_as),
            class_totals=arrays.get("class_totals", composition.class_totals),
            trust=arrays.get("trust", arrays["support"].astype(float)),
            support=arrays["support"],
            n_iter=arrays["n_iter"],
            dtype=np.dtype(settings["dtype"]),
            noise=NoiseModel.from_arrays(arrays, "noise.") if "noise.nll" in arrays else None,
            reference=(
                Reference.from_arrays(arrays, "reference.") if "reference.size" in arrays else None
            ),
        )


GAUSSIANS: Fields = {
    "means": floats("C d", moderate),
    "covariance": floats("d d", covariance),
    "priors": floats("C", simplex),
    "seen": hashes("n", ascending),
    "seen_weights": floats("n", not_negative),
    "seen_members": whole("n", within(-1, "C")),  # -1: for no class, in earlier files
    "class_totals": optional(floats("C", not_negative)),
    "support": mask("n"),
    "trust": optional(floats("n", within(-ROUNDING, np.inf))),
    "n_iter": whole("C", not_negative),
    "offsets": optional(floats("C", moderate)),
}
NOISE: Fields = {
    "temperature": floats("", within(*TEMPERATURES)),
    "priors": floats("C", simplex),
    "transition": floats("C C", simplex),
    "anchors": floats("C", not_negative),
    "nll": floats("", finite),
    "wrong": optional(floats("", within(-ROUNDING, 1 + ROUNDING, nan=True))),
    "unseen": optional(floats("", within(-ROUNDING, 1 + ROUNDING))),
}
REFERENCE: Fields = {
    "relative": floats("q", finite, ascending),
    "residual": floats("q", finite, ascending),
    "strangeness": floats("q", ascending),
    "size": floats("", positive),
}
SETTINGS: Fields = {
    "classes": labels("C", ascend=True),
    "dtype": one_of("<f4", "<f8", ">f4", ">f8"),
    "temperature": optional(number(*TEMPERATURES)),
    "shrunk": number(0, 1),
    "estimated": number(0, 1),
}
"""What a file holds of a FittedGaussians: C classes, d features, n training rows."""


def check_gaussians(
    arrays: Mapping[str, Array], settings: Mapping[str, Any], where: str = ""
) -> None:
    """Raise a FieldError unless this is what :meth:`FittedGaussians.to_state` gives."""
    sizes: Sizes = {}
    check_fields(settings, SETTINGS, sizes, where)
    require(sizes["C"] >= 2, f"{where}classes must be two or more.")
    parts = by_part(arrays)
    check_fields(parts.pop(""), GAUSSIANS, sizes, where)
    for name, fields in (("noise", NOISE), ("reference", REFERENCE)):
        if name in parts:
            check_fields(parts.pop(name), fields, sizes, f"{where}{name}.")
    require(not parts, f"{where}{next(iter(parts), '')} is nothing that rehead knows.")
    if "class_totals" in arrays:
        members = arrays["seen_members"].clip(min=0)
        whole_of = arrays["class_totals"][members] * (1 + ROUNDING)
        fits = (arrays["seen_weights"] <= whole_of).all() and arrays["class_totals"].any()
        require(bool(fits), f"{where}class_totals must not be less than one of their rows.")


def _invertible(arrays: Mapping[str, Array]) -> TiedGaussians:
    """The Gaussians of a file, whose covariance must have the inverse that it had."""
    with np.errstate(over="ignore", invalid="ignore"):
        g = tied_gaussians(arrays["means"], arrays["covariance"], arrays["priors"])
    # Another processor may round its factor a little differently.
    require(g.shrunk <= ROUNDING, "covariance must be positive definite.")
    right = np.isfinite(g.weights).all() and np.isfinite(g.norms).all()
    require(bool(right), "means are too far apart for the covariance.")
    return g


def label_columns(posterior: Array, codes: Array, distance: Array) -> Array:
    """Probability of the label, best class, its probability, and the distance, of each row."""
    every, best = np.arange(len(posterior)), posterior.argmax(axis=1)
    return np.column_stack([posterior[every, codes], best, posterior[every, best], distance])


@own_threads()
def fit_gaussians(
    data: ByClass, classes: Array, choice: Choice, rng: np.random.Generator
) -> FittedGaussians:
    """Run an estimator on rows grouped by class, and keep what is needed to judge by it.

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
    X, codes = data.X, data.codes
    fit = estimate(choice.estimator, data, choice.options.with_priors(classes), rng)
    counts = np.ones(len(codes)) if data.weights is None else data.weights
    weights = fit.composition.weights
    # Where a sample counted for another class, that much of its label is not trusted.
    elsewhere = (weights > 0) & (fit.composition.counted_as != codes)
    trust = np.where(elsewhere, counts - weights, weights)
    notes = [*doubts_about_sizes(codes, classes), *fit.notes]
    if fit.noise is not None and data.weights is None:
        notes += doubts_about_labels(fit.noise.wrong, trust, codes, classes)
    half = 0.5 * np.maximum(counts, np.finfo(float).tiny)
    return FittedGaussians(
        classes=classes,
        gaussians=fit.gaussians,
        known_rows=KnownRows.from_training(X, codes, fit.composition),
        class_totals=fit.composition.class_totals,
        trust=trust,
        support=weights > (0.0 if fit.noise is None else half),
        n_iter=fit.n_iter,
        dtype=X.dtype,
        noise=fit.noise,
        reference=_reference(fit, X, codes, counts),
        notes=tuple(notes),
    )


def _reference(fit: Fit, X: Features, codes: Array, counts: Array) -> Reference:
    """What is usual among the trusted training samples."""
    measured = fit.noise is not None
    trust = fit.composition.weights if measured else counts
    return make_reference(fit.gaussians, X, codes, fit.composition, trust, measured=measured)
