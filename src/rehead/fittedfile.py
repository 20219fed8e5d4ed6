"""What a file holds of a fitted classifier: tables of its fields, and checks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rehead._typing import Array
from rehead.files.schema import (
    ROUNDING,
    TEMPERATURES,
    FieldError,
    Fields,
    Sizes,
    ascending,
    by_part,
    check_fields,
    count,
    covariance,
    each,
    finite,
    floats,
    hashes,
    labels,
    mapping,
    mask,
    moderate,
    not_negative,
    nullable,
    number,
    one_of,
    optional,
    positive,
    require,
    share,
    simplex,
    text,
    whole,
    within,
)
from rehead.gaussian import TiedGaussians, tied_gaussians
from rehead.gaussian.kernel_map import FARTHEST
from rehead.gaussian.linear import LinearScores
from rehead.gaussian.options import OPTIONS, resolve_options

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
    "added_weights": optional(floats("C d", moderate)),
    "added_bias": optional(floats("C", moderate)),
}
NOISE: Fields = {
    "temperature": floats("", within(*TEMPERATURES)),
    "priors": floats("C", simplex),
    "transition": floats("C C", simplex),
    "anchors": floats("C", not_negative),
    "nll": floats("", finite),
    "wrong": optional(floats("", within(-ROUNDING, 1 + ROUNDING, nan=True))),
    "unseen": optional(floats("", within(-ROUNDING, 1 + ROUNDING))),
    "guessed": optional(floats("", share)),
    "least": optional(floats("", share)),
    "most": optional(floats("", share)),
    "checked": optional(floats("", not_negative)),
}
REFERENCE: Fields = {
    "relative": floats("q", finite, ascending),
    "residual": floats("q", finite, ascending),
    "strangeness": floats("q", ascending),
    "size": floats("", positive),
}
KERNEL_MAP: Fields = {
    "centre": floats("D", finite),
    "scale": floats("D", positive),
    "landmarks": floats("m D", within(-FARTHEST, FARTHEST)),
    # Wider than any fit makes them; what is mapped is a number, in single precision too.
    "gamma": floats("", within(1e-100, 1e100)),
    "projection": floats("m d", within(-1e30, 1e30)),
    "importance": optional(floats("D", positive, within(0, 1))),
}
UNMAPPED: Fields = {
    "means": floats("C D", moderate),
    "covariance": floats("D D", covariance),
    "estimated": floats("", within(0, 1)),
}
SECOND: Fields = {
    "weights": floats("C d", moderate),
    "bias": floats("C", moderate),
    "fold_weights": floats("k C d", moderate),
    "fold_bias": floats("k C", moderate),
    "temperature": floats("", within(*TEMPERATURES)),
    "folds": whole("n", within(-1, "k")),  # -1: in none
}
SETTINGS: Fields = {
    "classes": labels("C", ascend=True),
    "dtype": one_of("<f4", "<f8", ">f4", ">f8"),
    "temperature": optional(number(*TEMPERATURES)),
    "shrunk": number(0, 1),
    "estimated": number(0, 1),
    "way": optional(one_of("mixture", "agreement")),
    "told": optional(count()),
}
"""What a file holds of a FittedGaussians: C classes, d features, n training rows. With a map of D
features and m landmarks, d is what comes after it. A second opinion has k folds."""

PARTS = {
    "noise": NOISE,
    "reference": REFERENCE,
    "kernel_map": KERNEL_MAP,
    "unmapped": UNMAPPED,
    "second": SECOND,
}
"""What may be missing, as a whole."""


def check_gaussians(
    arrays: Mapping[str, Array], settings: Mapping[str, Any], where: str = ""
) -> None:
    """Raise a FieldError unless this is what ``FittedGaussians.to_state`` gives."""
    sizes: Sizes = {}
    check_fields(settings, SETTINGS, sizes, where)
    require(sizes["C"] >= 2, f"{where}classes must be two or more.")
    parts = by_part(arrays)
    check_fields(parts.pop(""), GAUSSIANS, sizes, where)
    for name, fields in PARTS.items():
        if name in parts:
            check_fields(parts.pop(name), fields, sizes, f"{where}{name}.")
    require(not parts, f"{where}{next(iter(parts), '')} is nothing that rehead knows.")
    added = {name in arrays for name in ("added_weights", "added_bias", "second.weights")}
    require(len(added) == 1, f"{where}added_weights, added_bias and second belong together.")
    maps = "kernel_map.gamma" in arrays
    require(maps or "unmapped.means" not in arrays, f"{where}unmapped is there without a map.")
    if "class_totals" in arrays:
        members = arrays["seen_members"].clip(min=0)
        whole_of = arrays["class_totals"][members] * (1 + ROUNDING)
        fits = (arrays["seen_weights"] <= whole_of).all() and arrays["class_totals"].any()
        require(bool(fits), f"{where}class_totals must not be less than one of their rows.")


def gaussians_of(arrays: Mapping[str, Array], settings: Mapping[str, Any]) -> TiedGaussians:
    """The Gaussians of a file, whose covariance must have the inverse that it had."""
    g = _checked_gaussians(arrays["means"], arrays["covariance"], arrays["priors"])
    added = "added_weights" in arrays
    return replace(
        g,
        shrunk=settings["shrunk"],
        estimated=settings["estimated"],
        temperature=settings.get("temperature", 1.0),
        offsets=arrays.get("offsets"),
        added=LinearScores(arrays["added_weights"], arrays["added_bias"]) if added else None,
    )


def unmapped_to_arrays(gaussians: TiedGaussians) -> dict[str, Array]:
    """Gaussians of what was mapped, as the arrays of a file."""
    g = gaussians
    fields = {"means": g.means, "covariance": g.covariance, "estimated": np.asarray(g.estimated)}
    return {f"unmapped.{name}": value for name, value in fields.items()}


def unmapped_of(arrays: Mapping[str, Array]) -> TiedGaussians | None:
    """Gaussians of what was mapped, if a file has them."""
    if "unmapped.means" not in arrays:
        return None
    g = _checked_gaussians(
        arrays["unmapped.means"], arrays["unmapped.covariance"], None, "unmapped."
    )
    return replace(g, estimated=float(arrays["unmapped.estimated"]))


def _checked_gaussians(
    means: Array, covariance: Array, priors: Array | None, where: str = ""
) -> TiedGaussians:
    """Gaussians of a file, if that is possible."""
    with np.errstate(over="ignore", invalid="ignore"):
        g = tied_gaussians(means, covariance, priors)
    # Another processor may round its factor a little differently.
    require(g.shrunk <= ROUNDING, f"{where}covariance must be positive definite.")
    right = np.isfinite(g.weights).all() and np.isfinite(g.norms).all()
    require(bool(right), f"{where}means are too far apart for the covariance.")
    return g


CLASSIFIER: Fields = {"params": mapping, "feature_names": nullable(each(text, "d"))}
"""What a file of a classifier holds beside that of a FittedGaussians."""


def check_params(params: Mapping[str, Any], known: Mapping[str, Any], classes: Array) -> None:
    """Raise a FieldError unless a model could have been fitted with these settings."""
    strange = sorted(set(params) - set(known))
    require(not strange, f"params has {strange[:1]}, which is no setting of this model.")
    seed = params.get("random_state")
    require(seed is None or count().check(seed, {}) is None, "params: random_state is no seed.")
    chosen = {name: params.get(name) for name in OPTIONS}
    try:
        choice = resolve_options(params.get("estimator"), params.get("preset"), chosen)
        choice.options.with_priors(classes)
    except (TypeError, ValueError, OverflowError) as error:
        raise FieldError(f"params: {error}") from error
