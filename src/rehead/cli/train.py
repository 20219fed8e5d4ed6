"""``rehead train``: a network from noisy labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rehead.cli.arguments import Labeller
from rehead.cli.checks import named_values
from rehead.cli.program import app, friendly


@app.command()
@friendly
def train(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")],
    data: Annotated[str, typer.Option(help="A data set: digits, cifar10, reuters8, ...")],
    model: Annotated[
        str | None,
        typer.Option(help="Network: resnet34, densenet100, cnn9, fcn, resnet-small, ..."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="cross-entropy, forward, d2l, co-teaching, ...")
    ] = "cross-entropy",
    recipe: Annotated[str, typer.Option(help="quick, or table1 to table8.")] = "quick",
    noise: Annotated[
        str, typer.Option(help="none, uniform, flip, annotator, semantic, open-set, ...")
    ] = "none",
    rate: Annotated[
        float,
        typer.Option(
            help="Share of wrong labels; with semantic noise, of clean samples for the labeller "
            "(0: the paper's).",
            min=0.0,
            max=1.0,
        ),
    ] = 0.0,
    labeller: Labeller = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(
            help="Where images of open-set noise come from: a data set, a folder, a .npy file; can "
            "be given several times."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Noisy labels of your own for the training samples, in their order: .npy, .txt, "
            "or FILE:COLUMN."
        ),
    ] = None,
    noise_rate: Annotated[
        float | None, typer.Option(help="Share of wrong labels that the method assumes.")
    ] = None,
    trusted: Annotated[
        float, typer.Option(help="Share of labels known to be right (glc, ...).")
    ] = 0.01,
    limit: Annotated[
        int | None, typer.Option(help="How many training samples to take.", min=1)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Epochs, in place of the recipe's.", min=1)
    ] = None,
    model_option: Annotated[
        list[str] | None, typer.Option(help="Of the network: width=16, ...")
    ] = None,
    method_option: Annotated[
        list[str] | None, typer.Option(help="Of the method: ramp=5, ...")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of noise, weights and order.", min=0)] = 0,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...")] = None,
    precision: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
) -> None:
    """Train a network on noisy labels. The same command continues a killed run."""
    import rehead.torch  # noqa: F401  (says what to install if torch is missing)

    _check_noise(noise, rate, labels, labeller, outside)
    from rehead._progress import plain_lines
    from rehead.experiments.noisy import TrainSettings
    from rehead.experiments.training import run_training
    from rehead.files.places import read_column

    settings = TrainSettings(
        data=data,
        model=model,
        method=method,
        recipe=recipe,
        noise=noise,
        rate=rate,
        labeller=labeller,
        outside=[_whole(source) for source in outside or ()],
        labels=None if labels is None else read_column(labels),
        noise_rate=noise_rate,
        trusted=trusted,
        limit=limit,
        epochs=epochs,
        model_options=named_values(model_option),
        method_options=named_values(method_option),
        seed=seed,
        device=device,
        precision=precision,
    )
    with plain_lines():
        result = run_training(settings, output, tell=typer.echo)
    wrong = "images are not of their class" if noise == "open-set" else "labels are wrong"
    typer.echo(
        f"{result.task.rate:.1%} of the training {wrong}; the network fits "
        f"{result.fitted:.1%} of them all and is right on {result.accuracy:.1%} of the test "
        f"samples: {output}"
    )


def _check_noise(
    noise: str, rate: float, labels: str | None, labeller: str | None, outside: list[str] | None
) -> None:
    """Options that do not go together, before anything is read."""
    from rehead.noise import INSTANCE_NOISES, NOISES

    if noise in (*NOISES, *INSTANCE_NOISES, "open-set") and rate == 0.0:
        raise ValueError(f"--noise {noise} needs a share of wrong labels: --rate 0.4, for example.")
    if noise == "none" and rate > 0.0:
        raise ValueError(f"--rate {rate:g} needs a kind of noise: --noise uniform, for example.")
    if labels is not None and noise != "none":
        raise ValueError(f"--labels and --noise {noise} both say which labels to take. Give one.")
    if labeller is not None and noise != "semantic":
        raise ValueError("--labeller goes with --noise semantic.")
    if outside and noise != "open-set":
        raise ValueError("--outside goes with --noise open-set.")


def _whole(source: str) -> str:
    """A path from the root, so that the run can be opened from another folder."""
    return str(Path(source).absolute()) if Path(source).exists() else source
