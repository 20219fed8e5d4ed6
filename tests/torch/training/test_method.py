"""What a method is made of, and methods of one's own."""

import json

import numpy as np
import torch

from rehead.torch.training import Method
from rehead.torch.training.method import Moment


def test_a_method_of_ones_own_is_a_loss_and_a_selection(fit, same) -> None:
    mine = Method("mine", loss=lambda z, batch, memory: torch.relu(1 - z[:, 0]))
    assert not same(fit(mine).net, fit().net)


def test_samples_of_weight_0_are_not_learned_from(fit, same, noisy) -> None:
    def select(losses, logits, batch, moment, memory):
        return [(batch.rows < 48) / len(batch.y)]

    labels = noisy.y.copy()
    labels[48:] = 0
    first_half = Method("first half", select=select)
    assert same(fit(first_half).net, fit(first_half, y=labels).net)
    assert not same(fit().net, fit(y=labels).net)


def test_what_is_prepared_is_remembered_and_its_numbers_are_logged(fit) -> None:
    def prepare(task, train_first):
        first = train_first("first", task, Method("first"))
        return {"first": torch.tensor(first.fitted), "matrix": torch.eye(2), "w/x": torch.tensor(1)}

    trained = fit(Method("prepared", prepare=prepare, stages=True))
    assert set(trained.memory) == {"first", "matrix", "w/x"}
    assert [entry["first"] for entry in trained.history] == [float(trained.memory["first"])] * 3
    assert not {"matrix", "w/x"} & set(trained.history[0])


def test_settings_of_numpy_become_plain_numbers() -> None:
    method = Method("mine", {"rate": np.float32(0.5), "n": np.int64(3), "name": "x"})
    assert json.loads(json.dumps(method.settings)) == {"rate": 0.5, "n": 3, "name": "x"}


def test_progress_is_the_share_of_steps_that_are_done() -> None:
    assert Moment(epoch=2, epochs=4, step=25, steps=40).progress == 0.625
