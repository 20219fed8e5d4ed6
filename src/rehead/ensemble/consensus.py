"""Consensus: labels are judged by layers that did not memorise them, for the good of all layers.

The deep layers of a network have memorised the wrong labels, the earlier ones (and the raw input,
and any encoder that never saw the labels) have not. So

1. layers that did not memorise the labels are the judges (``judges.py``); joined, they say how far
   each label is to be trusted ("anchored", see ``gaussian/anchored.py``), and what the noise is;
2. every layer is estimated anew, as it is or on a map, samples weighted by that trust or counted
   for what they are (``members.py``);
3. on held-out noisy labels, with the *one* transition matrix of the judges, each member is
   calibrated (but for the judge, which is from the training labels, judged leave-one-out) and the
   mixture of members is chosen under which these labels are most likely. The network's own softmax
   is a member like any other: it is kept where the labels are clean. (Where labels of hard samples
   are guesses, only the judges are heard.)

Where every layer has memorised its labels nobody can judge them. Then all samples count alike, and
the transition matrix is that of the held-out labels, which no layer has seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rehead._progress import step
from rehead._typing import Array
from rehead._warnings import warn
from rehead.ensemble.fitted import Consensus, FittedEnsemble, mixture
from rehead.ensemble.inputs import as_posterior
from rehead.ensemble.judges import (
    Judges,
    Opinion,
    all_memorised,
    choose_judges,
    fit_judges,
    memorisation_gaps,
    more_judges,
    warn_if_all_memorised,
    warn_if_held_out_is_cleaner,
)
from rehead.ensemble.members import MapOf, fit_members, maps_of_members, no_map
from rehead.ensemble.problem import STACK, HeldOut, Problem
from rehead.ensemble.weights import mixture_weights
from rehead.gaussian import NoiseModel
from rehead.gaussian.anchored import are_guesses
from rehead.gaussian.calibration import Calibration, Priors, calibrate
from rehead.gaussian.labelnoise import fit_noise
from rehead.gaussian.options import Choice, Options
from rehead.gaussian.probability import corrected_likelihood, log_probabilities
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.threads import own_threads


@own_threads()
def fit_consensus(problem: Problem, choice: Choice, rng: np.random.Generator) -> FittedEnsemble:
    """Judge the labels, estimate every layer as judged, weigh the members.

    ``choice`` is how the judges are estimated; its priors are those of the members' posteriors.
    """
    if problem.held_out is None and len(problem.layers) == 1 and not problem.given:
        # One layer and nothing to weigh: no sample has to be held out.
        judges = fit_judges(problem, list(problem.layers), choice, int(rng.integers(2**31)))
        _warn_of(judges)
        return _fitted(Judged(problem, judges, {}), judges.opinion())
    if problem.held_out is None:
        held = _own_held_out(problem, rng)
        found = _consensus_of(problem.split(held), choice, rng, {})
        return _with_trust_of_all(found, ~held)
    gaps = memorisation_gaps(problem)
    return _consensus_of(problem, choice, rng, gaps)


def _consensus_of(
    problem: Problem, choice: Choice, rng: np.random.Generator, gaps: dict[str, float]
) -> FittedEnsemble:
    # Held-out labels weigh the members, so until then these have the priors of the samples.
    of_samples = choice._replace(options=replace(choice.options, priors="empirical"))
    seed = int(rng.integers(2**31))
    judges = _choose_and_fit(problem, of_samples, seed, gaps)
    _warn_of(judges)
    judged = Judged(problem, judges, gaps, maps_of_members(choice.options.feature_map, seed))
    if problem.held_out is not None and problem.is_corrected:
        judged = judged._replace(of_held_out=judges.noise_of(problem.held_out).transition)
    if problem.held_out is not None and all_memorised(gaps):
        vouching, opinion = judges.without_trust(problem.held_out)
        fitted = _fitted(judged._replace(judges=vouching), opinion)
    else:
        fitted = _fitted(judged, judges.opinion())
        less = _clearly_less_noise(fitted, problem.held_out, judges.noise)
        if less is not None:
            del fitted  # both at once would be large
            fitted = _fitted(judged, judges.opinion_given(less))
    fitted = _with_unseen_noise(fitted, problem, judges)
    return _with_priors(fitted, problem.held_out, choice.options.with_priors(problem.classes))


def _with_priors(
    fitted: FittedEnsemble, held_out: HeldOut | None, options: Options
) -> FittedEnsemble:
    """Members whose posteriors stand for the class shares that are wanted."""
    if held_out is None:
        return fitted
    posteriors = [p.astype(np.float64) for p in fitted.member_posteriors(held_out.layers)]
    priors = Priors.of(options.priors, mixture(fitted.weights, posteriors))
    members = {
        name: replace(member, gaussians=priors.given_to(member.gaussians))
        for name, member in fitted.members.items()
    }
    given = {
        name: None if calibration is None else calibration.with_shift(priors.shift)
        for name, calibration in fitted.given.items()
    }
    return replace(fitted, members=members, given=given)


def _choose_and_fit(problem: Problem, choice: Choice, seed: int, gaps: dict[str, float]) -> Judges:
    """The judges; weak ones ask others to join them."""
    if not gaps:
        return fit_judges(problem, list(problem.layers)[:1], choice, seed)
    names = choose_judges(gaps)
    warn_if_all_memorised(gaps)
    warn_if_held_out_is_cleaner(gaps)
    judges = fit_judges(problem, names, choice, seed, max(gaps[n] for n in names))
    if len(gaps) > len(names) and judges.confidence() < SETTINGS.sure_judges:
        more = more_judges(problem, gaps, names)
        if more != names:
            judges = fit_judges(problem, more, choice, seed, max(gaps[n] for n in more))
    return judges


class Judged(NamedTuple):
    """A problem, who judges its labels, what layers have memorised of them, and maps of layers.

    ``of_held_out`` is T of held-out labels, where only training labels were corrected.
    """

    problem: Problem
    judges: Judges
    gaps: dict[str, float]
    map_of: MapOf = no_map
    of_held_out: Array | None = None


def _fitted(judged: Judged, opinion: Opinion) -> FittedEnsemble:
    """Every layer estimated as judged, and the members weighed on held-out samples."""
    problem, judges, gaps, map_of, of_held_out = judged
    alone = len(judges.names) == 1
    members = {judges.names[0]: judges.fitted} if alone else {}
    if problem.held_out is not None:
        others = [name for name in problem.layers if name not in members]
        estimated = {**members, **fit_members(problem, opinion, others, map_of, of_held_out)}
        members = {name: estimated[name] for name in problem.layers}
    if not alone:
        members[STACK] = judges.fitted
    found = Consensus(gaps, judges.names, opinion.noise, opinion.trust, judges.rounds)
    fitted = FittedEnsemble(
        classes=problem.classes,
        members=members,
        given={},
        weights=np.ones(1),
        stacked=[] if alone else judges.names,
        density_member=list(members)[-1],
        transition=opinion.noise.transition,
        consensus=found,
    )
    if problem.held_out is None:
        return fitted
    T = opinion.noise.transition if of_held_out is None else of_held_out
    return _weighed(fitted, problem, problem.held_out, T)


def _weighed(
    fitted: FittedEnsemble, problem: Problem, held_out: HeldOut, T: Array
) -> FittedEnsemble:
    """Given posteriors calibrated, and weights under which held-out labels are most likely."""
    step("weighing members")
    codes = held_out.evidence(len(T))
    given = {name: _calibrated(held_out, name, T) for name in problem.given}
    fitted = replace(fitted, given=dict(given))
    likelihoods = [
        corrected_likelihood(p.astype(np.float64), codes, T)
        for p in fitted.member_posteriors(held_out.layers)
    ]
    priors = [
        SETTINGS.judge_prior if name == fitted.judging_member else SETTINGS.member_prior
        for name in fitted.names
    ]
    heard = _heard(fitted)
    weights = np.zeros(len(fitted.names))
    weights[heard] = mixture_weights(
        np.stack(likelihoods, axis=1)[:, heard], np.array(priors)[heard]
    )
    return replace(fitted, weights=weights)


def _heard(fitted: FittedEnsemble) -> Array:
    """A mask of the members that are weighed: all, or those that judge.

    Where labels of hard samples are guesses, held-out ones are so too. They reward members that
    have learnt to guess as people do: layers that memorised labels, and the network's softmax.
    """
    found = fitted.consensus
    if found is None or not are_guesses(found.noise):
        return np.ones(len(fitted.names), bool)
    return np.array(
        [name == fitted.judging_member or name in found.judges for name in fitted.names]
    )


def _calibrated(held_out: HeldOut, name: str, T: Array) -> Calibration:
    logs = log_probabilities(as_posterior(held_out.layers[name], len(T), name))
    return calibrate(logs, held_out.evidence(len(T)), T)


def _clearly_less_noise(
    fitted: FittedEnsemble, held_out: HeldOut | None, noise: NoiseModel
) -> NoiseModel | None:
    """The noise as the mixture sees it on held-out samples, where it is clearly less.

    Anchors of a weak judge are not all of the class they are taken for, which makes the noise seem
    larger than it is.
    """
    if held_out is None or len(held_out.codes) < SETTINGS.held_out_for_noise:
        return None
    posteriors = fitted.member_posteriors(held_out.layers)
    posterior = mixture(fitted.weights, [p.astype(np.float64) for p in posteriors])
    seen = fit_noise(log_probabilities(posterior), held_out.codes)
    clearly_less = seen.rate + SETTINGS.standard_errors * seen.rate_error < noise.rate
    return seen if clearly_less else None


def _with_unseen_noise(fitted: FittedEnsemble, problem: Problem, judges: Judges) -> FittedEnsemble:
    """Say how much noise judges may miss that have memorised labels themselves.

    They vouch for wrong training labels, but have never seen the held-out ones, which are just as
    noisy: where they see clearly more noise there, the difference is what they may have missed.
    """
    found = fitted.consensus
    if found is None or problem.held_out is None or not found.gaps:
        return fitted
    if min(found.gaps[name] for name in judges.names) <= SETTINGS.judge_gap:
        return fitted
    seen = judges.noise_of(problem.held_out)
    unseen = max(seen.wrong - found.noise.wrong, 0.0)
    return replace(fitted, consensus=found._replace(noise=found.noise._replace(unseen=unseen)))


def _own_held_out(problem: Problem, rng: np.random.Generator) -> Array:
    """Samples to hold out, where the user has none; right for features that saw no labels."""
    warn(
        "No held-out samples were given, so a fifth of the training samples was held out, and "
        f"the first layer ({next(iter(problem.layers))}) judges the labels. For layers of a "
        "network that was trained on these samples, pass validation=(layers, labels) of others: "
        "it has memorised these."
    )
    return problem.draw_held_out(rng)


def _with_trust_of_all(fitted: FittedEnsemble, kept: Array) -> FittedEnsemble:
    """Trust in all training labels, NaN for those that were held out."""
    assert fitted.consensus is not None
    trust = np.full(len(kept), np.nan)
    trust[kept] = fitted.consensus.trust
    return replace(fitted, consensus=fitted.consensus._replace(trust=trust))


def _warn_of(judges: Judges) -> None:
    """What there is to say about the labels, the judges say."""
    for note in judges.fitted.notes:
        warn(note)
