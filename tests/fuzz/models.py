"""Model files: damaged, cut, mixed up, and with fields that a right checksum vouches for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rehead import LayerEnsemble, RobustGaussianClassifier, score_labels, typicality
from rehead.torch import RobustHead

from ..files import crafted
from .outcome import Case, posterior_of, refused, same
from .samples import NAMES, blobs, damage, network, pick

N = 30
"""Samples that are asked about."""


class Model(NamedTuple):
    """A good file, how it is loaded, what is asked of the model, and what it answers."""

    name: str
    path: Path
    load: Callable[[Path], Any]
    ask: Callable[[Any], Any]
    answer: Any

    def of(self, path: Path, write: Callable[[], Any]) -> Any:
        """The answer of the file that is written first."""
        write()
        return self.ask(self.load(path))


def cases(rng: np.random.Generator, folder: Path) -> Iterator[Case]:
    """Cases without end."""
    models = _models(folder)
    fields = {model.name: _other_fields(model, folder / "damaged", rng) for model in models}
    for number in itertools.count():
        model = pick(rng, models)
        path = folder / "damaged"
        if number % 2:
            what, write = next(fields[model.name])
            right = _some_posterior
        elif number % 20:
            content = model.path.read_bytes()
            header = 8 + int.from_bytes(content[:8], "little")
            what, content = damage(content, rng, pick(rng, [header, None]))
            write, right = partial(path.write_bytes, content), same(model.answer)
        else:
            other = pick(rng, models)
            what, write = (
                f"file of {other.name}",
                partial(path.write_bytes, other.path.read_bytes()),
            )
            right = refused
            if type(other.answer) is type(model.answer) and other.load == model.load:
                right = same(other.answer)
        yield Case(f"{model.name}: {what}", partial(model.of, path, write), right)


def _some_posterior(result: Any) -> bool:
    """Whether a model with other fields, which is another model, answers like a model."""
    p = np.asarray(result[0])
    return p.ndim == 2 and posterior_of(N, p.shape[1])(p)


def _models(folder: Path) -> list[Model]:
    X, y = blobs(np.random.default_rng(0), 90)
    layers = {"a": X, "b": X[:, :2]}
    some, some_layers = X[:N], {name: values[:N] for name, values in layers.items()}
    net = network()

    def of_classifier(m: Any) -> Any:
        quality = score_labels(m, some, m.predict(some)).quality
        return m.predict_proba(some), m.predict(some), m.score_samples(some), quality

    def of_ensemble(m: Any) -> Any:
        m.explain()
        return m.predict_proba(some_layers), m.predict(some_layers), typicality(m, some_layers)

    def of_head(m: Any) -> Any:
        return m.predict_proba(some.astype("f4")), m.report_.quality, m.find_mislabelled()

    def load_head(path: Path) -> RobustHead:
        return RobustHead.load(path, net)

    one, several = RobustGaussianClassifier, LayerEnsemble
    held_out = ({name: values[60:] for name, values in layers.items()}, y[60:])
    training = {name: values[:60] for name, values in layers.items()}
    fitted = {
        "auto": (one(random_state=0).fit(X, y), one.load, of_classifier),
        "single": (one("mcd", random_state=0).fit(X.astype("f4"), y), one.load, of_classifier),
        "mapped": (
            one(feature_map="kernel", random_state=0).fit(X.astype("f4"), y),
            one.load,
            of_classifier,
        ),
        "texts": (one("mixture").fit(X, NAMES[y]), one.load, of_classifier),
        "ensemble": (
            several(random_state=0).fit(training, y[:60], validation=held_out),
            several.load,
            of_ensemble,
        ),
        "paper": (
            several(preset="paper", random_state=0).fit(layers, y),
            several.load,
            of_ensemble,
        ),
        "head": (
            RobustHead(net, random_state=0).fit((X.astype("f4"), y)),
            load_head,
            of_head,
        ),
    }
    found = []
    for name, (model, load, ask) in fitted.items():
        model.save(folder / name)
        found.append(Model(name, folder / name, load, ask, ask(load(folder / name))))
    return found


def _other_fields(
    model: Model, path: Path, rng: np.random.Generator
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Other settings and arrays under a right checksum, in an order by chance, again and again."""
    arrays, header = crafted.read(model.path)
    changes: list[tuple[str, Callable[[], tuple[Any, Any]]]] = []
    for what, make in crafted.other_settings(header["settings"]):
        changes.append((what, lambda make=make: (arrays, {**header, "settings": make()})))
    for what, others in crafted.other_arrays(arrays):
        changes.append((what, lambda others=others: (others, header)))
    while True:
        for number in rng.permutation(len(changes)):
            what, change = changes[number]
            yield what, lambda change=change: crafted.write(path, *change())
