"""What can be set: options of an estimator, the presets, and what users may set."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rehead._typing import Array
from rehead._values import check_choice, is_real
from rehead.gaussian.settings import SETTINGS
from rehead.gaussian.shrinkage import Shrinkage

Start = Literal["random", "deterministic", "pooled"]
FeatureMap = Literal["auto", "none", "kernel"]
LabelsFrom = Literal["people", "machine"]
MACHINE: Literal["machine"] = "machine"


@dataclass(frozen=True)
class Options:
    """Options of the estimators; each uses those that make sense for it.

    Attributes
    ----------
    support_fraction : float in (0, 1] or None
        Share of each class that is kept. ``None``: the estimator's own rule, for MCD the paper's
        ``floor((N_c + d + 1) / 2)``, which has the highest breakdown point. A larger share wastes
        fewer clean samples when the noise is known to be low.
    max_steps : int
        Rounds of "estimate, rank, keep the best". The paper uses 2.
    n_starts : int
        Random starts for each class; the one with the smallest determinant wins. One start can
        get stuck, above all when wrong labels form a cluster.
    start : {"random", "deterministic", "pooled"}
        "random" is the paper's. "deterministic" tries the starts of DetMCD: no luck involved, more
        robust against clustered wrong labels, slower. "pooled" ranks for the first time by one
        covariance for all classes, which is far better conditioned than a class's own when d is
        close to N_c (the released code of the paper does this).
    leave_one_out : bool
        Rank samples inside the subset as if they were not in it. Otherwise a random start looks
        closest to itself, and when d is not much smaller than N_c it is never left.
    shrinkage : float in [0, 1] or "auto"
        Pull the covariance towards a multiple of the identity. Needed when N_c is near d;
        "auto" uses the closed form OAS.
    priors : {"uniform", "empirical"} or array of shape (C,)
        How common the classes are among samples that are to be predicted. "empirical": as among
        the training samples; estimators that measure the noise take it out of these shares. The
        paper uses uniform ones: label noise and trimming both distort what is counted.
    feature_map : {"auto", "none", "kernel"}
        Whether features are mapped before Gaussians are estimated on them. "kernel": similarities
        to some of the rows, so that boundaries between classes are not straight lines. "auto":
        only where that makes the labels more likely. "none" is the paper's.
    labels_from : {"people", "machine"} or None
        Who made the labels. "machine": another classifier, whose errors are as regular as the
        truth. None: people, or unknown, which is the same.
    """

    support_fraction: float | None = None
    max_steps: int = 2
    n_starts: int = 1
    start: Start = "random"
    leave_one_out: bool = False
    shrinkage: Shrinkage = 0.0
    priors: str | Array = "uniform"
    feature_map: FeatureMap = "none"
    labels_from: LabelsFrom | None = None

    def with_priors(self, classes: Array) -> Options:
        """The same options with priors that fit the classes."""
        return replace(self, priors=check_priors(self.priors, classes))


OPTIONS = tuple(field.name for field in fields(Options))
"""Their names, which are also those of the classifiers' parameters."""


class Usage(NamedTuple):
    """Which options an estimator uses, and their defaults where they are its own."""

    options: frozenset[str]
    defaults: Options = Options()


_ALWAYS = frozenset({"priors", "shrinkage", "feature_map"})
_TRIMS = _ALWAYS | {"support_fraction", "max_steps"}
_MEASURES = _ALWAYS | {"max_steps"}
_ANCHORED = Options(max_steps=8, shrinkage="auto", priors="empirical")

USAGE: dict[str, Usage] = {
    "agreement": Usage(_ALWAYS | {"max_steps"}, Options(max_steps=5)),
    "anchored": Usage(_MEASURES, _ANCHORED),
    # The library's own choice; for several layers, LayerEnsemble makes more of it.
    "auto": Usage(_MEASURES | {"labels_from"}, replace(_ANCHORED, feature_map="auto")),
    "identity": Usage(_ALWAYS),
    "lts": Usage(_TRIMS),
    "mcd": Usage(_TRIMS | {"n_starts", "start", "leave_one_out"}),
    "mixture": Usage(_MEASURES, Options(max_steps=20, shrinkage="auto", priors="empirical")),
    "posterior": Usage(_TRIMS, Options(support_fraction=0.5, max_steps=3)),
    "sample": Usage(_ALWAYS),
    "trimmed-kmeans": Usage(_TRIMS),
}
"""By the name of the estimator."""

FOR_MACHINE = Options(
    max_steps=SETTINGS.mixture_rounds,
    shrinkage=SETTINGS.stiff_shrinkage,
    priors="empirical",
    labels_from=MACHINE,
)
"""Defaults of "auto" where labels are a machine's: stiff Gaussians of the features as they are."""

LEAVING_OUT = frozenset({"agreement", "anchored", "auto", "mixture", "posterior"})
"""Estimators that judge each row by estimates without it."""

