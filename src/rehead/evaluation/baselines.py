"""Other ways to predict from the same layers, to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rehead import _validation as check
from rehead._warnings import prefixed
from rehead.ensemble import LayerEnsemble
from rehead.gaussian.options import PRESETS, USAGE

TITLES = {"paper": "RoG (the paper)", "authors": "RoG (its released code)"}
"""What the presets are called in a table."""


def check_baselines(names: Sequence[str], layers: Sequence[str] = ("",)) -> None:
    """Raise if there is no such way to predict, or no layer to do it with."""
    if names and not layers:
        raise ValueError("baselines are fitted on hidden layers, and there are none.")
    if isinstance(names, str):
        raise ValueError(f"baselines must be a list of names, got {names!r}. Pass [{names!r}].")
    for name in names:
        check.check_choice(name, [*PRESETS, *USAGE], "baselines")


def fit_baselines(
    names: Sequence[str],
    layers: Mapping[str, Any],
    y: Any,
    validation: Sequence[Any] | None,
    random_state: Any,
    trusted: Any = None,
) -> dict[str, LayerEnsemble]:
    """An ensemble of these layers for each preset or estimator.

    ``validation`` is (layers, labels, ...) of held-out samples, which may have more layers.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], 30)
    >>> layers = {"last": np.random.default_rng(0).normal(size=(60, 2)) + 9 * y[:, None]}
    >>> found = fit_baselines(["paper", "sample"], layers, y, None, 0)
    >>> [float(model.score(layers, y)) for model in found.values()]
    [1.0, 1.0]
    """
    held_out = None
    if validation is not None:
        held_out = ({name: validation[0][name] for name in layers}, validation[1])
    found = {}
    for name in names:
        model = LayerEnsemble(random_state=random_state)
        model.set_params(**{"preset" if name in PRESETS else "estimator": name})
        if held_out is None:
            model.set_params(weights="equal")
        elif name not in PRESETS:
            model.set_params(weights="nll")
        with prefixed(f"baseline {name}: "):
            found[name] = model.fit(layers, y, held_out, trusted=trusted)
    return found
