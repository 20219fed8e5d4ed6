"""What an ensemble is once it is fitted, as a value, whichever way it was fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from rehead._typing import Array, Features, cut_rows, row_spans
from rehead.ensemble.inputs import as_posterior
from rehead.ensemble.problem import STACK, Layers, join
from rehead.files.schema import (
    TEMPERATURES,
    FieldError,
    Fields,
    Sizes,
    by_name,
    by_part,
    check_fields,
    count,
    finite,
    floats,
    mapping,
    names,
    nullable,
    number,
    optional,
    record,
    require,
    simplex,
    text,
)
from rehead.fitted import FittedGaussians
from rehead.fittedfile import NOISE
from rehead.gaussian import NoiseModel
from rehead.gaussian.calibration import Calibration
from rehead.gaussian.labelnoise import mean_noise
from rehead.gaussian.probability import log_probabilities
from rehead.verdicts import GivenLabel, LabelVerdicts, WholePosterior, label_columns


class Consensus(NamedTuple):
    """What layers that judge labels for each other found out.

    Attributes
    ----------
    gaps : dict of layer name to float
        Memorisation gaps, in nats per label; empty where no samples were held out by the user.
    judges : list of str
        The layers that judged the labels.
    noise : NoiseModel
    trust : array of shape (n_samples,)
        How far each training label counts; NaN for samples that had to be held out. Empty where
        the ensemble was loaded from a file.
    rounds : int
        How many rounds the judges took.
    """

    gaps: dict[str, float]
    judges: list[str]
    noise: NoiseModel
    trust: Array
    rounds: int

    def explain(self) -> str:
        """In words."""
        judged = f"Labels were judged by {', '.join(self.judges)}, in {self.rounds} rounds."
        lines = [judged, self.noise.verdict()]
        if self.gaps:
            gaps = ", ".join(f"{n} {round(gap, 2) + 0.0:+.2f}" for n, gap in self.gaps.items())
            lines.insert(0, f"Memorisation gaps: {gaps}.")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class FittedEnsemble:
    """Members and how they are mixed.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    members : dict of name to FittedGaussians
        One for each layer, or for layers that were joined ("stack").
    given : dict of name to Calibration or None
        Members that are posteriors already, and how they are calibrated.
    weights : array of shape (n_members,)
        Of the members, then of the given ones.
    stacked : list of str
        The layers that "stack" was joined from, in order.
    density_member : str
        The member whose densities are those of the ensemble.
    transition : array of shape (n_classes, n_classes) or None
    consensus : Consensus or None
        For the default.
    """

    classes: Array
    members: dict[str, FittedGaussians]
    given: dict[str, Calibration | None]
    weights: Array
    stacked: list[str]
    density_member: str
    transition: Array | None = None
    consensus: Consensus | None = None

    @property
    def names(self) -> list[str]:
        """Of all members, in the order of the weights."""
        return [*self.members, *self.given]

    @property
    def noise(self) -> NoiseModel | None:
        """What was found out about the labels: by the judges, or by all members on average."""
        if self.consensus is not None:
            return self.consensus.noise
        found = [member.noise for member in self.members.values()]
        measured = [noise for noise in found if noise is not None]
        if len(measured) < len(found):
            return None
        weights = self.weights[: len(measured)]
        return mean_noise(measured, weights if weights.sum() > 0 else None)

    @property
    def judging_member(self) -> str:
        """The member in whose space labels are judged, or would be."""
        if self.consensus is None:
            return self.density_member
        return STACK if self.stacked else self.consensus.judges[0]

    def features(self, name: str, layers: Layers) -> Features:
        """What a member is asked about: a layer, or some of them joined."""
        return join(layers, self.stacked if name == STACK else [name])

    def given_posterior(self, name: str, layers: Layers) -> Array:
        """The posterior of a given member, calibrated where there were held-out labels."""
        posterior = as_posterior(layers[name], len(self.classes), name)
        calibration = self.given[name]
        if calibration is None:
            return posterior
        return calibration.posterior(log_probabilities(posterior))

    def member_posteriors(self, layers: Layers) -> list[Array]:
        """Posterior of each member, in the order of ``names``."""
        return [self._posterior_of(name, layers) for name in self.names]

    def _posterior_of(self, name: str, layers: Layers) -> Array:
        if name in self.given:
            return self.given_posterior(name, layers)
        return self.members[name].posterior(self.features(name, layers))

    def posterior(self, layers: Layers) -> Array:
        """``sum_l alpha_l P(y | f_l(x))``."""
        return mixture(self.weights, (self._posterior_of(name, layers) for name in self.names))

    def best(self, layers: Layers) -> Array:
        """Code of the most probable class; posteriors of all rows are never all in memory."""
        n, widest = 0, len(self.classes)
        for X in layers.values():
            n, widest = len(X), max(widest, X.shape[1])
        blocks = ({name: X[span] for name, X in layers.items()} for span in row_spans(n, widest))
        return np.concatenate([self.posterior(block).argmax(axis=1) for block in blocks])

    def verdicts(self, layers: Layers, codes: Array, leave_out: Array) -> LabelVerdicts:
        """Judge labels: by the judge where there is one, else by the mixture of all members."""
        if self.consensus is None:
            return self._verdicts_of_mixture(layers, codes, leave_out)
        X = self.features(self.judging_member, layers)
        return self.members[self.judging_member].verdicts(X, codes, leave_out, self.consensus.noise)

    def _verdicts_of_mixture(self, layers: Layers, codes: Array, leave_out: Array) -> LabelVerdicts:
        """In blocks: posteriors of many rows would not fit in memory."""
        found = [
            self._mixed_verdicts(
                {name: cut_rows(X, span) for name, X in layers.items()},
                codes[span],
                leave_out[span],
            )
            for span in row_spans(len(codes), len(self.classes))
        ]
        return LabelVerdicts(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def _mixed_verdicts(self, layers: Layers, codes: Array, leave_out: Array) -> LabelVerdicts:
        posterior, distance = np.zeros((len(codes), len(self.classes))), np.zeros(len(codes))
        known_to_all = np.ones(len(codes), bool)
        for weight, name in zip(self.weights, self.names, strict=True):
            if name in self.given:
                found = self.given_posterior(name, layers).astype(np.float64)
                noise = self.noise
                posterior += weight * (found if noise is None else noise.given_label(found, codes))
                continue
            member, X = self.members[name], self.features(name, layers)
            reduce = WholePosterior(
                GivenLabel.by(member.gaussians, member.noise), member.gaussians.means.shape[1]
            )
            found, known = member.without_themselves(X, codes, leave_out, reduce)
            posterior += weight * found[:, :-1]
            far = found[:, -1] if member.mapped_by is None else member.how_far(X, codes, leave_out)
            distance += weight * far
            known_to_all &= known
        quality, best, probability, _ = label_columns(posterior, codes, distance).T
        return LabelVerdicts(quality, best.astype(np.int64), probability, distance, known_to_all)

    def typicality(self, layers: Layers, codes: Array | None = None) -> Array | None:
        """How usual samples are: to the judge, or to the members, as a weighted harmonic mean."""
        if self.consensus is not None:
            X = self.features(self.judging_member, layers)
            return self.members[self.judging_member].typicality(X, codes)
        weights = self.weights[: len(self.members)]
        weights = weights if weights.sum() > 0 else np.ones(len(self.members))
        inverse = np.zeros(len(next(iter(layers.values()))))
        for weight, (name, member) in zip(weights, self.members.items(), strict=True):
            p = member.typicality(self.features(name, layers), codes)
            if p is None:
                return None
            inverse += weight / p
        harmonic: Array = weights.sum() / inverse
        return harmonic

    def log_density(self, layers: Layers) -> Array:
        """Low for samples unlike all classes."""
        density_member = self.members[self.density_member]
        return density_member.log_density(self.features(self.density_member, layers))

    def whitened(self, layers: Layers) -> Array:
        """Samples in the space that labels are judged in."""
        return self.members[self.judging_member].whitened(
            self.features(self.judging_member, layers)
        )

    def explain(self) -> str:
        """What was found and chosen, in words."""
        each = zip(self.names, self.weights, strict=True)
        shares = ", ".join(f"{name} {weight:.2f}" for name, weight in each)
        if self.consensus is not None:
            found = [self.consensus.explain()]
        else:
            found = [] if self.noise is None else [self.noise.verdict()]
        for name, member in self.members.items():
            said = member.explain()
            found += [f"{name}: {said}"] if said else []
        return "\n".join([*found, f"Weights of the members: {shares}."])

    def to_state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """As arrays and JSON; the trust in training labels is not kept."""
        arrays: dict[str, Array] = {"weights": self.weights}
        if self.transition is not None:
            arrays["transition"] = self.transition
        for name, calibration in self.given.items():
            if calibration is not None:
                numbers = np.append(calibration.temperature, calibration.offsets)
                arrays[f"calibration.{name}"] = numbers
        members = {}
        for i, (name, member) in enumerate(self.members.items()):
            of_member, members[name] = member.to_state()
            arrays |= {f"{i}.{key}": value for key, value in of_member.items()}
        settings: dict[str, Any] = {
            "members": members,
            "given": list(self.given),
            "stacked": self.stacked,
            "density_member": self.density_member,
            "judgement": None,  # the name that files have had from the start
        }
        if self.consensus is not None:
            arrays |= self.consensus.noise.to_arrays("judgement.")
            kept = ("gaps", "judges", "rounds")
            settings["judgement"] = {k: getattr(self.consensus, k) for k in kept}
        return arrays, settings

    @classmethod
    def from_state(cls, arrays: dict[str, Array], settings: dict[str, Any]) -> Self:
        """From :meth:`to_state`, or from what earlier versions wrote; each field is checked."""
        check_fields(settings, SETTINGS, {})
        parts = by_part(arrays)
        members = _members_of(parts, settings["members"])
        classes = next(iter(members.values())).classes
        # Earlier files have the names of the members, and what was set by the user.
        given = settings.get("given", [n for n in settings.get("layers", []) if n not in members])
        sizes = {"C": len(classes), "m": len(members) + len(given), "C+1": len(classes) + 1}
        check_fields(parts.pop(""), ARRAYS, sizes)
        calibrations = parts.pop("calibration", {})
        fields = {name: optional(floats("C+1", finite)) for name in given}
        check_fields(calibrations, fields, sizes, "calibration.")
        consensus = _consensus_of(parts, settings.get("judgement"), sizes)
        require(not parts, f"{next(iter(parts), '')} is nothing that rehead knows.")
        fitted = cls(
            classes=classes,
            members=members,
            given={name: _calibration(calibrations.get(name), name) for name in given},
            weights=arrays["weights"],
            stacked=settings.get("stacked", []),
            density_member=_density_member_of(settings, list(members)),
            transition=arrays.get("transition"),
            consensus=consensus,
        )
        _check_names(fitted)
        return fitted


ARRAYS: Fields = {
    "weights": floats("m", simplex),
    "transition": optional(floats("C C", simplex)),
}
JUDGEMENT: Fields = {"gaps": by_name(number()), "judges": names, "rounds": count()}
SETTINGS: Fields = {
    "members": by_name(mapping),
    "given": optional(names),
    "stacked": optional(names),
    "density_member": optional(text),
    "judgement": optional(nullable(record(JUDGEMENT))),
    "layers": optional(names),  # of earlier files
    "params": optional(mapping),  # which tell more in these
}
"""What a file holds of a FittedEnsemble, beside its members ("0.means", ...) by their number,
calibrations of what is given ("calibration.NAME"), and the noise that the judges found
("judgement.nll", ...): C classes, m members."""


def _members_of(parts: dict[str, Any], settings: dict[str, Any]) -> dict[str, FittedGaussians]:
    """Members of a file, whose arrays are taken out of its parts."""
    require(len(settings) > 0, "members must not be empty.")
    first = next(iter(settings.values())).get("classes")
    members = {}
    for i, (name, saved) in enumerate(settings.items()):
        require(str(i) in parts, f"member {name!r} has no arrays.")
        # Earlier files tell of members what is that of a classifier.
        own = {k: v for k, v in saved.items() if k not in ("params", "feature_names")}
        require(own.get("classes") == first, f"member {name!r} has other classes than the first.")
        try:
            members[name] = FittedGaussians.from_state(parts.pop(str(i)), own)
        except FieldError as error:
            raise FieldError(f"member {name!r}: {error}") from error
    return members


def _consensus_of(parts: dict[str, Any], saved: Any, sizes: Sizes) -> Consensus | None:
    """The consensus of a file, whose arrays are taken out of its parts."""
    if saved is None:
        return None
    arrays = parts.pop("judgement", {})
    check_fields(arrays, NOISE, dict(sizes), "judgement.")
    return Consensus(noise=NoiseModel.from_arrays(arrays, ""), trust=np.empty(0), **saved)


def _check_names(fitted: FittedEnsemble) -> None:
    """Raise a FieldError where names do not go together."""
    members, widths = fitted.members, {}
    for name, member in members.items():
        widths[name] = member.n_features
    unique = len(set(fitted.names)) == len(fitted.names)
    require(unique, "given has the name of a member.")
    require(fitted.density_member in members, "density_member is no member.")
    require((STACK in members) == bool(fitted.stacked), "stacked does not go with the members.")
    joined = [widths[name] for name in fitted.stacked if name in widths]
    if len(joined) == len(fitted.stacked) > 0:
        require(sum(joined) == widths[STACK], "stacked has another width than its layers.")
    if fitted.consensus is not None:
        judges = fitted.consensus.judges
        require(len(judges) > 0, "judgement.judges must not be empty.")
        require(fitted.judging_member in members, "judgement.judges are not members.")


def mixture(weights: Array, posteriors: Iterable[Array]) -> Array:
    """The weighted mean of posteriors, of which one at a time is in memory."""
    mean: Array = sum(a * p for a, p in zip(weights, posteriors, strict=True))
    return mean


def _calibration(numbers: Array | None, name: str) -> Calibration | None:
    if numbers is None:
        return None
    fits = TEMPERATURES[0] <= numbers[0] <= TEMPERATURES[1]
    require(bool(fits), f"calibration.{name} must begin with a temperature above 0.")
    return Calibration(float(numbers[0]), numbers[1:])


def _density_member_of(settings: dict[str, Any], members: list[str]) -> str:
    """The member itself, or what earlier files mean: the penultimate layer, or the last one."""
    if "density_member" in settings:
        return str(settings["density_member"])
    params = settings.get("params", {})
    name = params.get("penultimate")
    return members[-1] if name is None or params.get("stack") else str(name)
