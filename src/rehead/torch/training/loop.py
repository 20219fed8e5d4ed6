"""The one training loop, for one network or two, whatever the method."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import SGD, Adam, Optimizer

from rehead._progress import progress_bar
from rehead.torch.training import checkpoint as disk
from rehead.torch.training.augment import AUGMENTATIONS
from rehead.torch.training.inputs import as_task, data_fingerprint
from rehead.torch.training.method import Batch, Memory, Method, Moment
from rehead.torch.training.recipes import Recipe
from rehead.torch.training.task import MakeNet, Task, derived_seed, image_layout, predict_logits

CHECKPOINT_SECONDS = 10.0
"""How much work a kill may cost: epochs that take less do not each write a checkpoint."""
BEST = "best/"
"""Prefix of the weights with the smallest held-out loss, in the memory."""


class DivergedError(ValueError):
    """The loss is no longer a number."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What training gave.

    Attributes
    ----------
    nets : list of nn.Module
        One, or two for decoupling and co-teaching, in evaluation mode.
    history : list of dict
        Loss, share of labels fitted, learning rate and seconds of each epoch; loss and accuracy on
        the held-out samples where there are any; the method's own numbers.
    memory : dict of str to Tensor
        What the method remembers: an estimated transition matrix, for example.
    """

    nets: list[nn.Module]
    history: disk.History
    memory: Memory = field(default_factory=dict)

    @property
    def net(self) -> nn.Module:
        """The network to use; of two, the first."""
        return self.nets[0]

    @property
    def fitted(self) -> float:
        """Share of the training labels that the last epoch predicted while it trained."""
        return float(self.history[-1]["fitted"])


def train(
    make_net: MakeNet | nn.Module,
    X: Any,
    y: Any,
    *,
    method: str | Method = "cross-entropy",
    recipe: str | Recipe = "quick",
    trusted: Any = None,
    validation: tuple[Any, Any] | None = None,
    keep: str = "last",
    seed: int = 0,
    device: str | torch.device | None = None,
    precision: str = "float32",
    folder: str | Path | None = None,
    progress: bool | None = None,
    on_epoch: Callable[[dict[str, Any]], None] | None = None,
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
    trusted : boolean array, optional
        Samples whose labels are known to be right (for "forward-gold" and "glc").
    validation : (X, y), optional
        Held-out samples to watch: loss and accuracy go to the history.
    keep : {"last", "best"}, default="last"
        The last weights, as in the paper, or those with the smallest loss on ``validation``.
    seed : int, default=0
        Decides weights, order and augmentation. On one machine the same seed and number of threads
        give the same weights.
    device : str or torch.device, optional
        Default: a GPU if there is one.
    precision : {"float32", "bfloat16"}, default="float32"
        "bfloat16" is mixed precision: weights stay in single.
    folder : path, optional
        Where the log (JSON lines), checkpoints (after an epoch, if the last one is ten seconds old)
        and the final weights go. Called again with the same arguments, training goes on from the
        checkpoint and ends with the weights of an uninterrupted run.
    progress : bool, optional
        Show a progress bar; by default only in a terminal.
    on_epoch : callable, optional
        Called with the history's entry after each epoch.

    Returns
    -------
    Trained

    Examples
    --------
    >>> from functools import partial
    >>> from rehead import data, noise
    >>> from rehead.torch.models import FCN
    >>> from rehead.torch.training import METHODS, Recipe, train
    >>> digits = data.load("digits")
    >>> noisy = noise.uniform(digits.train.y, 0.4, random_state=0)
    >>> trained = train(
    ...     partial(FCN, 64, 10, hidden=(32,)),
    ...     digits.train.X,
    ...     noisy.labels,
    ...     method=METHODS["co-teaching"](noise_rate=0.4),
    ...     recipe=Recipe(epochs=2, batch_size=64, learning_rate=0.05),
    ... )
    >>> len(trained.nets), len(trained.history)
    (2, 2)
    """
    from rehead.torch.training.methods import find_method

    task = as_task(
        make_net,
        X,
        y,
        recipe=recipe,
        trusted=trusted,
        validation=validation,
        keep=keep,
        seed=seed,
        device=device,
        precision=precision,
        folder=folder,
        progress=progress,
        on_epoch=on_epoch,
    )
    return run(task, find_method(method))


