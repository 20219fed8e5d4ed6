"""What the default is held to in the accuracy grid, and what was reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rehead._typing import Array
from rehead.experiments.columns.registry import AUTO, ROG
from rehead.experiments.grid.columns import ORACLE, baseline
from rehead.experiments.grid.summary import Grid, Group

WANTED = {
    ("reuters8-fcn", 0.6): 88,
    ("reuters8-fcn", 0.4): 93,
    ("twitter-fcn", 0.6): 80,
    ("twitter-fcn", 0.4): 83,
}
"""Accuracies under uniform noise, in per cent."""


class Target(NamedTuple):
    """Something to reach, and what was reached."""

    text: str
    reached: bool
    measured: str


def targets(grid: Grid) -> Iterator[Target]:
    """All targets that the groups of a grid can tell about."""
    measured = [group for group in grid.groups if AUTO in group.columns]
    for rule in RULES:
        yield from rule(measured)


def regret(groups: list[Group]) -> Iterator[Target]:
    """By how much the best rival of each group is better, on average."""
    if not groups:
        return
    lost = np.array([max(g.behind.mean(), 0.0) for g in groups])
    other = [r for r, g in zip(lost, groups, strict=True) if g.cell.noise != "semantic"]
    text = f"{lost.mean():.2f}"
    text += f"; {np.mean(other):.2f} without semantic noise" if other else ""
    yield Target("mean regret <= 0.5 points", bool(lost.mean() <= 0.5), text)


def never_far_behind(groups: list[Group]) -> Iterator[Target]:
    """In no group clearly behind the best rival."""
    worse = [g for g in groups if not behind_at_most(g, 0.5)]
    yield Target(
        f"no cell behind by more than 0.5 + 2 paired standard errors{without_margin(groups)}",
        not worse,
        listed((f"{g.name} {g.behind.mean():.1f} ({g.best})" for g in worse), "none"),
    )


def near_oracle(groups: list[Group]) -> Iterator[Target]:
    """As good as if all wrong labels were known."""
    known = [g for g in groups if ORACLE in g.columns]
    near = [g.accuracy(ORACLE).mean() - g.accuracy(AUTO).mean() <= 1.0 for g in known]
    if near:
        text = f"{sum(near)} of {len(near)}"
        yield Target("within 1.0 of the oracle in most cells", bool(np.mean(near) > 0.5), text)


def clean_labels(groups: list[Group]) -> Iterator[Target]:
    """Without noise, nothing is lost."""
    lost = {
        g.name: (g.accuracy(baseline(g.task)) - g.accuracy(AUTO)).mean()
        for g in groups
        if g.cell.noise == "none" and not g.task.frozen and baseline(g.task) in g.columns
    }
    yield Target(
        "clean: at most 0.3 below softmax",
        all(value <= 0.3 for value in lost.values()),
        listed((f"{name} {value:+.2f}" for name, value in lost.items()), "none"),
    )


def much_noise(groups: list[Group]) -> Iterator[Target]:
    """Trained networks with much noise: above the paper's method, and above every peer."""
    noisy = [g for g in groups if g.is_noisy and not g.task.frozen and ROG in g.columns]
    if not noisy:
        return
    gain = np.mean([(g.accuracy(AUTO) - g.accuracy(ROG)).mean() for g in noisy])
    yield Target("noise >= 40 %: 10 points above RoG", bool(gain >= 10), f"{gain:.1f}")
    peers = [name for name in noisy[0].rivals if all(name in g.columns for g in noisy)]
    means = {k: float(np.mean([g.accuracy(k).mean() for g in noisy])) for k in (*peers, AUTO)}
    peer = max(peers, key=means.__getitem__)
    yield Target(
        "noise >= 40 %: above every peer on average",
        means[AUTO] > means[peer],
        f"{means[AUTO]:.1f} against {means[peer]:.1f} ({peer})",
    )


def text_networks(groups: list[Group]) -> Iterator[Target]:
    """The paper's text data with uniform noise."""
    for g in groups:
        least = WANTED.get((g.task.name, g.cell.rate)) if g.cell.noise == "uniform" else None
        if least:
            mean = g.accuracy(AUTO).mean()
            yield Target(f"{g.name} >= {least}", bool(mean >= least), f"{mean:.1f}")


def finding(groups: list[Group]) -> Iterator[Target]:
    """Wrong labels are found, as well as by cleanlab."""
    noisy = [g for g in groups if g.is_noisy]
    if noisy:
        auroc = np.mean([g.auto("auroc").mean() for g in noisy])
        text = "wrong labels at >= 40 %: AUROC >= 0.90"
        yield Target(text, bool(auroc >= 0.9), f"{auroc:.3f}")
    some_wrong = [g for g in groups if g.cell.noise != "none"]
    below = [g for g in some_wrong if not g.auto("auroc").mean() >= g.cleanlab.mean()]
    pairs = (f"{g.name} {g.auto('auroc').mean():.3f} < {g.cleanlab.mean():.3f}" for g in below)
    text = "AUROC never below cleanlab with the same features"
    yield Target(text, not below, listed(pairs, "none"))


def counting(groups: list[Group]) -> Iterator[Target]:
    """The share of wrong labels is estimated, and qualities mean what they say."""
    off = [g for g in groups if not noise_error(g) <= 0.03]
    yield Target("estimated noise within 3 points", not off, listed(map(noise_said, off), "all"))
    bad = [g for g in groups if not g.auto("calibration").mean() <= 0.05]
    values = (f"{g.name} {g.auto('calibration').mean():.2f}" for g in bad)
    yield Target("calibration error of the quality <= 0.05", not bad, listed(values, "all"))


def noise_error(group: Group) -> float:
    """By how much the estimated noise is wrong: the mean over seeds, which do not cancel."""
    return float(np.abs(group.auto("noise_rate") - group.noise_rate).mean())


def noise_said(group: Group) -> str:
    """The estimated noise beside the true one, in per cent."""
    found, truth = (100 * rate.mean() for rate in (group.auto("noise_rate"), group.noise_rate))
    return f"{group.name} {found:.0f} of {truth:.0f}, off by {100 * noise_error(group):.0f}"


def behind_at_most(group: Group, most: float) -> bool:
    """Whether the default is behind by this much at most, and two paired standard errors."""
    return bool(group.behind.mean() <= most + 2 * paired_error(group.behind))


def without_margin(groups: Sequence[Group]) -> str:
    """What to add where one seed tells no standard error, so that its margin is 0."""
    single = sum(len(group.results) == 1 for group in groups)
    return f" ({single} of {len(groups)} with one seed, so without a margin)" if single else ""


def paired_error(differences: Array) -> float:
    """Standard error of a mean of differences; none can be told from one seed."""
    n = len(differences)
    return float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0


def listed(texts: Iterable[str], otherwise: str) -> str:
    """Texts in a row, or another where there are none."""
    return ", ".join(texts) or otherwise


RULES: tuple[Callable[[list[Group]], Iterator[Target]], ...] = (
    regret,
    never_far_behind,
    near_oracle,
    clean_labels,
    much_noise,
    text_networks,
    finding,
    counting,
)
"""In the order of the page."""
