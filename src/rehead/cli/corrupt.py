"""``rehead corrupt``: noisy labels from clean ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rehead.cli.checks import need_folder, need_other_file
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead._typing import Array


@app.command()
@friendly
def corrupt(
    labels: Annotated[str, typer.Argument(help="Labels: .npy, .txt, FILE:COLUMN, or a data set.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Noisy labels: .npy, .txt, or .csv with details.")
    ],
    noise: Annotated[str, typer.Option(help="uniform, flip, symmetric, pair-flip, ...")],
    rate: Annotated[float, typer.Option(help="Share of wrong labels.", min=0.0, max=1.0)],
    seed: Annotated[int, typer.Option(help="Of the random choice.", min=0)] = 0,
) -> None:
    """Make some labels wrong on purpose. The file of clean ones is left alone."""
    need_folder(output)
    need_other_file(output, labels)
    from rehead._validation import check_choice
    from rehead.files.tables import write_noisy_labels
    from rehead.noise import NOISES

    check_choice(noise, NOISES, "noise")
    clean = _labels_of(labels)
    noisy = NOISES[noise](clean, rate, random_state=seed)
    write_noisy_labels(output, clean, noisy.labels, noisy.changed)
    typer.echo(f"{noisy.changed.sum()} of {len(clean)} labels changed ({noisy.rate:.2%}): {output}")


def _labels_of(source: str) -> Array:
    """Clean labels from a file, or the training labels of a data set by name."""
    import numpy as np

    from rehead.data import DATASETS, load
    from rehead.files.tables import read_column

    if source in DATASETS and not Path(source).exists():
        splits = load(source)
        return np.asarray(splits.class_names)[splits.train.y]
    return read_column(source)
