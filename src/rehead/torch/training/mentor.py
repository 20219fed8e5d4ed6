"""MentorNet's parts: the moving threshold, and the data-driven teacher.

The teacher sees, for each sample, its loss, how far that is above the threshold, and the time in
training; it was taught which of them belong to right labels, by a student's losses on samples
whose true labels are known.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from rehead.torch.training import losses
from rehead.torch.training.method import Method, Moment, Preparation, TrainFirst
from rehead.torch.training.predictions import predict_logits
from rehead.torch.training.settings import check_share
from rehead.torch.training.state import Memory
from rehead.torch.training.task import Task, derived_seed

PERCENT = 100
TEACHER = "teacher/"
"""Prefix of the teacher's weights in the memory."""


@dataclass(frozen=True)
class Pace:
    """How fast a curriculum goes: which losses are small, and when that starts to matter.

    Attributes
    ----------
    percentile, decay : float
        The threshold is the moving average, with this decay, of this quantile of a batch's losses.
    burn_in : float, default=0.18
        Share of training in which all samples count ("mixture" and "teacher").
    gamma : float, default=1
        Losses this far above the threshold get weight 0 in the last tenth of "mixture".

    Examples
    --------
    >>> from rehead.torch.training import METHODS, Pace
    >>> method = METHODS["mentornet"](form="mixture", pace=Pace(burn_in=0.3))
    >>> method.settings["percentile"], method.settings["burn_in"]
    (0.7, 0.3)
    """

    percentile: float = 0.7
    decay: float = 0.5
    burn_in: float = 0.18
    gamma: float = 1.0

    def __post_init__(self) -> None:
        for name in ("percentile", "decay", "burn_in"):
            check_share(name, getattr(self, name))
        if not self.gamma > 0:
            raise ValueError(f"gamma must be above 0, got {self.gamma!r}.")


def moving_threshold(memory: Memory, loss: Tensor, pace: Pace) -> Tensor:
    """``m <- decay m + (1 - decay) quantile``, from m = 0; kept in the memory."""
    before = memory.get("threshold", torch.zeros((), device=loss.device))
    # The lower of two neighbours: with decay 0, exactly the share of smallest losses is below.
    quantile = torch.quantile(loss.detach().float(), pace.percentile, interpolation="lower")
    memory["threshold"] = pace.decay * before + (1 - pace.decay) * quantile
    return memory["threshold"]


class Teacher(nn.Module):
    """A two-way LSTM with one unit each way on (loss, loss - threshold), and a small classifier.

    The label takes part as in the released code, where it is always 0; the time is embedded in
    five dimensions that are not trained.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, 1, bidirectional=True, batch_first=True)
        self.label = nn.Embedding(2, 2)
        self.epoch = nn.Embedding(PERCENT, 5)
        self.epoch.weight.requires_grad_(False)
        self.hidden = nn.Linear(9, 20)
        self.output = nn.Linear(20, 1)

    def forward(self, loss: Tensor, above: Tensor, percent: Tensor) -> Tensor:
        """Logit of the probability that a label is right."""
        pair = torch.stack([loss, above], dim=1)
        read, _ = self.lstm(pair[:, None, :])
        label = self.label(torch.zeros_like(percent))
        features = torch.cat([read[:, 0], label, self.epoch(percent)], dim=1)
        logit: Tensor = self.output(torch.tanh(self.hidden(features))).squeeze(1)
        return logit


class KnownLabels(NamedTuple):
    """Training rows whose true labels are known."""

    rows: Tensor
    labels: Tensor

    @classmethod
    def of(cls, rows: Any, labels: Any) -> KnownLabels:
        """Check and convert."""
        index = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
        index, codes = index.astype(np.int64), np.asarray(labels, np.int64)
        if index.shape != codes.shape or index.ndim != 1 or len(index) < 20:
            raise ValueError(
                "clean must be (rows, labels) of equal length and at least 20 samples, got "
                f"{index.shape} and {codes.shape}."
            )
        if index.min() < 0:
            raise ValueError(f"clean names row {index.min()}. Rows are counted from 0.")
        return cls(torch.from_numpy(index), torch.from_numpy(codes))

    @property
    def checksum(self) -> str:
        """To tell two of them apart."""
        content = self.rows.numpy().tobytes() + self.labels.numpy().tobytes()
        return hashlib.sha256(content).hexdigest()[:16]


def teach(known: KnownLabels, pace: Pace, steps: int) -> Preparation:
    """What to do before training: a student's losses on known labels, and a teacher from them."""

    def prepare(task: Task, train_first: TrainFirst) -> Memory:
        if int(known.rows.max()) >= len(task.y):
            raise ValueError(
                f"clean names row {int(known.rows.max())}, but there are {len(task.y)} samples."
            )
        student = train_first("student", task, _recorded(known))
        recorded = student.memory["recorded"].cpu()
        right = (task.y.cpu()[known.rows] == known.labels).float()
        if right.min() == right.max():
            raise ValueError(
                "All labels that clean names are right, or all are wrong. The teacher needs both."
            )
        teacher = fit_teacher(recorded, right, pace, steps, task.seed)
        return {
            TEACHER + name: value.to(task.device) for name, value in teacher.state_dict().items()
        }

    return prepare


def _recorded(known: KnownLabels) -> Method:
    """Cross-entropy that notes the losses of some rows before each epoch."""
    rows = known.rows

    def before_epoch(nets: list[nn.Module], task: Task, moment: Moment, memory: Memory) -> None:
        index = rows.to(task.X.device)
        z = predict_logits(nets[0], task.X[index], task.device)
        loss = losses.cross_entropy(z, task.y.cpu()[rows])[None]
        before = memory.get("recorded")
        memory["recorded"] = loss if before is None else torch.cat([before.cpu(), loss])

    return Method("cross-entropy", {"recorded": known.checksum}, before_epoch=before_epoch)


def fit_teacher(recorded: Tensor, right: Tensor, pace: Pace, steps: int, seed: int) -> Teacher:
    """Train a teacher on losses (epochs x samples) and whether each sample's label is right."""
    epochs, n = recorded.shape
    memory: Memory = {}
    thresholds = torch.stack([moving_threshold(memory, loss, pace) for loss in recorded])
    above = recorded - thresholds[:, None]
    percent = (torch.arange(epochs) * PERCENT // epochs).clamp_max(PERCENT - 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "teacher"))
        teacher = Teacher()
        trained = [p for p in teacher.parameters() if p.requires_grad]
        optimizer = torch.optim.Adam(trained, lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1000, gamma=0.9)
        for _ in range(steps):
            e, i = torch.randint(epochs, (32,)), torch.randint(n, (32,))
            z = teacher(recorded[e, i], above[e, i], percent[e])
            optimizer.zero_grad()
            binary_cross_entropy_with_logits(z, right[i]).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(trained, 5.0)
            optimizer.step()
            schedule.step()
    return teacher.eval()


def teacher_weights(memory: Memory, loss: Tensor, threshold: Tensor, burn_in: float) -> Tensor:
    """The teacher's weights; the time it is told stays that of the burn-in's end."""
    teacher = Teacher().to(loss.device)
    teacher.load_state_dict(
        {k.removeprefix(TEACHER): v for k, v in memory.items() if k.startswith(TEACHER)}
    )
    percent = torch.full((len(loss),), int(burn_in * PERCENT), device=loss.device)
    return torch.sigmoid(teacher(loss, loss - threshold, percent))
