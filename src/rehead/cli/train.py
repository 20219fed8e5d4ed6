"""``rehead train``: a network from noisy labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rehead.cli.arguments import Labels
from rehead.cli.checks import named_values
from rehead.cli.program import app, friendly


@app.command()
@friendly
def train(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")],
    data: Annotated[str, typer.Option(help="A data set: digits, cifar10, reuters8, ...")],
    model: Annotated[
        str | None, typer.Option(help="resnet34, densenet100, cnn9, fcn, resnet-small, ...")
    ] = None,
    method: Annotated[
        str, typer.Option(help="cross-entropy, forward, d2l, co-teaching, ...")
    ] = "cross-entropy",
    recipe: Annotated[str, typer.Option(help="quick, or table1 to table8.")] = "quick",
    noise: Annotated[
        str, typer.Option(help="none, uniform, flip, semantic, open-set, ...")
    ] = "none",
    rate: Annotated[float, typer.Option(help="Share of wrong labels.", min=0.0, max=1.0)] = 0.0,
    labels: Labels = None,
    noise_rate: Annotated[
        float | None, typer.Option(help="What the method is told of the noise.")
    ] = None,
    trusted: Annotated[float, typer.Option(help="Share of known labels (glc, ...).")] = 0.01,
    limit: Annotated[
        int | None, typer.Option(help="How many training samples to take.", min=1)
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="In place of the recipe's.", min=1)] = None,
    model_option: Annotated[list[str] | None, typer.Option(help="width=16, ...")] = None,
    method_option: Annotated[list[str] | None, typer.Option(help="ramp=5, ...")] = None,
    seed: Annotated[int, typer.Option(help="Of noise, weights and order.", min=0)] = 0,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...")] = None,
    precision: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
) -> None:
    """Train a network on noisy labels. A killed run goes on when it is called again."""
    import rehead.torch  # noqa: F401  (says what to install if torch is missing)
    from rehead.noise import NOISES

    if noise in NOISES and rate == 0.0:
        raise ValueError(f"--noise {noise} needs a share of wrong labels: --rate 0.4, for example.")
    if noise == "none" and rate > 0.0:
        raise ValueError(f"--rate {rate:g} needs a kind of noise: --noise uniform, for example.")
    from rehead._progress import plain_lines
    from rehead.experiments.training import TrainSettings, run_training
    from rehead.files.places import read_column

    settings = TrainSettings(
        data=data,
        model=model,
        method=method,
        recipe=recipe,
        noise=noise,
        rate=rate,
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
        result = run_training(settings, output)
    typer.echo(
        f"{result.task.rate:.1%} of the training labels are wrong; the network fits "
        f"{result.fitted:.1%} of them all and is right on {result.accuracy:.1%} of the test "
        f"samples: {output}"
    )
