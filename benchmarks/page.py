"""The grid as a page with plots: ``docs/accuracy.md`` and two pictures, from the committed cells.

python benchmarks/page.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from grid import AUTO, ORACLE, ROG, Cell, Grid, name_of, targets
from tasks import MAKERS

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = Path(__file__).parent / "results" / "accuracy"
TITLES = {
    "digits-mlp": "Digits, MLP",
    "reuters8-fcn": "Reuters-8, FCN",
    "twitter-fcn": "Twitter POS, FCN",
    "cifar10-resnet": "CIFAR-10, small ResNet",
    "cifar10-frozen": "CIFAR-10, frozen EfficientNet-lite0",
    "reuters8-frozen": "Reuters-8, frozen MiniLM",
}
LINES = {
    "softmax": ("#9a9a9a", "-", "softmax / logistic regression"),
    ROG: ("#c8741b", "-", "RoG (the paper)"),
    "cleanlab, LDA": ("#7b52ab", "--", "LDA after cleanlab"),
    AUTO: ("#0b6e4f", "-", "auto (the default)"),
    ORACLE: ("#0b6e4f", ":", "oracle: truly clean samples only"),
}
UNSEEN = ("twitter-fcn", "cifar10-frozen", "reuters8-frozen")
COLUMNS = ("softmax", ROG, "kNN-50", "cleanlab, LDA", "cleanlab, LR", AUTO, ORACLE)


def accuracy_plot(grid: Grid, path: Path) -> None:
    """Accuracy over the noise rate: uniform above, flip below, a column for each task."""
    tasks = [t for t in MAKERS if grid.of(t)]
    figure, axes = plt.subplots(
        2, len(tasks), figsize=(3.1 * len(tasks), 6.2), squeeze=False, sharex="row"
    )
    for column, task in enumerate(tasks):
        for row, kind in enumerate(("uniform", "flip")):
            axis = axes[row, column]
            cells = [c for c in grid.of(task) if c.kind in ("none", kind)]
            for name, (colour, style, label) in LINES.items():
                means = [c.accuracy(name).mean() for c in cells]
                spread = [c.accuracy(name).std(ddof=min(1, len(c.seeds) - 1)) for c in cells]
                rates = [100 * c.rate for c in cells]
                width = 2.4 if name == AUTO else 1.4
                axis.errorbar(
                    rates, means, spread, color=colour, ls=style, lw=width, label=label, marker="."
                )
            axis.set_xlabel(f"{kind} noise, %")
            axis.grid(alpha=0.25)
            axis.spines[["top", "right"]].set_visible(False)
        axes[0, column].set_title(TITLES[task], fontsize=10)
    axes[0, 0].set_ylabel("test accuracy, %")
    axes[1, 0].set_ylabel("test accuracy, %")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=len(LINES), frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def audit_plot(grid: Grid, path: Path) -> None:
    """How well wrong labels are found and counted."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6))
    colours = dict(zip(MAKERS, plt.get_cmap("tab10").colors, strict=False))
    markers = {"none": "o", "uniform": "o", "flip": "s", "semantic": "x", "open-set": "^"}
    for cell in grid.cells:
        style = {"color": colours[cell.task], "marker": markers[cell.kind], "alpha": 0.85}
        if cell.kind != "none":
            left.scatter(cell.cleanlab().mean(), cell.audit("auroc").mean(), **style)
        noise, estimated = cell.audit("noise").mean(), cell.audit("estimated").mean()
        right.scatter(100 * noise, 100 * estimated, **style)
    left.plot([0.5, 1], [0.5, 1], color="#bbbbbb", lw=1, zorder=0)
    left.set(xlabel="cleanlab, same features", ylabel="auto", title="AUROC of wrong labels")
    right.plot([0, 70], [0, 70], color="#bbbbbb", lw=1, zorder=0)
    right.set(xlabel="true, %", ylabel="estimated, %", title="Share of wrong labels")
    for task in dict.fromkeys(c.task for c in grid.cells):
        left.scatter([], [], color=colours[task], label=TITLES[task])
    for kind, marker in markers.items():
        if kind != "none":
            right.scatter([], [], color="#666666", marker=marker, label=kind)
    for axis in (left, right):
        axis.legend(frameon=False, fontsize=8)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def table(cells: list[Cell]) -> str:
    """A Markdown table of a task."""
    names = [*COLUMNS[:-2], "best other", *COLUMNS[-2:]]
    head = ["noise", "seeds", *names, "AUROC", "cleanlab's", "noise, estimated"]
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for cell in cells:
        texts = [name_of(cell).removeprefix(cell.task).strip(), str(len(cell.seeds))]
        for name in names:
            column = cell.best if name == "best other" else name
            values = cell.accuracy(column)
            spread = f" ± {values.std(ddof=1):.1f}" if len(values) > 1 and name == AUTO else ""
            text = f"{values.mean():.1f}{spread}"
            text += f" ({column})" if name == "best other" else ""
            texts.append(f"**{text}**" if name == AUTO else text)
        auroc, theirs = cell.audit("auroc").mean(), cell.cleanlab().mean()
        texts += ["" if np.isnan(v) else f"{v:.3f}" for v in (auroc, theirs)]
        noise, estimated = (100 * cell.audit(k).mean() for k in ("noise", "estimated"))
        texts.append(f"{noise:.1f}, {estimated:.1f}")
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines)


