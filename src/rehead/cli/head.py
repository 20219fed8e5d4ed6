"""``rehead fit``, ``predict`` and ``compare``: a head from features, and its use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rehead.cli.arguments import Features, Head, Judge, Labels
from rehead.cli.checks import need_features, need_folder, need_head, need_other_file, number_or_auto
from rehead.cli.program import app, friendly


@app.command()
@friendly
def fit(
    train: Features,
    output: Annotated[Path, typer.Option("--output", "-o", help="The head, one file.")],
    labels: Labels = None,
    validation: Annotated[
        Path | None, typer.Option(help="Held-out features, for the weights of the layers.")
    ] = None,
    validation_labels: Labels = None,
    estimator: Annotated[str | None, typer.Option(help="auto (default), mcd, sample, ...")] = None,
    preset: Annotated[str | None, typer.Option(help="paper or authors.")] = None,
    shrinkage: Annotated[str | None, typer.Option(help="A share, or auto.")] = None,
    weights: Annotated[str | None, typer.Option(help="nll, corrected or equal.")] = None,
    seed: Annotated[int, typer.Option(help="Of the random starts.", min=0)] = 0,
) -> None:
    """Fit a robust head on features and noisy labels."""
    need_folder(output)
    need_other_file(output, train, labels, validation, validation_labels)
    from rehead.ensemble import LayerEnsemble
    from rehead.files.tables import read_labels, read_layers

    need_features(train)
    amount = number_or_auto(shrinkage, "--shrinkage")
    head = LayerEnsemble(
        estimator, preset=preset, shrinkage=amount, weights=weights, random_state=seed
    )
    held_out = None
    if validation is not None:
        need_features(validation)
        held_out = (
            read_layers(validation, [validation_labels]),
            read_labels(validation_labels, validation, "--validation-labels"),
        )
    head.fit(read_layers(train, [labels]), read_labels(labels, train), validation=held_out)
    head.save(output)
    shares = ", ".join(f"{n} {w:.2f}" for n, w in zip(head.members_, head.weights_, strict=True))
    typer.echo(f"{len(head.classes_)} classes, weights of layers: {shares}: {output}")
    if head.consensus_ is not None:
        typer.echo(head.explain())


@app.command()
@friendly
def predict(
    head: Judge,
    data: Features,
    output: Annotated[Path, typer.Option("--output", "-o", help="A CSV file.")],
) -> None:
    """Predict labels from features: id, label and its probability, as CSV."""
    need_folder(output)
    need_other_file(output, head, data)
    from rehead.audit.files import open_model
    from rehead.files.tables import read_ids, read_layers, write_csv

    need_head(head)
    need_features(data)
    model = open_model(head)
    posterior = model.predict_proba(model.inputs_of(read_layers(data)))
    best = posterior.argmax(axis=1)
    columns = {
        "id": read_ids(data, len(posterior)),
        "label": model.classes_[best],
        "probability": posterior.max(axis=1),
    }
    write_csv(output, columns)
    typer.echo(f"{len(posterior)} predictions: {output}")


@app.command()
@friendly
def compare(
    head: Head,
    data: Features,
    labels: Labels = None,
    class_names: Annotated[
        str | None,
        typer.Option(help="Labels of the network's outputs in their order: a,b,c or a file."),
    ] = None,
) -> None:
    """Score softmax (where the store has it), each layer and the robust head on labelled data."""
    from rehead.ensemble import LayerEnsemble
    from rehead.evaluation.comparison import compare_ensemble
    from rehead.files.tables import read_column, read_labels, read_layers, read_outputs

    need_head(head)
    need_features(data)
    model = LayerEnsemble.load(head)
    y = read_labels(labels, data)
    names = None
    if class_names is not None:
        names = read_column(class_names) if Path(class_names).exists() else class_names.split(",")
    outputs = read_outputs(data)
    layers = read_layers(data, [labels])
    typer.echo(str(compare_ensemble(model, layers, y, outputs, class_names=names)))
