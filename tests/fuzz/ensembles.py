"""Ensembles: layers and given posteriors in any container, and bad ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rehead import LayerEnsemble

from .containers import SINGLE, X_BAD, X_SAME
from .outcome import Case, refused, same
from .samples import CODES, TOLERANCE, X, pick, pick_named

Random = np.random.Generator


@cache
def _ensemble(preset: str | None) -> LayerEnsemble:
    return LayerEnsemble(preset=preset, random_state=0).fit({"a": X, "b": X[:, :2]}, CODES)


def ensemble_case(rng: Random) -> Case:
    preset = pick(rng, [None, "paper"])
    made = {name: pick_named(rng, X_SAME) for name in "ab"}
    layers = {"a": made["a"][1](X), "b": made["b"][1](X[:, :2])}
    single = any(what in SINGLE for what, _ in made.values())
    plain = {"a": X, "b": X[:, :2]}
    right = same(_ensemble(preset).predict_proba(plain), TOLERANCE["f4" if single else "f8"])
    how = pick(
        rng, ["same", "same", "order", "missing", "more", "bad", "short", "names", "swapped"]
    )
    fit = rng.random() < 0.5 and not single
    if how == "order":
        layers, fit = dict(reversed(layers.items())), False
    elif how in ("missing", "more"):
        layers = {"a": X} if how == "missing" else {**plain, "c": X}
        right, fit = refused, False
    elif how == "bad":
        what, spoil = pick_named(rng, X_BAD)
        layers, right = {**plain, "b": spoil(X, rng)}, refused
        made["b"] = (what, spoil)
    elif how == "short":
        layers, right = {"a": X, "b": X[1:, :2]}, refused
    elif how == "names":
        layers, right = {1: X, "b": X[:, :2]}, refused
    elif how == "swapped":
        layers, right, fit = {"a": X[:, :2], "b": X}, refused, False

    def run() -> Any:
        if fit:
            found = LayerEnsemble(preset=preset, random_state=0).fit(layers, CODES)
            return found.predict_proba(plain)
        return _ensemble(preset).predict_proba(layers)

    names = ", ".join(what for what, _ in made.values())
    return Case(f"ensemble ({preset}), {how}, {'fit' if fit else 'predict'}, {names}", run, right)


LOGITS = 3.0 * np.eye(3)[CODES]


@cache
def _with_posterior() -> LayerEnsemble:
    layers = {"a": X, "p": LOGITS}
    return LayerEnsemble("sample", given=["p"], weights="equal").fit(layers, CODES)


def given_case(rng: Random) -> Case:
    """Posteriors that are given: in any container the same, bad ones refused."""
    expected = _with_posterior().predict_proba({"a": X, "p": LOGITS})
    if rng.random() < 0.5:
        what, make = pick_named(rng, X_SAME)
        given, right = make(LOGITS), same(expected, 2e-3)
    else:
        bad = {n: spoil for n, spoil in X_BAD.items() if not n.startswith(("pandas", "too large"))}
        what, spoil = pick_named(rng, bad)
        given, right = spoil(LOGITS, rng), refused
    layers = {"a": X, "p": given}
    fit = LayerEnsemble("sample", given=["p"], weights="equal").fit

    def run(fits: bool = rng.random() < 0.5) -> Any:
        model = fit(layers, CODES) if fits else _with_posterior()
        return model.predict_proba(layers)

    return Case(f"given posterior, {what}", run, right)
