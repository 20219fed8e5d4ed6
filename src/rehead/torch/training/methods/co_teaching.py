"""Co-teaching (Han et al. 2018): each network learns from what the other finds easy."""

from __future__ import annotations

from torch import Tensor

from rehead.torch.training import selection
from rehead.torch.training.method import Batch, Method, Moment
from rehead.torch.training.settings import check_count, check_noise_rate
from rehead.torch.training.state import Memory


def co_teaching(
    *, noise_rate: float | None = None, ramp: int = 10, exponent: float = 1.0
) -> Method:
    """Co-teaching: two networks teach each other their samples of smallest loss.

    Parameters
    ----------
    noise_rate : float
        Share of wrong labels; as many samples are left out.
    ramp : int, default=10
        The share left out rises from 0 in this many epochs; then it is ``noise_rate``.
    exponent : float, default=1
        The rise goes to ``noise_rate ** exponent``, as in the released code.
    """
    rate = check_noise_rate("co-teaching", noise_rate)
    check_count("ramp", ramp)

    def select(
        losses: list[Tensor], logits: list[Tensor], batch: Batch, moment: Moment, memory: Memory
    ) -> list[Tensor]:
        forget = selection.forget_rate(moment.epoch, rate, ramp, exponent)
        keep = selection.kept(len(batch.y), forget)
        of_first, of_second = (selection.smallest(loss, keep) for loss in losses)
        return [of_second, of_first]

    settings = {"noise_rate": rate, "ramp": ramp, "exponent": exponent}
    return Method("co-teaching", settings, select=select, networks=2)
