"""The one training loop, for one network or two, whatever the method."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

import torch
from torch import nn

from rehead._progress import Advance, progress_bar
from rehead.torch.training import checkpoint as disk
from rehead.torch.training.epochs import batch_starts, train_epoch
from rehead.torch.training.held_out import load_best, watch
from rehead.torch.training.inputs import as_task, check_task
from rehead.torch.training.method import Method, Moment
from rehead.torch.training.methods import find_method
from rehead.torch.training.optimizers import make_optimizer
from rehead.torch.training.recipes import Recipe
from rehead.torch.training.run import Reports, Run
from rehead.torch.training.state import History, State, Trained
from rehead.torch.training.task import MakeNet, Task, derived_seed

CHECKPOINT_SECONDS = 10.0
"""How much work a kill may cost: epochs that take less do not each write a checkpoint."""


class DivergedError(ValueError):
    """The loss is no longer a number."""


def train(
    make_net: MakeNet | nn.Module,
    X: Any,
    y: Any,
    *,
    method: str | Method = "cross-entropy",
    recipe: str | Recipe = "quick",
    trusted: Any = None,
    run: Run | None = None,
) -> Trained:
    """Train a network on labels that may be wrong.

    Parameters
    ----------
    make_net : callable or nn.Module
        A function that makes a new network. A network that is given is trained in place; methods
        with two networks or several stages need the function.
    X, y : arrays or tensors
        Inputs, and class codes 0 .. C-1.
    method : str or Method, default="cross-entropy"
        A name of ``METHODS``, or what one of its functions returned for settings of your own.
    recipe : str or Recipe, default="quick"
        Optimiser and schedule: a name of ``RECIPES``, or a recipe of your own.
    trusted : boolean array, optional
        Samples whose labels are known to be right (for "forward-gold" and "glc").
    run : Run, optional
        Everything else: the seed, the device, held-out samples to watch, a folder to keep the run
        in. Default: ``Run()``.

    Returns
    -------
    Trained

    Examples
    --------
    >>> from functools import partial
    >>> from rehead import data, noise
    >>> from rehead.torch.models import FCN
    >>> from rehead.torch.training import METHODS, Recipe, Run, train
    >>> digits = data.load("digits")
    >>> noisy = noise.uniform(digits.train.y, 0.4, random_state=0)
    >>> trained = train(
    ...     partial(FCN, 64, 10, hidden=(32,)),
    ...     digits.train.X,
    ...     noisy.labels,
    ...     method=METHODS["co-teaching"](noise_rate=0.4),
    ...     recipe=Recipe(epochs=2, batch_size=64, learning_rate=0.05),
    ...     run=Run(seed=1, validation=(digits.test.X, digits.test.y)),
    ... )
    >>> len(trained.nets), len(trained.history)
    (2, 2)
    """
    run = Run() if run is None else run
    task = as_task(make_net, X, y, recipe=recipe, trusted=trusted, run=run)
    return run_task(task, find_method(method), run.reports)


def run_task(task: Task, method: Method, reports: Reports) -> Trained:
    """Train, from the last checkpoint if there is one."""
    check_task(task, method)
    folder = reports.folder
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    identity = disk.run_identity(task, method)
    nets = [task.network(i) for i in range(method.networks)]
    state = State(nets, [make_optimizer(net, task.recipe) for net in nets])
    if folder is not None and disk.has_checkpoint(folder):
        disk.read_checkpoint(folder, identity, state, task.device)
    elif method.prepare is not None:
        state.memory = method.prepare(task, partial(_train_first, reports))
    if folder is not None:
        disk.write_log(folder, state.history)
    _train_epochs(task, method, state, reports, identity)
    if task.held_out is not None and task.held_out.keep_best:
        load_best(state)
    if folder is not None:
        disk.write_weights(folder, state.nets)
    return state.trained()


def _train_first(reports: Reports, name: str, task: Task, method: Method) -> Trained:
    """A stage of its own before the real training; see ``TrainFirst``."""
    return run_task(task.stage(name), method, reports.of_stage(name))


def _train_epochs(
    task: Task, method: Method, state: State, reports: Reports, identity: dict[str, Any]
) -> None:
    """All epochs that are left; each is reported, and kept when it is time to."""
    recipe, folder = task.recipe, reports.folder
    steps = len(batch_starts(len(task.y), recipe))
    text = f"{reports.label}{method.name}"
    with (
        torch.random.fork_rng(devices=[]),
        progress_bar(text, recipe.epochs * steps, show=reports.progress) as advance,
    ):
        advance(len(state.history) * steps)
        written = time.perf_counter()
        while not _is_finished(state.history, recipe):
            epoch = len(state.history)
            moment = Moment(epoch, recipe.epochs, epoch * steps, recipe.epochs * steps)
            numbers = _one_epoch(task, method, state, moment, advance)
            state.history.append(numbers)
            advance(0, f"{text}: {_summary(numbers)}")
            if folder is not None:
                disk.append_log(folder, numbers)
                overdue = time.perf_counter() - written >= CHECKPOINT_SECONDS
                if overdue or _is_finished(state.history, recipe):
                    disk.write_checkpoint(folder, identity, state)
                    written = time.perf_counter()
            if reports.on_epoch is not None:
                reports.on_epoch(numbers)


def _one_epoch(
    task: Task, method: Method, state: State, moment: Moment, advance: Advance
) -> dict[str, Any]:
    """What the method does before an epoch, the epoch, and a look at held-out samples."""
    # All randomness of an epoch comes from here, so that it can be begun again.
    torch.manual_seed(derived_seed(task.seed, "epoch", moment.epoch))
    start, cpu = time.perf_counter(), time.process_time()
    if method.before_epoch is not None:
        method.before_epoch(state.nets, task, moment, state.memory)
    numbers = train_epoch(task, method, state, moment, advance)
    numbers |= watch(task, state)
    numbers["seconds"] = round(time.perf_counter() - start, 3)
    numbers["cpu_seconds"] = round(time.process_time() - cpu, 3)
    if not math.isfinite(numbers["loss"]):
        raise DivergedError(
            f"Training diverged: the loss of epoch {numbers['epoch']} is {numbers['loss']}. Lower "
            f"the recipe's learning_rate ({numbers['learning_rate']:.2g} then) or give it a warmup."
        )
    return numbers


def _is_finished(history: History, recipe: Recipe) -> bool:
    if not history:
        return False
    return len(history) >= recipe.epochs or history[-1]["fitted"] >= recipe.stop_when_fitted


def _summary(numbers: dict[str, Any]) -> str:
    text = f"epoch {numbers['epoch']}, loss {numbers['loss']:.3f}, fits {numbers['fitted']:.1%}"
    if "held_out_accuracy" in numbers:
        text += f", held out {numbers['held_out_accuracy']:.1%}"
    return text
