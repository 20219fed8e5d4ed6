"""The logits among what networks return."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rehead.torch.batches import Batch
from rehead.torch.outputs import LogitsTaker, class_names_of, logits_of

WIDE, LOGITS, MAPS = torch.zeros(4, 16), torch.ones(4, 3), torch.zeros(4, 3, 5)


@pytest.mark.parametrize(
    ("output", "width"),
    [
        (LOGITS, 3),
        ((WIDE, LOGITS), 3),
        ((LOGITS, WIDE), 3),
        ([MAPS, {"deep": LOGITS}], 3),
        ({"logits": WIDE, "aux": LOGITS}, 16),
        (SimpleNamespace(logits=WIDE, aux=LOGITS), 16),
        (torch.zeros(4), 1),
        (LOGITS[:, :, None, None], 3),
    ],
)
def test_where_they_are(output, width):
    assert logits_of(output).shape == (4, width)


def test_of_two_that_are_alike_the_first():
    assert logits_of((LOGITS, torch.zeros(4, 3))) is LOGITS


def test_none():
    assert logits_of(MAPS) is None
    assert logits_of("text") is None
    assert logits_of((WIDE, LOGITS), 7) is None


def test_labels_tell_what_is_too_narrow():
    assert logits_of((WIDE, LOGITS), at_least=4) is WIDE
    taker = LogitsTaker()
    assert taker((WIDE, LOGITS), Batch((WIDE,), labels=np.array([0, 1, 9, 2]))) is WIDE
    assert taker((WIDE, LOGITS), Batch((WIDE,), labels=np.array([0, 1, 0, 2]))) is WIDE
    assert LogitsTaker()((WIDE, LOGITS), Batch((WIDE,), labels=np.array(list("abcd")))) is WIDE
    assert LogitsTaker(3)((WIDE, LOGITS), Batch((WIDE,))) is LOGITS


def test_another_number_of_rows_is_nothing():
    assert LogitsTaker()(torch.zeros(2, 3), Batch((WIDE,))).shape == (4, 0)


class TestNamesOfHuggingFace:
    @staticmethod
    def names(id2label, classes):
        return class_names_of(
            SimpleNamespace(config=SimpleNamespace(id2label=id2label)), np.array(classes)
        )

    def test_in_the_order_of_the_numbers(self):
        assert self.names({1: "pos", 0: "neg"}, ["neg", "pos"]) == ["neg", "pos"]
        assert self.names({"1": "a", "0": "b", "2": "c"}, ["c", "a"]) == ["b", "a", "c"]

    @pytest.mark.parametrize(
        ("id2label", "classes"),
        [
            ({0: "LABEL_0", 1: "LABEL_1"}, ["neg", "pos"]),
            ({0: "neg", 1: "pos"}, [0, 1]),
            ({0: "neg", 5: "pos"}, ["neg", "pos"]),
            (None, ["neg", "pos"]),
        ],
    )
    def test_other_names_say_nothing(self, id2label, classes):
        assert self.names(id2label, classes) is None

    def test_other_networks(self):
        assert class_names_of(torch.nn.Linear(2, 2), np.array(["a"])) is None
