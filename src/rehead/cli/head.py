"""``rehead fit``, ``predict`` and ``compare``: a head from features, and its use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rehead.cli.arguments import (
    Cluster,
    Features,
    Head,
    Ids,
    Ignore,
    Jobs,
    Judge,
    Labels,
    Trusted,
    Uncorrected,
)
from rehead.cli.checks import (
    need_ending,
    need_features,
    need_folder,
    need_head,
    need_other_file,
    number_or_auto,
)
from rehead.cli.program import app, friendly

if TYPE_CHECKING:
    from rehead.audit.known import KnownRows
    from rehead.ensemble import LayerEnsemble
    from rehead.files.samples import Source


@app.command()
@friendly
def fit(
    train: Features,
    output: Annotated[Path, typer.Option("--output", "-o", help="The head, one file.")],
    labels: Labels = None,
    ids: Ids = None,
    ignore: Ignore = None,
    validation: Annotated[
        Path | None, typer.Option(help="Held-out features, for the weights of the layers.")
    ] = None,
    validation_labels: Labels = None,
    estimator: Annotated[str | None, typer.Option(help="auto (default), mcd, sample, ...")] = None,
    preset: Annotated[str | None, typer.Option(help="paper or authors.")] = None,
    shrinkage: Annotated[str | None, typer.Option(help="A share, or auto.")] = None,
    priors: Annotated[
        str | None,
        typer.Option(help="How common classes are in what is predicted: uniform or empirical."),
    ] = None,
    feature_map: Annotated[
        str | None, typer.Option(help="Boundaries that are not straight: kernel, none or auto.")
    ] = None,
    labels_from: Annotated[
        str | None, typer.Option(help="Who made the labels: people (default) or machine.")
    ] = None,
    trusted: Trusted = None,
    uncorrected: Uncorrected = None,
    weights: Annotated[str | None, typer.Option(help="nll, corrected or equal.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random draws.", min=0)] = 0,
    jobs: Jobs = None,
    cluster: Cluster = None,
) -> None:
    """Fit a robust head on features and noisy labels."""
    need_folder(output)
    need_other_file(output, train, labels, ids, trusted, uncorrected, validation, validation_labels)
    from rehead.audit.known import check_known_places, read_known
    from rehead.cli.samples import held_out_source
    from rehead.ensemble import LayerEnsemble
    from rehead.files.samples import Source
    from rehead.files.tables import is_table
    from rehead.scale import workers

    need_features(train)
    known = read_known(train, trusted, uncorrected)
    source = Source(train, labels, ids, [*(ignore or ()), *known.columns])
    check_known_places(known.places, source)
    head = LayerEnsemble(
        estimator,
        preset=preset,
        shrinkage=number_or_auto(shrinkage, "--shrinkage"),
        priors=priors,
        feature_map=feature_map,
        labels_from=labels_from,
        weights=weights,
        random_state=seed,
    )
    head.check_settings()
    held_out = None
    if validation is not None:
        need_features(validation)
        held_out = held_out_source(source, validation, validation_labels)
    kept = nullcontext() if is_table(train) else going_on(output)
    with workers(jobs, cluster), kept:
        fit_head(head, source, held_out, known)
        head.save(output)
    typer.echo(head.explain())
    typer.echo(f"A head of {len(head.classes_)} classes: {output}")


@contextmanager
def going_on(output: Path) -> Iterator[None]:
    """Meanwhile what a fit has done is kept beside its output, until that is written."""
    from rehead.scale import checkpoint

    folder = output.with_name(f"{output.name}.checkpoint")
    device = output.exists() and not output.is_file()
    with checkpoint(None if device else folder) as kept:
        if kept is not None and kept.n_found:
            typer.echo(f"A fit was stopped. It goes on: {kept.n_found} steps are in {folder}.")
        yield


def fit_head(
    head: LayerEnsemble, source: Source, held_out: Source | None, known: KnownRows | None = None
) -> None:
    """Fit a head on files; it knows from then on which network features must come from."""
    from rehead.audit.inputs import check_ids
    from rehead.audit.known import KnownRows
    from rehead.cli.samples import read_held_out, read_training

    samples = read_training(source)
    if source.ids is not None and samples.ids is not None:
        check_ids(samples.ids, len(samples), "--ids", "Name each sample once")
    validation = None if held_out is None else read_held_out(source, samples, held_out)
    known = known or KnownRows()
    head.fit(
        samples.layers,
        samples.labels,
        validation,
        ids=samples.ids,
        trusted=known.trusted,
        uncorrected=known.uncorrected,
    )
    head.inputs_.network = None if samples.store is None else samples.store.fingerprint
    if samples.labels is not None:
        told = known.to_remember(samples.layers, samples.labels, head.classes_)
        head.inputs_.known_from = told


@app.command()
@friendly
def predict(
    head: Judge,
    data: Features,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file.")],
    labels: Labels = None,
    ids: Ids = None,
    ignore: Ignore = None,
) -> None:
    """Predict labels from features: id, label and its probability, as a table.

    --labels only says which column of the table holds labels, so that it is not a feature.
    """
    need_folder(output)
    need_ending(output, (".csv", ".parquet"))
    need_other_file(output, head, data, labels, ids)
    from rehead.audit.files import open_model
    from rehead.audit.judging import predict_in_blocks
    from rehead.cli.samples import read_for
    from rehead.files.samples import Source
    from rehead.files.tables import write_table

    need_head(head)
    need_features(data)
    model = open_model(head)
    samples = read_for(model, Source(data, labels, ids, ignore or ()), labelled=False)
    best, probability = predict_in_blocks(model, model.inputs_of(samples.layers), len(samples))
    columns = {"id": samples.names, "label": model.classes_[best], "probability": probability}
    write_table(output, columns)
    typer.echo(f"{len(best)} predictions: {output}")


@app.command()
@friendly
def compare(
    head: Head,
    data: Features,
    labels: Labels = None,
    ids: Ids = None,
    ignore: Ignore = None,
    class_names: Annotated[
        str | None,
        typer.Option(help="Labels of the network's outputs in their order: a,b,c or a file."),
    ] = None,
) -> None:
    """Score softmax (where the store has it), each layer and the robust head on labelled data."""
    from rehead.cli.samples import read_for
    from rehead.ensemble import LayerEnsemble
    from rehead.evaluation.comparison import compare_ensemble
    from rehead.files.places import read_column
    from rehead.files.samples import Source

    need_head(head)
    need_features(data)
    model = LayerEnsemble.load(head)
    samples = read_for(model, Source(data, labels, ids, ignore or ()))
    names = None
    if class_names is not None:
        names = read_column(class_names) if Path(class_names).exists() else class_names.split(",")
    layers = model.inputs_of(samples.layers)
    typer.echo(
        str(compare_ensemble(model, layers, samples.labels, samples.outputs, class_names=names))
    )
