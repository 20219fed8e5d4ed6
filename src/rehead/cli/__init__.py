"""The command line. Each command calls one public function; heavy imports wait until it runs."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Give a network trained on noisy labels a new head.",
    pretty_exceptions_show_locals=False,
)


class Noise(StrEnum):
    """Kinds of noise."""

    uniform = "uniform"
    flip = "flip"


Net = Annotated[
    str,
    typer.Argument(
        help="The network: package.module:factory, an nn.Module there, or a folder of `train`."
    ),
]
Weights = Annotated[
    Path | None, typer.Option(help="Its weights: .safetensors, or a checkpoint of tensors.")
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Read checkpoints that can run code. Only if you must.")
]
Data = Annotated[
    str,
    typer.Option(
        help="A loader: package.module:factory, a file of inputs (.npy, .npz), or a part of a run: "
        "FOLDER:train, FOLDER:validation, FOLDER:test."
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(help="Labels: .npy, .txt, or FILE:COLUMN. Default: those of the feature store."),
]
Features = Annotated[Path, typer.Argument(help="Features: a store, .npy, .npz, .csv or .parquet.")]
Head = Annotated[Path, typer.Argument(help="A head that `rehead fit` wrote.")]
Judge = Annotated[
    Path, typer.Argument(help="A head that `rehead fit` wrote, or a saved classifier.")
]


def friendly(command: Callable[..., None]) -> Callable[..., None]:
    """Show what the user can mend as one line, not as a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (ValueError, TypeError, OSError, ImportError) as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error

    return run


def _version(show: bool) -> None:
    if show:
        from rehead import __version__

        typer.echo(f"rehead {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that all commands share."""


@app.command()
@friendly
def demo(
    noise: Annotated[
        list[Noise] | None,
        typer.Option(help="Kind of noise; can be given several times.", show_default="all"),
    ] = None,
    rate: Annotated[float, typer.Option(help="Share of wrong labels.", min=0.0, max=1.0)] = 0.4,
    seed: Annotated[int, typer.Option(help="First seed.", min=0)] = 0,
    seeds: Annotated[int, typer.Option(help="Number of seeds.", min=1)] = 5,
    output: Annotated[Path, typer.Option("--output", "-o", help="The report.")] = Path(
        "demo-report.html"
    ),
) -> None:
    """Train on noisy digits, fix the network without retraining, write a report. Needs no data."""
    _need_folder(output)
    import rehead.torch  # noqa: F401  (says what to install if torch is missing)
    from rehead.experiments.demo import DemoSettings, run_demo
    from rehead.report import console as show
    from rehead.report import write_demo_report

    kinds = tuple(kind.value for kind in noise or Noise)
    settings = DemoSettings(noises=kinds, rate=rate, seed=seed, n_seeds=seeds)
    start = time.perf_counter()
    with show.progress_bar() as progress:
        result = run_demo(settings, progress)
        progress("drawing the report", 1.0)
        page = write_demo_report(result, output, time.perf_counter() - start)
    show.print_demo(result)
    typer.echo(f"Report: {page} ({time.perf_counter() - start:.0f} s)")


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
    _need_folder(output)
    from rehead._validation import check_choice
    from rehead.files.tables import labels_of, write_noisy_labels
    from rehead.noise import NOISES

    check_choice(noise, NOISES, "noise")
    clean = labels_of(labels)
    noisy = NOISES[noise](clean, rate, random_state=seed)
    write_noisy_labels(output, clean, noisy.labels, noisy.changed)
    typer.echo(f"{noisy.changed.sum()} of {len(clean)} labels changed ({noisy.rate:.2%}): {output}")


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
    limit: Annotated[int | None, typer.Option(help="So many training samples.", min=1)] = None,
    epochs: Annotated[int | None, typer.Option(help="In place of the recipe's.", min=1)] = None,
    model_option: Annotated[list[str] | None, typer.Option(help="width=16, ...")] = None,
    method_option: Annotated[list[str] | None, typer.Option(help="ramp=5, ...")] = None,
    seed: Annotated[int, typer.Option(help="Of noise, weights and order.", min=0)] = 0,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ...")] = None,
    precision: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
) -> None:
    """Train a network on noisy labels. A killed run goes on when it is called again."""
    import rehead.torch  # noqa: F401  (says what to install if torch is missing)
    from rehead.experiments.training import TrainSettings, run_training
    from rehead.files.tables import read_column

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
        model_options=_options(model_option),
        method_options=_options(method_option),
        seed=seed,
        device=device,
        precision=precision,
    )
    result = run_training(settings, output)
    typer.echo(
        f"{result.task.rate:.1%} of the training labels are wrong; the network fits "
        f"{result.fitted:.1%} of them all and is right on {result.accuracy:.1%} of the test "
        f"samples: {output}"
    )


@app.command()
@friendly
def layers(net: Net, data: Data, weights: Weights = None, trust: Trust = False) -> None:
    """List the layers of a network that features can be taken from, with their widths."""
    from rehead.report import console as show
    from rehead.torch.batches import read_loader
    from rehead.torch.layers import auto_layers, candidate_layers
    from rehead.torch.taps import unwrap

    network = unwrap(_network(net, weights, trust))
    batch = next(read_loader(_loader(data)))
    show.print_layers(candidate_layers(network, batch), auto_layers(network, batch))


