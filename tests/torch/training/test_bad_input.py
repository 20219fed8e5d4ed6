"""What is refused, and that the message names the fix."""

import numpy as np
import pytest
import torch

from rehead import ReheadWarning
from rehead.torch.training import METHODS, Recipe, draw_trusted

ROWS = np.arange(96)


def poisoned(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[17, 2] = np.nan
    return X


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: {"y": p.y + 1}, r"Labels run from 1 to 3, but the network has 3 outputs"),
        (lambda p: {"y": p.y - 1}, r"Labels run from -1 to 1"),
        (lambda p: {"y": p.y.astype(str)}, r"class codes 0 .. C-1 .*return_inverse=True"),
        (lambda p: {"y": p.y.astype(float)}, "class codes 0 .. C-1"),
        (lambda p: {"y": p.y + 0.5}, "Unknown label type|class codes"),
        (lambda p: {"y": [None, *p.y[1:]]}, "missing"),
        (lambda p: {"y": p.y[:-1]}, "96 inputs and 95 labels. Pass one label for each input"),
        (lambda p: {"y": np.eye(3)[p.y]}, "1d array|shape"),
        (lambda p: {"y": None}, "y"),
        (lambda p: {"X": p.X[:0], "y": p.y[:0]}, "sample|input"),
        (lambda p: {"X": p.X[:-1]}, "95 inputs and 96 labels"),
        (lambda p: {"X": poisoned(p.X)}, r"NaN or infinity \(row 17 first\)"),
        (lambda p: {"X": torch.from_numpy(poisoned(p.X))}, r"NaN or infinity \(row 17 first\)"),
        (lambda p: {"X": p.X / 0}, r"NaN or infinity \(row 0 first\)"),
        (lambda p: {"X": p.X.astype(str)}, "Inputs must be numbers"),
        (lambda p: {"recipe": Recipe(epochs=1, batch_size=97)}, r"96 samples.*batch_size=24"),
        (lambda p: {"recipe": "tabel2"}, "Did you mean 'table2'"),
        (lambda p: {"recipe": Recipe(epochs=1, batch_size=8, augment=("flip",))}, r"augment=\(\)"),
        (lambda p: {"precision": "float16"}, "precision must be one of"),
        (lambda p: {"keep": "first"}, "keep must be one of"),
        (lambda p: {"keep": "best"}, r"needs validation=\(X, y\)"),
        (lambda p: {"validation": (p.X, p.y[:-1])}, "96 inputs and 95 labels"),
        (lambda p: {"validation": (p.X, p.y + 1)}, "Labels run from 1 to 3"),
        (lambda p: {"validation": (poisoned(p.X), p.y)}, "NaN or infinity"),
        (lambda p: {"validation": (p.X[:0], p.y[:0])}, "sample|input"),
        (lambda p: {"trusted": ROWS[:5]}, "trusted must be a boolean mask.*96 rows"),
        (lambda p: {"trusted": np.ones(95, bool)}, "trusted must be a boolean mask"),
        (lambda p: {"trusted": ROWS % 2}, "trusted must be a boolean mask"),
        (lambda p: {"make_net": lambda: torch.nn.Flatten(0)}, "one row of logits"),
        (lambda p: {"method": "cross entropy"}, "Did you mean 'cross-entropy'"),
        (lambda p: {"method": "co-teaching"}, r"METHODS\['co-teaching'\]\(noise_rate=0.4\)"),
        (lambda p: {"method": "glc"}, r"needs some samples .* draw_trusted"),
        (lambda p: {"method": "forward-gold"}, r"needs some samples .* draw_trusted"),
        (
            lambda p: {"method": "glc", "trusted": (ROWS < 30) & (p.y != 1)},
            r"1 of 3 classes have no trusted sample \(class 1 first\)",
        ),
        (lambda p: {"seed": -1}, "seed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_refused_with_a_message_that_helps(change, message, fit, noisy) -> None:
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        fit(**change(noisy))


def test_what_is_not_a_network_is_refused(fit) -> None:
    with pytest.raises(TypeError, match=r"must give an nn\.Module, got int"):
        fit(make_net=lambda: 3)


@pytest.mark.parametrize(
    "method",
    [
        METHODS["co-teaching"](noise_rate=0.2),
        METHODS["decoupling"](),
        METHODS["forward"](),
        METHODS["glc"](),
    ],
    ids=lambda method: method.name,
)
def test_methods_that_train_several_networks_refuse_a_single_one(method, fit, make_net) -> None:
    with pytest.raises(ValueError, match=r"trains more than one network.*train\(lambda: Net"):
        fit(method, make_net=make_net(), trusted=ROWS < 40)


@pytest.mark.parametrize(
    "method",
    [
        METHODS["d2l"](batches=1, batch_size=48),
        METHODS["forward"](transition=np.eye(3)),
        METHODS["backward"](transition=np.eye(3)),
    ],
    ids=lambda method: method.name,
)
def test_methods_that_train_one_network_take_one_that_is_given(method, fit, make_net) -> None:
    net = make_net()
    assert fit(method, make_net=net).net is net


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("bootstrap-hard", {"beta": 1.2}, r"beta must be in \[0, 1\], got 1.2"),
        ("bootstrap-soft", {"beta": -0.1}, r"beta must be in \[0, 1\]"),
        ("bootstrap-soft", {"beta": float("nan")}, r"beta must be in \[0, 1\]"),
        ("co-teaching", {"noise_rate": 45}, "For 40 % pass 0.4"),
        ("co-teaching", {"noise_rate": 1.0}, r"noise_rate must be in \[0, 1\)"),
        ("co-teaching", {"noise_rate": 0.4, "ramp": 0}, "ramp must be a whole number"),
        ("co-teaching", {"noise_rate": 0.4, "ramp": 2.5}, "ramp must be a whole number"),
        ("decoupling", {"warmup": -1}, "warmup must be a whole number of at least 0"),
        ("d2l", {"window": 0}, "window must be a whole number of at least 1"),
        ("d2l", {"neighbours": 0}, "neighbours must be a whole number"),
        ("d2l", {"batches": 1.5}, "batches must be a whole number"),
    ],
)
def test_bad_settings_are_refused_when_they_are_given(name, settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        METHODS[name](**settings)


T = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])