DEFAULT = "auto"
"""The estimator where none is named, whatever else is set."""

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "estimator": "mcd",
        "support_fraction": None,
        "max_steps": 2,
        "n_starts": 1,
        "start": "random",
        "leave_one_out": False,
        "shrinkage": 0.0,
        "priors": "uniform",
        "feature_map": "none",
        "labels_from": None,
    },
    "authors": {
        "estimator": "mcd",
        "support_fraction": 0.7,
        "max_steps": 1,
        "n_starts": 1,
        "start": "pooled",
        "leave_one_out": False,
        "shrinkage": 0.0,
        "priors": "uniform",
        "feature_map": "none",
        "labels_from": None,
    },
}
"""``paper``: Algorithm 1 as printed. ``authors``: the released code, which keeps 70 % of each
class after one selection by a covariance shared by all classes (without its division bug)."""


class Choice(NamedTuple):
    """An estimator by name, and its options; ``asked`` names those that the user set."""

    estimator: str
    options: Options
    asked: frozenset[str] = frozenset()


def resolve_options(
    estimator: str | None, preset: str | None, settings: Mapping[str, Any]
) -> Choice:
    """The estimator and its options, from what the user set (``None``: not set)."""
    chosen = {name: value for name, value in settings.items() if value is not None}
    if preset is not None:
        return _of_preset(estimator, preset, chosen)
    name = DEFAULT if estimator is None else estimator
    check_choice(name, USAGE, "estimator")
    unused = sorted(set(chosen) - USAGE[name].options)
    if unused:
        takers = [e for e in sorted(USAGE) if set(chosen) <= USAGE[e].options]
        who = f"estimator={name!r}" + (", the default," if estimator is None else "")
        raise ValueError(
            f"{who} does not use {', '.join(unused)}. Leave that out, or name an estimator that "
            f"does: {', '.join(takers) or 'there is none for all of these'}."
        )
    usual = FOR_MACHINE if chosen.get("labels_from") == MACHINE else USAGE[name].defaults
    options = Options(**{**vars(usual), **chosen})
    _check_options(options)
    return Choice(name, options, frozenset(chosen))


def name_estimator(params: Mapping[str, Any], *, measured: bool) -> dict[str, Any]:
    """Settings of a saved model, with the estimator that was meant.

    Up to 0.1, options that "auto" did not have then stood for "mcd" where none was named. Such a
    model did not measure the noise.
    """
    unnamed = params.get("estimator") is None and params.get("preset") is None
    others = set(OPTIONS) - {"shrinkage", "max_steps", "feature_map", "labels_from"}
    trims = any(params.get(name) is not None for name in others)
    return {**params, "estimator": "mcd"} if unnamed and trims and not measured else {**params}


def _of_preset(estimator: str | None, preset: str, chosen: Mapping[str, Any]) -> Choice:
    check_choice(preset, PRESETS, "preset")
    clash = sorted([*chosen, *(["estimator"] if estimator is not None else [])])
    if clash:
        raise ValueError(
            f"preset={preset!r} already sets {', '.join(clash)}. Give either the preset or "
            f"the arguments; {preset!r} stands for {PRESETS[preset]}."
        )
    settings = dict(PRESETS[preset])
    return Choice(settings.pop("estimator"), Options(**settings))


def _check_options(options: Options) -> None:
    fraction, shrinkage = options.support_fraction, options.shrinkage
    if fraction is not None and not (is_real(fraction) and 0 < fraction <= 1):
        raise ValueError(f"support_fraction must be in (0, 1] or None, got {fraction!r}.")
    for name in ("max_steps", "n_starts"):
        value = getattr(options, name)
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
    check_choice(options.start, get_args(Start), "start")
    check_choice(options.feature_map, get_args(FeatureMap), "feature_map")
    if options.labels_from is not None:
        check_choice(options.labels_from, get_args(LabelsFrom), "labels_from")
    if options.n_starts > 1 and options.start != "random":
        raise ValueError(
            f"n_starts={options.n_starts} needs start='random'; start={options.start!r} has its "
            "own starts."
        )
    if isinstance(options.priors, str):  # an array is checked once the classes are known
        check_choice(options.priors, ("uniform", "empirical"), "priors")
    if shrinkage != "auto" and not (is_real(shrinkage) and 0 <= shrinkage <= 1):
        raise ValueError(f"shrinkage must be in [0, 1] or 'auto', got {shrinkage!r}.")
    if not isinstance(options.leave_one_out, (bool, np.bool_)):
        raise ValueError(f"leave_one_out must be True or False, got {options.leave_one_out!r}.")


def check_priors(priors: Any, classes: Array) -> str | Array:
    """Priors as "uniform", "empirical" or an array that sums to 1."""
    if isinstance(priors, str):
        check_choice(priors, ("uniform", "empirical"), "priors")
        return priors
    try:
        beta: Array = np.asarray(priors, np.float64)
    except (TypeError, ValueError):
        beta = np.empty(0)
    if beta.shape != (len(classes),) or not (beta >= 0).all() or not np.isclose(beta.sum(), 1):
        raise ValueError(
            f"priors must be 'uniform', 'empirical' or {len(classes)} probabilities that sum to "
            f"1 (classes {classes.tolist()}), got {priors!r}."
        )
    beta = beta / beta.sum()
    return beta
