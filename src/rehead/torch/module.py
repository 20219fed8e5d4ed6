"""A network with its new head, as one module that saves and exports."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from rehead.ensemble import FittedEnsemble
from rehead.ensemble.problem import STACK
from rehead.evaluation.outputs import ClassOutputs
from rehead.gaussian.kernel_map import FARTHEST, KernelMap
from rehead.gaussian.probability import LEAST_PROBABILITY
from rehead.torch.arguments import as_arguments, takes
from rehead.torch.batches import Batch
from rehead.torch.outputs import logits_of
from rehead.torch.taps import Finish, Recorder, Tap


class RobustModule(nn.Module):
    """Backbone, one linear layer for each tap (after a kernel map, if any), and their weights.

    ``forward`` takes what the backbone takes and returns log probabilities of the classes, in the
    order of ``classes``: their softmax is the robust posterior, so the module can stand wherever a
    classifier that returns logits stood.

    The backbone is shared, not copied: ``copy.deepcopy(module)`` makes one that shares nothing. A
    module begins in evaluation mode, and the backbone with it; in training mode the features would
    differ from those that the head was fitted on.
    """

    def __init__(
        self,
        backbone: nn.Module,
        taps: list[Tap],
        pooling: Finish,
        ensemble: FittedEnsemble,
        read_as: ClassOutputs | None,
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.classes = ensemble.classes.tolist()
        self._labels = ensemble.classes
        self._taps = taps
        self._pooling = pooling
        self._members = ensemble.names
        self._stacked = ensemble.stacked
        self._read_as = read_as
        # The network's softmax is the only member that is given.
        calibration = next(iter(ensemble.given.values()), None)
        offsets, temperature = torch.zeros(len(self.classes)), 1.0
        if calibration is not None:
            offsets, temperature = torch.tensor(calibration.offsets), calibration.temperature
        self.register_buffer("offsets", offsets.float())
        self.register_buffer("temperature", torch.tensor(float(temperature)))
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
        self.maps = nn.ModuleDict(
            {
                str(i): KernelLayer(member.kernel_map)
                for i, member in enumerate(ensemble.members.values())
                if member.kernel_map is not None
            }
        )
        weights = torch.tensor(ensemble.weights, dtype=torch.float32)
        self.register_buffer(
            "log_weights", weights.clamp(min=torch.finfo(torch.float32).tiny).log()
        )
        self.eval()

    def forward(self, x: Any = None, *more: Any, **named: Any) -> Tensor:
        """Log probabilities of the classes, one row per sample.

        ``x`` is the input; a network with several inputs gets the others as it would without the
        head, in their order or by name.
        """
        return self.log_posterior(Batch(() if x is None else (x, *more), named))

    def log_posterior(self, batch: Batch) -> Tensor:
        """Log probabilities of the classes for a batch."""
        recorder = Recorder(self.backbone, self._taps, self._pooling)
        with recorder.hooked():
            features, output = recorder.run(as_arguments(batch, self.backbone))
        if self._stacked:
            features[STACK] = torch.cat([features[name] for name in self._stacked], dim=1)
        logs = [
            self._of_layer(i, features[name]) if name in features else self._own(output)
            for i, name in enumerate(self._members)
        ]
        return torch.logsumexp(torch.stack(logs, dim=2) + self.get_buffer("log_weights"), dim=2)

    def _own(self, output: Any) -> Tensor:
        """Of the network's softmax, calibrated."""
        read_as = self._read_as
        logits = logits_of(output, None if read_as is None else read_as.n_outputs)
        if logits is None:
            raise ValueError(
                "The network does not return the logits that it did when the head was fitted. Fit "
                "the head again."
            )
        if read_as is None:  # of an earlier file
            read_as = ClassOutputs.of_earlier(logits.shape[1], self._labels)
        of_classes = logits.float()[:, read_as.columns.tolist()]
        if read_as.probabilities:
            of_classes = of_classes.clamp(min=torch.finfo(torch.float32).tiny).log()
        # No class is less probable than that to the head either.
        logs = torch.log_softmax(of_classes, dim=1).clamp(min=math.log(LEAST_PROBABILITY))
        own = logs / self.get_buffer("temperature")
        return torch.log_softmax(own + self.get_buffer("offsets"), dim=1)

    def _of_layer(self, i: int, features: Tensor) -> Tensor:
        if str(i) in self.maps:
            features = self.maps[str(i)](features)
        centre, weight, bias = (
            self.get_buffer(f"{part}{i}").float() for part in ("centre", "weight", "bias")
        )
        return torch.log_softmax(nn.functional.linear(features - centre, weight, bias), dim=1)


PARTS_OF_MAP = ("centre", "scale", "landmarks", "gamma", "projection")
"""What a kernel map is computed from."""


class KernelLayer(nn.Module):
    """A kernel map as a layer: distances to landmarks, their exponentials, one matrix.

    In double precision, as features are mapped where the head is fitted.
    """

    def __init__(self, kernel_map: KernelMap) -> None:
        super().__init__()
        for name in PARTS_OF_MAP:
            value = torch.tensor(getattr(kernel_map, name), dtype=torch.float64)
            self.register_buffer(name, value)

    def forward(self, features: Tensor) -> Tensor:
        """Features, mapped, in single precision."""
        centre, scale, landmarks, gamma, projection = (
            self.get_buffer(name).double() for name in PARTS_OF_MAP
        )
        z = ((features.double() - centre) / scale).clamp(-FARTHEST, FARTHEST)
        norms = (z * z).sum(dim=1, keepdim=True) + (landmarks * landmarks).sum(dim=1)
        distances = (norms - 2.0 * z @ landmarks.T).clamp(min=0.0)
        return (torch.exp(-gamma * distances) @ projection).float()


class _TextModule(RobustModule):
    """For networks that take token ids, as those of Hugging Face do."""

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **named: Any,
    ) -> Tensor:
        """Log probabilities of the classes, one row per sample."""
        own = {
            "input_ids": input_ids,
            "attention_mask": attention_mask,
            "token_type_ids": token_type_ids,
        }
        return self.log_posterior(
            Batch((), {**{k: v for k, v in own.items() if v is not None}, **named})
        )


def robust_module(
    backbone: nn.Module,
    taps: list[Tap],
    pooling: Finish,
    ensemble: FittedEnsemble,
    read_as: ClassOutputs | None,
) -> RobustModule:
    """A module whose ``forward`` names its inputs as the users of such a network do."""
    kind = _TextModule if takes(backbone, "input_ids") else RobustModule
    return kind(backbone, taps, pooling, ensemble, read_as)
