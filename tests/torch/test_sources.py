"""Data as people have them: all of them give the same samples in the same order, with ids."""

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
from rehead.torch.sources import collate, iterate


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
        assert [len(x) for (x,) in iterate(torch.zeros(600, 2))] == [256, 256, 88]

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

    def test_a_data_set_of_batches_that_is_shuffled(self, network):
        case = network("mlp", 40)
        parts = [(case.x[i : i + 4], case.y[i : i + 4]) for i in range(0, 40, 4)]
        loader = DataLoader(parts, batch_size=None, shuffle=True)
        features = extract_features(case.net, loader, ["4"])
        plain = extract_features(case.net, (case.x, case.y), ["4"])
        np.testing.assert_allclose(features.layers["4"], plain.layers["4"], atol=1e-6)

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
            list(iterate(Table([[1, 2], [3]], [0, 1])))


class TestErrors:
    def test_columns_of_a_data_set_of_another_length(self, network):
        case = network("mlp", 4)
        with pytest.raises(ValueError, match=r"different lengths: \[4, 3\]"):
            extract_features(case.net, (case.x, case.y[:3]), ["1"])

    def test_a_dict_without_arrays(self, network):
        with pytest.raises(TypeError, match=r"dict of 'size': none is a tensor"):
            extract_features(network("mlp").net, {"size": 3}, ["1"])

    def test_not_a_loader(self, network):
        with pytest.raises(TypeError, match="Cannot read batches from int"):
            extract_features(network("mlp").net, 3, ["1"])
