"""A network runs over samples, and its features are taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor, nn

from rehead import _validation as check
from rehead._columns import tensor_array
from rehead._typing import Array
from rehead.files.store import Chunk
from rehead.torch.arguments import as_arguments
from rehead.torch.batches import Batch
from rehead.torch.hashes import input_hashes
from rehead.torch.outputs import LogitsTaker
from rehead.torch.pooling import POOLS, Pool, pool_output
from rehead.torch.sketches import WordSketch, are_token_ids
from rehead.torch.taps import INPUT, Recorder, Tap


@dataclass(frozen=True)
class Pooling:
    """Pools the output of a tap as soon as it is there.

    ``pools`` says how, for each tap, and ``tokens`` whether its 3-d output is (batch, tokens,
    features). ``words`` is what token ids become where they are tapped themselves.
    """

    pools: dict[str, Pool]
    tokens: dict[str, bool | None]
    words: WordSketch | None = None

    def __call__(self, tap: Tap, output: Tensor, batch: Batch) -> Tensor:
        """One vector a sample."""
        name = tap.name
        pool, tokens = self.pools[name], self.tokens[name]
        if pool == "grid" and self.words is not None and are_token_ids(output):
            return self.words(output, batch.mask)
        return pool_output(_plain(output), pool, name, tokens=tokens, mask=batch.mask)

    @classmethod
    def of(cls, net: nn.Module, taps: list[Tap], pool: Pool | Mapping[str, Pool]) -> Pooling:
        """How the taps of a network are pooled."""
        recorder = Recorder(net, taps)
        tokens = {tap.name: recorder.tokens(tap) for tap in taps}
        return cls(pools_of(pool, taps), tokens, WordSketch.of(net))


def pools_of(pool: Pool | Mapping[str, Pool], taps: list[Tap]) -> dict[str, Pool]:
    """The way to pool of each tap.

    The raw input has no channels to average over: it becomes a coarse grid.
    """
    given: dict[str, Any]
    if isinstance(pool, Mapping):
        given = {tap.name: pool.get(tap.name, "mean") for tap in taps}
        for name in pool:
            check.check_choice(name, [tap.name for tap in taps], "layer in pool")
    else:
        given = {tap.name: pool for tap in taps}
    out: dict[str, Pool] = {}
    for tap in taps:
        choice = given[tap.name]
        if not callable(choice):
            check.check_choice(choice, POOLS, "pool")
            if tap.source == INPUT and choice == "mean":
                choice = "grid"
        out[tap.name] = choice
    return out


@dataclass(frozen=True)
class Run:
    """A network, where features are taken, and how they are pooled."""

    net: nn.Module
    taps: list[Tap]
    pooling: Pooling

    @classmethod
    def of(cls, net: nn.Module, taps: list[Tap], pool: Pool | Mapping[str, Pool]) -> Run:
        """The run of a network with these taps."""
        return cls(net, taps, Pooling.of(net, taps, pool))

    def chunks(
        self, batches: Iterator[Batch], n_outputs: int | None = None, *, hashed: bool = False
    ) -> Iterator[Chunk]:
        """The pooled features of one batch after the other; ``hashed`` with hashes of the inputs.

        ``n_outputs`` is the width of the logits, where it is known.
        """
        logits = LogitsTaker(n_outputs)
        with Recorder(self.net, self.taps, self.pooling) as recorder:
            for batch in batches:
                inputs = self.hashes(batch) if hashed else None
                pooled, output = recorder(batch)
                layers = {name: _checked(part, name, batch) for name, part in pooled.items()}
                assert batch.ids is not None
                outputs = _plain(logits(output, batch)).numpy(force=True)
                yield Chunk(layers, batch.labels, batch.ids, outputs, batch.numbered, inputs)

    def hashes(self, batch: Batch) -> Array:
        """A number for what the network is given, for each sample."""
        return input_hashes(as_arguments(batch, self.net))


def _plain(output: Tensor) -> Tensor:
    """A float32 tensor, whatever the network computes in."""
    if output.is_quantized:
        output = output.dequantize()
    return output.float()


def _checked(pooled: Tensor, layer: str, batch: Batch) -> Array:
    if len(pooled) != len(batch):
        raise ValueError(
            f"Layer {layer!r} gives {len(pooled)} rows for a batch of {len(batch)} samples. The "
            "first axis must be the batch; use a pool function to bring it there."
        )
    array: Array = tensor_array(pooled)
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        assert batch.ids is not None
        first = batch.ids[~finite][0]
        raise ValueError(
            f"Layer {layer!r} gives NaN or infinite features for {int((~finite).sum())} samples "
            f"of a batch, id {first!r} first. Leave those samples out, or check the network."
        )
    return array
