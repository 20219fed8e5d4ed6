"""The numbers of the default that were tuned, all in one place.

They were set on digits, Reuters-8, Twitter POS and CIFAR-10 (``docs/accuracy.md`` says which
seeds), and are not options: a user has none to tune. ``docs/auto.md`` prints them from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


def _setting(value: Any, meaning: str) -> Any:
    return field(default=value, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """Constants of ``estimator="auto"``, for one layer and for several."""

    standard_errors: float = _setting(2.0, "a difference of this many standard errors is clear")
    gain_over_guesses: float = _setting(
        0.05,
        "where labels are guesses, nats per label by which a map must be better (annotators: maps"
        " that follow them gain 0.02; spirals with 30 % noise: 0.16)",
    )
    far_apart: float = _setting(
        0.02,
        "where labels are guesses, and less than this share of the samples overlap, a map is taken"
        " only if it is sure of what it moves (counts of three classes: 0.001; spirals: 0.07)",
    )
    sure_of_moved: float = _setting(
        0.9,
        "how sure a map must then be of the samples that it takes for other classes, on average"
        " (where it follows guesses: 0.47 to 0.89; two classes of two clusters each: 0.93 to 1)",
    )
    copies_left_out: int = _setting(
        10, "copies of a sample that are left out with it, at most, where its label is judged"
    )
    # Reading the noise off at anchors, and calibrating scores (labelnoise.py, calibration.py).
    noise_sample: int = _setting(
        15_000,
        "rows of a sample, at most: for a noise model, far rows, the units of a map, memorisation"
        " gaps, and the last look at a map",
    )
    usual_scores: int = _setting(
        500_000, "scores of the rows that a noise model is fitted to, at most"
    )
    enough_rows: int = _setting(5_000, "but at least this many rows, if there are so many")
    noise_sample_of_class: int = _setting(10, "and at least this many rows for each class")
    most_scores: int = _setting(
        30_000_000,
        "scores of these rows in memory, at most, unless that leaves fewer than `enough_rows`",
    )
    near_classes: int = _setting(
        128,
        "with four times as many classes or more, the likelihood of a row is computed from this"
        " many: its label, and the best others",
    )
    anchor_shares: tuple[float, ...] = _setting(
        (0.3, 0.1),
        "share of the samples predicted as a class that are its anchors; the second if clearly"
        " more of these labels agree",
    )
    fewest_anchors: int = _setting(30, "anchors of a class, at least, if it has that many samples")
    few_classes: int = _setting(
        15,
        "with more classes than this, small ones have anchors in common, and the bias of leaving"
        " a row out is removed",
    )
    fewest_common_anchors: int = _setting(300, "anchors of small classes together, at least")
    fewer_anchor_shares: tuple[float, ...] = _setting(
        (0.03,), "and a still smaller share, with more than `few_classes` classes"
    )
    borrowed_anchors: tuple[float, ...] = _setting(
        (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0),
        "anchors that a class may borrow from all others; the counts choose",
    )
    log_temperatures: tuple[float, float] = _setting(
        (-1.0, 6.0), "range of the logarithm of a temperature"
    )
    offset_ridge: float = _setting(5.0, "ridge on the offsets of classes, in samples")
    # Whether labels of hard samples are guesses (guesses.py).
    least_apart: float = _setting(
        1.0, "mean of the margins between two classes, at least, in standard deviations"
    )
    enough_of_each: int = _setting(
        100,
        "samples for each class, on average; with fewer, margins do not tell guesses, and all"
        " samples count alike if that makes labels clearly more likely",
    )
    slack_of_guesses: float = _setting(
        0.065, "share of labels that may disagree unexplained before guesses are suspected"
    )
    slack_of_overlap: float = _setting(
        0.1, "and this share of the overlap, which is not known exactly"
    )
    wrong_guesses: float = _setting(
        8.0,
        "wrong labels for each that disagrees unexplained, at most, if they are guesses: most"
        " guesses agree with the best class",
    )
    mostly_guessed: float = _setting(
        0.3,
        "if `guessed` is above this, the last estimate is stiff, classes have no offsets, and no"
        " regression is asked",
    )
    stiff_shrinkage: float = _setting(
        0.3, "shrinkage of stiff estimates, which do not follow guesses, or a machine's errors"
    )
    doubtful_overlap: float = _setting(
        3.0,
        "this many times the square of the overlap may be taken for noise; the lower end is lower"
        " by it",
    )
    misled_share: float = _setting(
        0.1, "share of guesses that may mislead the classifier too; the upper end is higher by it"
    )
    # Trust in labels, round by round (anchored.py).
    shrinkages: tuple[float, ...] = _setting(
        (0.02, 0.1, 0.3, 0.6, 0.9), "shrinkage is chosen from these, towards identity or diagonal"
    )
    least_within: float = _setting(
        1e-6,
        "share of the spread of a feature that is within classes, at least: a flag may say outright"
        " which class it is (1e-6 to 1e-2: the same)",
    )
    scarce_shrinkages: tuple[float, ...] = _setting(
        (0.97, 0.99), "and from these, where samples are scarce"
    )
    screened: int = _setting(
        3,
        "with many classes, how many shrinkages, the best on a quarter of the rows, are compared"
        " on all",
    )
    scarce_rows: float = _setting(2, "with fewer samples per feature than this, they are scarce")
    strong_shrinkages: tuple[float, ...] = _setting(
        (0.6, 0.3), "these are followed to the end, however they look at first"
    )
    ample_rows: float = _setting(
        50, "with this many samples per feature or more, strong shrinkages are not tried"
    )
    clear_gain: float = _setting(0.005, "nats per label by which a choice must be better, at least")
    settled_trust: float = _setting(
        3e-4, "a round is the last if it changes trust in labels by less than this, on average"
    )
    trust_powers: tuple[float, ...] = _setting(
        (1.0, 2.0), "powers of the odds of a right label that samples are weighted by, in turn"
    )
    # Logistic regression beside the Gaussians (second.py).
    ridges: tuple[float, ...] = _setting(
        (300.0, 100.0, 30.0, 10.0, 3.0, 1.0), "ridge of a logistic regression is chosen from these"
    )
    logistic_folds: int = _setting(
        4, "parts of the rows; each is scored by a regression on the other parts"
    )
    logistic_steps: int = _setting(40, "steps of the search for a regression, at most")
    fewest_rows_for_second: int = _setting(
        20, "rows for each class, at least; with fewer, there is no second opinion"
    )
    most_classes_for_second: int = _setting(
        250, "classes, at most; with more, a regression costs more than all else"
    )
    logistic_rows: int = _setting(20_000, "rows that a regression learns from, at most")
    lost_share: float = _setting(
        0.5,
        "a class seems lost if the trusted share of its labels is below this times the usual one",
    )
    exchange_ratios: tuple[float, ...] = _setting(
        (1.0, 0.8),
        "two classes may have changed places if, among samples taken for the one, labels of the"
        " other are more than this many times as frequent as its own",
    )
    other_starts: int = _setting(3, "other starts for lost classes with each of these, at most")
    least_class_weight: float = _setting(3.0, "samples that a class weighs, at least")
    far_ratio: float = _setting(
        100.0,
        "rows whose squared distance from the middle is more than this many times the usual one"
        " belong to no class",
    )
    # Labels that a machine made (machine.py).
    mixture_rounds: int = _setting(20, "rounds of the mixture of a machine's labels, at most")
    found_by_judge: float = _setting(
        0.5,
        "of several layers, the first judges, and counts as much as all others, if it finds this"
        " share of the labels, beyond chance (digits and texts: 0.73 to 0.89; first block of the"
        " ResNet: 0.28); else the next that does so judges, and all count alike",
    )
    own_units: float = _setting(
        30.0,
        "columns have units of their own if one varies more than this many times as much as the"
        " usual one; then shrinkage is towards the diagonal",
    )
    most_moved: float = _setting(
        0.125,
        "the mixture runs away if it takes a larger share of the samples for other classes"
        " than the first estimates do; then agreement takes its place",
    )
    agreement_rounds: int = _setting(2, "rounds of agreement in its place, at most")
    # Trusted labels that were drawn at random (trusted.py).
    fewest_trusted: int = _setting(
        20, "trusted labels, drawn at random, that it takes to choose between ways"
    )
    trusted_errors: float = _setting(
        1.0, "standard errors by which another way must make trusted labels more likely"
    )
    trusted_prior: float = _setting(
        10.0,
        "how many trusted labels the prior on a temperature, or on the members' weights, is worth",
    )
    # A map of the features (kernel_map.py).
    kernel_widths: tuple[float, ...] = _setting(
        (0.3, 1.0, 3.0),
        "gamma of a kernel map, for each median squared distance between landmarks;"
        " the first where a map is asked for",
    )
    landmarks: tuple[int, int] = _setting((50, 500), "landmarks of a kernel map: fewest and most")
    rows_a_landmark: int = _setting(6, "rows for each landmark, between these two numbers")
    map_sample: int = _setting(2_000, "rows that maps are compared on, about")
    fewest_rows_for_map: int = _setting(
        10,
        "of these rows for each class, at least (in a consensus, of all rows); with fewer, no map"
        " is tried",
    )
    clear_gain_of_map: float = _setting(
        0.01, "nats per label by which a map must be better, at least"
    )
    errors_in_the_end: float = _setting(
        1.0, "standard errors by which a map, or a second opinion, must be better when all is done"
    )
    weighings: int = _setting(
        3, "times that columns are weighed by the slopes of scores on the map before, at most"
    )
    rows_a_column: int = _setting(
        30,
        "rows that maps are compared on, for each column, at least; with fewer, columns are not"
        " weighed",
    )
    rows_for_importance: int = _setting(
        500, "rows that the weights of columns are averaged over, at most"
    )
    # Several layers (ensemble/).
    judge_gap: float = _setting(
        0.05, "judges are layers whose memorisation gap is above the smallest by this much, at most"
    )
    asked_gap: float = _setting(
        0.3, "weak judges never ask a layer whose memorisation gap is larger, whatever it knows"
    )
    memorised_gap: float = _setting(
        0.5, "with a larger memorisation gap (nats per label), a layer knows its labels by heart"
    )
    cleaner_gap: float = _setting(
        0.25,
        "held-out labels that are likelier than training labels by more nats than this are cleaner",
    )
    sure_judges: float = _setting(
        0.85, "judges whose mean confidence is lower may ask other layers to join them"
    )
    held_out_for_noise: int = _setting(
        1000, "held-out samples that it takes to measure the noise on them"
    )
    least_trust: float = _setting(1e-3, "trust in a label, at least, so that no class is empty")
    member_prior: float = _setting(1.0, "held-out samples that speak for each member of a mixture")
    judge_prior: float = _setting(5.0, "held-out samples that speak for the judge")
    one_in_held_out: int = _setting(5, "one in this many samples is held out where none are given")
    told_share: float = _setting(
        0.05,
        "the share of wrong labels is unclear if its counting error is larger, or if judges may"
        " miss more than this",
    )
    # What users are warned of (doubts.py).
    mostly_wrong: float = _setting(
        0.65, "share of wrong labels above which right ones hardly stand out"
    )
    far_below_usual: float = _setting(
        0.15,
        "how much rarer right labels are in a class of mostly wrong ones than in all, at least",
    )
    few_right: float = _setting(4.0, "a class with fewer trusted samples has next to none")


SETTINGS = Settings()


def settings_table() -> str:
    """Name, value and meaning of every setting, as a Markdown table.

    Examples
    --------
    >>> print(settings_table().splitlines()[2])
    | `standard_errors` | 2.0 | a difference of this many standard errors is clear |
    """
    rows = [
        f"| `{f.name}` | {_text(getattr(SETTINGS, f.name))} | {f.metadata['meaning']} |"
        for f in fields(SETTINGS)
    ]
    return "\n".join(["| setting | value | meaning |", "| --- | --- | --- |", *rows])


def _text(value: Any) -> str:
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, tuple) else str(value)
