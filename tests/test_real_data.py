"""Real tokens with part-of-speech tags; runs where REHEAD_DATA names the folder of data sets."""

import os
from pathlib import Path

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, noise


@pytest.fixture(scope="module")
def tokens() -> tuple[np.ndarray, np.ndarray]:
    folder = Path(os.environ.get("REHEAD_DATA", "")) / "twitter_pos"
    if not folder.is_dir():
        pytest.skip("REHEAD_DATA does not name a folder with twitter_pos")
    windows = np.load(folder / "windows.npz")
    vectors = np.load(folder / "embeddings50.npz")["vectors"]
    kept = np.isin(windows["train_y"], windows["keep"])
    X = vectors[windows["train_x"][kept]].reshape(-1, 150)
    return X, np.searchsorted(windows["keep"], windows["train_y"][kept])


def test_the_counts_are_the_papers(tokens: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = tokens
    assert X.shape == (14_468, 150)
    assert len(np.unique(y)) == 19
    assert np.bincount(y).min() >= 100


@pytest.mark.parametrize("kind", [noise.uniform, noise.flip])
def test_ranking_by_posterior_keeps_cleaner_tokens_than_distance(tokens, kind) -> None:
    X, y = tokens
    noisy = kind(y, 0.4, random_state=0)
    clean = {
        name: (~noisy.changed)[
            RobustGaussianClassifier(name, support_fraction=0.5, random_state=0)
            .fit(X, noisy.labels)
            .support_
        ].mean()
        for name in ("mcd", "posterior")
    }
    assert 0.6 < clean["mcd"] < clean["posterior"]
