"""Where features are taken: hooks on layers, the input, other encoders, hidden states."""

from __future__ import annotations

import difflib
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rehead.torch.arguments import (
    as_arguments,
    in_precision,
    network_dtype,
    whole_numbers_refused,
)
from rehead.torch.batches import Batch, tensors_in
from rehead.torch.pooling import features_last, first_tensor

INPUT = "input"
"""Tap of the raw input."""
BEFORE = ".input"
"""Suffix of a tap on what goes *into* a layer."""
WORDS = ("auto", "hidden")
"""Words that stand for layers that are chosen."""
HIDDEN = "hidden_states."
"""Prefix of the taps that Hugging Face models offer through ``output_hidden_states``."""

Source = str | Callable[..., Any]
Layers = Sequence[str] | Mapping[str, Source]


class Tap(NamedTuple):
    """A name for the features, and where they come from."""

    name: str
    source: Source


def unwrap(net: nn.Module) -> nn.Module:
    """The network itself, without ``torch.compile`` or ``DataParallel`` around it.

    A compiled network ignores hooks that are added later; the network inside has the same weights.
    """
    while True:
        inner = getattr(net, "_orig_mod", None)
        if inner is None and isinstance(
            net, (nn.DataParallel, nn.parallel.DistributedDataParallel)
        ):
            inner = net.module
        if not isinstance(inner, nn.Module):
            return net
        net = inner


def resolve_taps(net: nn.Module, layers: Layers) -> list[Tap]:
    """Taps from names, or from a mapping of names to layers, functions and encoders.

    Raises
    ------
    ValueError
        If a name is not that of a layer; near matches are listed.
    """
    if isinstance(layers, str):
        layers = [layers]
    named = dict(layers) if isinstance(layers, Mapping) else {name: name for name in layers}
    if not named:
        raise ValueError("No layers were given. Pass layers='auto' or a list of names.")
    modules = {name for name, _ in net.named_modules() if name}
    known = [*sorted(modules), INPUT]
    taps = []
    for name, source in named.items():
        if isinstance(source, str):
            source = source.removeprefix("module.").removeprefix("_orig_mod.")
            module = source.removesuffix(BEFORE)
            if not (source.startswith(HIDDEN) or source == INPUT or module in modules):
                raise ValueError(_no_layer(source, known))
        elif not callable(source):
            raise ValueError(f"Layer {name!r} is {source!r}: neither a name nor a function.")
        taps.append(Tap(name, source))
    return taps


Finish = Callable[[Tap, Tensor, Batch], Tensor]
"""What to make of a tap's output as soon as it is there."""


def _as_it_is(tap: Tap, output: Tensor, batch: Batch) -> Tensor:
    return output


def _no_layer(name: str, known: list[str]) -> str:
    # What goes into a layer is meant if the name has a second part that is not the layer's own.
    before = [k + BEFORE for k in known if k != INPUT] if BEFORE[0] in name else []
    near = difflib.get_close_matches(name, [*known, *before, *WORDS], n=5, cutoff=0.5)
    hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
    return (
        f"The network has no layer {name!r}.{hint} net.named_modules() lists all names; 'auto' and "
        "'hidden' choose layers."
    )


