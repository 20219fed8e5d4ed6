"""Real tokens with part-of-speech tags; runs where REHEAD_DATA names the folder of data sets."""

import os
from pathlib import Path

import pytest

from rehead import RobustGaussianClassifier, data, noise


@pytest.fixture(scope="module")
def tokens() -> data.Split:
    folder = os.environ.get("REHEAD_DATA", "")
    if not folder or not (Path(folder) / "twitter_pos" / "embeddings50.npz").is_file():
        pytest.skip("REHEAD_DATA does not name a folder with twitter_pos")
    return data.load("twitter-pos", download=False).train


@pytest.mark.parametrize("kind", [noise.uniform, noise.flip])
def test_ranking_by_posterior_keeps_cleaner_tokens_than_distance(tokens, kind) -> None:
    noisy = kind(tokens.y, 0.4, random_state=0)
    clean = {
        name: (~noisy.changed)[
            RobustGaussianClassifier(name, support_fraction=0.5, random_state=0)
            .fit(tokens.X, noisy.labels)
            .support_
        ].mean()
        for name in ("mcd", "posterior")
    }
    assert 0.6 < clean["mcd"] < clean["posterior"]
