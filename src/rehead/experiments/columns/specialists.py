"""Estimators of this package that are not its default: each is good at something."""

from __future__ import annotations

from rehead.classifier import RobustGaussianClassifier
from rehead.experiments.columns.classic import LDA_SHRUNK, first_layer, on_layer
from rehead.experiments.columns.gaussian import Column, ensemble


def anchored() -> RobustGaussianClassifier:
    """Trust in labels that anchors teach: the default for one layer."""
    return RobustGaussianClassifier("anchored", random_state=0)


SPECIALISTS: dict[str, Column] = {
    f"{LDA_SHRUNK}, equal": ensemble("sample", shrinkage="auto", weights="equal"),
    "posterior": ensemble("posterior", shrinkage="auto", weights="equal"),
    "agreement": ensemble("agreement", shrinkage="auto", weights="equal"),
    "mixture": ensemble("mixture", weights="equal"),
    "anchored": ensemble("anchored", weights="equal"),
    "anchored, stacked": ensemble("anchored", weights=None, stack=True),
    "anchored, first": on_layer(anchored, first_layer),
}
"""The paper's layers count equally, are joined into one, or only the first one is used."""
