"""What users pass: in any form that means the same, and refused with advice if it does not fit."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rehead.torch.training import METHODS, Recipe
from rehead.torch.training.inputs import as_task

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
        (lambda p: {"validation": (p.X, p.y[:-1])}, "96 inputs and 95 labels"),
        (lambda p: {"validation": (p.X, p.y + 1)}, "Labels run from 1 to 3"),
        (lambda p: {"validation": (poisoned(p.X), p.y)}, "NaN or infinity"),
        (lambda p: {"validation": (p.X[:0], p.y[:0])}, "sample|input"),
        (lambda p: {"validation": (p.X[:, :4], p.y)}, r"Validation inputs have shape \(4,\)"),
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
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_refused_with_a_message_that_helps(change, message, fit, noisy) -> None:
    epochs: list = []
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        fit(**change(noisy), on_epoch=epochs.append)
    assert epochs == []


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
    "convert",
    [
        torch.from_numpy,
        lambda X: X.astype(np.float64),
        lambda X: X.tolist(),
        lambda X: np.asfortranarray(X),
        lambda X: torch.from_numpy(X).requires_grad_(),
    ],
    ids=["tensor", "double", "lists", "fortran order", "with gradient"],
)
def test_inputs_in_any_form_give_the_same_weights(convert, fit, same, noisy) -> None:
    assert same(fit(X=convert(noisy.X)).net, fit().net)


@pytest.mark.parametrize(
    "convert",
    [
        torch.from_numpy,
        lambda y: y.tolist(),
        lambda y: y.astype(np.uint8),
        lambda y: torch.from_numpy(y).int(),
    ],
    ids=["tensor", "list", "bytes", "int tensor"],
)
def test_labels_in_any_form_give_the_same_weights(convert, fit, same, noisy) -> None:
    assert same(fit(y=convert(noisy.y)).net, fit().net)


def test_read_only_inputs_are_taken(fit, same, noisy) -> None:
    X = noisy.X.copy()
    X.setflags(write=False)
    assert same(fit(X=X).net, fit().net)


class OfTokens(nn.Module):
    """Refuses tokens that are not whole numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.out = nn.EmbeddingBag(20, 5, mode="mean"), nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        assert x.dtype == torch.int64
        return self.out(self.words(x))


def test_tokens_stay_whole_numbers(fit) -> None:
    tokens = np.random.default_rng(0).integers(20, size=(48, 7))
    before, after = OfTokens(), OfTokens()
    after.load_state_dict(before.state_dict())
    fit(make_net=after, X=tokens, y=np.arange(48) % 3)
    assert not torch.equal(after.words.weight, before.words.weight)


def test_a_task_is_what_was_given_on_the_device(noisy, make_net, recipe) -> None:
    mask = ROWS < 10
    task = as_task(make_net, noisy.X, noisy.y, recipe=recipe, trusted=mask)
    assert task.n_classes == 3
    assert task.recipe is recipe
    np.testing.assert_array_equal(task.X.cpu(), noisy.X)
    np.testing.assert_array_equal(task.y.cpu(), noisy.y)
    np.testing.assert_array_equal(task.trusted.cpu(), mask)
    assert {part.device.type for part in (task.X, task.y, task.trusted)} == {task.device.type}
    assert task.held_out is None
    assert as_task(make_net, noisy.X, noisy.y, recipe="quick").recipe.epochs == 12