def unseen(grid: Grid) -> str:
    """Seed 2 where nothing was set by it, beside the seeds that the constants were set on."""
    cells = [c for c in grid.cells if c.task in UNSEEN and len(c.seeds) == 3]
    head = ["", "accuracy", "above RoG", "below the best other", "below the oracle"]
    head += ["AUROC", "noise off by, points"]
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for name, which in (("seeds 0 and 1", [0, 1]), ("seed 2", [2])):

        def mean(values: list[np.ndarray], which: list[int] = which) -> float:
            return float(np.nanmean([v[which] for v in values]))

        auto = [c.accuracy(AUTO) for c in cells]
        others = [c.accuracy(c.best) for c in cells]
        figures = [
            mean(auto),
            mean([a - c.accuracy(ROG) for a, c in zip(auto, cells, strict=True)]),
            mean([b - a for a, b in zip(auto, others, strict=True)]),
            mean([c.accuracy(ORACLE) - a for a, c in zip(auto, cells, strict=True)]),
        ]
        texts = [f"{v:.2f}" for v in figures]
        texts.append(f"{mean([c.audit('auroc') for c in cells]):.3f}")
        off = [np.abs(c.audit("estimated") - c.audit("noise")) for c in cells]
        texts.append(f"{100 * mean(off):.1f}")
        lines.append("| " + " | ".join([name, *texts]) + " |")
    return "\n".join(lines)


def page(grid: Grid) -> str:
    """The whole page."""
    parts = [(Path(__file__).parent / "page.md").read_text().rstrip()]
    tasks = ", ".join(TITLES[task] for task in UNSEEN)
    parts.append(f"\n**Seeds by which nothing was set** ({tasks}; means over noises):\n")
    parts.append(unseen(grid))
    parts.append("\n## What was to be reached\n")
    for target in targets(grid):
        mark = "reached" if target.reached else "**missed**"
        parts.append(f"- {mark}: {target.text} — {target.measured}")
    for task in MAKERS:
        if grid.of(task):
            parts += [f"\n## {TITLES[task]}\n", table(grid.of(task))]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--output", type=Path, default=DOCS)
    args = parser.parse_args()
    grid = Grid.read(args.results, list(MAKERS), [0, 1, 2])
    accuracy_plot(grid, args.output / "accuracy.png")
    audit_plot(grid, args.output / "accuracy-audit.png")
    (args.output / "accuracy.md").write_text(page(grid))


if __name__ == "__main__":
    main()
