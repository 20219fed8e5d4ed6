"""The steps of `rehead clean`: each is done once, and what it was made from is written first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from rehead.cli.head import fit_head
from rehead.cli.known import check_known_rows, known_content, known_places, known_rows
from rehead.cli.networks import chosen_layers, open_inputs, open_network, run_network
from rehead.cli.samples import held_out_source, plain_name
from rehead.files.cleaned import (
    INSIDE,
    PARTS,
    CleanedFolder,
    Cleaning,
    CleaningError,
    checksum,
    stored,
)
from rehead.files.lock import FolderLock, LockedError
from rehead.files.manifest import MANIFEST
from rehead.files.places import split_column
from rehead.files.samples import Source, check_shown, read_samples
from rehead.files.tables import is_table

FEATURES, HELD_OUT = INSIDE + PARTS["features"], INSIDE + PARTS["held_out"]


@dataclass(frozen=True)
class Asked:
    """What a user asks for, by the names of the options.

    Attributes
    ----------
    net : str
        The network; features where there is no ``data``.
    data, validation, labels, ids, validation_labels : str or None
    ignore : tuple of str
    network : dict
        Of the network: weights, layers, pool, trust.
    inputs : dict
        Of its inputs: paths, texts, transform, tokenizer, size.
    looks : dict
        What to show: images, texts, table.
    head : dict
        Options of the head, as LayerEnsemble names them.
    known : dict
        What is known of the labels: trusted, uncorrected.
    """

    net: str
    data: str | None
    validation: str | None
    labels: str | None
    ids: str | None
    validation_labels: str | None
    ignore: tuple[str, ...]
    network: Mapping[str, Any]
    inputs: Mapping[str, Any]
    looks: Mapping[str, str | None]
    head: Mapping[str, Any]
    known: Mapping[str, str | None] = field(default_factory=dict)


def run_cleaning(asked: Asked, output: Path) -> None:
    """Do what is asked for, so far as it is not done yet."""
    from rehead.cli.checks import need_features
    from rehead.ensemble import LayerEnsemble

    head = LayerEnsemble(**asked.head)
    head.check_settings()
    if asked.data is None:
        _check_alone(asked)
        need_features(Path(asked.net))
    check_known_rows(asked.known, asked.net if asked.data is None else asked.data)
    folder = CleanedFolder(output)
    lock = _begin(folder, asked)
    try:
        if asked.data is not None:
            _extract(asked, folder)
        if folder.head.exists():
            typer.echo(f"Head: {folder.head} is there already.")
        else:
            _check_names(folder)
            fit_head(head, *known_rows(folder))
            head.save(folder.head)
            typer.echo(f"{head.explain()}\nHead: {folder.head}")
        _judge(folder)
    finally:
        lock.release()


def _check_alone(asked: Asked) -> None:
    """Refuse options that go with a network, where there is none."""
    defaults = {"weights": None, "layers": "auto", "pool": "mean", "trust": False}
    given = [name for name, value in asked.inputs.items() if value is not None]
    given += [name for name, value in asked.network.items() if value != defaults[name]]
    if given:
        raise ValueError(
            f"--{given[0]} goes with a network and its --data. Without --data, {asked.net} is "
            "taken for features."
        )
    if not Path(asked.net).exists():
        raise ValueError(
            f"There is no file or folder {asked.net} of features. If it is a network, say on what "
            "it runs: --data."
        )


def _begin(folder: CleanedFolder, asked: Asked) -> FolderLock:
    """Write down what is asked for, or compare it with what was; one process at a time."""
    wanted = cleaning_of(asked, folder)
    folder.path.mkdir(parents=True, exist_ok=True)
    try:
        lock = FolderLock(folder.path)
    except LockedError as error:
        raise CleaningError(
            f"Another process is at work in {folder.path}. Wait until it has ended."
        ) from error
    try:
        if folder.is_begun() and not folder.has_parts():
            folder.write(wanted)  # nothing came of what was asked for before
        elif folder.is_begun():
            was = folder.read()
            difference = difference_of(was, wanted)
            if difference:
                raise CleaningError(
                    f"{folder.path} was made {difference}. Choose another folder, or delete this "
                    "one."
                )
            if any(asked.looks.values()) and dict(was.looks) != dict(wanted.looks):
                _look_otherwise(folder, replace(was, looks=wanted.looks))
        elif any(path.name != ".lock" for path in folder.path.iterdir()):
            raise CleaningError(
                f"{folder.path} holds other files, and was not made by `rehead clean`. Choose an "
                "empty folder."
            )
        else:
            folder.write(wanted)
    except BaseException:
        lock.release()
        raise
    return lock


def _look_otherwise(folder: CleanedFolder, now: Cleaning) -> None:
    """What samples look like was said, or is said anew: only the report shows it."""
    if folder.head.exists():  # else it is checked before the head is fitted
        places = {name: folder.place(value) for name, value in now.looks.items()}
        _check_names(folder, places)
    folder.report.unlink(missing_ok=True)
    folder.write(now)


def cleaning_of(asked: Asked, folder: CleanedFolder) -> Cleaning:
    """What is asked for, as the folder says it."""
    from rehead.report.rendering import versions

    def place(given: Any) -> str | None:
        return None if given is None else stored(given, folder.path)

    looks = {name: stored(value, folder.path) for name, value in _looks(asked).items()}
    known = known_places(asked.known, asked.data, folder)
    if asked.data is None:
        source = Source(asked.net, asked.labels, asked.ids, asked.ignore)
        held_out = None
        if asked.validation is not None:
            held_out = held_out_source(source, asked.validation, asked.validation_labels)
        return Cleaning(
            train={**_stored_source(source, folder), **known},
            validation=None if held_out is None else _stored_source(held_out, folder),
            looks=looks,
            head=dict(asked.head),
            content=_content(source, held_out, folder) | known_content(known, folder),
            versions=versions(),
        )
    network = {
        "net": place(asked.net),
        **{name: place(getattr(asked, name)) for name in PLACES},
        **{name: place(value) for name, value in asked.network.items() if isinstance(value, Path)},
        **{k: v for k, v in asked.network.items() if v is not None and not isinstance(v, Path)},
        **{name: value for name, value in asked.inputs.items() if value is not None},
    }
    return Cleaning(
        train={"data": FEATURES, **known},
        validation=None if asked.validation is None else {"data": HELD_OUT},
        looks=looks,
        network={name: value for name, value in network.items() if value is not None},
        head=dict(asked.head),
        content=known_content(known, folder),
        versions=versions("torch"),
    )


PLACES = ("data", "validation", "labels", "ids", "validation_labels")
"""Options that name places."""


def difference_of(was: Cleaning, wanted: Cleaning) -> str:
    """How a folder was made otherwise than is wanted now; nothing if it was not."""
    for group in ("network", "train", "validation", "head"):
        before, now = (_plain(getattr(cleaning, group) or {}) for cleaning in (was, wanted))
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                option = OPTIONS.get((group, name), f"--{name.replace('_', '-')}")
                return _otherwise(option, before.get(name), now.get(name))
    for place in sorted({*was.content, *wanted.content}):
        if was.content.get(place) != wanted.content.get(place):
            return f"from another {place}: the file has changed since"
    return ""


def _plain(group: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a group; columns to ignore one by one, however they were written."""
    plain = dict(group)
    if "ignore" in plain:
        names = (part.strip() for text in plain["ignore"] for part in text.split(","))
        plain["ignore"] = sorted({name for name in names if name})
    return plain