@pytest.mark.parametrize("name", ["forward", "backward"])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(4), "must be 3 x 3"),
        (T.T, r"Its columns do: pass T\.T"),
        (-T, "negative or not finite"),
    ],
    ids=["shape", "transposed", "negative"],
)
def test_a_wrong_transition_matrix_is_refused(name, matrix, message, fit) -> None:
    with pytest.raises(ValueError, match=message):
        fit(METHODS[name](transition=matrix))


def test_backward_refuses_a_matrix_without_an_inverse_and_forward_takes_it(fit) -> None:
    singular = np.full((3, 3), 1 / 3)
    with pytest.raises(ValueError, match="cannot be inverted"):
        fit(METHODS["backward"](transition=singular))
    assert len(fit(METHODS["forward"](transition=singular)).history) == 3


def test_forward_refuses_a_matrix_in_which_a_label_cannot_occur(fit) -> None:
    never = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [0.5, 0.5, 0.0]])
    with pytest.raises(ValueError, match="Label 2 occurs, but its column"):
        fit(METHODS["forward"](transition=never))


@pytest.mark.parametrize("percentile", [970.0, -1.0])
def test_a_percentile_outside_0_to_100_is_refused_before_training(percentile, fit) -> None:
    epochs: list = []
    with pytest.raises(ValueError, match=r"(?i)percentile"):
        fit(METHODS["forward"](percentile=percentile), on_epoch=epochs.append)
    assert epochs == []


def test_linear_weights_that_do_not_fall_are_refused() -> None:
    with pytest.raises(ValueError, match="gamma"):
        METHODS["mentornet"](form="mixture", gamma=0.0)


def test_held_out_inputs_of_another_shape_are_refused_before_training(fit, noisy) -> None:
    epochs: list = []
    with pytest.raises(ValueError, match="Validation inputs have shape"):
        fit(validation=(noisy.X[:, :4], noisy.y), on_epoch=epochs.append)


def test_training_that_diverges_is_not_passed_over_in_silence(fit, noisy) -> None:
    recipe = Recipe(epochs=3, batch_size=16, learning_rate=1e30, schedule="constant")
    with pytest.raises((ValueError, ArithmeticError, ReheadWarning)):
        fit(recipe=recipe)


def test_known_labels_are_rows_or_a_mask_and_never_counted_from_the_end(noisy) -> None:
    mask = ROWS % 2 == 0
    by_mask, by_rows = (
        METHODS["mentornet"](form="teacher", clean=(rows, noisy.true[mask]))
        for rows in (mask, np.flatnonzero(mask))
    )
    assert by_mask.settings == by_rows.settings
    with pytest.raises(ValueError, match="equal length"):
        METHODS["mentornet"](form="teacher", clean=(mask, noisy.true))
    with pytest.raises(ValueError, match="counted from 0"):
        METHODS["mentornet"](form="teacher", clean=(ROWS - 96, noisy.true))


def test_drawn_trusted_samples_have_every_class_and_the_share_asked_for() -> None:
    y = np.repeat([0, 1, 2], [900, 99, 1])
    for seed in range(5):
        mask = draw_trusted(y, 0.05, random_state=seed)
        assert mask.sum() == 50
        assert set(y[mask]) == {0, 1, 2}
    few = draw_trusted(y, 0.001, random_state=0)
    assert few.sum() == 3
    assert draw_trusted(y, 1.0).all()


def test_trusted_samples_are_drawn_at_random_from_a_seed() -> None:
    y = np.arange(300) % 3
    a, b, c = (draw_trusted(y, 0.2, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()
    assert draw_trusted(y.astype(str), 0.2).sum() == 60


@pytest.mark.parametrize("share", [0, 1.5, -0.1])
def test_a_share_of_trusted_samples_outside_0_to_1_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=r"For 1 % pass 0\.01"):
        draw_trusted([0, 1, 2], share)
