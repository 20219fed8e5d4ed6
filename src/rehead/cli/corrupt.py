"""``rehead corrupt``: noisy labels from clean ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rehead.cli.arguments import Ids, Labeller
from rehead.cli.checks import need_ending, need_folder, need_other_file
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead._typing import Array

SEMANTIC = "semantic"


class Noisy(NamedTuple):
    """Noisy labels, which of them are wrong, and their share."""

    labels: Any
    changed: Array
    rate: float


@app.command()
@friendly
def corrupt(
    source: Annotated[
        str, typer.Argument(help="Clean labels: .npy, .txt, a table, FILE:COLUMN, or a data set.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Noisy labels: .npy, .txt; .csv, .parquet add details."
        ),
    ],
    noise: Annotated[
        str,
        typer.Option(
            help="uniform, flip, symmetric, pair-flip, ...; for a data set also semantic, "
            "annotator, part-dependent, polynomial-margin."
        ),
    ],
    rate: Annotated[
        float,
        typer.Option(
            help="Share of wrong labels; with semantic noise, of clean samples for the labeller.",
            min=0.0,
            max=1.0,
        ),
    ],
    labeller: Labeller = None,
    labels: Annotated[str | None, typer.Option(help="The column of labels of a table.")] = None,
    ids: Ids = None,
    seed: Annotated[int, typer.Option(help="Seed of the random choice.", min=0)] = 0,
) -> None:
    """Make some labels wrong on purpose. The file of clean labels is not changed."""
    need_folder(output)
    need_other_file(output, source, labels, ids)
    import numpy as np

    from rehead._validation import check_choice
    from rehead.files.places import read_beside
    from rehead.files.tables import LABELS_WRITTEN, write_labels
    from rehead.noise import INSTANCE_NOISES, NOISES

    need_ending(output, LABELS_WRITTEN)
    check_choice(noise, (*NOISES, *INSTANCE_NOISES, SEMANTIC), "noise")
    if labeller is not None and noise != SEMANTIC:
        raise ValueError("--labeller goes with --noise semantic.")
    if noise not in NOISES:
        clean, noisy = _of_inputs(source, noise, rate, labeller, seed)
    else:
        clean = _labels_of(source, labels, seed)
        made = NOISES[noise](clean, rate, random_state=seed)
        noisy = Noisy(made.labels, made.changed, made.rate)
    named = np.arange(len(clean)) if ids is None else read_beside(ids, source, exact=True)
    if len(named) != len(clean):
        raise ValueError(f"There are {len(clean)} labels and {len(named)} ids.")
    columns = {"id": named, "label": noisy.labels, "clean": clean, "changed": noisy.changed}
    write_labels(output, columns)
    typer.echo(f"{noisy.changed.sum()} of {len(clean)} labels changed ({noisy.rate:.2%}): {output}")


def _labels_of(source: str, column: str | None, seed: int) -> Array:
    """Clean labels from a file, or the training labels of a data set by name.

    Those are class codes, as runs of ``rehead train`` have them; the same seed draws the same
    training samples.
    """
    from rehead.data import DATASETS, load
    from rehead.files.places import read_beside, read_column

    if source in DATASETS and not Path(source).exists():
        typer.echo(
            f"Class codes of the training samples of {source}, as `rehead train --data {source} "
            f"--seed {seed}` has them."
        )
        return load(source, random_state=seed).train.y
    return read_column(source) if column is None else read_beside(column, source)


def _of_inputs(
    source: str, noise: str, rate: float, labeller: str | None, seed: int
) -> tuple[Array, Noisy]:
    """Labels of who must see the inputs: those that a run would be trained on."""
    from rehead._progress import plain_lines
    from rehead.data import DATASETS
    from rehead.experiments.noisy import TrainSettings, noisy_task

    if source not in DATASETS or Path(source).exists():
        raise ValueError(
            f"{noise.capitalize()} noise needs inputs, and {source} has labels only. Name a data "
            f"set ({', '.join(DATASETS)}), or use rehead.noise.{noise.replace('-', '_')} in Python."
        )
    settings = TrainSettings(data=source, noise=noise, rate=rate, labeller=labeller, seed=seed)
    with plain_lines():
        task = noisy_task(settings)
    typer.echo(task.notes[0])
    return task.splits.train.y, Noisy(task.labels, task.changed, task.rate)
