"""The weights of a network: a checksum, whether they are still the same, and those of a file."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from rehead.files.persist import ModelFileError


def network_fingerprint(net: nn.Module) -> str:
    """A checksum of a network's weights and of the names of its layers."""
    digest = hashlib.sha256()
    for name, value in net.state_dict().items():
        digest.update(name.encode())
        if isinstance(value, Tensor):
            plain = value.dequantize() if value.is_quantized else value
            data = plain.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(str(tuple(value.shape)).encode() + str(value.dtype).encode())
            digest.update(data.numpy().tobytes())
    return digest.hexdigest()


class KnownWeights:
    """The weights that a head was fitted for.

    A checksum takes a second for a few hundred million weights, too long for every prediction. So
    their sums are compared first, and the checksum is only taken where these differ: after a move
    to another device they may, though nothing has changed.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> net = nn.Linear(3, 2)
    >>> known = KnownWeights(net)
    >>> known.are_those_of(net)
    True
    >>> _ = net.bias.data.add_(1.0)
    >>> known.are_those_of(net)
    False
    """

    def __init__(self, net: nn.Module) -> None:
        self.fingerprint = network_fingerprint(net)
        self._sums = list(_sums(net))

    def are_those_of(self, net: nn.Module) -> bool:
        """Whether a network has these weights."""
        sums = list(_sums(net))
        if sums == self._sums:
            return True
        if network_fingerprint(net) != self.fingerprint:
            return False
        self._sums = sums
        return True


def _sums(net: nn.Module) -> Iterator[float]:
    for value in net.state_dict().values():
        if isinstance(value, Tensor) and not value.is_quantized:
            half = value.dtype in (torch.float16, torch.bfloat16)  # whose sums overflow
            yield float(value.sum(dtype=torch.float32 if half else None))


def network_from_file(make_net: Callable[[], nn.Module], path: str | os.PathLike[str]) -> nn.Module:
    """A network with the weights of a file.

    The shapes of its weights are compared with those of the file before any memory is asked for,
    so that settings cannot ask for a larger network than the file holds.

    Raises
    ------
    rehead.files.persist.ModelFileError
        If the file is damaged, or holds the weights of another network.

    Examples
    --------
    >>> import tempfile
    >>> from safetensors.torch import save_file
    >>> path = Path(tempfile.mkdtemp()) / "net.safetensors"
    >>> save_file(nn.Linear(3, 2).state_dict(), path)
    >>> network_from_file(lambda: nn.Linear(3, 2), path)
    Linear(in_features=3, out_features=2, bias=True)
    """
    found = _shapes_in(Path(path))
    try:
        with torch.device("meta"), _no_more_parameters_than(len(found)):
            wanted = {n: tuple(value.shape) for n, value in make_net().state_dict().items()}
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ModelFileError(f"{path} holds another network than is asked for: {error}") from error
    for name in [*found, *wanted]:
        if found.get(name) != wanted.get(name):
            raise ModelFileError(
                f"{path} holds {name} of shape {found.get(name)}, not {wanted.get(name)} as the "
                "network that is asked for. The file and the settings are not of the same network."
            )
    net = make_net()
    net.load_state_dict(load_file(path))
    return net


def _shapes_in(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors in a file, of which only the header is read."""
    if not path.exists():
        raise FileNotFoundError(f"There are no weights at {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            return {name: tuple(file.get_slice(name).get_shape()) for name in names}
    except (SafetensorError, OSError) as error:
        raise ModelFileError(f"{path} holds no weights, or is damaged ({error}).") from error


@contextmanager
def _no_more_parameters_than(most: int) -> Iterator[None]:
    """Stop a network from being made as soon as it has more parameters."""
    here, made = threading.get_ident(), [0]

    def note(module: nn.Module, name: str, parameter: nn.Parameter) -> None:
        if threading.get_ident() == here and parameter is not None:
            made[0] += 1
            if made[0] > most:
                raise ValueError(f"it has more than {most} parameters.")

    handle = register_module_parameter_registration_hook(note)
    try:
        yield
    finally:
        handle.remove()
