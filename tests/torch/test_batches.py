"""Batches as people's loaders give them: all forms come out the same."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from rehead.torch import extract_features
from rehead.torch.batches import Batch, check_keys, read_batch, read_loader


class TestKeys:
    batch = staticmethod(
        lambda: {
            "image": torch.zeros(2, 3),
            "depth": torch.ones(2, 1),
            "grade": [1, 0],
            "file": "ab",
        }
    )

    def test_they_say_which_entry_is_what(self):
        got = read_batch(self.batch(), {"inputs": "image", "labels": "grade"})
        assert [tuple(x.shape) for x in got.args] == [(2, 3)]
        assert got.kwargs == {}
        assert got.labels.tolist() == [1, 0]

    def test_several_inputs_in_their_order(self):
        got = read_batch(self.batch(), {"inputs": ["depth", "image"], "labels": "grade"})
        assert [tuple(x.shape) for x in got.args] == [(2, 1), (2, 3)]

    def test_only_labels_or_ids_may_be_named(self):
        got = read_batch(self.batch(), {"labels": "grade", "ids": "image"})
        assert got.labels.tolist() == [1, 0]
        assert list(got.kwargs) == ["depth", "file"]

    def test_all_of_it_through_a_network(self, network):
        case = network("mlp", 30)
        rows = {"image": case.x, "other": case.x, "grade": case.y, "name": list(range(5, 35))}
        keys = {"inputs": "image", "labels": "grade", "ids": "name"}
        features = extract_features(case.net, rows, ["4"], keys=keys)
        assert features.labels.tolist() == case.y.tolist()
        assert features.ids.tolist() == list(range(5, 35))

    def test_mistakes(self):
        with pytest.raises(ValueError, match=r"no 'img', which keys= names; it has 'image'"):
            read_batch(self.batch(), {"inputs": "img"})
        with pytest.raises(ValueError, match=r"keys must be one of .*Did you mean 'inputs'"):
            check_keys({"input": "image"})
        with pytest.raises(ValueError, match="keys must be a dict"):
            check_keys("image")


class TestBatches:
    def test_several_inputs_that_a_loader_has_collated(self):
        x = torch.zeros(6, 3)
        loader = DataLoader([((x[i], x[i, :1]), i % 2) for i in range(6)], batch_size=6)
        batch = read_batch(next(iter(loader)))
        assert [tuple(a.shape) for a in batch.args] == [(6, 3), (6, 1)]

    def test_several_inputs_are_arguments_of_the_network(self):
        a, b = torch.zeros(3, 2), np.ones((3, 1))
        batch = read_batch(((a, b), [0, 1, 0]))
        assert [tuple(x.shape) for x in batch.args] == [(3, 2), (3, 1)]
        assert all(isinstance(x, torch.Tensor) for x in batch.args)
        assert batch.labels.tolist() == [0, 1, 0]

    def test_named_inputs_may_come_beside_labels(self):
        batch = read_batch(({"tokens": torch.zeros(2, 3)}, ["a", "b"], [7, 8]))
        assert list(batch.kwargs) == ["tokens"]
        assert batch.labels.tolist() == ["a", "b"]
        assert batch.ids.tolist() == [7, 8]

    @pytest.mark.parametrize("label", ["labels", "label", "targets", "target", "y"])
    @pytest.mark.parametrize("name", ["ids", "id", "idx", "index", "indices"])
    def test_labels_and_ids_go_by_the_usual_names(self, label, name):
        batch = read_batch({"x": torch.zeros(2, 3), label: [1, 0], name: [5, 6]})
        assert list(batch.kwargs) == ["x"]
        assert batch.labels.tolist() == [1, 0]
        assert batch.ids.tolist() == [5, 6]

    def test_inputs_are_moved_wherever_they_are_nested(self):
        x = torch.zeros(2, 3)
        batch = Batch((x, [x, (x,)]), {"more": {"deep": x}, "text": "as it is"})
        moved = batch.to(torch.device("meta"))
        assert moved.args[0].is_meta
        assert moved.args[1][1][0].is_meta
        assert moved.kwargs["more"]["deep"].is_meta
        assert moved.kwargs["text"] == "as it is"


class TestErrors:
    @pytest.mark.parametrize("loader", [[], torch.empty(0, 5), iter(())])
    def test_an_empty_loader(self, network, loader):
        with pytest.raises(ValueError, match="loader is empty"):
            extract_features(network("mlp").net, loader, ["1"])

    def test_too_many_parts(self, network):
        with pytest.raises(ValueError, match=r"4 parts; expected x, \(x, y\)"):
            extract_features(network("mlp").net, [(1, 2, 3, 4)], ["1"])

    @pytest.mark.parametrize(
        ("columns", "match"),
        [(([0, 1, 0],), "4 inputs but 3 labels"), (([0, 1, 0, 1], ["a"]), "4 inputs but 1 ids")],
    )
    def test_columns_of_another_length(self, network, columns, match):
        case = network("mlp", 4)
        with pytest.raises(ValueError, match=match):
            extract_features(case.net, [(case.x, *columns)], ["1"])

    @pytest.mark.parametrize(
        ("labels", "match"),
        [
            ((torch.zeros(4), torch.zeros(4)), "2 columns of labels. A head predicts one"),
            (torch.zeros(4, 3), r"shape \(4, 3\).*argmax"),
        ],
    )
    def test_more_than_one_label_a_sample(self, network, labels, match):
        case = network("mlp", 4)
        with pytest.raises(ValueError, match=match):
            extract_features(case.net, [(case.x, labels)], ["1"])

    def test_no_tensor(self):
        with pytest.raises(ValueError, match="holds no tensor"):
            list(read_loader([("text", [0])]))


class TestColumnsOfALoader:
    """Labels and ids are there for all samples or for none, one a sample, and of one kind."""

    x = torch.zeros(2, 3)

    @pytest.mark.parametrize(
        ("first", "second", "said"),
        [
            ((x, [0, 1]), (x,), "Some batches have labels, and others have none"),
            ((x,), (x, [0, 1]), "Some batches have labels, and others have none"),
            ((x, [0, 1], ["a", "b"]), (x, [0, 1]), "Some batches have ids, and others have none"),
            ((x, [0, 1]), (x, ["a", "b"]), r"text in some batches.* \(0, 'a'\)"),
            ((x, [0, 1], ["a", "b"]), (x, [0, 1], [3, 4]), r"ids are text in some .* \('a', 3\)"),
            ((x, [0, 1], [[1, 2], [3, 4]]), (x, [0, 1]), r"ids of shape \(2, 2\)"),
            ((x, [0, 1, 2]), (x, [0, 1]), "2 inputs but 3 labels"),
        ],
    )
    def test_mistakes(self, first, second, said):
        with pytest.raises(ValueError, match=said):
            list(read_loader([first, second]))

    def test_empty_batches_are_passed_over(self):
        parts = [(self.x[:0], []), (self.x, [0, 1]), (self.x[:0], []), (self.x, [1, 0])]
        found = list(read_loader(parts))
        assert [len(batch) for batch in found] == [2, 2]
        assert [batch.ids.tolist() for batch in found] == [[0, 1], [2, 3]]
        with pytest.raises(ValueError, match="loader is empty"):
            list(read_loader(parts[:1]))


def test_numbers_of_another_machine(network):
    case = network("mlp", 8)
    x = case.x.numpy()
    found = [
        extract_features(case.net, v, ["3.input"]).layers["3.input"] for v in (x, x.astype(">f4"))
    ]
    np.testing.assert_array_equal(*found)


def test_tensors_without_values(network):
    case = network("mlp", 8)
    with pytest.raises(ValueError, match="on the device 'meta', where tensors have no values"):
        extract_features(case.net, case.x.to("meta"), ["3.input"])