OPTIONS = {
    ("network", "net"): "the network",
    ("train", "data"): "the features",
    ("validation", "data"): "--validation",
    ("validation", "labels"): "--validation-labels",
    ("head", "random_state"): "--seed",
}
"""What fields are called on the command line, where that is not their name."""


def _otherwise(option: str, before: Any, now: Any) -> str:
    """How a folder was made, in an option that is another one now."""
    if _is_nothing(before):
        return f"without {option}, and {option} {now} is asked for now"
    if _is_nothing(now):
        return f"with {option} {before}, which is not asked for now"
    return f"with {option} {before}, not {now}"


def _is_nothing(value: Any) -> bool:
    return value in (None, [], ())


def _looks(asked: Asked) -> dict[str, str]:
    """What samples look like: as is said, or as the data tell."""
    given = {name: value for name, value in asked.looks.items() if value is not None}
    if given:
        return given
    data = asked.net if asked.data is None else asked.data
    path = Path(data)
    named = asked.ids is None or plain_name(asked.ids) is not None  # ids of the table's own
    if is_table(path) and path.exists() and named:
        return _looks_of_table(asked, path)
    if asked.data is not None and path.is_dir():
        return {"images": data}
    return {"images": data} if asked.data is not None and _holds_images(path) else {}


def _looks_of_table(asked: Asked, path: Path) -> dict[str, str]:
    from rehead.files.tables import read_table

    if asked.inputs.get("texts"):
        return {"texts": f"{path}:{asked.inputs['texts']}"}
    column = asked.inputs.get("paths")
    if not column:
        return {"table": str(path)}
    files = [Path(str(name)) for name in read_table(path).columns.get(column, ())]
    below = not any(file.is_absolute() or ".." in file.parts for file in files)
    # Ids are the paths, from the folder of the table.
    return {"images": str(path.parent)} if below and asked.ids is None else {}


