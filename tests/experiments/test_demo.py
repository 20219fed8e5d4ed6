"""The claims of the demo: what it prints is what is tested here."""

import numpy as np
import pytest

from rehead.experiments.demo import DEFAULT, ROG, DemoResult, DemoSettings, run_demo


@pytest.fixture(scope="module")
def result() -> DemoResult:
    return run_demo(DemoSettings(n_seeds=3))


@pytest.mark.parametrize("kind", ["uniform", "flip"])
def test_the_network_memorises_its_labels(result: DemoResult, kind: str) -> None:
    assert all(run.fitted > 0.97 for run in result.runs if run.noise == kind)


@pytest.mark.parametrize("kind", ["uniform", "flip"])
def test_rog_is_above_softmax_for_every_seed(result: DemoResult, kind: str) -> None:
    softmax = result.accuracies(kind, "softmax")
    rog = result.accuracies(kind, ROG)
    assert (rog > softmax).all()
    assert (rog - softmax).mean() > 0.10


def test_rog_is_above_lda_under_uniform_noise(result: DemoResult) -> None:
    lda = result.accuracies("uniform", "LDA, sample estimates, hidden3")
    assert result.accuracies("uniform", "RoG, hidden3").mean() > lda.mean()


@pytest.mark.parametrize(
    ("kind", "ours", "theirs", "margin"),
    [
        ("uniform", DEFAULT, "RoG, ensemble, with the input", 0.03),
        ("flip", DEFAULT, "RoG, ensemble, with the input", 0.10),
        ("uniform", "auto, hidden layers and softmax", ROG, 0.01),
        ("flip", "auto, hidden layers and softmax", ROG, 0.08),
    ],
)
def test_on_equal_inputs_the_default_is_above_rog(
    result: DemoResult, kind: str, ours: str, theirs: str, margin: float
) -> None:
    auto, rog = (result.accuracies(kind, method) for method in (ours, theirs))
    assert (auto - rog).mean() > margin


@pytest.mark.parametrize("kind", ["uniform", "flip"])
def test_the_input_helps_the_hidden_layers(result: DemoResult, kind: str) -> None:
    both, hidden = (
        result.accuracies(kind, method).mean()
        for method in (DEFAULT, "auto, hidden layers and softmax")
    )
    assert both > hidden


@pytest.mark.parametrize(("kind", "margin"), [("uniform", 0.15), ("flip", 0.03)])
def test_the_kept_samples_are_cleaner_than_all(
    result: DemoResult, kind: str, margin: float
) -> None:
    runs = [run for run in result.runs if run.noise == kind]
    for run in runs:
        assert min(run.clean_kept.values()) > 1.0 - run.noise_rate
    # Of as many samples at random, this would be 0, with a standard deviation of 0.006.
    gained = [np.mean([*run.clean_kept.values()]) - (1.0 - run.noise_rate) for run in runs]
    assert np.mean(gained) > margin


def test_there_is_something_to_trim(result: DemoResult) -> None:
    assert result.kept_share <= 0.65


def test_the_worst_labels_are_wrong_ones(result: DemoResult) -> None:
    for showcase in result.showcases:
        worst = showcase.report.order[:100]
        assert showcase.noisy.changed[worst].mean() > 0.95


def test_the_noise_is_measured(result: DemoResult) -> None:
    for run in result.runs:
        assert abs(run.noise_estimate - run.noise_rate) < 0.10


def test_progress_rises_to_one() -> None:
    shares: list[float] = []
    settings = DemoSettings(noises=("uniform",), n_seeds=1, epochs=3)
    run_demo(settings, lambda text, share: shares.append(share))
    assert np.all(np.diff(shares) >= 0)
    assert shares[-1] == 1.0