@app.command()
@friendly
def features(
    net: Net,
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the feature store.")],
    weights: Weights = None,
    layers: Annotated[
        str, typer.Option(help="Names of layers, separated by commas, or auto.")
    ] = "auto",
    pool: Annotated[str, typer.Option(help="mean, first, tokens, channels or flatten.")] = "mean",
    labels: Labels = None,
    trust: Trust = False,
) -> None:
    """Extract hidden features to a store on disk. A killed run goes on where it stopped."""
    from rehead.torch import extract_features

    network = _network(net, weights, trust)
    names: Any = "auto" if layers == "auto" else layers.split(",")
    loader = _loader(data, labels)
    found = extract_features(network, loader, names, pool=pool, store=output)  # type: ignore[arg-type]
    widths = ", ".join(f"{name} ({f.shape[1]})" for name, f in found.layers.items())
    typer.echo(f"{len(found)} samples, layers {widths}: {output}")


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
    _need_folder(output)
    from rehead.ensemble.estimator import LayerEnsemble
    from rehead.files.tables import read_labels, read_layers

    _need_features(train)
    amount = _number(shrinkage, "--shrinkage") if shrinkage not in (None, "auto") else shrinkage
    head = LayerEnsemble(
        estimator, preset=preset, shrinkage=amount, weights=weights, random_state=seed
    )
    held_out = None
    if validation is not None:
        _need_features(validation)
        held_out = (
            read_layers(validation, [validation_labels]),
            read_labels(validation_labels, validation, "--validation-labels"),
        )
    head.fit(read_layers(train, [labels]), read_labels(labels, train), validation=held_out)
    head.save(output)
    shares = ", ".join(f"{n} {w:.2f}" for n, w in zip(head.layers_, head.weights_, strict=True))
    typer.echo(f"{len(head.classes_)} classes, weights of layers: {shares}: {output}")
    if head.judgement_ is not None:
        typer.echo(head.explain())


@app.command()
@friendly
def predict(
    head: Judge,
    data: Features,
    output: Annotated[Path, typer.Option("--output", "-o", help="A CSV file.")],
) -> None:
    """Predict labels from features: id, label and its probability, as CSV."""
    _need_folder(output)
    from rehead.audit.files import inputs_of, open_model
    from rehead.files.tables import read_ids, read_layers, write_csv

    _need_head(head)
    _need_features(data)
    model = open_model(head)
    posterior = model.predict_proba(inputs_of(model, read_layers(data), data))
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
def compare(head: Head, data: Features, labels: Labels = None) -> None:
    """Score softmax (where the store has it), each layer and the robust head on labelled data."""
    from rehead.ensemble.estimator import LayerEnsemble
    from rehead.evaluation.comparison import compare_ensemble
    from rehead.files.tables import read_labels, read_layers, read_outputs

    _need_head(head)
    _need_features(data)
    model = LayerEnsemble.load(head)
    y = read_labels(labels, data)
    typer.echo(str(compare_ensemble(model, read_layers(data, [labels]), y, read_outputs(data))))


@app.command()
@friendly
def audit(
    head: Judge,
    data: Features,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A CSV file of all labels, worst first.")
    ] = None,
    labels: Labels = None,
    ids: Annotated[
        str | None,
        typer.Option(help="Ids: .npy, .txt, or FILE:COLUMN. Default: those of the feature store."),
    ] = None,
    show: Annotated[int, typer.Option(help="So many of the worst labels are shown.", min=0)] = 10,
    input_order: Annotated[
        bool, typer.Option("--input-order", help="Keep the order of the data in the CSV file.")
    ] = False,
) -> None:
    """Judge labels: which are wrong, what they should be, how many to review."""
    if output is not None:
        _need_folder(output)
    from rehead.audit.files import audit_files

    _need_head(head)
    _need_features(data)
    report = audit_files(head, data, labels, ids)
    typer.echo(report.summary(show))
    if output is not None:
        report.to_csv(output, worst_first=not input_order)
        typer.echo(f"{len(report)} labels: {output}")


def _options(pairs: list[str] | None) -> dict[str, Any]:
    """Options from NAME=VALUE; values are JSON where they can be, else text."""
    options: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ValueError(f"{pair!r} must be NAME=VALUE, for example width=16.")
        try:
            options[name] = json.loads(value)
        except json.JSONDecodeError:
            options[name] = value
    return options


def _network(net: str, weights: Path | None, trust: bool) -> Any:
    """A network of the user's own, or that of a run."""
    from rehead.experiments.training import is_run, open_run
    from rehead.torch.loading import load_network

    if weights is None and is_run(net):
        return open_run(net).net
    return load_network(net, weights, trust=trust)


def _loader(data: str, labels: str | None = None) -> Any:
    """A loader of the user's own, or samples of a run."""
    from rehead.experiments.training import is_run, open_run
    from rehead.torch.loading import load_loader

    folder, _, part = data.rpartition(":")
    if labels is None and folder and is_run(folder):
        return tuple(open_run(folder).part(part))
    return load_loader(data, labels)


def _number(text: str | None, option: str) -> float:
    try:
        return float(text)  # type: ignore[arg-type]
    except ValueError:
        raise ValueError(f"{option} must be a number or auto, got {text!r}.") from None


def _need_head(head: Path) -> None:
    """A file, not a folder, which may be that of a run."""
    if head.is_dir():
        raise ValueError(f"{head} is a folder, not a head. Make one with `rehead fit`.")


def _need_features(data: Path) -> None:
    """Features, not a run of `train`, which stands for a network and its data."""
    from rehead.experiments.training import is_run

    folder, colon, part = str(data).rpartition(":")
    for run in (str(data), folder if colon else ""):
        if run and is_run(run):
            raise ValueError(
                f"{data} is a run of `rehead train`, not features. Extract them first: rehead "
                f"features {run} --data {run}:{part if run == folder else 'train'} -o FOLDER"
            )


def _need_folder(file: Path) -> None:
    """Fail before the work, not after it, where the result could not be written."""
    if not file.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent} for {file.name}; make it first")
