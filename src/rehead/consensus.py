"""Consensus: labels are judged by layers that did not memorise them, for the good of all layers.

The deep layers of a network have memorised the wrong labels, the earlier ones (and the raw input,
and any encoder that never saw the labels) have not. A layer gives itself away by its *memorisation
gap*: how much more likely its leave-one-out posterior makes the training labels than held-out ones,
which are just as noisy. So

1. layers whose gap is small are the judges; stacked, they say how far each label is to be trusted
   ("anchored", see ``gaussian/anchored.py``), and what the noise is;
2. every layer is estimated anew from samples weighted by that trust;
3. on held-out noisy labels, with the *one* transition matrix of the judges, each member is
   calibrated and the mixture of members is chosen under which these labels are most likely. The
   network's own softmax is a member like any other: it is kept where the labels are clean.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rehead._typing import Array
from rehead._validation import ReheadWarning, as_posterior
from rehead.classifier import RobustGaussianClassifier
from rehead.gaussian import group_by_class
from rehead.gaussian.anchored import Regularisation
from rehead.gaussian.kernels import Subset
from rehead.gaussian.labelnoise import Calibration, NoiseModel, calibrate, fit_noise
from rehead.gaussian.posterior import Kept, label_scores
from rehead.gaussian.rows import pooled_moments
from rehead.gaussian.tied import TiedGaussians, from_moments

GAP = 0.05
"""Layers whose gap is at most so much above the smallest one are judges."""
MEMORISED = 0.5
"""Gap in nats from which on a layer knows its labels by heart."""
CONFIDENT = 0.85
"""Judges that are less sure than this, on average, may need others beside them."""
ENOUGH = 1000
"""Held-out samples that it takes to measure the noise on them."""
CANDIDATES = tuple(Regularisation(a, d) for d in (False, True) for a in (0.02, 0.1, 0.3, 0.6))
"""What the members' regularisation is chosen from."""
SAMPLED = 5_000
"""So many samples are enough to measure an agreement."""
LEAST_TRUST = 1e-3
"""No label is trusted less, so that no class is ever empty."""
STACK = "stack"
PRIOR = 1.0
"""Every member starts with the weight of so many held-out samples."""


def memorisation_gap(X: Array, codes: Array, held_out: Array, held_out_codes: Array) -> float:
    """How much likelier training labels are than held-out ones, in nats a label.

    Training labels are judged leave-one-out, so a layer that knows nothing of them has a gap of
    about 0.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> honest, memorised = rng.normal(size=(400, 2)), rng.normal(size=(400, 2)) + 5 * y[:, None]
    >>> new, new_y = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    >>> abs(memorisation_gap(honest, y, new, new_y)) < 0.1
    True
    >>> memorisation_gap(memorised, y, new, new_y) > 0.5
    True
    """
    return seen_and_new(X, codes, held_out, held_out_codes).gap


class SeenAndNew(NamedTuple):
    """Nats a label of training labels, judged leave-one-out, and of held-out ones."""

    seen: float
    new: float

    @property
    def gap(self) -> float:
        """How much likelier training labels are."""
        return self.new - self.seen


def seen_and_new(X: Array, codes: Array, held_out: Array, held_out_codes: Array) -> SeenAndNew:
    """How likely a layer makes labels, all of its parameters set by the training labels."""
    n_classes = int(max(codes.max(), held_out_codes.max())) + 1
    data = group_by_class(X, codes, n_classes)
    whole = [data.whole(c) for c in range(n_classes)]
    gaussians = from_moments(pooled_moments(data, whole, np.float64), shrinkage="auto")
    some = np.linspace(0, len(codes) - 1, min(SAMPLED, len(codes))).astype(np.int64)
    sizes = np.bincount(codes, minlength=n_classes).astype(float)
    inside = Kept(np.ones(len(some)), codes[some], sizes)
    scores = label_scores(gaussians, X[some], codes[some], inside, lambda s, _: s)
    noise = fit_noise(scores, codes[some])
    posterior = noise.posterior(gaussians.scores(held_out))
    return SeenAndNew(noise.nll, corrected_nll(posterior, held_out_codes, noise.transition))


