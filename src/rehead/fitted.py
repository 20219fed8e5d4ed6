"""What a fit makes, as a value: the Gaussians, what they are composed of, noise, what is usual.

An estimator makes it, a file holds it, labels are judged by it. Classifiers are shells around it
that check what users pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from rehead._typing import Array, Features, MappedFeatures, some_rows
from rehead.files import persist
from rehead.fingerprint import KnownRows, Recognised
from rehead.fittedfile import check_gaussians, gaussians_of
from rehead.gaussian import ByClass, Composition, Fit, NoiseModel, TiedGaussians, estimate
from rehead.gaussian.choose_map import map_for
from rehead.gaussian.doubts import doubts_about_labels, doubts_about_sizes
from rehead.gaussian.fit import Alone
from rehead.gaussian.kernel_map import KernelMap
from rehead.gaussian.kernels import whiten
from rehead.gaussian.leave_one_out import leave_one_out_scores
from rehead.gaussian.linear import SecondOpinion
from rehead.gaussian.options import Choice
from rehead.gaussian.threads import own_threads
from rehead.gaussian.typical import Reference, make_reference, strange_distances


class LabelVerdicts(NamedTuple):
    """What a model thinks of some labels; one entry a row.

    ``quality`` of the given label, the code of the ``best`` label and its ``probability``; the
    squared ``distance`` to the nearest class, for each feature (with a map, how far the row is from
    its landmarks); ``known`` says whether the model
    was fitted on the row with this label.
    """

    quality: Array
    best: Array
    probability: Array
    distance: Array
    known: Array


@dataclass(frozen=True, eq=False)
class FittedGaussians:
    """A fitted generative classifier.

    It takes features as they are, and maps them itself where a map was taken.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    gaussians : TiedGaussians
        Of the mapped features, where there is a map.
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
    kernel_map : KernelMap or None
        The map of the features that was taken.
    second : SecondOpinion or None
        What else judges labels; its part of predictions is in the Gaussians' scores.
    alone : Alone or None
        What the Gaussians are without it; not kept in files.
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
    kernel_map: KernelMap | None = None
    second: SecondOpinion | None = None
    alone: Alone | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_features(self) -> int:
        """How many features it takes."""
        width = self.gaussians.means.shape[1]
        return int(width) if self.kernel_map is None else self.kernel_map.n_features

    def mapped(self, X: Features) -> Features:
        """Features as the Gaussians see them; nothing is computed before rows are taken."""
        return X if self.kernel_map is None else MappedFeatures(X, self.kernel_map)

    def without_second(self) -> Self:
        """What the Gaussians found alone."""
        if self.alone is None:
            return self
        gaussians, noise = self.alone
        return replace(self, gaussians=gaussians, noise=noise, second=None, alone=None)

    def explain(self) -> str:
        """What there is beside Gaussians of the features as they are, in words."""
        said = []
        if self.kernel_map is not None:
            n = len(self.kernel_map.landmarks)
            said.append(f"Features were mapped by their similarity to {n} of the samples.")
        if self.second is not None:
            said.append("A logistic regression that knows of the noise was a second opinion.")
        return " ".join(said)

    def scores(self, X: Features) -> Array:
        """The log posterior up to a term that all classes share."""
        return self.gaussians.scores(self.mapped(X))

    def posterior(self, X: Features) -> Array:
        """Probabilities of the classes."""
        return self.gaussians.posterior(self.mapped(X))

    def log_posterior(self, X: Features) -> Array:
        """Logarithms of the probabilities of the classes."""
        return self.gaussians.log_posterior(self.mapped(X))

    def log_density(self, X: Features) -> Array:
        """Log density of the mixture of all classes: low for a sample unlike all of them.

        With a map, which hides what is far, that of mapped features, less their remoteness.
        """
        density = self.gaussians.log_density(self.mapped(X))
        if self.kernel_map is not None:
            density -= self.kernel_map.remoteness(X)
        return density

    def distances(self, X: Features) -> Array:
        """Squared Mahalanobis distances to all classes."""
        return self.gaussians.distances(self.mapped(X))

    def recognise(self, X: Features, codes: Array) -> tuple[Recognised, Composition]:
        """Which rows it was fitted on with these labels, and how much of each it contains."""
        found = self.known_rows.look_up(X, codes, self.dtype)
        return found, Composition(found.weights, found.counted_as, self.class_totals)

    def verdicts(
        self, X: Features, codes: Array, leave_out: Array, noise: NoiseModel | None = None
    ) -> LabelVerdicts:
        """Judge labels; rows of the fit without themselves, where they are to be left out.

        ``noise`` in place of its own. Without any, a label is as good as its posterior.
        """
        noise = self.noise if noise is None else noise
        given = codes

        def summary(scores: Array, joint: Array, rows: Array) -> Array:
            posterior = self.posterior_given_label(joint, given[rows], noise)
            return label_columns(posterior, given[rows], self.nearest_distance(scores))

        columns, known = self.without_themselves(X, codes, leave_out, summary)
        quality, best, probability, distance = columns.T
        distance = self.how_far(X, distance)
        return LabelVerdicts(quality, best.astype(np.int64), probability, distance, known)

    def how_far(self, X: Features, distance: Array) -> Array:
        """How far rows are from everything, of which the nearest class has this distance.

        That it is, unless a map hides what is far: then it is the distance from its landmarks.
        """
        return distance if self.kernel_map is None else self.kernel_map.remoteness(X)

    def without_themselves(
        self,
        X: Features,
        codes: Array,
        leave_out: Array,
        reduce: Callable[[Array, Array, Array], Array],
    ) -> tuple[Array, Array]:
        """Reduced scores, rows of the fit left out where asked for; and which rows are known.

        ``reduce(scores, joint, rows)`` is given scores of the Gaussians, in which all classes have
        the same prior; the joint ones with a second opinion, if there is one; and row numbers.
        """
        found, inside = self.recognise(X, codes)
        folds = np.where(leave_out, found.folds, -1)
        return self.leave_out(X, inside.only(leave_out), folds, reduce), found.known

    def leave_out(
        self,
        X: Features,
        inside: Composition,
        folds: Array,
        reduce: Callable[[Array, Array, Array], Array],
    ) -> Array:
        """Reduced scores of rows of which that much is inside, and which are in these folds."""
        mapped, second = self.mapped(X), self.second

        def by_row(scores: Array, rows: Array) -> Array:
            joint = scores
            if second is not None:
                joint = second.joint(scores, some_rows(mapped, rows), folds[rows])
            return reduce(scores, joint, rows)

        even = self.gaussians.without_priors()
        return leave_one_out_scores(even, mapped, np.arange(len(X)), inside, by_row)

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
        width = self.gaussians.means.shape[1]
        distance: Array = -2.0 * (scores.max(axis=1) + np.log(len(self.classes))) / width
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
            (known, *_), inside = self.recognise(X, codes)
        distances = strange_distances(self.gaussians, X, inside.counted_as, inside, self.kernel_map)
        return self.reference.pvalues(distances, own=known)

    @own_threads()
    def whitened(self, X: Features) -> Array:
        """Rows in the space where Euclidean distances are Mahalanobis distances."""
        mapped = np.asarray(self.mapped(X))
        centred = np.ascontiguousarray(np.subtract(mapped, self.gaussians.centre, dtype=np.float64))
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
        if self.kernel_map is not None:
            arrays |= self.kernel_map.to_arrays("kernel_map.")
        if g.added is not None:
            arrays |= {"added_weights": g.added.weights, "added_bias": g.added.bias}
        if self.second is not None and self.known_rows.folds is not None:
            arrays |= self.second._replace(folds=self.known_rows.folds).to_arrays("second.")
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
        g = gaussians_of(arrays, settings)
        second = SecondOpinion.from_arrays(arrays, "second.") if "second.bias" in arrays else None
        # Earlier files say -1 where a row counted for no class, and have no totals.
        weights, counted_as = arrays["seen_weights"], arrays["seen_members"].clip(min=0)
        composition = Composition.from_rows(weights, counted_as, len(g.means))
        return cls(
            classes=persist.labels_from_json(settings["classes"]),
            gaussians=g,
            known_rows=KnownRows(
                arrays["seen"], weights, counted_as, None if second is None else second.folds
            ),
            class_totals=arrays.get("class_totals", composition.class_totals),
            trust=arrays.get("trust", arrays["support"].astype(float)),
            support=arrays["support"],
            n_iter=arrays["n_iter"],
            dtype=np.dtype(settings["dtype"]),
            noise=NoiseModel.from_arrays(arrays, "noise.") if "noise.nll" in arrays else None,
            reference=(
                Reference.from_arrays(arrays, "reference.") if "reference.size" in arrays else None
            ),
            kernel_map=(
                KernelMap.from_arrays(arrays, "kernel_map.")
                if "kernel_map.gamma" in arrays
                else None
            ),
            second=second,
        )


def label_columns(posterior: Array, codes: Array, distance: Array) -> Array:
    """Probability of the label, best class, its probability, and the distance, of each row."""
    every, best = np.arange(len(posterior)), posterior.argmax(axis=1)
    return np.column_stack([posterior[every, codes], best, posterior[every, best], distance])


@own_threads()
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
    codes, options = data.codes, choice.options.with_priors(classes)
    kernel_map = map_for(data, options, rng)
    rows = data if kernel_map is None else data.mapped(kernel_map)
    fit = estimate(choice.estimator, rows, options, rng)
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
        known_rows=KnownRows.from_training(
            data.X, codes, fit.composition, None if fit.second is None else fit.second.folds
        ),
        class_totals=fit.composition.class_totals,
        trust=trust,
        support=weights > (0.0 if fit.noise is None else half),
        n_iter=fit.n_iter,
        dtype=data.X.dtype,
        noise=fit.noise,
        reference=_reference(fit, data, counts, kernel_map),
        kernel_map=kernel_map,
        second=fit.second,
        alone=fit.alone,
        notes=tuple(notes),
    )


def _reference(fit: Fit, data: ByClass, counts: Array, kernel_map: KernelMap | None) -> Reference:
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
        kernel_map=kernel_map,
    )
