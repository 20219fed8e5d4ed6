"""Which layers know the training labels by heart, and which may judge them.

A layer gives itself away by its *memorisation gap*: how much more likely its leave-one-out
posterior makes the training labels than held-out ones, which are just as noisy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from rehead._perrow import class_totals
from rehead._progress import step
from rehead._typing import Array, Features, some_rows
from rehead._warnings import warn
from rehead.ensemble.problem import HeldOut, Problem
from rehead.fitted import FittedGaussians
from rehead.fitting import (
    BothShapes,
    fit_both_shapes,
    fit_gaussians,
    gain_asked_of_map,
    sure_where_moved,
)
from rehead.gaussian import ByClass, Composition, NoiseModel
from rehead.gaussian.calibration import calibrate
from rehead.gaussian.far import far_rows
from rehead.gaussian.guesses import Scored, with_guesses
from rehead.gaussian.kernels import Subset, evenly_spaced
from rehead.gaussian.labelnoise import fit_noise
from rehead.gaussian.leave_one_out import all_scores, leave_one_out_scores
from rehead.gaussian.moments import pooled_moments
from rehead.gaussian.options import Choice
from rehead.gaussian.probability import corrected_nll
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.tied import from_moments
from rehead.gaussian.training import clearly_better
from rehead.verdicts import Told


class LabelNats(NamedTuple):
    """Nats a training label, judged leave-one-out, and nats of each held-out label.

    ``near`` is a mask of the held-out samples that are not far from everything; of the training
    samples, too, only such ones were judged.
    """

    training: float
    held_out: Array
    near: Array

    @property
    def gap(self) -> float:
        """How much likelier training labels are: what the layer has memorised of them."""
        return float(self.held_out[self.near].mean()) - self.training


def label_nats(data: ByClass, held_out: HeldOut, X: Features, trusted: Array | None) -> LabelNats:
    """How likely features make labels, all parameters set by the training labels.

    ``X`` are the same features of the held-out samples. Training labels are judged leave-one-out,
    so features that know nothing of them have a gap of about 0. Trusted labels are not as noisy as
    held-out ones, and are not compared with them.
    """
    codes, near = data.codes, data.near
    subsets = [Subset(np.flatnonzero(near[rows]), None) for rows in data.rows]
    gaussians = from_moments(pooled_moments(data, subsets, np.float64), shrinkage="auto")
    doubtful = near if trusted is None or trusted.all() else near & ~trusted
    rows = np.flatnonzero(doubtful)
    sampled = rows[evenly_spaced(len(rows), SETTINGS.noise_sample)]
    inside = Composition.from_rows(near.astype(float), codes, data.n_classes).take(sampled)
    scores = leave_one_out_scores(
        gaussians, some_rows(data.X, sampled), codes[sampled], inside, all_scores
    )
    noise = fit_noise(scores, codes[sampled])
    posterior = noise.posterior(gaussians.scores(X))
    nats, near = corrected_nll(posterior, held_out.codes, noise.transition), ~far_rows(X)
    return LabelNats(noise.nll, nats, near)


def memorisation_gaps(problem: Problem) -> dict[str, float]:
    """The gap of each layer that is not a copy of another one.

    Where training labels were corrected, all of them are likelier than held-out ones, by heart or
    not. Then gaps are relative to the smallest one, and nobody knows whether all have memorised.

    Examples
    --------
    >>> import numpy as np
    >>> from rehead.ensemble.problem import HeldOut, Problem
    >>> rng = np.random.default_rng(0)
    >>> y, new_y = rng.integers(2, size=400), rng.integers(2, size=200)
    >>> layers = {"early": rng.normal(size=(400, 2)), "deep": rng.normal(size=(400, 2))}
    >>> layers["deep"] += 5 * y[:, None]                      # knows its labels by heart
    >>> new = {"early": rng.normal(size=(200, 2)), "deep": rng.normal(size=(200, 2))}
    >>> gaps = memorisation_gaps(Problem(layers, {}, y, np.arange(2), HeldOut(new, new_y)))
    >>> abs(gaps["early"]) < 0.1, gaps["deep"] > 0.5
    (True, True)
    """
    copies = problem.copies()
    for name, original in copies.items():
        warn(f"Layer {name} is identical to layer {original}, and is not asked a second time.")
    gaps = {}
    for name in problem.layers:
        if name not in copies:
            step(f"has {name} memorised labels?")
            gaps[name] = _nats_of(problem, [name]).gap
    cleaner = max(min(gaps.values()), 0.0) if problem.is_corrected else 0.0
    return {name: gap - cleaner for name, gap in gaps.items()}


def _nats_of(problem: Problem, names: Sequence[str]) -> LabelNats:
    problem = problem.before_correction
    assert problem.held_out is not None
    X = problem.held_out.joined(names)
    return label_nats(problem.joined(names), problem.held_out, X, problem.trusted)


def choose_judges(gaps: Mapping[str, float]) -> list[str]:
    """Names of the layers that may judge the training labels."""
    limit = max(min(gaps.values()), 0.0) + SETTINGS.judge_gap
    return [name for name, gap in gaps.items() if gap <= limit]


def more_judges(problem: Problem, gaps: Mapping[str, float], judges: list[str]) -> list[str]:
    """Judges, and the layers next to them in their gaps that have more to say.

    A weak judge takes samples for anchors that are none, and sees more noise than there is. Layers
    with a larger gap know more, if only they do not know the labels by heart. Held-out labels tell:
    they get likelier with what a layer knows, and less likely with what it has memorised, since all
    parameters are set by the training labels. Of what these labels cannot tell apart the most
    layers are taken: over-confidence costs likelihood here, and is mended later. But few held-out
    labels cannot speak against much, so a layer with a large gap is not asked at all.
    """
    others = [n for n in gaps if n not in judges and gaps[n] <= SETTINGS.asked_gap]
    order = [*judges, *sorted(others, key=lambda name: gaps[name])]
    found = {n: _nats_of(problem, order[:n]) for n in range(len(judges), len(order) + 1)}
    near = np.logical_and.reduce([of_n.near for of_n in found.values()])
    nats = {n: of_n.held_out[near] for n, of_n in found.items()}
    best = min(nats.values(), key=np.mean)
    most = max(n for n, of_n in nats.items() if not _clearly_more(of_n, best))
    return [name for name in gaps if name in order[:most]]


def _clearly_more(nats: Array, best: Array) -> bool:
    """Whether labels are clearly less likely than at best."""
    more = nats - best
    error = more.std() / np.sqrt(len(more))
    return bool(more.mean() > SETTINGS.standard_errors * error)


def all_memorised(gaps: Mapping[str, float]) -> bool:
    """Whether even the best judge knows the training labels by heart."""
    return bool(gaps) and min(gaps.values()) > SETTINGS.memorised_gap


def warn_if_all_memorised(gaps: Mapping[str, float]) -> None:
    """Say so where nobody can judge."""
    best = min(gaps, key=lambda name: gaps[name])
    if all_memorised(gaps):
        warn(
            f"All layers have memorised their labels (the smallest memorisation gap is "
            f"{gaps[best]:.2f} nats, of {best}), so none can judge them. Add a layer that "
            "did not see the labels: the raw input, an earlier layer, or features of an encoder "
            "that was trained elsewhere."
        )


def warn_if_held_out_is_cleaner(gaps: Mapping[str, float]) -> None:
    """Say so where held-out labels are not as noisy as those of training.

    No layer can know them better than those it was estimated from; they must be easier to know.
    """
    best = min(gaps, key=lambda name: gaps[name])
    if gaps[best] < -SETTINGS.cleaner_gap:
        warn(
            f"Held-out labels are much likelier than training labels ({-gaps[best]:.2f} nats, in "
            f"{best}), so they seem to be cleaner. Then nothing shows which layers memorised "
            "the training labels, and the noise is underestimated. Hold out samples with labels "
            "from the same source as those of training; pass checked labels as trusted= instead."
        )


class Opinion(NamedTuple):
    """What judges think of the training samples.

    ``noise`` is how labels come about, ``trust`` how far each label is to be trusted;
    ``class_shares`` gives ``P(c | x, y)`` of some rows, since N x C is never all in memory.
    """

    noise: NoiseModel
    trust: Array
    class_shares: Callable[[slice], Array]


class Judges(NamedTuple):
    """Layers that judge the training labels together: their names, joined rows, and Gaussians.

    ``inside`` is how much of each row the Gaussians contain.
    """

    names: list[str]
    data: ByClass
    fitted: FittedGaussians
    inside: Composition

    @property
    def noise(self) -> NoiseModel:
        """How they see the noise."""
        assert self.fitted.noise is not None
        return self.fitted.noise

    @property
    def rounds(self) -> int:
        """How many rounds it took."""
        return int(self.fitted.n_iter.max())

    def without_themselves(
        self, reduce: Callable[[Array, Array], Array], rows: slice | Array = slice(None)
    ) -> Array:
        """Reduced scores of (some) training samples, each without itself."""
        codes, second = self.data.codes[rows], self.fitted.second
        folds = np.full(len(codes), -1) if second is None else second.folds[rows]
        X, inside = some_rows(self.data.X, rows), self.inside.take(rows)
        return self.fitted.leave_out(X, Told(codes, folds), inside, partial(_of_joint, reduce))

    def confidence(self) -> float:
        """How sure they are of what the samples are, on average, judged without the labels."""
        return float(self.without_themselves(partial(_surest, self.noise)).mean())

    def opinion(self) -> Opinion:
        """What they think of the samples, by the noise that they see themselves."""
        if self.fitted.second is None:
            return self._opinion(self.noise, self.fitted.trust)
        # Predictions are better where labels of hard samples are not taken for guesses.
        weights = self.noise.without_guesses().sample_weights
        trust = self._trust(partial(weights, power=SETTINGS.trust_powers[-1]))
        return self._opinion(self.noise, trust)

    def opinion_given(self, seen: NoiseModel) -> Opinion:
        """What they think where the noise is as others have seen it."""
        doubtful = self.data.doubtful
        sampled = doubtful[evenly_spaced(len(doubtful), SETTINGS.noise_sample)]
        scores = self.without_themselves(all_scores, sampled)
        codes, noisy = self.data.codes[sampled], self.data.noisy_codes[sampled]
        noise = fit_noise(scores, noisy, seen.transition, evidence=self.data.evidence[sampled])
        noise = noise._replace(anchors=seen.anchors)
        mapped = self.fitted.kernel_map is not None
        told = Scored(scores, noisy, np.ones(len(sampled)), mapped, len(doubtful), codes)
        known = None if self.data.trusted is None else self.data.trusted[sampled]

        def share_wrong(right: Array) -> float:
            return 1.0 - float((right if known is None else np.where(known, 1.0, right)).mean())

        # What this noise does not explain was read off weak anchors: it tells nothing of guesses.
        ranges = with_guesses(noise, told, share_wrong)
        wrong = share_wrong(noise.trust(scores, noisy, codes))
        noise = noise._replace(wrong=wrong, least=min(ranges.least, wrong), most=ranges.most)
        return self._opinion(noise, self._trust(noise.trust))

    def _trust(self, of_labels: Callable[[Array, Array], Array]) -> Array:
        """Of all training labels; known ones keep all of theirs, no class is left with none."""
        trust = self.without_themselves(of_labels)
        if self.data.trusted is not None:
            trust[self.data.trusted] = 1.0
        # What was left out, being far from everything, stays out.
        return np.where(self.fitted.trust > 0, np.maximum(trust, SETTINGS.least_trust), 0.0)

    def noise_of(self, held_out: HeldOut) -> NoiseModel:
        """The noise as they see it on samples whose labels they cannot have memorised."""
        return fit_noise(self._scores_of(held_out), held_out.codes)

    def without_trust(self, held_out: HeldOut) -> tuple[Judges, Opinion]:
        """The judges, and an opinion, where they vouch for every label: all samples count alike.

        What labels are like is read off held-out ones, and the judges are calibrated on these, as
        any other member is.
        """
        seen = self.noise_of(held_out)
        noise = self.noise._replace(transition=seen.transition, anchors=seen.anchors)
        noise = noise._replace(guessed=0.0, least=np.nan, most=np.nan)
        evidence = held_out.evidence(self.data.n_classes)
        calibration = calibrate(self._scores_of(held_out), evidence, seen.transition)
        gaussians = calibration.applied_to(self.fitted.gaussians)
        codes, n_classes = self.data.codes, self.data.n_classes
        opinion = Opinion(noise, np.ones(len(codes)), partial(_as_labelled, n_classes, codes))
        return self._replace(fitted=replace(self.fitted, gaussians=gaussians)), opinion

    def _scores_of(self, held_out: HeldOut) -> Array:
        return self.fitted.scores(held_out.joined(self.names))

    def _opinion(self, noise: NoiseModel, trust: Array) -> Opinion:
        return Opinion(noise, trust, partial(_class_shares, self, noise.without_guesses()))


def _class_shares(judges: Judges, noise: NoiseModel, rows: slice) -> Array:
    """Trusted samples are what their labels say."""
    shares = judges.without_themselves(noise.posterior_given_label, rows)
    data = judges.data
    if data.trusted is not None:
        known = data.trusted[rows]
        shares[known] = _as_labelled(data.n_classes, data.codes[rows], known)
    return shares


def _as_labelled(n_classes: int, codes: Array, rows: slice | Array) -> Array:
    of_rows: Array = np.eye(n_classes)[codes[rows]]
    return of_rows


def _of_joint(
    reduce: Callable[[Array, Array], Array], scores: Array, joint: Array, codes: Array
) -> Array:
    return reduce(joint, codes)


def _surest(noise: NoiseModel, scores: Array, codes: Array) -> Array:
    surest: Array = noise.posterior(scores).max(axis=1)
    return surest


def fit_judges(
    problem: Problem, names: list[str], choice: Choice, seed: int, gap: float = 0.0
) -> Judges:
    """Fit the layers that judge, joined; ``gap`` is how much the worst of them has memorised."""
    step(f"judging labels by {', '.join(names)}")
    data = problem.joined(names).with_known(problem.known)

    rng = np.random.default_rng(seed)
    if problem.held_out is None:
        fitted = fit_gaussians(data, problem.classes, choice, rng)
    else:
        found = fit_both_shapes(data, problem.classes, choice, rng)
        memorised = gap > SETTINGS.judge_gap
        held_out = Held(
            problem.held_out.joined(names), problem.held_out.evidence(problem.n_classes), memorised
        )
        fitted = held_out.best_of(found)
    trust, codes = fitted.trust, data.codes
    totals = class_totals(codes, data.n_classes, trust)
    inside = Composition(trust * fitted.known_rows.copies(), codes, totals)
    return Judges(names, data, fitted, inside)


class Held(NamedTuple):
    """Held-out samples of the judges, which decide over what goes beyond plain Gaussians.

    Regression and maps find what little a layer has memorised of its training labels, and take it
    for knowledge. Labels that the network has not seen tell. Where judges have ``memorised`` some
    labels and the held-out ones are too few to tell, it is not worth the risk.
    """

    X: Features
    codes: Array
    memorised: bool

    def best_of(self, found: BothShapes) -> FittedGaussians:
        """With or without a map, and with or without a second opinion."""
        straight, *mapped = (
            self.choose(shape, shape.without_second()) for shape in found if shape is not None
        )
        if not mapped:
            return straight
        near = np.flatnonzero(~far_rows(self.X))
        X, counts = some_rows(self.X, near), np.ones(len(near))
        told = Scored(straight.scores(X), self.codes[near], counts, of=straight.class_totals.sum())
        sure = sure_where_moved(mapped[0].posterior(X), straight.posterior(X), counts)
        return self.choose(mapped[0], straight, gain_asked_of_map(straight, told, sure, 0.0))

    def choose(
        self, more: FittedGaussians, plain: FittedGaussians, least: float = 0.0
    ) -> FittedGaussians:
        """What goes beyond, if it makes these labels (clearly) more likely; else what does not."""
        if more is plain:
            return plain
        errors = 0.0
        if self.memorised:
            least, errors = max(least, SETTINGS.clear_gain), SETTINGS.standard_errors
        counts = np.ones(len(self.codes))
        better = clearly_better(self._nats(more), self._nats(plain), counts, least, errors)
        return more if better else plain

    def _nats(self, judge: FittedGaussians) -> Array:
        assert judge.noise is not None
        return corrected_nll(judge.posterior(self.X), self.codes, judge.noise.transition)
