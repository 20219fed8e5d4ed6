"""Consensus: labels are judged by layers that did not memorise them, for the good of all layers.

The deep layers of a network have memorised the wrong labels, the earlier ones (and the raw input,
and any encoder that never saw the labels) have not. So

1. layers that did not memorise the labels are the judges (``memorisation.py``); stacked, they say
   how far each label is to be trusted ("anchored", see ``gaussian/anchored.py``), and what the
   noise is;
2. every layer is estimated anew, samples weighted by that trust or counted to what they are;
3. on held-out noisy labels, with the *one* transition matrix of the judges, each member is
   calibrated and the mixture of members is chosen under which these labels are most likely. The
   network's own softmax is a member like any other: it is kept where the labels are clean.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead._validation import ReheadWarning, as_posterior
from rehead.classifier import RobustGaussianClassifier
from rehead.gaussian.labelnoise import Calibration, NoiseModel, calibrate, fit_noise
from rehead.gaussian.posterior import Kept, label_scores
from rehead.members import OF_JUDGE, PRIOR, Judged, log_of, members_of, mixture_weights
from rehead.memorisation import (
    HeldOut,
    choose_judges,
    different,
    memorisation_gap,
    more_judges,
    warn_of_judges,
)

CONFIDENT = 0.85
"""Judges that are less sure than this, on average, may need others beside them."""
ENOUGH = 1000
"""Held-out samples that it takes to measure the noise on them."""
LEAST_TRUST = 1e-3
"""No label is trusted less, so that no class is ever empty."""
STACK = "stack"


class Judgement(NamedTuple):
    """What was found about layers and labels."""

    gaps: dict[str, float]
    judges: list[str]
    noise: NoiseModel
    trust: Array
    rounds: int

    def explain(self, names: list[str], weights: Array) -> str:
        """In words."""
        lines = []
        if self.gaps:
            gaps = ", ".join(
                f"{name} {round(gap, 2) + 0.0:+.2f}" for name, gap in self.gaps.items()
            )
            lines.append(f"Memorisation gaps: {gaps}.")
        lines.append(f"Labels were judged by {', '.join(self.judges)}, in {self.rounds} rounds.")
        rate, error = self.noise.wrong, self.noise.rate_error
        verdict = "about clean" if rate <= 2 * error else f"{rate:.1%} wrong"
        lines.append(f"The labels are {verdict} (standard error {error:.1%}).")
        shares = ", ".join(f"{n} {w:.2f}" for n, w in zip(names, weights, strict=True))
        lines.append(f"Weights of the members: {shares}.")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """All but the arrays."""
        return {
            "gaps": self.gaps,
            "judges": self.judges,
            "rounds": self.rounds,
        }

    @classmethod
    def from_json(cls, saved: Any, arrays: Mapping[str, Array]) -> Judgement | None:
        """From :meth:`as_json` and the arrays of a file."""
        if saved is None:
            return None
        fields: dict[str, Any] = {f: arrays[f"judgement.{f}"] for f in NoiseModel._fields}
        fields |= {name: float(fields[name]) for name in ("temperature", "nll", "wrong")}
        return cls(noise=NoiseModel(**fields), trust=np.empty(0), **saved)


class Consensus(NamedTuple):
    """Members by name, in order, with their weights."""

    names: list[str]
    members: dict[str, RobustGaussianClassifier]
    calibrations: dict[str, Calibration]
    weights: Array
    stacked: list[str]
    judgement: Judgement


def fit_consensus(
    layers: dict[str, Array],
    given: dict[str, Array],
    codes: Array,
    classes: Array,
    held_out: HeldOut | None,
    trusted: Any,
    rng: np.random.Generator,
    groups: Array | None = None,
) -> Consensus:
    """Judge the labels, estimate every layer from the trusted ones, weigh the members."""
    gaps: dict[str, float] = {}
    if held_out is None and len(layers) == 1 and not given:
        return _alone(layers, classes[codes], trusted, rng)
    if held_out is None:
        layers, given, codes, held_out, trusted = _own_split(
            layers, given, codes, classes, trusted, rng, groups
        )
        judges = list(layers)[:1]
    else:
        gaps = {
            name: memorisation_gap(X, codes, held_out.layers[name], held_out.codes)
            for name, X in layers.items()
        }
        judges = choose_judges(gaps)
        warn_of_judges(gaps, judges)
    judges = different(judges, layers)
    X = np.concatenate([layers[name] for name in judges], axis=1)
    seed = int(rng.integers(2**31))
    judge, said = _fitted_judge(X, classes[codes], trusted, seed)
    more = judges
    if len(gaps) > len(judges) and _confidence(judge, X, codes) < CONFIDENT:
        more = more_judges(layers, codes, held_out, gaps, judges)
    if len(more) > len(judges):
        judges, X = more, np.concatenate([layers[name] for name in more], axis=1)
        judge, said = _fitted_judge(X, classes[codes], trusted, seed)
    _say(said)
    assert judge.noise_ is not None
    noise, trust = judge.noise_, judge.trust_
    judged = Judged(trust, partial(_classes, judge, X, codes, noise, trusted))
    weighed = _weigh(layers, given, codes, classes, held_out, judges, judge, noise, judged)
    sharper = _sharper(weighed, held_out, noise)
    if sharper is not None:
        noise, trust = _judged_again(judge, X, codes, sharper, trusted)
        judged = Judged(trust, partial(_classes, judge, X, codes, noise, trusted))
        weighed = _weigh(layers, given, codes, classes, held_out, judges, judge, noise, judged)
    judgement = Judgement(gaps, judges, noise, trust, int(judge.n_iter_.max()))
    return Consensus(
        [*weighed.members, *given],
        weighed.members,
        weighed.calibrations,
        weighed.weights,
        judges if len(judges) > 1 else [],
        judgement,
    )


def _alone(layers: dict[str, Array], y: Array, trusted: Any, rng: np.random.Generator) -> Consensus:
    """One layer and nothing to weigh: no sample has to be held out."""
    ((name, X),) = layers.items()
    judge, said = _fitted_judge(X, y, trusted, int(rng.integers(2**31)))
    _say(said)
    assert judge.noise_ is not None
    judgement = Judgement({}, [name], judge.noise_, judge.trust_, int(judge.n_iter_.max()))
    return Consensus([name], {name: judge}, {}, np.ones(1), [], judgement)


class Weighed(NamedTuple):
    """Members, their weights, and the posterior of their mixture on the held-out samples."""

    members: dict[str, RobustGaussianClassifier]
    calibrations: dict[str, Calibration]
    weights: Array
    posterior: Array


def _weigh(
    layers: dict[str, Array],
    given: dict[str, Array],
    codes: Array,
    classes: Array,
    held_out: HeldOut,
    judges: list[str],
    judge: RobustGaussianClassifier,
    noise: NoiseModel,
    judged: Judged,
) -> Weighed:
    """Estimate every layer as judged, and weigh the members on held-out samples."""
    members: dict[str, RobustGaussianClassifier] = {}
    others = {name: X for name, X in layers.items() if [name] != judges}
    found = members_of(
        others,
        codes,
        len(classes),
        judged,
        held_out.layers,
        held_out.codes,
        noise.transition,
    )
    for name, X in layers.items():
        if name not in others:
            members[name] = judge
            continue
        member = RobustGaussianClassifier("sample", shrinkage="auto")
        member.fit(X, classes[codes], sample_weight=np.maximum(judged.trust, LEAST_TRUST))
        member._set_gaussians(found[name].gaussians, X.dtype)
        members[name] = member
    if len(judges) > 1:
        members[STACK] = judge
    posteriors = []
    for name, member in members.items():
        names = judges if name == STACK else [name]
        X = np.concatenate([held_out.layers[n] for n in names], axis=1)
        posteriors.append(member.predict_proba(X).astype(np.float64))
    calibrations = {}
    for name in given:
        logs = log_of(as_posterior(held_out.layers[name], len(classes), name))
        calibrations[name] = calibrate(logs, held_out.codes, noise.transition)
        posteriors.append(calibrations[name].posterior(logs))
    prior = [OF_JUDGE if members.get(name) is judge else PRIOR for name in [*members, *given]]
    weights = mixture_weights(posteriors, held_out.codes, noise.transition, prior)
    mixture = sum((w * p for w, p in zip(weights, posteriors, strict=True)), start=np.zeros(()))
    return Weighed(members, calibrations, weights, mixture)


def _sharper(weighed: Weighed, held_out: HeldOut, noise: NoiseModel) -> NoiseModel | None:
    """The noise as the mixture sees it on held-out samples, where it is clearly less.

    Anchors of a weak judge are not all of the class they are taken for, which makes the noise seem
    larger than it is, never smaller.
    """
    if len(held_out.codes) < ENOUGH:
        return None
    seen = fit_noise(log_of(weighed.posterior), held_out.codes)
    return seen if seen.rate + 2 * seen.rate_error < noise.rate else None


def _fitted_judge(
    X: Array, y: Array, trusted: Any, seed: int
) -> tuple[RobustGaussianClassifier, list[warnings.WarningMessage]]:
    """A judge, and what it has to say; whether that is said depends on whether it is kept."""
    judge = RobustGaussianClassifier("anchored", random_state=seed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        judge.fit(X, y, trusted=trusted)
    return judge, said


def _say(said: list[warnings.WarningMessage]) -> None:
    for w in said:
        warnings.warn(str(w.message), w.category, stacklevel=5)


def _left_out_scores(
    judge: RobustGaussianClassifier, X: Array, codes: Array, part: slice = slice(None)
) -> Array:
    """Scores of (some) training samples, each without itself."""
    of_class = np.bincount(codes, weights=judge.trust_, minlength=len(judge.classes_))
    inside = Kept(judge.trust_[part], codes[part], of_class)
    return label_scores(judge._gaussians, X[part], codes[part], inside, lambda s, _: s)


def _classes(
    judge: RobustGaussianClassifier,
    X: Array,
    codes: Array,
    noise: NoiseModel,
    trusted: Any,
    part: slice,
) -> Array:
    """``P(c | x, y)`` of some training samples; trusted ones are what their labels say."""
    judged = noise.judged(_left_out_scores(judge, X, codes, part), codes[part])
    if trusted is not None:
        known = np.asarray(trusted)[part]
        judged[known] = np.eye(len(judge.classes_))[codes[part][known]]
    return judged


def _confidence(judge: RobustGaussianClassifier, X: Array, codes: Array) -> float:
    """How sure an honest judge is of what the samples are, on average."""
    assert judge.noise_ is not None
    sure = judge.noise_.posterior(_left_out_scores(judge, X, codes)).max(axis=1)
    return float(sure.mean())


def _judged_again(
    judge: RobustGaussianClassifier, X: Array, codes: Array, noise: NoiseModel, trusted: Any
) -> tuple[NoiseModel, Array]:
    """Trust in the labels with another transition matrix."""
    scores = _left_out_scores(judge, X, codes)
    again = fit_noise(scores, codes, noise.transition)._replace(anchors=noise.anchors)
    trust = again.trust(scores, codes)
    if trusted is not None:
        trust[np.asarray(trusted)] = 1.0
    return again, np.maximum(trust, LEAST_TRUST)


def _own_split(
    layers: dict[str, Array],
    given: dict[str, Array],
    codes: Array,
    classes: Array,
    trusted: Any,
    rng: np.random.Generator,
    groups: Array | None,
) -> tuple[dict[str, Array], dict[str, Array], Array, HeldOut, Any]:
    """Hold samples out, where the user has none: right for features that saw no labels."""
    warnings.warn(
        "No held-out samples were given, so a fifth of the training samples was held out, and "
        f"the first layer ({next(iter(layers))}) judges the labels. For layers of a network "
        "that was trained on these samples, pass validation=(layers, labels) of others: it has "
        "memorised these.",
        ReheadWarning,
        stacklevel=5,
    )
    held = np.zeros(len(codes), bool)
    if groups is not None:
        # Whole groups, at random, until a fifth of the samples is reached.
        order = rng.permutation(groups.max() + 1)
        reached = np.cumsum(np.bincount(groups)[order])
        held = np.isin(groups, order[reached <= max(len(codes) / 5, reached[0])])
        held &= ~_only_in(held, codes, len(classes))
    else:
        for c in range(len(classes)):
            rows = rng.permutation(np.flatnonzero(codes == c))
            held[rows[: len(rows) // 5]] = True
    if not held.any():
        held[:] = True  # a handful of samples: they must do for both
        rest = held
    else:
        rest = ~held
    of_held = {name: X[held] for name, X in {**layers, **given}.items()}
    return (
        {name: X[rest] for name, X in layers.items()},
        {name: X[rest] for name, X in given.items()},
        codes[rest],
        HeldOut(of_held, codes[held]),
        None if trusted is None else np.asarray(trusted)[rest],
    )


def _only_in(held: Array, codes: Array, n_classes: int) -> Array:
    """Rows of classes that would have no sample outside of the held-out part."""
    outside = np.bincount(codes[~held], minlength=n_classes)
    lost: Array = outside[codes] == 0
    return lost
