"""Ways to predict, by name."""

import pytest

from rehead.experiments.columns.registry import (
    AUTO,
    COLUMNS,
    LDA,
    PAPER,
    ROG,
    SOFTMAX,
    TEXT,
    find_column,
)


def test_every_name_is_found_once():
    assert not set(PAPER) & set(TEXT)
    assert set(PAPER) | set(TEXT) <= set(COLUMNS)
    for name, column in COLUMNS.items():
        assert find_column(name) is column
    assert {SOFTMAX, LDA, ROG, AUTO} <= set(PAPER)


def test_names_do_not_change():
    """Results are kept under them."""
    assert list(PAPER)[:5] == ["softmax", "LDA", "LDA ensemble", "RoG last layer", "RoG"]
    assert set(PAPER) >= {"RoG authors", "identity", "LTS", "trimmed k-means", "blocks", "auto"}
    assert set(PAPER) >= {"auto same layers", "oracle"}
    assert set(TEXT) >= {"RoG empirical priors", "LDA ensemble empirical priors", "RoG 70 %"}
    assert set(TEXT) >= {"RoG shrunk", "RoG equal weights"}


def test_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="Did you mean 'RoG'"):
        find_column("ROG")
