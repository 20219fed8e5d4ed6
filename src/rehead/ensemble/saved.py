"""An ensemble from the arrays and the settings of a file, of any version; each field is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rehead._typing import Array
from rehead.ensemble.fitted import FittedEnsemble
from rehead.ensemble.inputs import INPUTS, LayerInputs
from rehead.ensemble.problem import STACK
from rehead.files.schema import (
    Fields,
    check_fields,
    flag,
    mapping,
    names,
    nullable,
    one_of,
    optional,
    require,
    text,
)
from rehead.fittedfile import check_params
from rehead.gaussian.options import name_estimator

WEIGHTS = ("nll", "corrected", "equal")
PARAMS: Fields = {
    "penultimate": optional(nullable(text)),
    "given": optional(nullable(names)),
    "weights": optional(nullable(one_of(*WEIGHTS))),
    "stack": optional(flag),
}
"""Settings that a classifier does not have."""


class SavedEnsemble(NamedTuple):
    """What a file holds of a LayerEnsemble; ``params`` are what the user set."""

    params: dict[str, Any]
    fitted: FittedEnsemble
    inputs: LayerInputs


def read_state(
    arrays: dict[str, Array], settings: dict[str, Any], known: Mapping[str, Any]
) -> SavedEnsemble:
    """What the state of a LayerEnsemble holds; ``known`` are its parameters by name."""
    params: dict[str, Any] = settings.get("params", {})
    check_fields({"params": params}, {"params": mapping}, {})
    own = {name: value for name, value in settings.items() if name in INPUTS}
    learned = {name: value for name, value in settings.items() if name not in INPUTS}
    fitted = FittedEnsemble.from_state(arrays, learned)
    params = name_estimator(params, measured=fitted.noise is not None)
    check_params(params, known, fitted.classes)
    check_fields({n: params[n] for n in PARAMS if n in params}, PARAMS, {}, "params.")
    widths = {n: m.n_features for n, m in fitted.members.items() if n != STACK}
    # Earlier files know widths and columns only of layers that are members.
    members = settings["members"]
    earlier = {n: {"width": w, "names": members[n].get("feature_names")} for n, w in widths.items()}
    own.setdefault("features", earlier)
    inputs = LayerInputs.from_json(own, list(fitted.given), widths)
    used = {*widths, *fitted.stacked, *fitted.given}
    require(set(inputs.names) == used, "inputs are not the layers of the members.")
    return SavedEnsemble(params, fitted, inputs)
