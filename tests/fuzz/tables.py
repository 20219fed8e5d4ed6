"""Tables as programs and offices write them: whatever the form, the same samples or an error."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow
import pyarrow.parquet
from typer.testing import CliRunner

from rehead import LayerEnsemble
from rehead._typing import NamedFeatures
from rehead._validation import check_labels
from rehead.cli import app
from rehead.files.samples import Source, read_samples

from .outcome import Case, Oracle, Said, refused, same
from .samples import FEATURES, NAMES, blobs, damage, pick, pick_named

Random = np.random.Generator
N = 12
IDS, LABEL = "name", "kind"
LABELS: dict[str, list[Any]] = {
    "names": NAMES.tolist(),
    "numbers": [0, 1, 2],
    "large numbers": [10**15, 7, 2**40],
    "signed": [-1, 0, 1],
    "codes": ["007", "08", "12a"],
    "letters": ["käfer", "名前", "ñandú"],
    "quoted": ['say "a"', "b, c", "d;e"],
    "lines": ["two\nlines", "b", "c"],
    "words": ["true story", "nanny", "nonesuch"],
    "exponents": ["1e3", "2e3", "1e4"],
}
NAMES_OF_IDS: dict[str, Callable[[int], Any]] = {
    "texts": lambda i: f"img{i:03d}.png",
    "counted": lambda i: i,
    "zeros": lambda i: f"{i:05d}",
    "odd": lambda i: f"a,b;{i}'\"",
    "long": lambda i: 10**15 + i,
}


class Truth(NamedTuple):
    """What a table means."""

    X: np.ndarray
    labels: list[Any]
    ids: list[Any]

    @property
    def answer(self) -> dict[str, Any]:
        return {"X": self.X, "names": FEATURES, "labels": self.labels, "ids": self.ids}


def cases(rng: Random, folder: Path) -> Iterator[Case]:
    """Cases without end."""
    head, answer = _head(folder)
    kinds = [_csv_case, _csv_case, _spoilt_case, _spoilt_case, _damaged_case, _parquet_case]
    for number in itertools.count():
        if number % 25 == 24:
            yield _command_case(rng, folder, head, answer)
        else:
            yield pick(rng, kinds)(rng, folder)


def _truth(rng: Random) -> tuple[str, Truth]:
    X = np.round(rng.normal(size=(N, 4)), int(rng.integers(1, 6))) + 0.5
    kind, labels = pick_named(rng, LABELS)
    how, named = pick_named(rng, NAMES_OF_IDS)
    truth = Truth(X, [labels[i % 3] for i in range(N)], [named(i) for i in range(N)])
    return f"{kind}, {how}", truth


def _read(path: Path, known: list[str] | None = None) -> Any:
    found = read_samples(Source(path, LABEL, IDS), known)
    features = found.layers["features"]
    labels, ids = check_labels(found.labels).tolist(), found.ids.tolist()
    return {"X": features.values, "names": features.names, "labels": labels, "ids": ids}


def _write_and_read(path: Path, content: bytes, known: list[str] | None = None) -> Any:
    path.write_bytes(content)
    return _read(path, known)


# CSV that means the same.


class Style(NamedTuple):
    """How a program writes CSV."""

    separator: str = ","
    end: str = "\n"
    encoding: str = "utf-8"
    quoting: int = csv.QUOTE_MINIMAL
    number: str = "{!r}"
    comma: bool = False
    hint: bool = False
    trailing: bool = False
    blank_lines: bool = False
    padded: bool = False


def _style(rng: Random) -> Style:
    separator = pick(rng, ",;\t")
    return Style(
        separator=separator,
        end=pick(rng, ["\n", "\r\n", "\r"]),
        encoding=pick(rng, ["utf-8", "utf-8", "utf-8-sig", "utf-16"]),
        quoting=pick(rng, [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        number=pick(rng, ["{!r}", "{:.17g}", "{:.12e}", "{:+.12f}", "{:.12E}"]),
        comma=separator == ";" and rng.random() < 0.5,
        hint=rng.random() < 0.1,
        trailing=rng.random() < 0.1,
        blank_lines=rng.random() < 0.2,
        padded=rng.random() < 0.1,
    )


def _columns(truth: Truth, style: Style) -> dict[str, list[Any]]:
    def cell(value: float) -> Any:
        text = style.number.format(float(value))
        return text.replace(".", ",") if style.comma else text

    features = {name: [cell(v) for v in truth.X[:, i]] for i, name in enumerate(FEATURES)}
    return {IDS: truth.ids, **features, LABEL: truth.labels}


def _rows(columns: dict[str, list[Any]], order: list[str]) -> list[list[Any]]:
    return [list(order), *map(list, zip(*(columns[name] for name in order), strict=True))]


def _text(rows: list[list[Any]], style: Style) -> str:
    out = io.StringIO()
    writer = csv.writer(
        out, delimiter=style.separator, lineterminator=style.end, quoting=style.quoting
    )
    if style.hint:
        out.write(f"sep={style.separator}{style.end}")
    for number, row in enumerate(rows):
        if style.blank_lines and number == 3:
            out.write(style.end)
        cells = [f" {c} " if style.padded and isinstance(c, str) else c for c in row]
        writer.writerow([*cells, ""] if style.trailing else cells)
    return out.getvalue()


def _order(rng: Random) -> tuple[list[str], list[str] | None]:
    """Columns in any order; where that of the features is another, the head knows the right one."""
    order = [IDS, *FEATURES, LABEL]
    if rng.random() < 0.5:
        return [order[i] for i in rng.permutation(len(order))], FEATURES
    return pick(rng, [order, [LABEL, IDS, *FEATURES]]), None


def _csv_case(rng: Random, folder: Path) -> Case:
    style = _style(rng)
    what, truth = _truth(rng)
    order, known = _order(rng)
    text = _text(_rows(_columns(truth, style), order), style)
    path = folder / f"t.{pick(rng, ['csv', 'CSV', 'tsv'])}"
    run = partial(_write_and_read, path, text.encode(style.encoding), known)
    return Case(f"csv: {what}, {order[0]} first, {style}", run, same(truth.answer, 1e-9))


# CSV that must be refused.

NO_NUMBERS = ["", "NA", "nan", "NaN", "inf", "-inf", "x", "1_000", "1 000", "1,5.2", "#REF!", "--"]
NO_NUMBERS += ["0x1F", "1e999", "null", "None", "?", "1,234,567", "12px", "٣x", "\u200b"]


def _blank(rows: list[list[Any]], column: str, rng: Random, value: Any = "") -> None:
    rows[int(rng.integers(1, len(rows)))][rows[0].index(column)] = value


def _spoil(rows: list[list[Any]], rng: Random) -> str:
    """Change rows so that they cannot be read."""
    name = pick(rng, FEATURES)
    row, column = int(rng.integers(1, len(rows))), rows[0].index(name)

    def rename(new: str) -> None:
        rows[0][column] = new

    value = pick(rng, NO_NUMBERS)
    ways: dict[str, Callable[[], Any]] = {
        f"number {value!r}": lambda: _blank(rows, name, rng, value),
        "no label": lambda: _blank(rows, LABEL, rng),
        "no id": lambda: _blank(rows, IDS, rng),
        "name twice": lambda: rename(pick(rng, [n for n in rows[0] if n != name])),
        "no name": lambda: rename(""),
        "no header": lambda: rows.pop(0),
        "a value more": lambda: rows[row].insert(column, "7"),
        "a value less": lambda: rows[row].pop(),
        "header only": lambda: rows.__delitem__(slice(1, None)),
        "nothing": rows.clear,
        "no label column": lambda: rows[0].__setitem__(rows[0].index(LABEL), "sort"),
    }
    way, change = pick_named(rng, ways)
    change()
    return way


def _spoilt_case(rng: Random, folder: Path) -> Case:
    style = _style(rng)._replace(trailing=False, quoting=pick(rng, [0, 1]))
    what, truth = _truth(rng)
    order, known = _order(rng)
    rows = _rows(_columns(truth, style), order)
    how = _spoil(rows, rng)
    known = FEATURES if known and rng.random() < 0.5 else None
    content = _text(rows, style).encode(style.encoding)
    run = partial(_write_and_read, folder / "t.csv", content, known)
    return Case(f"csv: {how}, {what}, {style}", run, refused)


# Files that are damaged: nothing tells what they should be, but they are read as a table or not.


def _is_table(result: Any) -> bool:
    lengths = {len(result[name]) for name in ("X", "labels", "ids")}
    return len(lengths) == 1 and result["X"].shape[1] == len(result["names"])


def _is_beginning(truth: Truth) -> Oracle:
    """Whether rows are the first ones of the truth, but for the last, which may be cut."""

    def right(result: Any) -> bool:
        n = len(result["labels"]) - 1
        fits = np.allclose(result["X"][:n], truth.X[:n], rtol=1e-9)
        return _is_table(result) and fits and n < N

    return right


def _damaged_case(rng: Random, folder: Path) -> Case:
    style = _style(rng)
    what, truth = _truth(rng)
    if rng.random() < 0.4:
        content, ending, right = _parquet(_arrow(truth)), "parquet", _is_table
        how, content = damage(content, rng)
    else:
        content = _text(_rows(_columns(truth, style), [IDS, *FEATURES, LABEL]), style)
        content, ending, right = content.encode(style.encoding), "csv", _is_table
        how, content = damage(content, rng)
        if how.startswith("cut"):
            right = _is_beginning(truth)
        if rng.random() < 0.1:
            how, content = pick_named(rng, _WRONG_BYTES)
            right = refused
    run = partial(_write_and_read, folder / f"d.{ending}", content)
    return Case(f"{ending}: {how}, {what}", run, right)


_WRONG_BYTES = {
    "empty": b"",
    "blank": b"\n\n  \n",
    "latin1": "name,length,kind\nä,1.5,käfer\n".encode("latin1"),
    "half of UTF-16": "name,length,kind\na,1.5,b\n".encode("utf-16")[:-1],
    "UTF-16 without a mark": "name,length,kind\na,1.5,b\n".encode("utf-16-le"),
    "zip": b"PK\x03\x04" + bytes(50),
    "open quote": b'name,length,kind\n"a,1.5,b\nc,2.5,d\n',
    "pickle": b"\x80\x04\x95" + bytes(30),
    "html": b"<html><body>404</body></html>\n",
    "json": b'[{"name": "a", "length": 1.5, "kind": "b"}]\n',
    "lone surrogate": b"name,length,kind\n\xed\xa0\x80,1.5,b\n",
    "long field": b"name,length,kind\n" + b"a" * 200_000 + b",1.5,b\nc,2.5\n",
}


# Parquet.


def _arrow(truth: Truth) -> dict[str, Any]:
    features = {name: pyarrow.array(truth.X[:, i]) for i, name in enumerate(FEATURES)}
    return {IDS: pyarrow.array(truth.ids), **features, LABEL: pyarrow.array(truth.labels)}


def _parquet(columns: dict[str, Any], **options: Any) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out, **options)
    return out.getvalue()


def _with_gap(values: Any, row: int) -> Any:
    return pyarrow.array([None if i == row else v for i, v in enumerate(values.to_pylist())])


def _parquet_case(rng: Random, folder: Path) -> Case:
    what, truth = _truth(rng)
    columns = _arrow(truth)
    name, row = pick(rng, FEATURES), int(rng.integers(N))
    old = columns[name]
    whole = np.round(truth.X).astype(int)
    decimals = [Decimal(repr(float(v))) for v in old.to_pylist()]
    right: Oracle = same(truth.answer, 1e-9)
    other = {
        "as it is": (name, old, right),
        "gap in a feature": (name, _with_gap(old, row), refused),
        "gap in labels": (LABEL, _with_gap(columns[LABEL], row), refused),
        "gap in ids": (IDS, _with_gap(columns[IDS], row), refused),
        "decimals": (name, pyarrow.array(decimals), right),
        "nan": (name, pyarrow.array(np.where(np.arange(N) == row, np.nan, old)), refused),
        "text": (name, pyarrow.array([str(v) for v in old.to_pylist()]), refused),
        "times": (name, pyarrow.array(whole[:, 0].astype("M8[D]")), refused),
        "categories": (LABEL, columns[LABEL].dictionary_encode(), right),
        "lists of labels": (LABEL, pyarrow.array([[v] for v in truth.labels]), refused),
        "records": (name, pyarrow.array([{"a": 1.0}] * N), refused),
        "ragged": (name, pyarrow.array([[1.0] * (i % 3) for i in range(N)]), refused),
        "bytes": (LABEL, pyarrow.array([b"\xff\x00"] * N), refused),
        "empty": (name, old.slice(0, 0), refused),
        "half": (name, pyarrow.array(np.float16(np.arange(N) / 4)), _is_table),
        "truths": (name, pyarrow.array(np.arange(N) % 2 == 0), _is_table),
        "nothing but gaps": (name, pyarrow.nulls(N), refused),
    }
    how, (column, values, right) = pick_named(rng, other)
    columns[column] = values
    if how == "empty":
        columns = {k: v.slice(0, 0) for k, v in columns.items()}
    order, known = _order(rng)
    columns = {k: columns[k] for k in order}
    options = {"compression": pick(rng, ["snappy", "gzip", "none"]), "row_group_size": 5}
    run = partial(_write_and_read, folder / "t.parquet", _parquet(columns, **options), known)
    return Case(f"parquet: {how} ({column}), {what}", run, right)


# On the command line.


def _head(folder: Path) -> tuple[Path, np.ndarray]:
    """A head of a table, and what it predicts for the first rows."""
    X, y = blobs(np.random.default_rng(0), 60)
    layers = {"features": NamedFeatures(X, FEATURES)}
    head = LayerEnsemble(random_state=0).fit(layers, NAMES[y])
    head.save(folder / "head")
    answer = head.predict({"features": NamedFeatures(X[:N], FEATURES)})
    return folder / "head", answer


def _command_case(rng: Random, folder: Path, head: Path, answer: np.ndarray) -> Case:
    """Predictions of a table in any form are the same; bad tables and heads are told in a line."""
    X, y = blobs(np.random.default_rng(0), 60)
    style = _style(rng)._replace(trailing=False)
    ids = [f"img{i}" for i in range(N)]
    rows = _rows(_columns(Truth(X[:N], NAMES[y[:N]].tolist(), ids), style), _order(rng)[0])
    how, right = "as it is", same((answer, ids))
    content = head.read_bytes()
    if rng.random() < 0.4:
        how = _spoil(rows, rng)
        right = refused
        if how in ("no label", "no label column"):
            right = lambda result: True  # noqa: E731 - labels play no part
    elif rng.random() < 0.3:
        how, content = damage(content, rng)
        how = f"head, {how}"
    text = _text(rows, style).encode(style.encoding)
    return Case(f"predict: {how}, {style}", partial(_predict, folder, content, text), right)


def _predict(folder: Path, head: bytes, table: bytes) -> Any:
    (folder / "h").write_bytes(head)
    (folder / "p.csv").write_bytes(table)
    words = ["predict", folder / "h", folder / "p.csv", "--ids", IDS, "-o", folder / "out.csv"]
    said = CliRunner().invoke(app, list(map(str, words)))
    if said.exit_code:
        return Said(said.exit_code, said.stderr)
    with (folder / "out.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    return np.array([row["label"] for row in found]), [row["id"] for row in found]
