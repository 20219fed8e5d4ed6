"""The demo: a network memorises noisy digit labels, and its hidden layers give them away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rehead import noise
from rehead._typing import Array
from rehead.audit import LabelReport, score_labels
from rehead.classifier import RobustGaussianClassifier
from rehead.data import Split, Splits, load
from rehead.ensemble import LayerEnsemble
from rehead.evaluation.baselines import fit_baselines
from rehead.evaluation.comparison import SOFTMAX
from rehead.gaussian import support_size
from rehead.noise import NoisyLabels

if TYPE_CHECKING:
    from rehead.torch.models import FCN

NOISES: dict[str, Callable[..., NoisyLabels]] = {"uniform": noise.uniform, "flip": noise.flip}

ROG, DEFAULT = "RoG, ensemble, hidden layers", "auto, with the input (the default)"
"""Two of the ways to predict."""

Progress = Callable[[str, float], None]
"""Called with what is being done and which share of the demo is finished."""


@dataclass(frozen=True)
class DemoSettings:
    """What the demo does.

    The hidden layers are narrow on purpose: the paper keeps ``(N_c + d + 1) / 2`` samples of a
    class, so with 135 digits a class and 36 features 64 % are kept. With 128 features all would
    be, and there would be nothing to see.
    """

    noises: tuple[str, ...] = ("uniform", "flip")
    rate: float = 0.4
    seed: int = 0
    n_seeds: int = 5
    hidden: tuple[int, ...] = (36, 36, 36)
    epochs: int = 600
    batch_size: int = 450
    learning_rate: float = 0.01


class Run(NamedTuple):
    """One network: test accuracy of each way to predict, and what RoG kept and measured."""

    noise: str
    seed: int
    fitted: float
    accuracy: dict[str, float]
    clean_kept: dict[str, float]
    noise_rate: float
    noise_estimate: float


class Showcase(NamedTuple):
    """What the report shows of one run: digits, their labels, the audit, the features.

    ``layers`` are those of the training digits, ``held_out`` the layers of the held-out ones and
    their noisy labels. The model of the report is the default, which was fitted on them.
    """

    noise: str
    digits: Splits
    noisy: NoisyLabels
    report: LabelReport
    layers: dict[str, Array]
    held_out: tuple[dict[str, Array], Array]


class DemoResult(NamedTuple):
    """All runs, and one showcase for each kind of noise."""

    settings: DemoSettings
    kept_share: float
    runs: list[Run]
    showcases: list[Showcase]

    def methods(self) -> list[str]:
        """Names of the ways to predict, in the order they were run."""
        return list(self.runs[0].accuracy)

    def accuracies(self, kind: str, method: str) -> Array:
        """Test accuracy over seeds."""
        return np.array([run.accuracy[method] for run in self.runs if run.noise == kind])


def run_demo(settings: DemoSettings, progress: Progress = lambda text, share: None) -> DemoResult:
    """Run all kinds of noise and all seeds."""
    plan = [(kind, settings.seed + i) for kind in settings.noises for i in range(settings.n_seeds)]
    runs, showcases = [], []
    for i, (kind, seed) in enumerate(plan):

        def within(text: str, share: float, i: int = i, kind: str = kind, seed: int = seed) -> None:
            progress(f"{kind} {settings.rate:.0%}, seed {seed}: {text}", (i + share) / len(plan))

        run, showcase = run_once(settings, kind, seed, within)
        runs.append(run)
        if seed == settings.seed:
            showcases.append(showcase)
    per_class = len(showcases[0].digits.train.y) / len(showcases[0].digits.class_names)
    kept_share = support_size(per_class, max(settings.hidden)) / per_class
    return DemoResult(settings, kept_share, runs, showcases)


def _memorising_network(
    settings: DemoSettings, X: Array, labels: Array, seed: int, progress: Progress
) -> FCN:
    """A small network, trained until it has memorised its labels."""
    import torch

    from rehead.torch.models import FCN
    from rehead.torch.training import Recipe, train
    from rehead.torch.training import Run as TrainingRun

    torch.set_num_threads(1)  # the network is so small that a second thread would slow it down
    torch.manual_seed(seed)
    net = FCN(64, 10, hidden=settings.hidden, gain=2**0.5)
    recipe = Recipe(
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        optimizer="adam",
        learning_rate=settings.learning_rate,
        schedule="cosine",
        stop_when_fitted=0.995,
    )

    def on_epoch(entry: dict[str, Any]) -> None:
        share = 0.8 * entry["epoch"] / settings.epochs
        progress(f"the network fits {entry['fitted']:4.0%} of the labels", share)

    how = TrainingRun(seed=seed, progress=False, on_epoch=on_epoch)
    train(net, X, labels, recipe=recipe, run=how)
    return net


class NoisyDigits(NamedTuple):
    """Digits, their noisy training labels, and the noisy labels of the held-out ones."""

    digits: Splits
    noisy: NoisyLabels
    held_out: Array


def _noisy_digits(kind: str, rate: float, seed: int) -> NoisyDigits:
    # Independent generators: a split drawn with the seed of the noise would be tied to it.
    seeds = np.random.SeedSequence([seed, 1]).spawn(3)
    for_split, for_train, for_validation = (np.random.default_rng(s) for s in seeds)
    digits = load("digits", random_state=for_split)
    corrupt = NOISES[kind]
    noisy = corrupt(digits.train.y, rate, random_state=for_train)
    held_out = corrupt(digits.validation.y, rate, random_state=for_validation).labels
    return NoisyDigits(digits, noisy, held_out)


class Hidden(NamedTuple):
    """Hidden layers of some digits, their pixels, and the network's outputs."""

    layers: dict[str, Array]
    pixels: Array
    outputs: Array

    @property
    def with_input(self) -> dict[str, Array]:
        """The input as one more layer."""
        return {"input": self.pixels, **self.layers}

    @property
    def with_softmax(self) -> dict[str, Array]:
        """The hidden layers and the softmax."""
        return {**self.layers, SOFTMAX: self.outputs}

    @property
    def for_default(self) -> dict[str, Array]:
        """With the input and the softmax, which the default takes as well."""
        return {**self.with_input, SOFTMAX: self.outputs}


