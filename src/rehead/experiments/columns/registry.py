"""All ways to predict, by name."""

from __future__ import annotations

from rehead import _validation as check
from rehead.experiments.columns import gaussian as g
from rehead.experiments.columns.classic import CLASSIC, first_layer
from rehead.experiments.columns.gaussian import Column
from rehead.experiments.columns.peers import PEERS, peer_columns
from rehead.experiments.columns.pruned import PRUNED
from rehead.experiments.columns.specialists import SPECIALISTS
from rehead.experiments.columns.told import TOLD

SOFTMAX, LDA, ROG, AUTO = "softmax", "LDA", "RoG", "auto"
AUTO_SAME = "auto same layers"
PAPER: dict[str, Column] = {
    SOFTMAX: g.softmax,
    LDA: g.single("sample"),
    "LDA ensemble": g.ensemble("sample"),
    "RoG last layer": g.single("mcd"),
    ROG: g.ensemble("paper"),
    "RoG authors": g.ensemble("authors"),
    "identity": g.single("identity"),
    "LTS": g.single("lts"),
    "trimmed k-means": g.single("trimmed-kmeans"),
    "blocks": g.blocks,
    AUTO: g.auto,
    AUTO_SAME: g.auto_same_layers,
    "oracle": g.oracle,
}
"""What is measured in every cell of the paper's tables."""
TEXT: dict[str, Column] = {
    "RoG empirical priors": g.ensemble("mcd", priors="empirical"),
    "LDA ensemble empirical priors": g.ensemble("sample", priors="empirical"),
    "RoG 70 %": g.ensemble("mcd", support_fraction=0.7),
    "RoG shrunk": g.ensemble("mcd", shrinkage="auto"),
    "RoG equal weights": g.ensemble("mcd", weights="equal"),
}
"""Changes of inference that table 5 is taken apart by."""
COLUMNS: dict[str, Column] = {
    **PAPER,
    **TEXT,
    **CLASSIC,
    **PRUNED,
    **SPECIALISTS,
    **PEERS,
    **peer_columns(first_layer, ", first"),
    **TOLD,
}


def find_column(name: str) -> Column:
    """A way to predict by its name.

    Examples
    --------
    >>> from rehead.experiments.columns.registry import find_column
    >>> find_column("softmax").__name__
    'softmax'
    """
    check.check_choice(name, COLUMNS, "column")
    return COLUMNS[name]
