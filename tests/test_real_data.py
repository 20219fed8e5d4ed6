"""Real tokens and documents; runs where REHEAD_DATA names the folder of data sets."""

import os
from pathlib import Path

import numpy as np
import pytest

from rehead import RobustGaussianClassifier, data, noise


@pytest.fixture(scope="module")
def tokens() -> data.Split:
    folder = os.environ.get("REHEAD_DATA", "")
    if not folder or not (Path(folder) / "twitter_pos" / "embeddings50.npz").is_file():
        pytest.skip("REHEAD_DATA does not name a folder with twitter_pos")
    return data.load("twitter-pos", download=False).train


def clean_among_the_kept(tokens, kind, estimator, **options) -> float:
    """The share of right labels among the kept tokens, over three draws of 40 % noise."""
    shares = []
    for seed in range(3):
        noisy = kind(tokens.y, 0.4, random_state=seed)
        clf = RobustGaussianClassifier(estimator, random_state=0, **options)
        kept = clf.fit(tokens.X, noisy.labels).support_
        shares.append((~noisy.changed)[kept].mean())
    return float(np.mean(shares))


# Half of the tokens, drawn at random, are clean to 0.6, with a standard deviation of 0.003.
@pytest.mark.parametrize(("kind", "margin"), [(noise.uniform, 0.1), (noise.flip, 0.01)])
def test_ranking_by_posterior_keeps_cleaner_tokens_than_distance(tokens, kind, margin) -> None:
    everything = clean_among_the_kept(tokens, kind, "sample")
    mcd, posterior = (
        clean_among_the_kept(tokens, kind, name, support_fraction=0.5)
        for name in ("mcd", "posterior")
    )
    assert mcd > everything + margin
    assert posterior > mcd + 0.08


@pytest.mark.filterwarnings("ignore:All layers have memorised")
@pytest.mark.filterwarnings("ignore:13 of 210 validation samples")  # the news of 1987 repeat
def test_layers_that_all_memorised_are_not_worse_than_the_network(tmp_path) -> None:
    """The text network of table 5, of whose labels 60 % are wrong, without a witness."""
    pytest.importorskip("torch")
    from rehead.experiments.training import TrainSettings, noisy_task, run_training
    from rehead.torch import RobustHead

    if not (Path(os.environ.get("REHEAD_DATA", "-")) / "reuters").is_dir():
        pytest.skip("REHEAD_DATA does not name a folder with reuters")
    settings = TrainSettings(data="reuters8", noise="uniform", rate=0.6, recipe="table5")
    task = noisy_task(settings)
    net = run_training(settings, tmp_path / "run").trained.net
    train, validation, test = task.splits[:3]
    head = RobustHead(net, "hidden", random_state=0)
    head.fit((train.X, task.labels), (validation.X, task.validation_labels))
    rows = head.compare((test.X, test.y)).rows
    assert rows["robust"].accuracy >= rows["softmax"].accuracy
