"""Batches as people's loaders give them: all forms come out the same, with ids."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
)

from rehead import ReheadWarning
from rehead.torch import extract_features
from rehead.torch.batches import Batch, check_keys, collate, read_batch, read_loader


class Rows(Dataset):
    """A data set of dicts, as people write it."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"image": self.x[i], "target": int(self.y[i]), "path": f"{i}.png"}


class Table:
    """Rows of lists with names, as Hugging Face's data sets are; it can be iterated too."""

    column_names = ("tokens", "label")

    def __init__(self, tokens, labels):
        self.tokens, self.labels = tokens, labels

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return {"tokens": self.tokens[i], "label": self.labels[i]}

    def __iter__(self):
        return (self[i] for i in range(len(self)))


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
            dataset,
            Subset(dataset, range(30)),
            Rows(x, y),
            Table(x.tolist(), y.tolist()),
            {"image": x, "target": y},
            (x.tolist(), y.tolist()),
            (x.double().numpy(), y[:, None].numpy()),
            (pd.DataFrame(x.numpy()), pd.Series(y.numpy())),
            DataLoader(dataset, batch_sampler=BatchSampler(RandomSampler(x), 7, True)),
            DataLoader(dataset, batch_size=7, shuffle=True, num_workers=1),
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

    def test_batches_of_an_own_making_are_read_as_they_come_with_a_warning(self, network):
        case = network("mlp", 8)

        class Buckets(BatchSampler):
            """Short samples together, as for texts."""

        loader = DataLoader(
            TensorDataset(case.x, case.y),
            batch_sampler=Buckets(SequentialSampler(case.x), 4, drop_last=True),
        )
        with pytest.warns(ReheadWarning, match="draws samples with Buckets"):
            extract_features(case.net, loader, ["4"])

    def test_a_stream_is_read_as_it_comes(self, network):
        case = network("mlp", 8)

        class Stream(IterableDataset):
            def __iter__(self):
                return zip(case.x, case.y, strict=True)

        features = extract_features(case.net, DataLoader(Stream(), batch_size=3), ["4"])
        assert features.labels.tolist() == case.y.tolist()
        with pytest.raises(ValueError, match=r"single label.*DataLoader\(samples, batch_size"):
            extract_features(case.net, Stream(), ["4"])

    def test_texts_of_rows_are_kept_and_ragged_ones_refused(self):
        batch = collate([{"path": "a", "x": [1, 2]}, {"path": "b", "x": [3, 4]}])
        assert batch["path"] == ["a", "b"]
        assert batch["x"].tolist() == [[1, 2], [3, 4]]
        with pytest.raises(ValueError, match=r"'tokens' differ in shape.*Pad them"):
            list(read_loader(Table([[1, 2], [3]], [0, 1])))


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

    def test_columns_of_a_data_set_of_another_length(self, network):
        case = network("mlp", 4)
        with pytest.raises(ValueError, match=r"different lengths: \[4, 3\]"):
            extract_features(case.net, (case.x, case.y[:3]), ["1"])

    def test_a_dict_without_arrays(self, network):
        with pytest.raises(TypeError, match=r"dict of 'size': none is a tensor"):
            extract_features(network("mlp").net, {"size": 3}, ["1"])

    def test_no_tensor(self):
        with pytest.raises(ValueError, match="holds no tensor"):
            list(read_loader([("text", [0])]))

    def test_not_a_loader(self, network):
        with pytest.raises(TypeError, match="Cannot read batches from int"):
            extract_features(network("mlp").net, 3, ["1"])
