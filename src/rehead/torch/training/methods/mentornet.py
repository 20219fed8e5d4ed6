"""MentorNet (Jiang et al. 2018): a curriculum decides how much each sample counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from rehead import _validation as check
from rehead.torch.training import mentor, selection
from rehead.torch.training.mentor import Pace
from rehead.torch.training.method import Batch, Method, Moment
from rehead.torch.training.settings import check_count, check_noise_rate
from rehead.torch.training.state import Memory

FORMS = ("small-loss", "self-paced", "mixture", "teacher")

Curriculum = Callable[[Tensor, Moment, Memory], Tensor]
"""Losses of a batch to the weight of each sample."""


def mentornet(
    *,
    form: str = "small-loss",
    noise_rate: float | None = None,
    ramp: int = 10,
    pace: Pace | Mapping[str, float] | None = None,
    clean: tuple[Any, Any] | None = None,
    teacher_steps: int = 30_000,
    sample_dropout: Sequence[tuple[float, float]] = (),
) -> Method:
    """MentorNet: samples are weighted by their loss, in one of four ways.

    Parameters
    ----------
    form : {"small-loss", "self-paced", "mixture", "teacher"}
        "small-loss": the samples of smallest loss, with the share of co-teaching (table 4's
        baseline, where its rule is not published). "self-paced": losses up to a moving average of
        a percentile. "mixture": all samples, then self-paced, then linear weights. "teacher": a
        network that learned from known labels which losses belong to right ones.
    noise_rate, ramp
        For "small-loss"; see co-teaching.
    pace : Pace, or a mapping with some of its fields
        For the other three: the threshold, and when it begins to act.
    clean : (rows, labels)
        For "teacher": training rows whose true labels are known, and those labels.
    teacher_steps : int
        Steps that the teacher is trained for.
    sample_dropout : sequence of (until, share)
        Leave out a random share of each batch until a share of training: the reference's first
        two are ``((0.17, 0.5), (0.95, 0.05))``.
    """
    check.check_choice(form, FORMS, "form")
    pace = pace if isinstance(pace, Pace) else Pace(**(pace or {}))
    check_count("ramp", ramp)
    check_count("teacher_steps", teacher_steps)
    rate = check_noise_rate("mentornet", noise_rate) if form == "small-loss" else None
    weigh = _paced(form, pace) if rate is None else _small_losses(rate, ramp)

    def select(
        losses: list[Tensor], logits: list[Tensor], batch: Batch, moment: Moment, memory: Memory
    ) -> list[Tensor]:
        (loss,) = losses
        weights = weigh(loss, moment, memory)
        dropped = next((share for until, share in sample_dropout if moment.progress < until), 0.0)
        return [weights * (torch.rand(len(loss)) >= dropped).to(weights) if dropped else weights]

    settings: dict[str, Any] = {
        "form": form,
        "noise_rate": rate,
        "ramp": ramp,
        **vars(pace),
        "teacher_steps": teacher_steps,
        "sample_dropout": [list(pair) for pair in sample_dropout],
    }
    prepare = None
    if form == "teacher":
        known = _known_labels(clean)
        settings["clean"] = known.checksum
        prepare = mentor.teach(known, pace, teacher_steps)
    return Method("mentornet", settings, select=select, prepare=prepare, stages=prepare is not None)


def _small_losses(rate: float, ramp: int) -> Curriculum:
    """The share of smallest losses that co-teaching would keep."""

    def weigh(loss: Tensor, moment: Moment, memory: Memory) -> Tensor:
        forget = selection.forget_rate(moment.epoch, rate, ramp)
        return selection.smallest(loss, selection.kept(len(loss), forget))

    return weigh


def _paced(form: str, pace: Pace) -> Curriculum:
    """Weights by a moving threshold: self-paced, mixture and teacher."""

    def weigh(loss: Tensor, moment: Moment, memory: Memory) -> Tensor:
        threshold = mentor.moving_threshold(memory, loss, pace)
        return unscaled(loss, threshold, moment, memory) / len(loss)

    def unscaled(loss: Tensor, threshold: Tensor, moment: Moment, memory: Memory) -> Tensor:
        if form != "self-paced" and moment.progress < pace.burn_in:
            return torch.ones_like(loss)
        if form == "teacher":
            return mentor.teacher_weights(memory, loss, threshold, pace.burn_in)
        if form == "mixture" and moment.progress >= 0.9:
            return selection.falling(loss, threshold, pace.gamma)
        return selection.below(loss, threshold)

    return weigh


def _known_labels(clean: tuple[Any, Any] | None) -> mentor.KnownLabels:
    if clean is None:
        raise ValueError(
            "form='teacher' learns from samples whose true labels are known: pass clean=(rows, "
            "labels), for a tenth of the training samples for example."
        )
    return mentor.KnownLabels.of(*clean)
