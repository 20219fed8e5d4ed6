"""Tables of the paper as sheets: the printed number, ours, the gains, the spread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from rehead.experiments.cell import Cell
from rehead.experiments.comparison import Agreement, Comparison, Row, agreement
from rehead.experiments.results import RAN
from rehead.report.sheets import Sheet

NAMES = {
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "digits": "digits",
    "digits32": "digits, 32 x 32",
    "imagenet32": "ImageNet 32",
    "reuters8": "Reuters-8",
    "svhn": "SVHN",
    "tinyimagenet32": "Tiny ImageNet",
    "twitter_pos": "Twitter POS",
    "resnet34": "ResNet-34",
    "resnet44-wide": "ResNet-44",
    "densenet100": "DenseNet-100",
    "vgg13": "VGG-13",
    "cnn9": "CNN-9",
    "fcn": "FCN",
}
LABELS: dict[str, Callable[[Cell], str]] = {
    "network": lambda cell: named(cell.network),
    "data": lambda cell: named(cell.data),
    "method": lambda cell: cell.method,
    "labeller": lambda cell: named(cell.labeller),
    "source": lambda cell: " + ".join(named(s) for s in cell.source.split("+")),
    "noise": lambda cell: noise_name(cell),
}
"""What tells rows apart; a column of the sheet where it is not the same in all rows."""
NOTHING = "–"
WRONG = "wrong labels"


def named(name: str) -> str:
    """As people write it."""
    return NAMES.get(name, name)


def noise_name(cell: Cell) -> str:
    """The noise in words."""
    if cell.noise == "none":
        return "clean"
    # A labeller on other data than the paper's: how often it is wrong is not known beforehand.
    return f"{cell.noise} {cell.rate:.0%}" if cell.rate else cell.noise


def number(value: float, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def signed(value: float) -> str:
    """A difference with its sign."""
    return NOTHING if math.isnan(value) else f"{value:+.1f}"


def spread(values: np.ndarray) -> str:
    """Mean, and standard deviation where there are several."""
    if not len(values):
        return NOTHING
    deviation = f" ± {values.std(ddof=1):.1f}" if len(values) > 1 else ""
    return f"{values.mean():.1f}{deviation}"


def table_sheet(comparison: Comparison) -> Sheet:
    """A table of the paper: for each way to predict the printed accuracy and ours, in %."""
    labels = _labels([row.cell for row in comparison.rows])
    header = [*labels]
    for column in comparison.shown:
        printed = any(column in row.printed for row in comparison.rows)
        header += [f"{column}, paper", column] if printed else [column]
    header += ["gain, paper", "gain", "fitted", *([WRONG] if _is_labelled(comparison) else [])]
    rows = [_cells(row, comparison, labels) for row in comparison.rows]
    title = f"Table {comparison.table}. {comparison.title}"
    notes, data = notes_of(comparison), data_rows(comparison, labels)
    return Sheet(title, [*header, "seeds"], rows, notes, len(labels), data)


def data_rows(comparison: Comparison, labels: Sequence[str]) -> list[list[str]]:
    """A table for programs: printed, mean and standard deviation of each way to predict."""
    header = [*labels]
    for column in comparison.shown:
        header += [f"{column} printed", f"{column} mean", f"{column} sd"]
    rows = []
    for row in comparison.rows:
        values = []
        for column in comparison.shown:
            found = row.ours(column)
            sd = found.std(ddof=1) if len(found) > 1 else float("nan")
            values += [row.printed.get(column, float("nan")), row.mean(column), sd]
        values += [100 * row.fitted, 100 * row.noise_rate]
        texts = ["" if math.isnan(v) else f"{v:.4g}" for v in values]
        rows.append(
            [*(LABELS[n](row.cell) for n in labels), *texts, str(len(row.results)), row.status]
        )
    return [[*header, "fitted", "wrong labels", "seeds", "status"], *rows]


def _labels(cells: Sequence[Cell]) -> list[str]:
    """What differs between rows; the noise always says itself."""
    return [
        name
        for name, text in LABELS.items()
        if name == "noise" or len({text(cell) for cell in cells}) > 1
    ]


def _is_labelled(comparison: Comparison) -> bool:
    """Whether a labeller made the noise: then nobody knows beforehand how much it is."""
    return any(row.cell.noise == "semantic" for row in comparison.rows)


def _cells(row: Row, comparison: Comparison, labels: Sequence[str]) -> list[str]:
    texts = [LABELS[name](row.cell) for name in labels]
    for column in comparison.shown:
        if any(column in other.printed for other in comparison.rows):
            texts.append(number(row.printed.get(column, float("nan")), 2))
        texts.append(spread(row.ours(column)))
    gain = comparison.gain_of
    texts += [signed(row.printed_gain(gain)), signed(row.gain(gain)), number(100 * row.fitted, 0)]
    if _is_labelled(comparison):
        texts.append(number(100 * row.noise_rate, 0))
    return [*texts, str(len(row.results)) if row.status == RAN else row.status]


def notes_of(comparison: Comparison) -> list[str]:
    """How far the gains go together, what differs from the paper, and what did not run."""
    together = agreement_text(agreement(comparison))
    text = (
        f"Accuracy in %. Gain: {comparison.gain_of} above softmax, in points. Fitted: share of the "
        f"training labels that the network reproduces, in %. {together}"
    )
    if _is_labelled(comparison):
        reported = any(row.cell.noise == "semantic" and row.cell.rate for row in comparison.rows)
        text += " The noise is as the paper reports it;" if reported else " Of the noise,"
        text += " wrong labels: as our labellers made it, in %."
    found = Counter(text for row in comparison.ran for text in row.deviations)
    n = len(comparison.ran)
    differs = [text if k == n else f"{text} ({k} of {counted(n)})" for text, k in found.items()]
    states = [f"{_needed(r.cell)}: {r.status}" for r in comparison.rows if r.status != RAN]
    missing = [f"{state} ({counted(k)})" for state, k in Counter(states).items()]
    parts = {"Deviations": differs, "Not run": missing}
    return [text, *(f"{name}: {'; '.join(said)}." for name, said in parts.items() if said)]


def _needed(cell: Cell) -> str:
    """The data of a row; of open-set noise the source may be what is missing."""
    source = LABELS["source"](cell)
    return f"{named(cell.data)} with images of {source}" if source else named(cell.data)


def counted(n: int) -> str:
    """How many rows."""
    return "1 row" if n == 1 else f"{n} rows"


def agreement_text(found: Agreement) -> str:
    """In a sentence."""
    if not found.n:
        return "No row can be compared with the paper."
    text = (
        f"Above in {found.above} of {counted(found.n)} here, in {found.above_printed} in the "
        f"paper; same sign in {found.same_sign}."
    )
    if not math.isnan(found.rank_correlation):
        text += f" Rank correlation of the gains: {found.rank_correlation:.2f}."
    return text
