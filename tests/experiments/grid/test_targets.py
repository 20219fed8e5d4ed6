"""Targets: each is reached and missed where it should be."""

import numpy as np
import pytest
from scipy.stats import sem

from rehead.experiments.grid.summary import Grid
from rehead.experiments.grid.targets import paired_error, targets


@pytest.fixture
def judge(cell_of, result_of):
    """Targets of a grid with one group: by the beginning of their text."""

    def find(text, task, noise, rate, accuracy, *, seeds=1, **more):
        of_seed = accuracy if callable(accuracy) else lambda seed: accuracy
        cells = [cell_of(task, noise, rate, seed) for seed in range(seeds)]
        results = [result_of(cell, of_seed(cell.seed), **more) for cell in cells]
        (found,) = [t for t in targets(Grid.of_results(results)) if t.text.startswith(text)]
        return found

    return find


def test_regret(judge):
    found = judge("mean regret", "digits-mlp", "flip", 0.4, {"auto": 0.90, "mixture": 0.904})
    assert found.reached
    assert found.measured == "0.40; 0.40 without semantic noise"
    assert not judge("mean regret", "digits-mlp", "flip", 0.4, {"auto": 0.9, "RoG": 0.91}).reached
    ahead = judge("mean regret", "digits-mlp", "flip", 0.4, {"auto": 0.9})
    assert ahead.measured.startswith("0.00")


def test_a_difference_must_be_clear(judge):
    def unclear(seed):
        return {"auto": 0.9, "RoG": 0.9 + (0.0, 0.0, 0.06)[seed]}

    def clear(seed):
        return {"auto": 0.9, "RoG": 0.9 + (0.02, 0.021, 0.022)[seed]}

    text, where = "no cell behind", ("twitter-fcn", "flip", 0.2)
    assert judge(text, *where, unclear, seeds=3).reached
    found = judge(text, *where, clear, seeds=3)
    assert not found.reached
    assert found.measured == "twitter-fcn flip 20% 2.1 (RoG)"


def test_the_oracle(judge):
    where = ("digits-mlp", "none", 0.0)
    assert judge("within 1.0", *where, {"auto": 0.9, "oracle": 0.909}).reached
    found = judge("within 1.0", *where, {"auto": 0.9, "oracle": 0.911})
    assert (found.reached, found.measured) == (False, "0 of 1")


def test_clean_labels(judge):
    found = judge("clean", "digits-mlp", "none", 0.0, {"auto": 0.9, "softmax": 0.904})
    assert (found.reached, found.measured) == (False, "digits-mlp none +0.40")
    assert judge("clean", "digits-mlp", "none", 0.0, {"auto": 0.9, "softmax": 0.902}).reached
    # Frozen features have no softmax to fall behind.
    frozen = judge("clean", "reuters8-frozen", "none", 0.0, {"auto": 0.1})
    assert (frozen.reached, frozen.measured) == (True, "none")


def test_much_noise(judge):
    accuracy = {"auto": 0.9, "RoG": 0.7, "mixture": 0.91}
    where = ("digits-mlp", "uniform", 0.6)
    gain = judge("noise >= 40 %: 10 points", *where, accuracy)
    assert (gain.reached, gain.measured) == (True, "20.0")
    best = judge("noise >= 40 %: above every peer", *where, accuracy)
    assert (best.reached, best.measured) == (False, "90.0 against 91.0 (mixture)")


def test_text_networks(judge):
    where = ("reuters8-fcn", "uniform", 0.6)
    assert judge("reuters8-fcn", *where, {"auto": 0.88}).reached
    assert not judge("reuters8-fcn", *where, {"auto": 0.879}).reached


def test_finding(judge):
    where = ("cifar10-resnet", "open-set", 0.4, {})
    more = {"auto": {"auroc": 0.89}, "cleanlab": (0.88, 0.895)}
    area = judge("wrong labels", *where, **more)
    assert (area.reached, area.measured) == (False, "0.890")
    below = judge("AUROC never below", *where, **more)
    assert below.measured == "cifar10-resnet open-set 40% 0.890 < 0.895"
    assert judge("AUROC never below", *where, auto={"auroc": 0.9}, cleanlab=(0.1, 0.9)).reached


def test_counting(judge):
    where = ("digits-mlp", "flip", 0.4, {})
    off = judge("estimated", *where, auto={"noise_rate": 0.36}, noise_rate=0.40)
    assert (off.reached, off.measured) == (False, "digits-mlp flip 40% 36 of 40, off by 4")
    assert judge("estimated", *where, auto={"noise_rate": 0.42}, noise_rate=0.40).reached
    bad = judge("calibration", *where, auto={"calibration": 0.06})
    assert (bad.reached, bad.measured) == (False, "digits-mlp flip 40% 0.06")


def test_seeds_do_not_cancel(cell_of, result_of):
    """One estimate is too large by 10 points, another too small."""
    results = [
        result_of(cell_of("digits-mlp", "flip", 0.4, s), auto={"noise_rate": r}, noise_rate=0.4)
        for s, r in enumerate((0.3, 0.5))
    ]
    found = [t for t in targets(Grid.of_results(results)) if t.text.startswith("estimated")]
    assert [(t.reached, t.measured) for t in found] == [
        (False, "digits-mlp flip 40% 40 of 40, off by 10")
    ]


@pytest.mark.parametrize("name", ["noise_rate", "calibration", "auroc"])
def test_what_is_not_known_is_not_reached(judge, name):
    text = {"noise_rate": "estimated", "calibration": "calibration", "auroc": "AUROC never"}[name]
    more = {"auto": {"auroc": 0.9, name: np.nan}, "cleanlab": (0.1, 0.2), "noise_rate": 0.4}
    assert not judge(text, "digits-mlp", "flip", 0.4, {}, **more).reached


def test_without_wrong_labels_there_is_no_area_to_reach(judge):
    assert judge("AUROC never", "digits-mlp", "none", 0.0, {}).reached


def test_one_seed_has_no_margin_and_the_text_says_so(judge):
    where = ("twitter-fcn", "flip", 0.2, {"auto": 0.9})
    said = "no cell behind by more than 0.5 + 2 paired standard errors"
    one = judge("no cell behind", *where)
    assert one.text == f"{said} (1 of 1 with one seed, so without a margin)"
    assert judge("no cell behind", *where, seeds=3).text == said


def test_a_part_of_the_columns_will_do(cell_of, result_of):
    few = {"RoG": np.nan, "softmax": np.nan, "oracle": np.nan}
    cells = [cell_of("digits-mlp", "none"), cell_of("digits-mlp", "uniform", 0.4)]
    texts = [t.text for t in targets(Grid.of_results([result_of(c, few) for c in cells]))]
    assert not any("RoG" in text or "oracle" in text for text in texts)
    assert next(targets(Grid([]))).text.startswith("no cell behind")


def test_the_paired_error_is_the_standard_error_of_differences():
    differences = np.random.default_rng(0).normal(size=5)
    assert paired_error(differences) == pytest.approx(sem(differences))
    assert paired_error(differences[:1]) == 0
