"""A network with its new head, as one module that saves and exports."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from rehead.ensemble import FittedEnsemble
from rehead.ensemble.problem import STACK
from rehead.evaluation.comparison import columns_of_classes
from rehead.torch.batches import Batch
from rehead.torch.taps import Finish, Recorder, Tap


class RobustModule(nn.Module):
    """Backbone, one linear layer for each tap, and the ensemble weights.

    ``forward`` takes what the backbone takes and returns log probabilities of the classes, in the
    order of ``classes``: their softmax is the robust posterior, so the module can stand wherever a
    classifier that returns logits stood.

    The backbone is shared, not copied; it is put in evaluation mode by ``eval()`` as usual.
    """

    def __init__(
        self,
        backbone: nn.Module,
        taps: list[Tap],
        pooling: Finish,
        ensemble: FittedEnsemble,
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.classes = ensemble.classes.tolist()
        self._labels = ensemble.classes
        self._taps = taps
        self._members = ensemble.names
        self._stacked = ensemble.stacked
        # The network's softmax is the only member that is given.
        calibration = next(iter(ensemble.given.values()), None)
        offsets = torch.zeros(len(self.classes))
        self._temperature = 1.0
        if calibration is not None:
            self._temperature, offsets = calibration.temperature, torch.tensor(calibration.offsets)
        self.register_buffer("offsets", offsets.float())
        self.encoders = nn.ModuleDict(
            {
                tap.name.replace(".", "_"): tap.source
                for tap in taps
                if isinstance(tap.source, nn.Module)
            }
        )
        for i, member in enumerate(ensemble.members.values()):
            g = member.gaussians
            for part, value in (("centre", g.centre), ("weight", g.slopes), ("bias", g.bias)):
                self.register_buffer(f"{part}{i}", torch.tensor(value, dtype=torch.float32))
        weights = torch.tensor(ensemble.weights, dtype=torch.float32)
        self.register_buffer(
            "log_weights", weights.clamp(min=torch.finfo(torch.float32).tiny).log()
        )
        self._recorder = Recorder(backbone, taps, pooling)

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Log probabilities of the classes."""
        batch = Batch(args, kwargs)
        with self._recorder.hooked():
            features, output = self._recorder.run(batch)
        if self._stacked:
            features[STACK] = torch.cat([features[name] for name in self._stacked], dim=1)
        logs = [
            self._log_posterior(i, features.get(name), output)
            for i, name in enumerate(self._members)
        ]
        log_weights: Tensor = self.get_buffer("log_weights")
        return torch.logsumexp(torch.stack(logs, dim=2) + log_weights, dim=2)

    def _log_posterior(self, i: int, features: Tensor | None, output: Tensor) -> Tensor:
        if features is None:
            columns = columns_of_classes(output.shape[1], self._labels)
            if columns is None:
                raise ValueError(
                    f"The network has {output.shape[1]} outputs, and the head {len(self.classes)} "
                    "classes: it is not clear which output is which class."
                )
            of_classes = output.float()[:, columns.tolist()]
            own = torch.log_softmax(of_classes, dim=1) / self._temperature
            return torch.log_softmax(own + self.get_buffer("offsets"), dim=1)
        centre, weight = self.get_buffer(f"centre{i}"), self.get_buffer(f"weight{i}")
        scores = nn.functional.linear(features - centre, weight, self.get_buffer(f"bias{i}"))
        return torch.log_softmax(scores, dim=1)
