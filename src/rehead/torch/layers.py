"""Which layers of an unknown network to take features from.

A probe batch runs through the network with a hook on every module. Candidates are

- the *embedding* of words, where there is one,
- *blocks*: those that the network lists itself (``block_layers``, ``feature_layers``), or modules
  with parameters that are members of a list or sequence of modules with parts of
  their own (the residual blocks of a stage, the layers of an encoder), and
- the inputs of linear and convolutional layers that are not inside a block: in a plain network
  these are the activations of the layers before.

Of two candidates with the same features only the later one counts, or the one that the network
lists itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rehead.torch.batches import Batch, tensors_in
from rehead.torch.pooling import (
    CONVOLUTIONS,
    features_last,
    first_tensor,
    pool_output,
    pool_to_grid,
)
from rehead.torch.sketches import N_CELLS, are_token_ids, word_embedding
from rehead.torch.taps import BEFORE, HIDDEN, INPUT, Recorder

N_AUTO = 4
"""How many of the later layers "auto" takes at most."""


class Candidate(NamedTuple):
    """A layer that features can be taken from."""

    name: str
    kind: str
    shape: tuple[int, ...]
    width: int


def witness_layers(net: nn.Module, batch: Batch) -> list[str]:
    """A tap that cannot have memorised labels: the input, in a form that is a few numbers.

    For a Hugging Face model also the average of its word embeddings, which know more than the words
    if they were trained elsewhere. Empty where whole numbers are no token ids.
    """
    x = batch.main
    if x is None or x.ndim < 2:
        return []
    if not are_token_ids(x):
        return [INPUT]
    if word_embedding(net) is None:
        return []
    return [INPUT, f"{HIDDEN}0"] if _is_hugging_face(net) else [INPUT]


def auto_layers(net: nn.Module, batch: Batch) -> list[str]:
    """Sensible taps: the network's own list, or the last blocks and the input of the last layer.

    From the input to the output: the earliest one, which has memorised least, the last block of
    each of the last stages (of one stage, its last blocks), then what goes into the last linear
    layer.
    """
    own = getattr(net, "feature_layers", None)
    if own:
        return list(own)
    candidates = candidate_layers(net, batch)
    if not candidates:
        raise ValueError(
            "layers='auto' found no layer with one vector a sample. Name the layers; "
            "net.named_modules() lists them."
        )
    words = [c.name for c in candidates[:-1] if c.kind == nn.Embedding.__name__]
    *earlier, last = [c.name for c in candidates if c.name not in words]
    stages: dict[str, list[str]] = {}
    for name in earlier:
        stages.setdefault(_stage(name), []).append(name)
    chosen = [names[-1] for names in stages.values()]
    if len(stages) == 1:
        chosen = earlier
    chosen = chosen[-(N_AUTO - 1) :]
    first = words or [name for name in earlier[:1] if name not in chosen]
    return [*first, *chosen, last]


def _stage(name: str) -> str:
    """The list that a block is a member of; a layer outside of blocks is a stage of its own."""
    parent, _, member = name.removesuffix(BEFORE).rpartition(".")
    return parent if member.isdigit() or name.startswith(HIDDEN) else name


def candidate_layers(net: nn.Module, batch: Batch) -> list[Candidate]:
    """All layers that features can be taken from, in the order they run.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from rehead.torch.batches import read_batch
    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> [(c.name, c.width) for c in candidate_layers(net, read_batch(torch.ones(3, 4)))]
    [('2.input', 8)]
    """
    if _is_hugging_face(net):
        return _hidden_states(net, batch)
    own = _own_blocks(net)
    blocks = own or _blocks(net)
    candidates: list[Candidate] = []
    features: list[Tensor] = []
    embedding = word_embedding(net)
    words = [name for name, part in net.named_modules() if name and part is embedding]
    for name, output in _probe(net, batch, [*words, *blocks], _leaves(net, blocks)):
        pooled = _pooled(net, name, output, batch)
        if pooled is None:
            continue
        same = [i for i, other in enumerate(features) if _is_same(other, pooled)]
        if any(candidates[i].name in own for i in same) and name not in own:
            continue
        for i in reversed(same):
            del candidates[i], features[i]
        kind = type(net.get_submodule(name.removesuffix(BEFORE))).__name__
        candidates.append(Candidate(name, kind, tuple(output.shape[1:]), pooled.shape[1]))
        features.append(pooled)
    return candidates


def all_layers(net: nn.Module, batch: Batch) -> tuple[list[Candidate], list[str]]:
    """Candidates, the witness first, and the names of those that "auto" takes."""
    witness = witness_layers(net, batch)
    candidates = candidate_layers(net, batch)
    x = batch.main
    if witness and x is not None:
        width = N_CELLS if are_token_ids(x) else pool_to_grid(x.float()).shape[1]
        candidates.insert(0, Candidate(INPUT, "the input itself", tuple(x.shape[1:]), width))
    return candidates, [*witness, *auto_layers(net, batch)]


def _leaves(net: nn.Module, blocks: list[str]) -> list[str]:
    """Names of linear and convolutional layers that are neither blocks nor inside of one."""
    return [
        name
        for name, module in net.named_modules()
        if isinstance(module, (nn.Linear, *CONVOLUTIONS))
        and name
        and not any(name == block or name.startswith(block + ".") for block in blocks)
    ]


def _pooled(net: nn.Module, name: str, output: Tensor, batch: Batch) -> Tensor | None:
    """One vector a sample, or None if the output cannot be brought to that, or is the input."""
    try:
        tokens = features_last(net, name.removesuffix(BEFORE))
        pooled = pool_output(output.float(), "mean", name, tokens=tokens, mask=batch.mask)
    except ValueError:
        return None
    return None if len(pooled) != len(batch) or _is_input(output, batch) else pooled


def _is_same(a: Tensor, b: Tensor) -> bool:
    """Whether features are alike: pooled, the last block often *is* the last layer's input."""
    dense = a.layout == b.layout == torch.strided
    return dense and a.shape == b.shape and torch.allclose(a, b, rtol=1e-3, atol=1e-5)


