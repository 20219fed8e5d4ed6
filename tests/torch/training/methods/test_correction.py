"""Forward and backward correction (A4, A5): with a matrix that is given or estimated."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from rehead.torch.training import METHODS
from rehead.torch.training.inputs import as_task

T = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
TRUSTED = np.arange(96) % 8 == 0


@pytest.mark.parametrize("name", ["forward", "backward"])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(4), "must be 3 x 3"),
        (T.T, r"Its columns do: pass T\.T"),
        (-T, r"must not be negative, NaN or infinite: row 0 \(class 0\)"),
    ],
    ids=["shape", "transposed", "negative"],
)
def test_a_wrong_transition_matrix_is_refused(name, matrix, message, fit) -> None:
    with pytest.raises(ValueError, match=message):
        fit(METHODS[name](transition=matrix))


def test_backward_refuses_a_matrix_without_an_inverse_and_forward_takes_it(
    fit, noisy, make_net, recipe, close
) -> None:
    singular = np.full((3, 3), 1 / 3)
    with pytest.raises(ValueError, match="cannot be inverted"):
        fit(METHODS["backward"](transition=singular))
    # Nothing can be learned from such labels, and forward correction knows it.
    trained = fit(METHODS["forward"](transition=singular))
    assert close(trained.net, as_task(make_net, noisy.X, noisy.y, recipe=recipe).network())


def test_forward_refuses_a_matrix_in_which_a_label_cannot_occur(fit) -> None:
    never = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [0.5, 0.5, 0.0]])
    with pytest.raises(ValueError, match="Label 2 occurs, but its column"):
        fit(METHODS["forward"](transition=never))


@pytest.mark.parametrize("name", ["forward", "backward", "forward-gold"])
def test_without_a_matrix_the_anchors_of_a_first_network_give_one(name: str, fit) -> None:
    settings = {"percentile": None}
    options = {"trusted": TRUSTED} if name == "forward-gold" else {}
    found = fit(METHODS[name](**settings), **options).memory["transition"].numpy()
    assert found.shape == (3, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    assert not np.allclose(found, np.eye(3), atol=1e-3)


def test_backward_keeps_the_inverse_in_double_precision(fit) -> None:
    memory = fit(METHODS["backward"](transition=T)).memory
    assert_close(memory["inverse"] @ memory["transition"], torch.eye(3, dtype=torch.float64))