def _holds_images(path: Path) -> bool:
    """Whether a file is an array of images."""
    from rehead.files.npy import read_npy_header

    if path.suffix != ".npy" or not path.is_file():
        return False
    shape = read_npy_header(path).shape
    return len(shape) == 3 or (len(shape) == 4 and bool({1, 3, 4} & {shape[1], shape[3]}))


def _stored_source(source: Source, folder: CleanedFolder) -> dict[str, Any]:
    named = {name: getattr(source, name) for name in ("data", "labels", "ids")}
    told = {n: stored(value, folder.path) for n, value in named.items() if value is not None}
    return {**told, "ignore": list(source.ignore)}


def _content(source: Source, held_out: Source | None, folder: CleanedFolder) -> dict[str, str]:
    """Checksums of all files that samples come from, by place; of a store, of its manifest."""
    found = {}
    for part in (source, held_out) if held_out is not None else (source,):
        for value in (part.data, part.labels, part.ids):
            path = Path(split_column(str(value or ""))[0])
            file = path / MANIFEST if path.is_dir() else path
            if value and file.is_file():
                found[stored(path, folder.path)] = checksum(file)
    return found


def _extract(asked: Asked, folder: CleanedFolder) -> None:
    """Features of all samples; a store that is complete is compared with the data, and kept."""
    from rehead.torch import extract_features
    from rehead.torch.loading import Reading

    assert asked.data is not None
    network = open_network(asked.net, asked.network["weights"], asked.network["trust"])
    layers, pool = chosen_layers(asked.network["layers"]), asked.network["pool"]
    parts = [(asked.data, Reading(asked.labels, asked.ids, **asked.inputs), folder.features)]
    if asked.validation is not None:
        labels = asked.validation_labels or plain_name(asked.labels)
        how = Reading(labels, plain_name(asked.ids), **asked.inputs)
        parts.append((asked.validation, how, folder.held_out))
    for data, how, store in parts:
        extract = partial(extract_features, network, open_inputs(data, how), layers, pool=pool)
        found = run_network(partial(extract, store=store))
        widths = ", ".join(f"{name} ({f.shape[1]})" for name, f in found.layers.items())
        typer.echo(f"Features: {len(found)} samples, layers {widths}: {store}")


def _check_names(folder: CleanedFolder, looks: Mapping[str, str] | None = None) -> None:
    """Refuse ids and looks that do not go with the samples before time is spent on a head."""
    from rehead.audit.inputs import check_ids
    from rehead.report.shown import Looks, open_shown

    source = known_rows(folder)[0]
    samples = read_samples(source)
    if samples.ids is not None:
        check_ids(samples.ids, len(samples), "--ids", "Name each sample once")
    places = folder.looks() if looks is None else looks
    check_shown(source, places.get("texts"), places.get("table"))
    unnamed = samples.ids is None
    open_shown(samples.names, Looks(**places), numbered=unnamed, data=source.data)


def _judge(folder: CleanedFolder) -> None:
    """The table of all labels, and the report."""
    from rehead.audit.files import audit_source
    from rehead.files.tables import write_table
    from rehead.report.page import Beside, write_report
    from rehead.report.shown import Looks

    if folder.suspects.exists() and folder.report.exists():
        typer.echo(f"Labels and report: {folder.suspects} and {folder.report} are there already.")
    else:
        audited = audit_source(folder.head, folder.source())
        typer.echo(audited.report.summary())
        columns = audited.report.file_columns()
        write_table(folder.suspects, columns, for_people=True)
        typer.echo(f"Labels, worst first: {folder.suspects}")
        beside = Beside(
            X=audited.features,
            looks=Looks(**folder.looks()),
            outputs=audited.samples.outputs,
            steps=folder_steps(folder.path),
            title=f"Labels of {_name_of_data(folder)}",
            how=_settings(folder.read()),
            data=folder.source().data,
        )
        typer.echo(f"Report: {write_report(audited.report, folder.report, beside)}")
    typer.echo(f"Next: rehead review {folder.path}")


def folder_steps(folder: Path) -> list[tuple[str, str]]:
    """What to do next with a folder."""
    return [
        ("Go through the suspects by keyboard, in a browser:", f"rehead review {folder}"),
        (
            "Write corrected labels, and fit the head again with them:",
            f"rehead apply {folder}",
        ),
    ]


def _name_of_data(folder: CleanedFolder) -> str:
    asked = folder.read()
    data = str(asked.network.get("data") or asked.train["data"])
    return Path(data).name or data


def _settings(asked: Cleaning) -> list[tuple[str, str]]:
    """What was asked for, for the page."""
    parts = asdict(asked)
    told = []
    for group in ("network", "train", "validation", "head"):
        values = {k: v for k, v in (parts[group] or {}).items() if v not in (None, [], False)}
        if values:
            told.append((group, ", ".join(f"{name} {value}" for name, value in values.items())))
    return told