class Recorder:
    """Runs a network and collects what flows past its taps.

    ``finish`` is applied to each output at once, while it is in the cache: a large map is pooled
    and forgotten before the next layer runs.

    Use as a context manager: hooks are there only inside it, the network is in evaluation mode,
    and everything is as it was afterwards, also after an error.
    """

    def __init__(self, net: nn.Module, taps: Sequence[Tap], finish: Finish = _as_it_is) -> None:
        self.net = net
        self.taps = list(taps)
        self._finish = finish
        self._batch = Batch(())
        self._thread = _thread()
        self.device = next((p.device for p in net.parameters()), torch.device("cpu"))
        self._modules = dict(net.named_modules())
        self._seen: dict[str, Tensor] = {}
        self._stack = ExitStack()
        self._hidden = any(isinstance(t.source, str) and t.source.startswith(HIDDEN) for t in taps)

    def __enter__(self) -> Recorder:
        with ExitStack() as stack:
            stack.enter_context(evaluating(self.net))
            stack.enter_context(torch.inference_mode())
            for tap in self.taps:
                if isinstance(tap.source, nn.Module):
                    stack.enter_context(evaluating(tap.source))
            stack.enter_context(self.hooked())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self._seen.clear()

    def __call__(self, batch: Batch) -> tuple[dict[str, Tensor], Any]:
        """Output of each tap, finished, and what the network returns, for a batch on any device."""
        batch = as_arguments(batch, self.net).to(self.device)
        try:
            return self.run(batch)
        except RuntimeError as error:
            refused = whole_numbers_refused(batch, self.net, error)
            if not refused:
                shapes = ", ".join(str(tuple(x.shape)) for x in tensors_in(batch.args))
                error.add_note(
                    f"The network failed on a batch of shape {shapes or 'unknown'}. Inputs must "
                    "be prepared as for its training: loaders of images take transform= and size=."
                )
                raise
            raise TypeError(f"{refused} ({error})") from error

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Hooks on the layers that are tapped."""
        with ExitStack() as stack:
            for tap in self.taps:
                if isinstance(tap.source, str) and not self._is_virtual(tap.source):
                    stack.callback(self._hook(tap, tap.source).remove)
            yield

    def run(self, batch: Batch) -> tuple[dict[str, Tensor], Any]:
        """Run a batch that is where the network is."""
        extra = {"output_hidden_states": True, "return_dict": True} if self._hidden else {}
        self._seen.clear()
        self._batch = batch
        own = in_precision(batch, network_dtype(self.net))
        output = self.net(*own.args, **own.kwargs, **extra)
        return {tap.name: self._take(tap, batch, output) for tap in self.taps}, output

    def tokens(self, tap: Tap) -> bool | None:
        """Whether a 3-d output of this tap is (batch, tokens, features)."""
        if not isinstance(tap.source, str):
            return features_last(tap.source) if isinstance(tap.source, nn.Module) else None
        if tap.source.startswith(HIDDEN):
            return True
        if tap.source == INPUT and INPUT not in self._modules:
            return None
        return features_last(self.net, tap.source.removesuffix(BEFORE))

    def _is_virtual(self, source: str) -> bool:
        return source.startswith(HIDDEN) or (source == INPUT and INPUT not in self._modules)

    def _hook(self, tap: Tap, source: str) -> Any:
        if source in self._modules:

            def after(module: nn.Module, inputs: Any, output: Any) -> None:
                self._note(tap, output)

            return self._modules[source].register_forward_hook(after)

        # Without keywords where this hook is just being removed while another thread runs it.
        def before(module: nn.Module, args: Any, kwargs: Any = None) -> None:
            self._note(tap, args if args else kwargs)

        module = self._modules[source.removesuffix(BEFORE)]
        return module.register_forward_pre_hook(before, with_kwargs=True)

    def _note(self, tap: Tap, output: Any) -> None:
        if _thread() != self._thread:
            return  # another thread runs the same network on samples of its own
        self._seen[tap.name] = self._finish(tap, first_tensor(output, tap.name), self._batch)

    def _take(self, tap: Tap, batch: Batch, output: Any) -> Tensor:
        source = tap.source
        if isinstance(source, nn.Module):
            own = in_precision(batch, network_dtype(source))
            self._note(tap, source(*own.args, **own.kwargs))
        elif not isinstance(source, str):
            self._note(tap, source(*batch.args, **batch.kwargs))
        elif source.startswith(HIDDEN):
            self._note(tap, _hidden_state(output, source))
        elif self._is_virtual(source):
            self._note(tap, batch.main)
        elif tap.name not in self._seen:
            raise ValueError(
                f"Layer {source!r} took no part in the forward pass (a branch that was not "
                "taken, or a container). Choose one that did; `rehead layers` lists them."
            )
        return self._seen[tap.name]


def _thread() -> int:
    """The number of this thread; the compiler does not know it, and there is only one for it."""
    return 0 if torch.compiler.is_compiling() else threading.get_ident()


def _hidden_state(output: Any, source: str) -> Tensor:
    states = getattr(output, "hidden_states", None)
    if states is None:
        raise ValueError(
            f"{source!r} needs a network that returns hidden_states, as Hugging Face models do."
        )
    number = int(source.removeprefix(HIDDEN))
    if number >= len(states):
        raise ValueError(f"There is no {source!r}; the last one is {HIDDEN}{len(states) - 1}.")
    state: Tensor = states[number]
    return state


@contextmanager
def evaluating(net: nn.Module) -> Iterator[None]:
    """Evaluation mode; every submodule gets its own flag back."""
    training = [(module, module.training) for module in net.modules()]
    net.eval()
    try:
        yield
    finally:
        for module, flag in training:
            module.training = flag


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Draws made inside do not shift those made afterwards, in torch, numpy and Python."""
    of_python, of_numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)
