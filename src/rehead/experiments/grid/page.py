"""The page of the accuracy grid, ``docs/accuracy.md``, and its pictures: made of results only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from rehead._typing import Array
from rehead.experiments.columns.classic import KNN
from rehead.experiments.columns.registry import AUTO, ROG
from rehead.experiments.columns.told import TOLD
from rehead.experiments.grid.columns import CLEANLAB, ORACLE, baseline
from rehead.experiments.grid.frontier import frontier_targets, named_range
from rehead.experiments.grid.peers import FIGURES, SHOWN, Standing, standing_rows
from rehead.experiments.grid.plots import (
    accuracy_numbers,
    accuracy_plot,
    audit_numbers,
    audit_plot,
)
from rehead.experiments.grid.summary import Grid, Group
from rehead.experiments.grid.targets import Target, targets
from rehead.experiments.grid.tasks import MANY, PEOPLE, TABLE, TABULAR, TASKS
from rehead.experiments.markdown import table_lines
from rehead.files.atomic import write_atomically

PAGE, ACCURACY, AUDIT = "accuracy.md", "accuracy.png", "accuracy-audit.png"
"""Files of the page."""
UNSEEN = ("twitter-fcn", "cifar10-frozen", "reuters8-frozen")
"""Tasks by whose last seed nothing was set."""
SEEN_SEEDS, UNSEEN_SEEDS = (0, 1), (2,)
BEST = "best other"
LIST_TITLES = {
    TABLE: "The grid, on fresh seeds",
    TABULAR: "Tables whose classes are not Gaussian",
    MANY: "Many classes, most of them of unequal size",
    PEOPLE: "Noise as people make it",
}
"""Of what was measured with fresh seeds."""
VERSIONS = "{versions}"
"""In the text: where the versions go that the default was measured with."""


def write_page(
    grid: Grid,
    folder: Path,
    standings: Sequence[Standing] = (),
    lists: Mapping[str, Grid] | None = None,
) -> None:
    """Write the page and its pictures to a folder.

    Parameters
    ----------
    grid : Grid
    standings : sequence of Standing
        The peers, side by side.
    folder : Path
        The folder of the documentation.
    lists : mapping of str to Grid, optional
        All lists of tasks, on seeds by which nothing was set.

    Raises
    ------
    ValueError
        If nothing was measured.
    NotADirectoryError
        If there is no such folder.
    """
    if not grid.groups:
        raise ValueError("Nothing of the accuracy grid was measured. Name other results.")
    if not folder.is_dir():
        raise NotADirectoryError(f"There is no folder {folder}. Name that of the documentation.")
    accuracy_plot(accuracy_numbers(grid), folder / ACCURACY)
    audit_plot(audit_numbers(grid), folder / AUDIT)
    write_atomically(folder / PAGE, page(grid, standings, lists).encode())


def page(
    grid: Grid, standings: Sequence[Standing] = (), lists: Mapping[str, Grid] | None = None
) -> str:
    """The whole page."""
    text = files("rehead.experiments.grid").joinpath("page.md").read_text(encoding="utf-8")
    parts = [text.replace(VERSIONS, versions_said(grid.versions)).rstrip()]
    tasks = "; ".join(TASKS[name].title for name in UNSEEN)
    parts.append(f"\n**Seeds by which nothing was set** ({tasks}. Means over noises):\n")
    parts.append(unseen_table(grid))
    parts.append("\n## What was to be reached\n")
    parts += target_lines(targets(grid))
    fresh = Grid([group for of_list in (lists or {}).values() for group in of_list.groups])
    if fresh.groups:
        parts.append("\n## What was to be reached on fresh seeds\n")
        parts += target_lines(frontier_targets(fresh, grid))
    for task in grid.tasks:
        parts += [f"\n## {task.title}\n", task_table(grid.of(task))]
    if standings:
        parts += ["\n## Peers, side by side", *peers_section(standings)]
    for name, others in (lists or {}).items():
        if others.groups:
            parts += [f"\n## {LIST_TITLES[name]}", *list_section(others)]
    return "\n".join(parts) + "\n"


def target_lines(found: Iterable[Target]) -> list[str]:
    """A list item for each target."""
    marks = {True: "reached", False: "**missed**"}
    return [f"- {marks[target.reached]}: {target.text} — {target.measured}" for target in found]


def list_section(grid: Grid) -> list[str]:
    """A table of a list of tasks: a row for each task under a noise."""
    text = (
        f"\nMeasured with {versions_said(grid.versions)}. Best other: of all ways to predict that "
        "do not know the truth, on the mean over seeds; of the areas under the curve as well.\n"
    )
    head = ["task", "noise", "seeds", BEST, AUTO, ORACLE, "AUROC", "best other's"]
    head += ["noise, estimated", "its range"]
    parts = [text, *table_lines(head, [_list_row(g) for g in grid.groups])]
    told = [group for group in grid.groups if set(TOLD) <= set(group.columns)]
    if told:
        names = [ROG, BEST, AUTO, *TOLD, ORACLE]
        rows = [[g.task.title, *(_accuracy(g, name) for name in names)] for g in told]
        parts += ["\nSemantic noise, where the default is told something:\n"]
        parts += table_lines(["task", *names], rows)
    return parts


def _list_row(group: Group) -> list[str]:
    areas = {name: group.measured(name, "auroc").mean() for name in group.rivals}
    known = [area for area in areas.values() if not np.isnan(area)]
    own = group.auto("auroc").mean()
    noise, estimated = (100 * f.mean() for f in (group.noise_rate, group.auto("noise_rate")))
    return [
        group.task.title,
        group.noise,
        str(len(group.seeds)),
        *(_accuracy(group, name) for name in (BEST, AUTO, ORACLE)),
        "" if np.isnan(own) else f"{own:.3f}",
        f"{max(known):.3f}" if known else "",
        f"{noise:.1f}, {estimated:.1f}",
        _range_said(group),
    ]


def _range_said(group: Group) -> str:
    least, most = 100 * named_range(group).mean(axis=0)
    return "" if np.isnan(least) else f"{least:.0f} to {most:.0f}"


def peers_section(standings: Sequence[Standing]) -> list[str]:
    """Tables of the default beside methods of others."""
    versions = Counter(s.found[AUTO].rehead for s in standings if AUTO in s.found)
    text = (
        f"\nSeed 0 of {len(standings)} pairs of a task and a noise (or none), measured with "
        f"{versions_said(versions)}. Shrunk LDA, k-NN and cleanlab have the last layer of the "
        "network. The methods after them were given the last and the first one, and the better of "
        "the two is shown, chosen by *test* accuracy: a favour that the default does not get. "
        'Bold: the best without knowing the truth. "X, LDA": what X flags is thrown out, and '
        "shrunk LDA is fitted on the rest.\n"
    )
    parts = [text]
    for figure in FIGURES:
        head = ["task", "noise", *SHOWN]
        parts += [f"\n### {figure}\n", *table_lines(head, standing_rows(standings, figure))]
    return parts


def versions_said(versions: Counter[str]) -> str:
    """Versions in words.

    Examples
    --------
    >>> from collections import Counter
    >>> from rehead.experiments.grid.page import versions_said
    >>> versions_said(Counter({"0.1.0": 132}))
    'rehead 0.1.0'
    >>> versions_said(Counter({"0.2.0": 2, "0.1.0": 130}))
    'rehead 0.1.0 (130 cells) and rehead 0.2.0 (2 cells)'
    """
    if len(versions) == 1:
        return f"rehead {next(iter(versions))}"
    *others, last = (f"rehead {name} ({n} cells)" for name, n in sorted(versions.items()))
    return f"{', '.join(others)} and {last}"


def task_table(groups: list[Group]) -> str:
    """A table of a task: a row for each noise."""
    names = [baseline(groups[0].task), ROG, KNN, *CLEANLAB, BEST, AUTO, ORACLE]
    head = ["noise", "seeds", *names, "AUROC", "cleanlab's", "noise, estimated"]
    rows = []
    for group in groups:
        texts = [group.noise, str(len(group.seeds)), *(_accuracy(group, name) for name in names)]
        auroc = (group.auto("auroc").mean(), group.cleanlab.mean())
        texts += ["" if np.isnan(value) else f"{value:.3f}" for value in auroc]
        noise, estimated = (100 * f.mean() for f in (group.noise_rate, group.auto("noise_rate")))
        rows.append([*texts, f"{noise:.1f}, {estimated:.1f}"])
    return "\n".join(table_lines(head, rows))


def _accuracy(group: Group, name: str) -> str:
    column = group.best if name == BEST else name
    values = group.accuracy(column)
    text = f"{values.mean():.1f}"
    if name == AUTO:
        spread = f" ± {values.std(ddof=1):.1f}" if len(values) > 1 else ""
        return f"**{text}{spread}**"
    return f"{text} ({column})" if name == BEST else text


def unseen_table(grid: Grid) -> str:
    """The last seed where nothing was set by it, beside those that the constants were set on."""
    wanted = {*SEEN_SEEDS, *UNSEEN_SEEDS}
    groups = [g for g in grid.groups if g.task.name in UNSEEN and wanted <= set(g.seeds)]
    rows = [
        [f"seed{'s' * (len(seeds) > 1)} {' and '.join(map(str, seeds))}", *_means(groups, seeds)]
        for seeds in (SEEN_SEEDS, UNSEEN_SEEDS)
        if groups
    ]
    return "\n".join(table_lines(["", *UNSEEN_FIGURES], rows))


UNSEEN_FIGURES: dict[str, tuple[Callable[[Group], Array], str]] = {
    "accuracy": (lambda g: g.accuracy(AUTO), ".2f"),
    "above RoG": (lambda g: g.accuracy(AUTO) - g.accuracy(ROG), ".2f"),
    "below the best other": (lambda g: g.behind, ".2f"),
    "below the oracle": (lambda g: g.accuracy(ORACLE) - g.accuracy(AUTO), ".2f"),
    "AUROC": (lambda g: g.auto("auroc"), ".3f"),
    "noise off by, points": (
        lambda g: 100 * np.abs(g.auto("noise_rate") - g.noise_rate),
        ".1f",
    ),
}
"""By seed, and how they are written."""


def _means(groups: list[Group], seeds: Sequence[int]) -> list[str]:
    texts = []
    for figure, form in UNSEEN_FIGURES.values():
        values = [figure(g)[[g.seeds.index(seed) for seed in seeds]] for g in groups]
        texts.append(format(float(np.nanmean(values)), form))
    return texts