def choose_judges(gaps: Mapping[str, float]) -> list[str]:
    """Names of the layers that may judge the training labels."""
    limit = max(min(gaps.values()), 0.0) + GAP
    return [name for name, gap in gaps.items() if gap <= limit]


def more_judges(
    layers: dict[str, Array],
    codes: Array,
    held_out: HeldOut,
    gaps: Mapping[str, float],
    judges: list[str],
) -> list[str]:
    """Judges, and the layers next to them in their gaps that have more to say.

    A weak judge takes samples for anchors that are none, and sees more noise than there is. Layers
    with a larger gap know more, if only they do not know the labels by heart. Held-out labels tell:
    they get likelier with what a layer knows, and less likely with what it has memorised, since all
    parameters are set by the training labels.
    """
    order = [*judges, *sorted(set(gaps) - set(judges), key=lambda name: gaps[name])]

    def unlikely(n: int) -> float:
        X, new = (
            np.concatenate([of[name] for name in order[:n]], axis=1)
            for of in (layers, held_out.layers)
        )
        return seen_and_new(X, codes, new, held_out.codes).new

    best = min(range(len(judges), len(order) + 1), key=unlikely)
    return [name for name in gaps if name in order[:best]]


class Member(NamedTuple):
    """Gaussians of a layer, calibrated, and how likely they make held-out labels."""

    gaussians: TiedGaussians
    nll: float


def weighted_member(
    X: Array,
    codes: Array,
    n_classes: int,
    trust: Array,
    held_out: Array,
    held_out_codes: Array,
    transition: Array,
) -> Member:
    """Gaussians of trusted samples; shrinkage and calibration as held-out labels ask for."""
    data = group_by_class(X, codes, n_classes)
    subsets = [Subset(np.arange(len(rows)), trust[rows]) for rows in data.rows]
    pooled = pooled_moments(data, subsets, np.float64)
    members = []
    for candidate in CANDIDATES:
        gaussians = from_moments(pooled, **candidate._asdict())
        scores = gaussians.scores(held_out)
        honest = calibrate(scores, held_out_codes, transition)
        nll = corrected_nll(honest.posterior(scores), held_out_codes, transition)
        members.append(Member(with_calibration(gaussians, honest), nll))
    return min(members, key=lambda m: m.nll)


def with_calibration(gaussians: TiedGaussians, honest: Calibration) -> TiedGaussians:
    """The same Gaussians with an honest posterior."""
    return replace(gaussians, temperature=honest.temperature, offsets=honest.offsets)


def corrected_nll(posterior: Array, codes: Array, transition: Array) -> float:
    """Mean of ``-log sum_c p_c T[c, y]``: how unlikely noisy labels are."""
    likelihood = (posterior * transition[:, codes].T).sum(axis=1)
    return float(-np.log(np.maximum(likelihood, np.finfo(float).tiny)).mean())


