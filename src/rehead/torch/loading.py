"""A user's own network and data from the command line."""

from __future__ import annotations

import difflib
import importlib
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from rehead.files.npy import read_npy
from rehead.files.npz import npz_headers, read_npz
from rehead.files.places import read_beside
from rehead.files.tables import is_table, read_table, short_list
from rehead.torch.folders import SIZE, image_folder, image_table, text_table
from rehead.torch.sources import DEFAULT_BATCH
from rehead.torch.weightfile import load_weights


def load_object(target: str) -> Any:
    """The object behind ``package.module:name``, found from the current folder too."""
    module_name, separator, name = target.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise FileNotFoundError(
            f"There is no file or folder {module_name}, nor is it a package.module:name."
        )
    if not separator or not name:
        raise ValueError(
            f"{target!r} must be package.module:name, for example mymodels:resnet; there is no "
            "file or folder of that name either."
        )
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ValueError(f"Cannot import {module_name!r}: {error}") from error
    if not hasattr(module, name):
        near = difflib.get_close_matches(name, [n for n in dir(module) if n[0] != "_"], n=3)
        hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
        raise ValueError(f"{module_name!r} has no {name!r}.{hint}")
    return getattr(module, name)


class Reading(NamedTuple):
    """How inputs are to be read, as a user says it.

    Attributes
    ----------
    labels, ids : str, optional
        Labels, ids: a column of a table of inputs, a file, or FILE:COLUMN.
    paths, texts : str, optional
        The column of a table that holds paths of images, or texts.
    transform : str, optional
        ``package.module:function``, which makes inputs of the network: of a PIL image, or of a list
        of texts.
    tokenizer : str, optional
        Folder or name of a tokenizer of Hugging Face, for texts.
    size : int, optional
        Width and height that images are resized to, where there is no transform.
    """

    labels: str | None = None
    ids: str | None = None
    paths: str | None = None
    texts: str | None = None
    transform: str | None = None
    tokenizer: str | None = None
    size: int | None = None

    def beside(self, *names: str) -> list[str]:
        """The options that are set, but for some."""
        given = self._asdict().items()
        return [f"--{name}" for name, value in given if value is not None and name not in names]


class Inputs(NamedTuple):
    """A loader, and in words what it reads; no words where there is nothing to choose."""

    loader: Any
    note: str = ""


def load_loader(source: str, how: Reading | None = None) -> Inputs:
    """Inputs of a network from where people have them.

    ``package.module:factory`` gives a loader; ``.npy`` or ``.npz`` files hold arrays (``X`` and,
    where there are any, ``y`` and ``ids``); a folder holds images by class; a table holds paths of
    images, or texts.
    """
    how, path = how or Reading(), Path(source)
    if not path.exists():
        return Inputs(_made(source, how))
    if path.is_dir():
        return _of_folder(path, how)
    if is_table(path):
        return _of_table(path, how)
    return Inputs(_of_arrays(path, how))


def _made(source: str, how: Reading) -> Any:
    made = load_object(source)
    loader = made() if callable(made) and not hasattr(made, "__iter__") else made
    _refuse(how.beside(), "goes with files of inputs; a loader gives its own")
    return loader


def _of_arrays(path: Path, how: Reading) -> tuple[Any, ...]:
    _refuse(how.beside("labels", "ids"), f"goes with a folder or a table, not with {path}")
    columns: list[Any] = [None, None, None]
    if path.suffix == ".npy":
        columns[0] = read_npy(path)
    elif path.suffix == ".npz":
        held = [name for name in ("X", "y", "ids") if name in npz_headers(path)]
        found = read_npz(path, held)
        columns = [found.get(name) for name in ("X", "y", "ids")]
    if columns[0] is None:
        raise ValueError(
            f"{path} holds no inputs. Use .npy, .npz with X and optionally y, ids, a folder of "
            "images by class, or a table of paths or texts."
        )
    for i, given in ((1, how.labels), (2, how.ids)):
        if given is not None:
            columns[i] = read_beside(given, path, exact=i == 2)
    X, labels, ids = columns
    if labels is None and ids is not None:
        cuts = (slice(a, a + DEFAULT_BATCH) for a in range(0, len(X), DEFAULT_BATCH))
        return tuple((X[cut], None, ids[cut]) for cut in cuts)
    return tuple(column for column in columns if column is not None)