def run(task: Task, method: Method) -> Trained:
    """Train, from the last checkpoint if there is one."""
    from rehead.torch.training.inputs import check_task

    check_task(task, method)
    if task.folder is not None:
        task.folder.mkdir(parents=True, exist_ok=True)
    identity = _identity(task, method)
    nets = [task.network(i) for i in range(method.networks)]
    optimizers = [make_optimizer(net, task.recipe) for net in nets]
    memory: Memory = {}
    history: disk.History = []
    if task.folder is not None and disk.has_checkpoint(task.folder):
        memory, history = disk.read_checkpoint(task.folder, identity, nets, optimizers)
        memory = {name: value.to(task.device) for name, value in memory.items()}
    elif method.prepare is not None:
        memory = method.prepare(task)
    if task.folder is not None:
        disk.write_log(task.folder, history)
    _train_epochs(task, method, nets, optimizers, memory, history, identity)
    if task.keep == "best":
        _load_best(nets, memory)
    if task.folder is not None:
        disk.write_weights(task.folder, nets)
    return Trained([net.eval() for net in nets], history, memory)


def _train_epochs(
    task: Task,
    method: Method,
    nets: list[nn.Module],
    optimizers: list[Optimizer],
    memory: Memory,
    history: disk.History,
    identity: dict[str, Any],
) -> None:
    recipe = task.recipe
    steps = len(batch_starts(len(task.y), recipe))
    text = f"{task.label}{method.name}"
    with (
        torch.random.fork_rng(devices=[]),
        progress_bar(text, recipe.epochs * steps, show=task.progress) as advance,
    ):
        advance(len(history) * steps)
        written = time.perf_counter()
        while len(history) < recipe.epochs and not _is_fitted(history, recipe):
            epoch = len(history)
            # All randomness of an epoch comes from here, so that it can be begun again.
            torch.manual_seed(derived_seed(task.seed, "epoch", epoch))
            start = time.perf_counter()
            moment = Moment(epoch, recipe.epochs, epoch * steps, recipe.epochs * steps)
            if method.before_epoch is not None:
                method.before_epoch(nets, task, moment, memory)
            numbers = _epoch(task, method, nets, optimizers, memory, moment, advance)
            numbers |= _held_out(task, nets, memory)
            numbers["seconds"] = round(time.perf_counter() - start, 3)
            _check_finite(numbers)
            history.append(numbers)
            advance(0, f"{text}: {_summary(numbers)}")
            if task.folder is not None:
                disk.append_log(task.folder, numbers)
                last = len(history) == recipe.epochs or _is_fitted(history, recipe)
                if last or time.perf_counter() - written >= CHECKPOINT_SECONDS:
                    disk.write_checkpoint(task.folder, identity, nets, optimizers, memory, history)
                    written = time.perf_counter()
            if task.on_epoch is not None:
                task.on_epoch(numbers)


def _epoch(
    task: Task,
    method: Method,
    nets: list[nn.Module],
    optimizers: list[Optimizer],
    memory: Memory,
    moment: Moment,
    advance: Any,
) -> dict[str, Any]:
    """One pass over the data; returns the numbers of the log."""
    recipe, device = task.recipe, task.device
    for net, optimizer in zip(nets, optimizers, strict=True):
        net.train()
        set_betas(optimizer, recipe, moment.epoch)
    total = torch.zeros((), device=device)
    right = torch.zeros((), dtype=torch.int64, device=device)
    seen, layout = 0, image_layout(nets[0])
    for i, rows in enumerate(_batches(len(task.y), recipe)):
        x = task.X[rows].to(device, non_blocking=True)
        for name in recipe.augment:
            x = AUGMENTATIONS[name](x)
        if x.ndim == 4:
            x = x.contiguous(memory_format=layout)
        rows = rows.to(device)
        batch = Batch(task.y[rows], task.trusted[rows], rows)
        steps = moment.steps // moment.epochs
        now = moment._replace(step=moment.epoch * steps + i)
        rate = recipe.learning_rate_at(now.step / steps)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
        logits, losses = step(nets, optimizers, x, batch, method, now, memory, task.precision)
        total += losses[0].detach().sum()
        right += (logits[0].detach().argmax(dim=1) == batch.y).sum()
        seen += len(rows)
        advance(1)
    return {
        "epoch": moment.epoch + 1,
        "learning_rate": rate,
        "loss": float(total) / seen,
        "fitted": float(right) / seen,
        # Names with a slash are weights.
        **{k: float(v) for k, v in memory.items() if v.ndim == 0 and "/" not in k},
    }


