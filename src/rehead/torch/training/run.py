"""How a run is carried out, as users say it, and where it tells how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from rehead import _validation as check
from rehead.torch.training.settings import check_count

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}

OnEpoch = Callable[[dict[str, Any]], None]
"""Told the history's entry after each epoch."""


@dataclass(frozen=True, eq=False)
class Run:
    """How a network is trained: all that is neither data, method nor recipe.

    Attributes
    ----------
    seed : int, default=0
        Decides weights, order and augmentation. On one machine the same seed and number of threads
        give the same weights.
    device : str or torch.device, optional
        Default: a GPU if there is one.
    precision : {"float32", "bfloat16"}, default="float32"
        "bfloat16" is mixed precision: weights stay in float32.
    validation : (X, y), optional
        Held-out samples to watch: loss and accuracy go to the history.
    keep : {"last", "best"}, default="last"
        The last weights, as in the paper, or those with the smallest loss on ``validation``.
    folder : path, optional
        Where the log (JSON lines), checkpoints (after an epoch, if the last one is ten seconds old)
        and the final weights go. Called again with the same arguments, training continues from the
        checkpoint and ends with the weights of an uninterrupted run.
    progress : bool, optional
        Show a progress bar; by default only in a terminal.
    on_epoch : callable, optional
        Called with the history's entry after each epoch.

    Examples
    --------
    >>> from rehead.torch.training import Run
    >>> Run(seed=3, folder="runs/forward").keep
    'last'
    >>> Run(keep="best")
    Traceback (most recent call last):
    ValueError: keep='best' needs validation=(X, y) to tell which weights are best.
    """

    seed: int = 0
    device: str | torch.device | None = None
    precision: str = "float32"
    validation: tuple[Any, Any] | None = None
    keep: str = "last"
    folder: str | Path | None = None
    progress: bool | None = None
    on_epoch: OnEpoch | None = None

    def __post_init__(self) -> None:
        check.check_choice(self.precision, PRECISIONS, "precision")
        check_count("seed", self.seed, least=0)
        check.check_choice(self.keep, ("last", "best"), "keep")
        if self.keep == "best" and self.validation is None:
            raise ValueError("keep='best' needs validation=(X, y) to tell which weights are best.")

    @property
    def reports(self) -> Reports:
        """Where it reports its progress."""
        folder = None if self.folder is None else Path(self.folder)
        return Reports(folder, self.progress, self.on_epoch)


class Reports(NamedTuple):
    """Where a run tells how it goes.

    Attributes
    ----------
    folder : Path, optional
        Log, checkpoints and weights go there.
    progress : bool, optional
        Whether there is a progress bar; None: in a terminal.
    on_epoch : callable, optional
        Told the numbers of each epoch.
    label : str
        What the progress bar says before the method's name.
    """

    folder: Path | None = None
    progress: bool | None = None
    on_epoch: OnEpoch | None = None
    label: str = ""

    def of_stage(self, name: str) -> Reports:
        """For networks that a method trains first: in a folder of their own, without callback."""
        folder = None if self.folder is None else self.folder / name
        return Reports(folder, self.progress, None, f"{self.label}{name}, ")
