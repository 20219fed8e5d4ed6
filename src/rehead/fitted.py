"""What a fit makes, as a value: the Gaussians, what they are composed of, noise, what is usual.

An estimator makes it, a file holds it, labels are judged by it. Classifiers are shells around it
that check what users pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rehead._perrow import number_type
from rehead._typing import Array, Features, MappedFeatures, row_spans, some_rows
from rehead.files import persist
from rehead.fingerprint import KnownRows, Recognised
from rehead.fittedfile import check_gaussians, gaussians_of, unmapped_of, unmapped_to_arrays
from rehead.gaussian import ByClass, Composition, NoiseModel, TiedGaussians
from rehead.gaussian.kernel_map import KernelMap
from rehead.gaussian.kernels import whiten
from rehead.gaussian.leave_one_out import leave_one_out_scores
from rehead.gaussian.linear import SecondOpinion
from rehead.gaussian.machine import AGREEMENT, MIXTURE
from rehead.gaussian.threads import own_threads
from rehead.gaussian.typical import Map, Reference, strange_distances
from rehead.verdicts import (
    GivenLabel,
    JointReduce,
    LabelVerdicts,
    OneOpinion,
    Summary,
    Told,
    TwoOpinions,
)

WAYS = {
    MIXTURE: "Labels were taken for a machine's: classes are clusters, which labels only name.",
    AGREEMENT: "Labels were taken for a machine's: those count that stiff Gaussians agree with.",
}


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
        How much of each class they contain in all, in the unit of ``known_rows``.
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
    unmapped : TiedGaussians or None
        Of the features as they are, where there is a map; they tell how far a row is.
    second : SecondOpinion or None
        What else judges labels; its part of predictions is in the Gaussians' scores.
    alone : FittedGaussians or None
        What was found without it; not kept in files.
    way : {"", "mixture", "agreement"}
        How Gaussians were found where labels were taken for a machine's (``gaussian/machine.py``).
    told : int
        How many trusted labels chose between ways, if they did.
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
    unmapped: TiedGaussians | None = None
    second: SecondOpinion | None = None
    alone: Self | None = None
    way: str = ""
    told: int = 0
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
        return self if self.alone is None else self.alone

    def explain(self) -> str:
        """What there is beside Gaussians of the features as they are, in words."""
        said = [WAYS[self.way]] if self.way else []
        if self.told:
            said.append(f"{self.told} trusted labels chose this way to fit.")
        if self.kernel_map is not None:
            n = len(self.kernel_map.landmarks)
            said.append(f"Features were mapped by their similarity to {n} of the samples.")
            if self.kernel_map.importance is not None:
                said.append("Columns were weighed by what they tell about the labels.")
        if self.second is not None:
            said.append("A logistic regression that knows of the noise was a second opinion.")
        return " ".join(said)

    def scores(self, X: Features) -> Array:
        """The log posterior up to a term that all classes share."""
        return self.gaussians.scores(self.mapped(X))

    def best(self, X: Features) -> Array:
        """Code of the most probable class; scores of all rows are never all in memory."""
        best = np.empty(len(X), number_type(len(self.classes)))
        for span in row_spans(len(X), max(X.shape[1], len(self.classes))):
            best[span] = self.scores(X[span]).argmax(axis=1)
        return best

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
        unit = self.known_rows.unit
        return found, Composition(found.weights, found.counted_as, self.class_totals, unit)

    def verdicts(
        self, X: Features, codes: Array, leave_out: Array, noise: NoiseModel | None = None
    ) -> LabelVerdicts:
        """Judge labels; rows of the fit without themselves, where they are to be left out.

        ``noise`` in place of its own. Without any, a label is as good as its posterior.
        """
        noise = self.noise if noise is None else noise
        summary = Summary(GivenLabel.by(self.gaussians, noise), self.gaussians.means.shape[1])
        columns, known = self.without_themselves(X, codes, leave_out, summary)
        quality, best, probability, distance = columns.T
        if self.mapped_by is not None:
            distance = self.how_far(X, codes, leave_out)
        return LabelVerdicts(
            quality, best.astype(number_type(len(self.classes))), probability, distance, known
        )

    @property
    def mapped_by(self) -> Map | None:
        """The map, and what there was before it."""
        return None if self.kernel_map is None else Map(self.kernel_map, self.unmapped)

    def how_far(self, X: Features, codes: Array, leave_out: Array) -> Array:
        """How far rows are from everything, where a map hides it; without themselves if asked."""
        assert self.mapped_by is not None
        _, inside = self.recognise(X, codes)
        return self.mapped_by.how_far(X, inside.only(leave_out))

    def without_themselves(
        self, X: Features, codes: Array, leave_out: Array, reduce: JointReduce
    ) -> tuple[Array, Array]:
        """Reduced scores, rows of the fit left out where asked for; and which rows are known.

        ``reduce(scores, joint, codes)`` is given scores of the Gaussians, in which all classes have
        the same prior; the joint ones with a second opinion, if there is one; and labels.
        """
        found, inside = self.recognise(X, codes)
        folds = np.where(leave_out, found.folds, -1)
        told = Told(codes, folds)
        return self.leave_out(X, told, inside.only(leave_out), reduce), found.known

    def joint_scores(self, data: ByClass, rows: Array) -> Array:
        """Scores of some rows of the fit by all that judges them, each without itself."""
        X, every = some_rows(data.X, rows), np.ones(len(rows), bool)
        return self.without_themselves(X, data.codes[rows], every, _joint)[0]

    def leave_out(self, X: Features, told: Told, inside: Composition, reduce: JointReduce) -> Array:
        """Reduced scores of rows of which that much is inside, and which are in these folds."""
        mapped, even = self.mapped(X), self.gaussians.without_priors()
        if self.second is None:
            return leave_one_out_scores(even, mapped, told.codes, inside, OneOpinion(reduce))
        both = TwoOpinions(self.second.without_folds(), reduce)
        return leave_one_out_scores(even, mapped, (*told, mapped), inside, both)

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
        distances = strange_distances(self.gaussians, X, inside.counted_as, inside, self.mapped_by)
        return self.reference.pvalues(distances, own=known)

    @own_threads()
    def whitened(self, X: Features) -> Array:
        """Rows in the space where Euclidean distances are Mahalanobis distances."""
        mapped = np.asarray(self.mapped(X))
        centred = np.ascontiguousarray(np.subtract(mapped, self.gaussians.centre, dtype=np.float64))
        return whiten(centred, self.gaussians.factor)

    def to_state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Everything but the notes, as arrays and JSON."""
        g, known = self.gaussians, self.known_rows.in_order()
        arrays = {
            "means": g.means,
            "covariance": g.covariance,
            "priors": g.priors,
            "support": self.support,
            "trust": self.trust,
            "n_iter": self.n_iter,
            # The names that files have had from the start.
            "seen": known.fingerprints,
            # In samples: nothing in a file says what one of them weighs.
            "seen_weights": known.weights / known.unit,
            "seen_members": known.counted_as.astype(np.int64, copy=False),
            "class_totals": self.class_totals / known.unit,
        }
        if g.offsets is not None:
            arrays["offsets"] = g.offsets
        if self.reference is not None:
            arrays |= self.reference.to_arrays("reference.")
        if self.noise is not None:
            arrays |= self.noise.to_arrays("noise.")
        if self.kernel_map is not None:
            arrays |= self.kernel_map.to_arrays("kernel_map.")
        if self.unmapped is not None:
            arrays |= unmapped_to_arrays(self.unmapped)
        if g.added is not None:
            arrays |= {"added_weights": g.added.weights, "added_bias": g.added.bias}
        if self.second is not None and known.folds is not None:
            folds = known.folds.astype(np.int64, copy=False)
            arrays |= self.second._replace(folds=folds).to_arrays("second.")
        settings = {
            "classes": persist.labels_to_json(self.classes),
            "dtype": self.dtype.str,
            "temperature": g.temperature,
            "shrunk": g.shrunk,
            "estimated": g.estimated,
        }
        settings |= {n: v for n, v in (("way", self.way), ("told", self.told)) if v}
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
            unmapped=unmapped_of(arrays),
            second=second,
            way=settings.get("way", ""),
            told=settings.get("told", 0),
        )


def _joint(scores: Array, joint: Array, codes: Array) -> Array:
    return joint