def _hidden(net: FCN, split: Split) -> Hidden:
    from rehead.torch import extract_features

    features = extract_features(net, split.X, net.feature_layers, progress=False)
    # A class has 135 rows and some features vary in one or two of them only: more than single
    # precision can resolve, and at this size double costs nothing.
    layers = {name: layer.astype(np.float64) for name, layer in features.layers.items()}
    return Hidden(layers, split.X.astype(np.float64), features.outputs)


class Task(NamedTuple):
    """What there is to fit on: features and noisy labels of training and held-out digits."""

    train: Hidden
    y: Array
    validation: Hidden
    held_out: Array
    seed: int


class Models(NamedTuple):
    """The paper's ensemble and the default, each on several inputs, and LDA."""

    lda: RobustGaussianClassifier
    rog: LayerEnsemble
    rog_with_input: LayerEnsemble
    auto_hidden: LayerEnsemble
    auto: LayerEnsemble
    auto_pixels: RobustGaussianClassifier

    def accuracies(self, test: Hidden, y: Array) -> dict[str, float]:
        """Of each way to predict, on equal inputs where they are to be compared."""
        last = list(test.layers)[-1]
        layers = self.rog.estimators_.items()
        return {
            "softmax": float((test.outputs.argmax(axis=1) == y).mean()),
            f"LDA, sample estimates, {last}": self.lda.score(test.layers[last], y),
            **{f"RoG, {name}": model.score(test.layers[name], y) for name, model in layers},
            ROG: self.rog.score(test.layers, y),
            "RoG, ensemble, with the input": self.rog_with_input.score(test.with_input, y),
            "auto, hidden layers and softmax": self.auto_hidden.score(test.with_softmax, y),
            DEFAULT: self.auto.score(test.for_default, y),
            "auto, pixels alone": self.auto_pixels.score(test.pixels, y),
        }


def _fit_all(task: Task) -> Models:
    train, y, validation, held_out, seed = task

    def auto(inputs: dict[str, Array], held: dict[str, Array]) -> LayerEnsemble:
        ensemble = LayerEnsemble(given=[SOFTMAX], random_state=seed)
        return ensemble.fit(inputs, y, validation=(held, held_out))

    hidden = fit_baselines(
        ["sample", "paper"], train.layers, y, (validation.layers, held_out), seed
    )
    seen = fit_baselines(["paper"], train.with_input, y, (validation.with_input, held_out), seed)
    return Models(
        lda=hidden["sample"].estimators_[list(train.layers)[-1]],
        rog=hidden["paper"],
        rog_with_input=seen["paper"],
        auto_hidden=auto(train.with_softmax, validation.with_softmax),
        auto=auto(train.for_default, validation.for_default),
        auto_pixels=RobustGaussianClassifier(random_state=seed).fit(train.pixels, y),
    )


def run_once(
    settings: DemoSettings, kind: str, seed: int, progress: Progress
) -> tuple[Run, Showcase]:
    """Corrupt, train, extract, estimate, compare."""
    digits, noisy, held_out = _noisy_digits(kind, settings.rate, seed)
    y = noisy.labels
    net = _memorising_network(settings, digits.train.X, y, seed, progress)
    progress("robust inference", 0.9)
    train, validation, test = (
        _hidden(net, split) for split in (digits.train, digits.validation, digits.test)
    )
    models = _fit_all(Task(train, y, validation, held_out, seed))
    report = score_labels(models.auto, train.for_default, y, ids=digits.train.ids)
    progress("done", 1.0)
    run = Run(
        noise=kind,
        seed=seed,
        fitted=float((train.outputs.argmax(axis=1) == y).mean()),
        accuracy=models.accuracies(test, digits.test.y),
        clean_kept={
            name: float((~noisy.changed)[member.support_].mean())
            for name, member in models.rog.estimators_.items()
        },
        noise_rate=noisy.rate,
        noise_estimate=report.noise_rate,
    )
    held = (validation.for_default, held_out)
    return run, Showcase(kind, digits, noisy, report, train.for_default, held)