def step(
    nets: list[nn.Module],
    optimizers: list[Optimizer],
    x: Tensor,
    batch: Batch,
    method: Method,
    moment: Moment,
    memory: Memory,
    precision: torch.dtype = torch.float32,
) -> tuple[list[Tensor], list[Tensor]]:
    """One batch: each network's objective is the sum of weight times loss.

    A network for which no sample counts is left alone: a step with a gradient of 0 would still
    move it, by momentum and weight decay.
    """
    mixed = precision != torch.float32
    with torch.autocast(x.device.type, dtype=precision if mixed else None, enabled=mixed):
        logits = [net(x) for net in nets]
    losses = [method.loss(z, batch, memory) for z in logits]
    weights: list[Tensor | None] = [None] * len(nets)
    if method.select is not None:
        with torch.no_grad():
            weights[:] = method.select(losses, logits, batch, moment, memory)
    for loss, weight, optimizer in zip(losses, weights, optimizers, strict=True):
        if weight is None:
            objective = loss.mean()
        elif bool(weight.any()):
            objective = (weight * loss).sum()
        else:
            continue
        optimizer.zero_grad(set_to_none=True)
        objective.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return logits, losses


def make_optimizer(net: nn.Module, recipe: Recipe) -> Optimizer:
    """The recipe's optimiser."""
    parameters = [p for p in net.parameters() if p.requires_grad]
    fused = all(p.is_floating_point() and p.device.type in ("cpu", "cuda") for p in parameters)
    if recipe.optimizer == "adam":
        return Adam(
            parameters, lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=fused
        )
    return SGD(
        parameters,
        lr=recipe.learning_rate,
        momentum=recipe.momentum,
        weight_decay=recipe.weight_decay,
        fused=fused,
    )


def set_betas(optimizer: Optimizer, recipe: Recipe, epoch: int) -> None:
    """Adam's betas of an epoch."""
    for group in optimizer.param_groups:
        if "betas" in group:
            group["betas"] = recipe.betas_at(epoch)


def batch_starts(n: int, recipe: Recipe) -> list[int]:
    """Where batches begin. A single sample left over joins the batch before it."""
    starts = list(range(0, n, recipe.batch_size))
    left = n % recipe.batch_size
    if len(starts) > 1 and (left == 1 or (recipe.drop_last and left)):
        starts.pop()
    return starts


def _batches(n: int, recipe: Recipe) -> Iterator[Tensor]:
    order = torch.randperm(n)
    starts = batch_starts(n, recipe)
    end = len(starts) * recipe.batch_size if recipe.drop_last else n
    for a, b in zip(starts, [*starts[1:], end], strict=True):
        yield order[a:b]


def _held_out(task: Task, nets: list[nn.Module], memory: Memory) -> dict[str, float]:
    """Loss and accuracy on held-out samples; keeps the weights if they are the best so far."""
    if task.held_out is None:
        return {}
    X, y = task.held_out
    logits = predict_logits(nets[0], X, task.device)
    loss = float(cross_entropy(logits, y.cpu()))
    if task.keep == "best" and loss < float(memory.get("best_loss", torch.tensor(math.inf))):
        memory["best_loss"] = torch.tensor(loss, dtype=torch.float64)
        for i, net in enumerate(nets):
            state = copy.deepcopy(net.state_dict())
            memory |= {f"{BEST}{i}/{name}": value for name, value in state.items()}
    return {
        "held_out_loss": loss,
        "held_out_accuracy": float((logits.argmax(1) == y.cpu()).float().mean()),
    }


def _check_finite(numbers: dict[str, Any]) -> None:
    if not math.isfinite(numbers["loss"]):
        raise DivergedError(
            f"Training diverged: the loss of epoch {numbers['epoch']} is {numbers['loss']}. Lower "
            f"the recipe's learning_rate ({numbers['learning_rate']:.2g} then) or give it a warmup."
        )


def _load_best(nets: list[nn.Module], memory: Memory) -> None:
    for i, net in enumerate(nets):
        prefix = f"{BEST}{i}/"
        net.load_state_dict(
            {k.removeprefix(prefix): v for k, v in memory.items() if k.startswith(prefix)}
        )


def _is_fitted(history: disk.History, recipe: Recipe) -> bool:
    return bool(history) and history[-1]["fitted"] >= recipe.stop_when_fitted


def _summary(numbers: dict[str, Any]) -> str:
    text = f"epoch {numbers['epoch']}, loss {numbers['loss']:.3f}, fits {numbers['fitted']:.1%}"
    if "held_out_accuracy" in numbers:
        text += f", held out {numbers['held_out_accuracy']:.1%}"
    return text


def _identity(task: Task, method: Method) -> dict[str, Any]:
    """What two runs must share for one to go on where the other stopped."""
    return {
        "method": method.name,
        "settings": dict(method.settings),
        "recipe": asdict(task.recipe),
        "seed": task.seed,
        "precision": str(task.precision),
        "keep": task.keep,
        "data": data_fingerprint(task.X, task.y, task.trusted),
        "held out": data_fingerprint(*task.held_out)
        if task.held_out is not None and task.keep == "best"
        else None,
        "network": sorted(
            f"{name} {tuple(p.shape)}" for name, p in task.network().state_dict().items()
        ),
    }
