"""Hashes of inputs: the same for the same sample in any batch, others for any change."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from rehead.torch.batches import Batch
from rehead.torch.hashes import input_hashes

X = torch.arange(24.0).reshape(6, 4)


def hashes(*args, **kwargs):
    return input_hashes(Batch(args, kwargs)).tolist()


@dataclass
class Pair:
    a: torch.Tensor
    b: torch.Tensor


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: ((X[rows],), {}),
        lambda rows: ((X[rows].to(torch.bfloat16),), {}),
        lambda rows: ((X[rows].to(torch.complex64).conj(),), {}),
        lambda rows: ((X[rows].long(),), {}),
        lambda rows: ((X[rows], X[rows, :1]), {}),
        lambda rows: (((X[rows], [X[rows, 1]]),), {}),
        lambda rows: ((Pair(X[rows], X[rows, 1]),), {}),
        lambda rows: ((), {"input_ids": X[rows].long(), "mask": X[rows] > 1}),
        lambda rows: ((X[rows],), {"texts": [f"text {i}" for i in range(6)][rows]}),
        lambda rows: ((X[rows],), {"texts": np.array([f"text {i}" for i in range(6)])[rows]}),
        lambda rows: ((X[rows],), {"scale": 2.0, "name": "x", "table": torch.ones(7)}),
        lambda rows: ((torch.quantize_per_tensor(X[rows], 0.1, 0, torch.quint8),), {}),
    ],
)
def test_a_sample_is_known_in_any_batch(make):
    def of(rows):
        args, kwargs = make(rows)
        return hashes(*args, **kwargs)

    whole = of(slice(0, 6))
    assert len(set(whole)) == 6
    assert [h for a in range(0, 6, 4) for h in of(slice(a, a + 4))] == whole


def test_how_a_tensor_is_kept_does_not_matter():
    assert hashes(X) == hashes(X.t().contiguous().t()) == hashes(nn.Parameter(X))
    sparse = X.to_sparse()
    assert hashes(X[:, :1], s=sparse) == hashes(X[:, :1], s=sparse.coalesce())
    assert hashes(X[:, :1], s=sparse) != hashes(X[:, :1], s=(X + 1).to_sparse())
    assert hashes(a=X, b=X + 1) == hashes(b=X + 1, a=X)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (((X,), {}), ((X.double(),), {})),
        (((X,), {}), ((X.reshape(6, 2, 2),), {})),
        (((X,), {}), ((), {"x": X})),
        (((X, X + 1), {}), ((X + 1, X), {})),
        (((X,), {"scale": 1}), ((X,), {"scale": 2})),
        (((X,), {"scale": 1}), ((X,), {"scale": 1.0})),
        (((X,), {"scale": None}), ((X,), {})),
        (((X,), {"table": torch.ones(7)}), ((X,), {"table": torch.zeros(7)})),
        (((X,), {"texts": ["ab"] * 6}), ((X,), {"texts": ["ba"] * 6})),
        (((X,), {"parts": [X[0], X[1]]}), ((X,), {"parts": [X[0], X[2]]})),
        (((X,), {"table": np.ones(7)}), ((X,), {"table": np.zeros(7)})),
        (((X,), {"what": object()}), ((X,), {"what": {1}})),
    ],
)
def test_any_change_changes_every_sample(one, other):
    before, after = (hashes(*args, **kwargs) for args, kwargs in (one, other))
    assert all(a != b for a, b in zip(before, after, strict=True))


def test_one_changed_number_changes_one_sample():
    changed = X.clone()
    changed[3, 2] = torch.nextafter(changed[3, 2], torch.tensor(np.inf))
    differs = np.not_equal(hashes(X), hashes(changed))
    assert np.flatnonzero(differs).tolist() == [3]


def test_they_are_the_same_tomorrow():
    """Stores hold them."""
    assert hashes(torch.tensor([[1.0, 2.0]])) == [7393092944429889047]