def _is_input(output: Tensor, batch: Batch) -> bool:
    """Whether a layer is fed with the network's input itself, as the first one is."""
    inputs = tensors_in((*batch.args, batch.kwargs))
    dense = [x for x in inputs if x.layout == torch.strided]
    return any(x.shape == output.shape and torch.equal(x.to(output), output) for x in dense)


def _own_blocks(net: nn.Module) -> list[str]:
    """Names that a network lists itself, as those of ``rehead.torch.models`` do."""
    lists = (getattr(net, name, None) or () for name in ("block_layers", "feature_layers"))
    return list(dict.fromkeys(str(name) for names in lists for name in names))


def _blocks(net: nn.Module) -> list[str]:
    """Names of the outermost modules that are repeated parts of a list or sequence."""
    blocks: list[str] = []
    for name, module in net.named_modules():
        if not isinstance(module, (nn.Sequential, nn.ModuleList)) or any(
            name == b or name.startswith(b + ".") for b in blocks
        ):
            continue
        for member, child in module.named_children():
            has_parts = any(True for _ in child.children())
            has_weights = any(True for _ in child.parameters())
            if has_parts and has_weights and not isinstance(child, (nn.Sequential, nn.ModuleList)):
                blocks.append(f"{name}.{member}" if name else member)
    return blocks


def _probe(
    net: nn.Module, batch: Batch, blocks: list[str], leaves: list[str]
) -> list[tuple[str, Tensor]]:
    """Run a batch; outputs of blocks and inputs of leaves in the order they occur."""
    order: list[tuple[str, Tensor]] = []
    handles = []

    def note(name: str, value: Any) -> None:
        try:
            tensor = first_tensor(value, name)
        except TypeError:
            return
        if tensor.ndim >= 2 and tensor.is_floating_point():
            order.append((name, tensor.detach()))

    for name in blocks:
        module = net.get_submodule(name)
        handles.append(module.register_forward_hook(lambda m, i, o, name=name: note(name, o)))
    for name in leaves:
        module = net.get_submodule(name)
        handles.append(
            module.register_forward_pre_hook(lambda m, a, name=name: note(name + BEFORE, a))
        )
    try:
        with Recorder(net, []) as recorder:
            recorder(batch)
    finally:
        for handle in handles:
            handle.remove()
    last = {name: i for i, (name, _) in enumerate(order)}
    return [(name, tensor) for i, (name, tensor) in enumerate(order) if last[name] == i]


def _is_hugging_face(net: nn.Module) -> bool:
    return hasattr(net, "config") and hasattr(net.config, "output_hidden_states")


def _hidden_states(net: nn.Module, batch: Batch) -> list[Candidate]:
    with Recorder(net, []) as recorder:
        moved = batch.to(recorder.device)
        output = net(*moved.args, **moved.kwargs, output_hidden_states=True, return_dict=True)
    return [
        Candidate(f"{HIDDEN}{i}", "hidden state", tuple(state.shape[1:]), int(state.shape[-1]))
        for i, state in enumerate(output.hidden_states)
        if i > 0
    ]
