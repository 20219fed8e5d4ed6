"""Consensus: labels are judged by layers that did not memorise them, for the good of all layers.

The deep layers of a network have memorised the wrong labels, the earlier ones (and the raw input,
and any encoder that never saw the labels) have not. So

1. layers that did not memorise the labels are the judges (``memorisation.py``); stacked, they say
   how far each label is to be trusted ("anchored", see ``gaussian/anchored.py``), and what the
   noise is;
2. every layer is estimated anew, samples weighted by that trust or counted to what they are;
3. on held-out noisy labels, with the *one* transition matrix of the judges, each member is
   calibrated (but for the judge, which is from the training labels, judged leave-one-out) and the
   mixture of members is chosen under which these labels are most likely. The network's own softmax
   is a member like any other: it is kept where the labels are clean.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead._validation import ReheadWarning, as_posterior
from rehead.classifier import RobustGaussianClassifier
from rehead.ensemble.judges import (
    HeldOut,
    choose_judges,
    different,
    memorisation_gap,
    more_judges,
    warn_of_judges,
)
from rehead.ensemble.members import OF_JUDGE, PRIOR, Judged, log_of, members_of, mixture_weights
from rehead.gaussian.labelnoise import SAMPLED, Calibration, NoiseModel, calibrate, fit_noise
from rehead.gaussian.posterior import Kept, label_scores

CONFIDENT = 0.85
"""Judges that are less sure than this, on average, may need others beside them."""
ENOUGH = 1000
"""Held-out samples that it takes to measure the noise on them."""
LEAST_TRUST = 1e-3
"""No label is trusted less, so that no class is ever empty."""
STACK = "stack"


class Judgement(NamedTuple):
    """What was found about layers and labels.

    ``trust`` is NaN for samples that had to be held out.
    """

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
        return cls(noise=NoiseModel.from_arrays(arrays, "judgement."), trust=np.empty(0), **saved)


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
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Consensus:
    """Judge the labels, estimate every layer as judged, weigh the members.

    ``options`` are those of the judge.
    """
    gaps: dict[str, float] = {}
    if held_out is None and len(layers) == 1 and not given:
        return _alone(layers, classes[codes], trusted, rng, options)
    kept = np.ones(len(codes), bool)
    if held_out is None:
        held, kept = _own_split(next(iter(layers)), codes, len(classes), rng, groups)
        held_out = HeldOut({n: X[held] for n, X in {**layers, **given}.items()}, codes[held])
        layers, given = ({n: X[kept] for n, X in of.items()} for of in (layers, given))
        codes, trusted = codes[kept], None if trusted is None else trusted[kept]
        judges = list(layers)[:1]
    else:
        gaps = {
            name: memorisation_gap(
                layers[name], codes, held_out.layers[name], held_out.codes, trusted
            )
            for name in different(layers)
        }
        judges = choose_judges(gaps)
        warn_of_judges(gaps, judges)
    fit = partial(_fitted_judge, layers, classes[codes], trusted, int(rng.integers(2**31)), options)
    judge, X, said = fit(judges)
    if len(gaps) > len(judges) and _confidence(judge, X, codes) < CONFIDENT:
        more = more_judges(layers, codes, held_out, gaps, judges, trusted)
        if more != judges:
            judges, (judge, X, said) = more, fit(more)
    _say(said, stacklevel=5)

    def weighed_with(noise: NoiseModel, trust: Array) -> Weighed:
        judged = Judged(trust, partial(_classes, judge, X, codes, noise, trusted))
        return _weigh(layers, given, codes, classes, held_out, judges, judge, noise, judged)

    assert judge.noise_ is not None
    noise, trust = judge.noise_, judge.trust_
    weighed = weighed_with(noise, trust)
    sharper = _sharper(weighed, held_out, noise)
    if sharper is not None:
        noise, trust = _judged_again(judge, X, codes, sharper, trusted)
        weighed = weighed_with(noise, trust)
    of_all = np.full(len(kept), np.nan)
    of_all[kept] = trust
    judgement = Judgement(gaps, judges, noise, of_all, int(judge.n_iter_.max()))
    return Consensus(
        [*weighed.members, *given],
        weighed.members,
        weighed.calibrations,
        weighed.weights,
        judges if len(judges) > 1 else [],
        judgement,
    )


def _alone(
    layers: dict[str, Array],
    y: Array,
    trusted: Any,
    rng: np.random.Generator,
    options: Mapping[str, Any],
) -> Consensus:
    """One layer and nothing to weigh: no sample has to be held out."""
    (name,) = layers
    judge, _, said = _fitted_judge(layers, y, trusted, int(rng.integers(2**31)), options, [name])
    _say(said, stacklevel=6)
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say, the judge has said
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
    layers: dict[str, Array],
    y: Array,
    trusted: Any,
    seed: int,
    options: Mapping[str, Any],
    names: list[str],
) -> tuple[RobustGaussianClassifier, Array, list[warnings.WarningMessage]]:
    """The judge of some layers, these joined, and what it has to say if it is kept."""
    X = np.concatenate([layers[name] for name in names], axis=1)
    judge = RobustGaussianClassifier("anchored", random_state=seed, **options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        judge.fit(X, y, trusted=trusted)
    return judge, X, said


def _say(said: list[warnings.WarningMessage], stacklevel: int) -> None:
    for w in said:
        warnings.warn(str(w.message), w.category, stacklevel=stacklevel)


def _left_out(
    judge: RobustGaussianClassifier,
    X: Array,
    codes: Array,
    reduce: Callable[[Array, Array], Array],
    part: Any = slice(None),
) -> Array:
    """Reduced scores of (some) training samples, each without itself; N x C is never in memory."""
    of_class = np.bincount(codes, weights=judge.trust_, minlength=len(judge.classes_))
    inside = Kept(judge.trust_[part], codes[part], of_class)
    return label_scores(judge._gaussians, X[part], codes[part], inside, reduce)


def _classes(
    judge: RobustGaussianClassifier,
    X: Array,
    codes: Array,
    noise: NoiseModel,
    trusted: Any,
    part: slice,
) -> Array:
    """``P(c | x, y)`` of some training samples; trusted ones are what their labels say."""
    judged = _left_out(judge, X, codes, noise.judged, part)
    if trusted is not None:
        known = np.asarray(trusted)[part]
        judged[known] = np.eye(len(judge.classes_))[codes[part][known]]
    return judged


def _confidence(judge: RobustGaussianClassifier, X: Array, codes: Array) -> float:
    """How sure an honest judge is of what the samples are, on average."""
    noise = judge.noise_
    assert noise is not None
    return float(_left_out(judge, X, codes, lambda s, _: noise.posterior(s).max(axis=1)).mean())


def _judged_again(
    judge: RobustGaussianClassifier, X: Array, codes: Array, noise: NoiseModel, trusted: Any
) -> tuple[NoiseModel, Array]:
    """Trust in the labels with another transition matrix."""
    some = np.linspace(0, len(codes) - 1, min(SAMPLED, len(codes))).astype(np.int64)
    scores = _left_out(judge, X, codes, lambda s, _: s, some)
    again = fit_noise(scores, codes[some], noise.transition)._replace(anchors=noise.anchors)
    trust = _left_out(judge, X, codes, again.trust)
    if trusted is not None:
        trust[trusted] = 1.0
    again = again._replace(wrong=1.0 - float(trust.mean()))
    # What the judge left out, being far from everything, stays out.
    return again, np.where(judge.trust_ > 0, np.maximum(trust, LEAST_TRUST), 0.0)


def _own_split(
    first: str,
    codes: Array,
    n_classes: int,
    rng: np.random.Generator,
    groups: Array | None,
) -> tuple[Array, Array]:
    """Samples to hold out, where the user has none, and those to keep.

    It is right for features that saw no labels.
    """
    warnings.warn(
        "No held-out samples were given, so a fifth of the training samples was held out, and "
        f"the first layer ({first}) judges the labels. For layers of a network "
        "that was trained on these samples, pass validation=(layers, labels) of others: it has "
        "memorised these.",
        ReheadWarning,
        stacklevel=5,
    )
    held = np.zeros(len(codes), bool)
    if groups is not None:
        # Whole groups, at random, as long as they fit in a fifth of the samples.
        sizes = np.bincount(groups)
        for group in rng.permutation(len(sizes)):
            of_group = groups == group
            alone = np.bincount(codes[~(held | of_group)], minlength=n_classes) == 0
            if held.sum() + sizes[group] <= len(codes) / 5 and not alone.any():
                held |= of_group
    else:
        for c in range(n_classes):
            rows = rng.permutation(np.flatnonzero(codes == c))
            held[rows[: len(rows) // 5]] = True
    if not held.any():
        # A handful of samples, or of groups: they must do for both.
        return ~held, ~held
    return held, ~held
