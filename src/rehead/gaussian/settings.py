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
    # Reading the noise off at anchors, and calibrating scores (labelnoise.py, calibration.py).
    noise_sample: int = _setting(15_000, "rows that a noise model is fitted to, at most")
    usual_scores: int = _setting(500_000, "and scores of these rows, at most")
    enough_rows: int = _setting(5_000, "rows that there are in any case, if there are so many")
    noise_sample_of_class: int = _setting(
        10, "and as many for each class, if that is more: for many classes"
    )
    most_scores: int = _setting(
        30_000_000, "scores of these rows that are in memory, at most, if that leaves enough rows"
    )
    near_classes: int = _setting(
        128,
        "classes of a row whose scores a noise model looks at, at most: the best, and its label",
    )
    anchor_shares: tuple[float, ...] = _setting(
        (0.3, 0.1), "share of the samples predicted as a class that are its anchors; then fewer"
    )
    fewest_anchors: int = _setting(30, "anchors of a class, at least, if it has that many samples")
    few_classes: int = _setting(
        15, "with more classes than this, small ones have anchors in common, and more rows are read"
    )
    fewest_common_anchors: int = _setting(300, "anchors of small classes together, at least")
    fewer_anchor_shares: tuple[float, ...] = _setting(
        (0.03,), "and still smaller shares of the samples that are taken for small classes"
    )
    borrowed_anchors: tuple[float, ...] = _setting(
        (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0),
        "anchors that a class may borrow from all others; the counts choose",
    )
    log_temperatures: tuple[float, float] = _setting(
        (-1.0, 6.0), "range of the logarithm of a temperature"
    )
    offset_ridge: float = _setting(
        5.0, "samples that speak against the offset of a class in a calibration"
    )
    # Whether labels of hard samples are guesses (guesses.py).
    least_apart: float = _setting(
        1.0, "standard deviations from 0 that margins of two classes are on average, at least"
    )
    enough_of_each: int = _setting(
        100,
        "samples for each class; with fewer, margins do not tell guesses, and all samples count"
        " where labels are likelier so",
    )
    slack_of_guesses: float = _setting(
        0.065, "share of labels that disagree with the best class for no reason, at most"
    )
    slack_of_overlap: float = _setting(
        0.1, "and this share of the overlap, which is not known exactly"
    )
    wrong_guesses: float = _setting(
        8.0, "wrong labels for each that disagrees all the same, at most: other guesses agree"
    )
    mostly_guessed: float = _setting(
        0.3,
        "if labels of hard samples are guesses as far as this or more, the last estimate is stiff,"
        " classes have no offsets, and no regression is asked",
    )
    stiff_shrinkage: float = _setting(
        0.3, "shrinkage of stiff estimates, which do not follow guesses, or a machine's errors"
    )
    doubtful_overlap: float = _setting(
        3.0, "times the square of the overlap may be taken for noise: the noise may be less by it"
    )
    misled_share: float = _setting(
        0.1, "share of guesses that may mislead the classifier too: the noise may be more by it"
    )
    # Trust in labels, round by round (anchored.py).
    shrinkages: tuple[float, ...] = _setting(
        (0.02, 0.1, 0.3, 0.6, 0.9), "shrinkage is chosen from these, towards identity or diagonal"
    )
    scarce_shrinkages: tuple[float, ...] = _setting(
        (0.97, 0.99), "and from these, where samples are scarce"
    )
    screened: int = _setting(
        3, "of many classes, so many are compared on all sampled rows: the best on a quarter"
    )
    scarce_rows: float = _setting(2, "with fewer samples per feature than this, they are scarce")
    strong_shrinkages: tuple[float, ...] = _setting(
        (0.6, 0.3), "these are followed to the end, however they look at first"
    )
    ample_rows: float = _setting(
        50, "with this many samples per feature, strong shrinkages are not tried"
    )
    clear_gain: float = _setting(
        0.005, "nats per label by which strong shrinkage must be better, at least"
    )
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
        0.5, "a class seems lost if this share of the usual one of its labels is trusted, or less"
    )
    exchange_ratios: tuple[float, ...] = _setting(
        (1.0, 0.8),
        "two classes may have changed places if, among samples taken for the one, labels of the"
        " other are this many times as frequent as its own",
    )
    other_starts: int = _setting(3, "other starts for lost classes with each of these, at most")
    least_class_weight: float = _setting(3.0, "samples that a class weighs, at least")
    far_ratio: float = _setting(
        100.0,
        "rows whose squared distance from the middle is this many times the usual one"
        " or more belong to no class",
    )
    # Labels that a machine made (machine.py).
    mixture_rounds: int = _setting(20, "rounds of the mixture of a machine's labels, at most")
    own_units: float = _setting(
        30.0,
        "columns have units of their own if one varies so many times as much as the usual one;"
        " then shrinkage is towards the diagonal",
    )
    most_moved: float = _setting(
        0.125,
        "the mixture runs away if it takes a larger share of the samples for other classes"
        " than the first estimates do; then agreement takes its place",
    )
    agreement_rounds: int = _setting(2, "rounds of agreement in its place, at most")
    # Trusted labels that were drawn at random (trusted.py).
    fewest_trusted: int = _setting(20, "trusted labels that it takes to choose between ways")
    trusted_errors: float = _setting(
        1.0, "standard errors by which another way must make trusted labels more likely"
    )
    trusted_prior: float = _setting(
        10.0,
        "labels that what is known of a temperature, or of weights, counts as beside trusted ones",
    )
    # A map of the features (kernel_map.py).
    kernel_widths: tuple[float, ...] = _setting(
        (0.3, 1.0, 3.0),
        "gamma of a kernel map, for each median squared distance between landmarks;"
        " the first where a map is asked for",
    )
    landmarks: tuple[int, int] = _setting((50, 500), "landmarks of a kernel map: fewest and most")
    rows_a_landmark: int = _setting(6, "rows that there are for each landmark, in between")
    map_sample: int = _setting(2_000, "rows that maps are compared on, about")
    fewest_rows_for_map: int = _setting(
        10, "rows of this sample for each class, at least; with fewer, no map is tried"
    )
    clear_gain_of_map: float = _setting(
        0.01, "nats per label by which a map must be better, at least"
    )
    errors_in_the_end: float = _setting(
        1.0, "standard errors by which a map, or a second opinion, must be better when all is done"
    )
    weighings: int = _setting(
        3, "times that columns are weighed by what they tell on the map before, at most"
    )
    rows_a_column: int = _setting(
        30, "rows of this sample for each column, at least; with fewer, columns are not weighed"
    )
    rows_for_importance: int = _setting(500, "rows that this is averaged over, at most")
    # Several layers (ensemble/).
    judge_gap: float = _setting(
        0.05, "judges are layers whose memorisation gap is above the smallest by this much, at most"
    )
    asked_gap: float = _setting(
        0.3, "weak judges never ask a layer whose memorisation gap is larger, whatever it knows"
    )
    memorised_gap: float = _setting(
        0.5,
        "with this memorisation gap (nats per label) or more, a layer knows its labels by heart",
    )
    cleaner_gap: float = _setting(
        0.25, "held-out labels that are likelier than training labels by this many nats are cleaner"
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
        0.05, "the share of wrong labels is unclear if judges may miss more than this"
    )
    # What users are warned of (doubts.py).
    mostly_wrong: float = _setting(
        0.65, "share of wrong labels above which right ones hardly stand out"
    )
    far_below_usual: float = _setting(
        0.15, "how much rarer right labels are in a class of mostly wrong ones than in all"
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