def _of_folder(path: Path, how: Reading) -> Inputs:
    _refuse(how.beside("transform", "size"), "goes with a table; folders by class say it all")
    loader = image_folder(path, _transform(how), size=how.size or SIZE)
    return Inputs(loader, _said(loader, "image", how))


def _of_table(path: Path, how: Reading) -> Inputs:
    if (how.paths is None) == (how.texts is None):
        raise ValueError(
            f"{path} is a table. Say which of its columns holds paths of images, with --paths "
            f"COLUMN, or texts, with --texts COLUMN. It has {short_list(read_table(path).names)}."
        )
    transform = _transform(how)
    labels = None if how.labels is None else read_beside(how.labels, path)
    ids = None if how.ids is None else read_beside(how.ids, path, exact=True)
    if how.paths is not None:
        size = how.size or SIZE
        loader = image_table(path, how.paths, labels, ids, transform=transform, size=size)
        return Inputs(loader, _said(loader, "image", how))
    assert how.texts is not None
    if transform is None:
        raise ValueError(
            "Texts need --tokenizer FOLDER (of Hugging Face) or --transform "
            "package.module:function, which makes of a list of texts what the network takes."
        )
    loader = text_table(path, how.texts, transform, labels, ids)
    return Inputs(loader, _said(loader, "text", how))


def _transform(how: Reading) -> Any:
    if how.transform is not None and how.tokenizer is not None:
        raise ValueError("--transform and --tokenizer do the same. Give one of them.")
    if how.tokenizer is not None:
        if how.texts is None:
            raise ValueError("--tokenizer goes with --texts COLUMN.")
        return load_tokenizer(how.tokenizer)
    return None if how.transform is None else load_object(how.transform)


def load_tokenizer(name: str) -> Any:
    """A function from texts to tensors, by a tokenizer of Hugging Face."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise ImportError(
            'A tokenizer needs transformers. Install it with: pip install "rehead[hf]"'
        ) from None
    tokenizer = AutoTokenizer.from_pretrained(name)
    return lambda texts: dict(tokenizer(texts, padding=True, truncation=True, return_tensors="pt"))


def _said(loader: Any, what: str, how: Reading) -> str:
    """What is read, and what is made of it."""
    labels = loader.dataset.labels
    note = f"{_count(len(loader.dataset), what)}, without labels"
    if labels is not None:
        names = [str(name) for name in np.unique(labels)]
        classes = _count(len(names), "class", "classes")
        note = f"{_count(len(loader.dataset), what)} of {classes} ({_listed(names)})"
    if how.transform or how.tokenizer:
        return f"{note}, prepared by {how.transform or how.tokenizer}."
    size = how.size or SIZE
    return (
        f"{note}: RGB, resized to {size} x {size}, values from 0 to 1. If the network was trained "
        "on other inputs, give --transform package.module:function."
    )


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _listed(names: list[str]) -> str:
    return ", ".join(names if len(names) <= 6 else [*names[:3], "...", names[-1]])


def _refuse(options: list[str], why: str) -> None:
    if options:
        raise ValueError(f"{options[0]} {why}.")


def load_network(target: str, weights: Path | None, *, trust: bool = False) -> nn.Module:
    """Make a network with ``package.module:factory`` and load its weights.

    Weights are a safetensors file or a checkpoint that holds tensors only. A checkpoint that holds
    other objects runs code when it is read, so it is read only with ``trust``.
    """
    made = load_object(target)
    net = made if isinstance(made, nn.Module) else made()
    if not isinstance(net, nn.Module):
        raise ValueError(f"{target!r} gives {type(net).__name__}, not an nn.Module.")
    if weights is not None:
        load_weights(net, weights, trust=trust)
    return net
