"""MentorNet (Jiang et al. 2018): a curriculum decides how much each sample counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rehead import _validation as check
from rehead.torch.training import mentor, selection
from rehead.torch.training.method import Batch, Memory, Method, Moment
from rehead.torch.training.settings import check_count, check_noise_rate, check_share

FORMS = ("small-loss", "self-paced", "mixture", "teacher")


def mentornet(
    *,
    form: str = "small-loss",
    noise_rate: float | None = None,
    ramp: int = 10,
    percentile: float = 0.7,
    decay: float = 0.5,
    burn_in: float = 0.18,
    gamma: float = 1.0,
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
    percentile, decay : float
        The threshold is the moving average, with this decay, of this quantile of a batch's losses.
    burn_in : float, default=0.18
        Share of training in which all samples count ("mixture" and "teacher").
    gamma : float, default=1
        Losses so far above the threshold get weight 0 in the last tenth of "mixture".
    clean : (rows, labels)
        For "teacher": training rows whose true labels are known, and those labels.
    teacher_steps : int
        Steps that the teacher is trained for.
    sample_dropout : sequence of (until, share)
        Leave out a random share of each batch until a share of training: the reference's first
        two are ``((0.17, 0.5), (0.95, 0.05))``.
    """
    check.check_choice(form, FORMS, "form")
    for name, value in (("percentile", percentile), ("decay", decay), ("burn_in", burn_in)):
        check_share(name, value)
    check_count("ramp", ramp)
    check_count("teacher_steps", teacher_steps)
    if not gamma > 0:
        raise ValueError(f"gamma must be above 0, got {gamma!r}.")
    rate = check_noise_rate("mentornet", noise_rate) if form == "small-loss" else None
    if form == "teacher" and clean is None:
        raise ValueError(
            "form='teacher' learns from samples whose true labels are known: pass clean=(rows, "
            "labels), for a tenth of the training samples for example."
        )

    def select(
        losses: list[Tensor], logits: list[Tensor], batch: Batch, moment: Moment, memory: Memory
    ) -> list[Tensor]:
        (loss,) = losses
        if rate is not None:
            forget = selection.forget_rate(moment.epoch, rate, ramp)
            weights = selection.smallest(loss, selection.kept(len(loss), forget))
        else:
            threshold = mentor.moving_threshold(memory, loss, percentile, decay)
            weights = _curriculum(form, loss, threshold, moment, memory) / len(loss)
        dropped = next((share for until, share in sample_dropout if moment.progress < until), 0.0)
        return [weights * (torch.rand(len(loss)) >= dropped).to(weights) if dropped else weights]

    def _curriculum(
        form: str, loss: Tensor, threshold: Tensor, moment: Moment, memory: Memory
    ) -> Tensor:
        if form != "self-paced" and moment.progress < burn_in:
            return torch.ones_like(loss)
        if form == "teacher":
            return mentor.teacher_weights(memory, loss, threshold, burn_in)
        if form == "mixture" and moment.progress >= 0.9:
            return selection.falling(loss, threshold, gamma)
        return selection.below(loss, threshold)

    settings: dict[str, Any] = {
        "form": form,
        "noise_rate": rate,
        "ramp": ramp,
        "percentile": percentile,
        "decay": decay,
        "burn_in": burn_in,
        "gamma": gamma,
        "teacher_steps": teacher_steps,
        "sample_dropout": [list(pair) for pair in sample_dropout],
    }
    prepare = None
    if clean is not None and form == "teacher":
        known = mentor.KnownLabels.of(*clean)
        settings["clean"] = known.checksum
        prepare = mentor.teach(known, percentile, decay, teacher_steps)
    return Method("mentornet", settings, select=select, prepare=prepare, stages=prepare is not None)