def mixture_weights(
    posteriors: list[Array], codes: Array, transition: Array, *, n_iter: int = 500
) -> Array:
    """Weights of members under which noisy labels are most likely, by EM.

    Each member counts as if ``PRIOR`` held-out samples spoke for it, so that a few samples cannot
    switch one off.
    """
    of_label = transition[:, codes].T
    likelihoods = np.stack([(p * of_label).sum(axis=1) for p in posteriors], axis=1)
    likelihoods /= np.maximum(likelihoods.max(axis=1, keepdims=True), np.finfo(float).tiny)
    weights = np.full(len(posteriors), 1.0 / len(posteriors))
    for _ in range(n_iter):
        share = likelihoods * weights
        share /= np.maximum(share.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        weights = share.sum(axis=0) + PRIOR
        weights /= weights.sum()
    return weights


class HeldOut(NamedTuple):
    """Layers (given posteriors among them) and noisy class codes of held-out samples."""

    layers: dict[str, Array]
    codes: Array


class Judgement(NamedTuple):
    """What was found about layers and labels; ``wrong`` is the share of wrong labels."""

    gaps: dict[str, float]
    judges: list[str]
    noise: NoiseModel
    trust: Array
    rounds: int
    wrong: float

    def explain(self, names: list[str], weights: Array) -> str:
        """In words."""
        lines = []
        if self.gaps:
            gaps = ", ".join(
                f"{name} {round(gap, 2) + 0.0:+.2f}" for name, gap in self.gaps.items()
            )
            lines.append(f"Memorisation gaps: {gaps}.")
        lines.append(f"Labels were judged by {', '.join(self.judges)}, in {self.rounds} rounds.")
        rate, error = self.wrong, self.noise.rate_error
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
            "wrong": self.wrong,
        }

    @classmethod
    def from_json(cls, saved: Any, arrays: Mapping[str, Array]) -> Judgement | None:
        """From :meth:`as_json` and the arrays of a file."""
        if saved is None:
            return None
        fields: dict[str, Any] = {f: arrays[f"judgement.{f}"] for f in NoiseModel._fields}
        fields |= {name: float(fields[name]) for name in ("temperature", "nll")}
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
        _warn_of_judges(gaps, judges)
    judges = _different(judges, layers)
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
    weighed = _weigh(layers, given, codes, classes, held_out, judges, judge, noise, trust)
    sharper = _sharper(weighed, held_out, noise)
    if sharper is not None:
        noise, trust = _judged_again(judge, X, codes, sharper, trusted)
        weighed = _weigh(layers, given, codes, classes, held_out, judges, judge, noise, trust)
    wrong = 1.0 - float(trust.mean())
    judgement = Judgement(gaps, judges, noise, trust, int(judge.n_iter_.max()), wrong)
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
    wrong = 1.0 - float(judge.trust_.mean())
    judgement = Judgement({}, [name], judge.noise_, judge.trust_, int(judge.n_iter_.max()), wrong)
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
    trust: Array,
) -> Weighed:
    """Estimate every layer from trusted samples, and weigh the members on held-out ones."""
    members: dict[str, RobustGaussianClassifier] = {}
    for name, X in layers.items():
        if [name] == judges:
            members[name] = judge
            continue
        found = weighted_member(
            X, codes, len(classes), trust, held_out.layers[name], held_out.codes, noise.transition
        )
        member = RobustGaussianClassifier("sample", shrinkage="auto")
        member.fit(X, classes[codes], sample_weight=np.maximum(trust, LEAST_TRUST))
        member._set_gaussians(found.gaussians, X.dtype)
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
    weights = mixture_weights(posteriors, held_out.codes, noise.transition)
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


def _left_out_scores(judge: RobustGaussianClassifier, X: Array, codes: Array) -> Array:
    """Scores of the training samples, each without itself."""
    of_class = np.bincount(codes, weights=judge.trust_, minlength=len(judge.classes_))
    inside = Kept(judge.trust_, codes, of_class)
    return label_scores(judge._gaussians, X, codes, inside, lambda s, _: s)


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


def _warn_of_judges(gaps: dict[str, float], judges: list[str]) -> None:
    """Say so where even the best judge knows the training labels by heart."""
    smallest = min(gaps.values())
    if smallest > MEMORISED:
        warnings.warn(
            f"All layers have memorised their labels (the smallest memorisation gap is "
            f"{smallest:.2f} nats, of {judges[0]}), so none can judge them well. Add a layer that "
            "did not see the labels: the raw input, an earlier layer, or features of an encoder "
            "that was trained elsewhere.",
            ReheadWarning,
            stacklevel=5,
        )


def _different(judges: list[str], layers: dict[str, Array]) -> list[str]:
    """Judges without those that repeat another one: two copies are not two opinions."""
    kept: list[str] = []
    for name in judges:
        same = [k for k in kept if np.array_equal(layers[k], layers[name])]
        if same:
            warnings.warn(
                f"Layer {name} is identical to layer {same[0]}, and is not asked a second time.",
                ReheadWarning,
                stacklevel=5,
            )
        else:
            kept.append(name)
    return kept


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


def log_of(posterior: Array) -> Array:
    """Logarithms that are finite."""
    logs: Array = np.log(np.maximum(posterior.astype(np.float64), 1e-12))
    return logs
