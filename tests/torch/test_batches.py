"""Batches as people's loaders give them: all forms come out the same, with ids."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

from rehead import ReheadWarning
from rehead.torch import extract_features
from rehead.torch.batches import Batch, read_batch, read_loader


class TestLoaders:
    def test_all_forms_give_the_same_features(self, network):
        case = network("mlp", 30)
        x, y = case.x, case.y
        dataset = TensorDataset(x, y)
        loaders = [
            (x, y),
            (x.numpy(), y.numpy()),
            DataLoader(dataset, batch_size=7),
            DataLoader(dataset, batch_size=7, shuffle=True),
            DataLoader(dataset, batch_size=7, shuffle=True, drop_last=True),
            [(x[:11], y[:11]), (x[11:], y[11:])],
            ((x[i : i + 4], y[i : i + 4]) for i in range(0, 30, 4)),
            [{"input": x[:20], "label": y[:20]}, {"input": x[20:], "label": y[20:]}],
        ]
        plain = extract_features(case.net, x, ["4"]).layers["4"]
        for loader in loaders:
            features = extract_features(case.net, loader, ["4"])
            np.testing.assert_allclose(features.layers["4"], plain, atol=1e-6)
            assert features.labels.tolist() == y.tolist()
            assert features.ids.tolist() == list(range(30))
            assert features.numbered

    def test_ids_of_the_loader_are_kept_through_shuffling_batches(self, network):
        case = network("mlp", 6)
        order = [3, 1, 5, 0, 4, 2]
        batches = [(case.x[[i]], [f"class {case.y[i]}"], [f"img{i}.png"]) for i in order]
        features = extract_features(case.net, batches, ["4"])
        assert features.ids.tolist() == [f"img{i}.png" for i in order]
        assert features.labels.tolist() == [f"class {case.y[i]}" for i in order]
        assert not features.numbered

    def test_arrays_are_cut_into_batches(self):
        sizes = [len(batch) for batch in read_loader(torch.zeros(600, 2))]
        assert sizes == [256, 256, 88]

    def test_an_unusual_sampler_is_read_as_it_comes_with_a_warning(self, network):
        case = network("mlp", 8)
        sampler = WeightedRandomSampler([1.0] * 8, 8)
        loader = DataLoader(TensorDataset(case.x, case.y), batch_size=4, sampler=sampler)
        with pytest.warns(ReheadWarning, match=r"WeightedRandomSampler.*\(x, y, id\)"):
            extract_features(case.net, loader, ["4"])


class TestBatches:
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

    def test_no_tensor(self):
        with pytest.raises(ValueError, match="holds no tensor"):
            list(read_loader([("text", [0])]))

    def test_not_a_loader(self, network):
        with pytest.raises(TypeError, match="Cannot read batches from int"):
            extract_features(network("mlp").net, 3, ["1"])
