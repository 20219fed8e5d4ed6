"""Settings of methods that cannot be meant are refused when they are given."""

import pytest

from rehead.torch.training import METHODS


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("bootstrap-hard", {"beta": 1.2}, r"beta must be in \[0, 1\], got 1.2"),
        ("bootstrap-soft", {"beta": -0.1}, r"beta must be in \[0, 1\]"),
        ("bootstrap-soft", {"beta": float("nan")}, r"beta must be in \[0, 1\]"),
        ("co-teaching", {"noise_rate": 45}, "For 40 % pass 0.4"),
        ("co-teaching", {"noise_rate": 1.0}, r"noise_rate must be in \[0, 1\)"),
        ("co-teaching", {"noise_rate": 0.4, "ramp": 0}, "ramp must be a whole number"),
        ("co-teaching", {"noise_rate": 0.4, "ramp": 2.5}, "ramp must be a whole number"),
        ("decoupling", {"warmup": -1}, "warmup must be a whole number of at least 0"),
        ("d2l", {"window": 0}, "window must be a whole number of at least 1"),
        ("d2l", {"neighbours": 0}, "neighbours must be a whole number"),
        ("d2l", {"batches": 1.5}, "batches must be a whole number"),
        ("forward", {"percentile": 970.0}, r"percentile must be in \(1, 100\], in percent"),
        ("backward", {"percentile": -1.0}, "percentile must be in"),
        ("forward-gold", {"percentile": 0.97}, "percentile must be in"),
    ],
)
def test_bad_settings_are_refused_when_they_are_given(name, settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        METHODS[name](**settings)


def test_the_noise_rate_has_to_be_given_and_can_be_estimated() -> None:
    with pytest.raises(
        ValueError, match=r"METHODS\['co-teaching'\].*score_labels\(...\).noise_rate"
    ):
        METHODS["co-teaching"]()
    assert METHODS["co-teaching"](noise_rate=0).settings["noise_rate"] == 0.0
