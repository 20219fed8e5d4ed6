"""The eleven methods by name, and when they are plain cross-entropy."""

import numpy as np
import pytest

from rehead.torch.training import METHODS, Pace, Recipe
from rehead.torch.training.methods import d2l

T = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
SETTINGS = {
    "bootstrap-hard": {},
    "bootstrap-soft": {},
    "forward": {"transition": T},
    "backward": {"transition": T},
    "forward-gold": {},
    "glc": {},
    "d2l": {"first": 0, "window": 1, "batches": 1, "batch_size": 48, "neighbours": 5},
    "decoupling": {},
    "mentornet": {"noise_rate": 0.4, "ramp": 1},
    "co-teaching": {"noise_rate": 0.4, "ramp": 1},
}
TRUSTED = np.arange(96) % 8 == 0


def test_the_methods_are_the_papers_eleven() -> None:
    assert list(METHODS) == [
        "cross-entropy",
        "bootstrap-hard",
        "bootstrap-soft",
        "forward",
        "backward",
        "forward-gold",
        "glc",
        "d2l",
        "decoupling",
        "mentornet",
        "co-teaching",
    ]
    for name, make in METHODS.items():
        assert make(**SETTINGS.get(name, {})).name == name


@pytest.mark.parametrize("name", SETTINGS)
def test_each_method_differs_from_cross_entropy(name: str, fit, close, monkeypatch) -> None:
    epochs = 1
    if name == "d2l":
        # It is cross-entropy until it turns, which takes a second epoch at least.
        epochs = 3
        measured = iter([1.0, 2.0, 2.0])
        monkeypatch.setattr(d2l, "mean_lid", lambda *_: next(measured))
    recipe = Recipe(epochs=epochs, batch_size=16, learning_rate=0.05)
    trained = fit(METHODS[name](**SETTINGS[name]), recipe=recipe, trusted=TRUSTED)
    plain = fit("cross-entropy", recipe=recipe)
    assert not close(trained.net, plain.net)


@pytest.mark.parametrize(
    ("name", "settings", "exactly"),
    [
        ("bootstrap-hard", {"beta": 1.0}, False),
        ("bootstrap-soft", {"beta": 1.0}, False),
        ("forward", {"transition": np.eye(3)}, False),
        ("backward", {"transition": np.eye(3)}, False),
        ("mentornet", {"noise_rate": 0.0}, True),
        ("mentornet", {"form": "self-paced", "pace": Pace(percentile=1.0, decay=0.0)}, True),
        ("mentornet", {"form": "mixture", "pace": Pace(burn_in=1.0)}, True),
        ("co-teaching", {"noise_rate": 0.0}, True),
        ("decoupling", {"warmup": 3}, True),
        ("cross-entropy", {}, True),
    ],
)
def test_with_these_settings_a_method_is_cross_entropy(
    name, settings, exactly, fit, same, close
) -> None:
    found, plain = fit(METHODS[name](**settings)).net, fit().net
    assert same(found, plain) if exactly else close(found, plain)


@pytest.mark.parametrize("name", ["cross-entropy", "bootstrap-hard", "bootstrap-soft", "forward"])
def test_a_method_by_name_has_its_usual_settings(name: str, fit, same) -> None:
    recipe = Recipe(epochs=1, batch_size=16, learning_rate=0.05)
    assert same(fit(name, recipe=recipe).net, fit(METHODS[name](), recipe=recipe).net)


def test_usual_settings_are_the_published_ones() -> None:
    assert METHODS["bootstrap-hard"]().settings == {"beta": 0.8}
    assert METHODS["bootstrap-soft"]().settings == {"beta": 0.95}
    assert METHODS["forward"]().settings["percentile"] == 97
    of_batches = {"neighbours": 20, "batches": 10, "batch_size": 128, "layer": None}
    assert METHODS["d2l"]().settings == {"first": None, "window": 5, **of_batches}
    assert METHODS["co-teaching"](noise_rate=0.2).settings["ramp"] == 10


@pytest.mark.parametrize("name", ["decoupling", "co-teaching"])
def test_two_networks_come_back_and_the_first_is_the_one_to_use(name: str, fit) -> None:
    settings = {"noise_rate": 0.4} if name == "co-teaching" else {}
    trained = fit(METHODS[name](**settings))
    assert len(trained.nets) == 2
    assert trained.net is trained.nets[0]
    assert not any(net.training for net in trained.nets)
