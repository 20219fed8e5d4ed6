"""Networks and their inputs, as users name them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rehead.torch.loading import Reading

PARTS = ("train", "validation", "test")
"""Of a run."""


def open_network(net: str, weights: Path | None, trust: bool) -> Any:
    """A network of the user's own, or that of a run."""
    from rehead.experiments.training import open_run
    from rehead.torch.loading import load_network

    if weights is None and Path(net).is_dir():
        return open_run(net).net
    return load_network(net, weights, trust=trust)


def open_inputs(data: str, how: Reading) -> Any:
    """Samples of a run, or inputs of the user's own, which are shown."""
    from rehead.experiments.training import is_run, open_run
    from rehead.torch.loading import load_loader

    folder, _, part = data.rpartition(":")
    if folder and Path(folder).is_dir() and (is_run(folder) or part in PARTS):
        if how.beside():
            raise ValueError(f"{how.beside()[0]} goes with inputs of your own; a run has its own.")
        return tuple(open_run(folder).part(part))
    if is_run(data):
        raise ValueError(
            f"{data} is a run. Say which part of its data: "
            f"{', '.join(f'{data}:{name}' for name in PARTS)}."
        )
    inputs = load_loader(data, how)
    if inputs.note:
        typer.echo(inputs.note)
    return inputs.loader


def run_network(work: Callable[[], Any]) -> Any:
    """Run the network; that it cannot take the inputs is for the user to mend."""
    try:
        return work()
    except RuntimeError as error:
        raise ValueError(
            f"The network fails on these inputs: {error}. They must be prepared as for its "
            "training: see --transform and --size."
        ) from error


def chosen_layers(layers: str) -> Any:
    """Names of layers, or a word that chooses some."""
    from rehead.torch.features import CHOSEN

    names = [name.strip() for name in layers.split(",") if name.strip()]
    return layers.strip() if layers.strip() in CHOSEN else names
