"""How images come in."""

import pytest
import torch

from rehead.torch.models import Normalise


def test_normalise_defaults_to_the_constants_of_the_paper_s_code():
    white = torch.full((1, 3, 1, 1), 255, dtype=torch.uint8)
    expected = [(255 - m) / s for m, s in ((125.3, 63.0), (123.0, 62.1), (113.9, 66.7))]
    assert Normalise()(white).flatten().tolist() == pytest.approx(expected)
    assert Normalise(1)(white[:, :1]).item() == pytest.approx((255 - 362.2 / 3) / (191.8 / 3))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_normalise_keeps_channels_last(dtype):
    x = torch.zeros(2, 3, 4, 5, dtype=dtype).to(memory_format=torch.channels_last)
    assert Normalise()(x).is_contiguous(memory_format=torch.channels_last)


def test_normalise_refuses_what_it_would_have_to_guess():
    with pytest.raises(ValueError, match=r"\(batch, 3, height, width\), got \(2, 1, 4, 4\)"):
        Normalise()(torch.zeros(2, 1, 4, 4))
    with pytest.raises(ValueError, match=r"uint8 .* got torch.int64"):
        Normalise()(torch.zeros(2, 3, 4, 4, dtype=torch.int64))
