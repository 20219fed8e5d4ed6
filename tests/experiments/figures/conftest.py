"""Made-up results and features, for figures."""

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from rehead.experiments.cache import Cache
from rehead.experiments.figures.cells import Request
from rehead.experiments.plans import source_of
from rehead.experiments.results import Measurement, Result, Results

BASE = {"softmax": 0.6, "LDA": 0.7, "RoG last layer": 0.8, "identity": 0.5, "LTS": 0.55}
LAYERS = {
    "resnet34": ("input", "stage1.block1", "stage2.block1", "stage2.block2"),
    "densenet100": ("input", "dense1.bottleneck1", "final"),
}


def made_up_accuracy(column, rate, seed):
    return BASE[column] - rate / 2 + seed / 100


def made_up_result(cell, columns=(*BASE, "blocks")):
    """Numbers that differ by column, rate, seed and layer."""

    def measurement(column):
        if column == "blocks":
            layers = LAYERS[cell.network]
            by_layer = {n: 0.2 + i / 10 - cell.rate / 10 for i, n in enumerate(layers)}
            return Measurement(column, 0.5, 0, "", "", "", details={"accuracy": by_layer})
        details = {"kept": {"last": 500}, "clean_kept": {"last": 1 - cell.rate / 2}}
        accuracy = made_up_accuracy(column, cell.rate, cell.seed)
        return Measurement(column, accuracy, 0, "", "", "", details=details)

    network = {"noise_rate": cell.rate, "n_train": 1000}
    return Result(cell, network=network).with_more(measurement(c) for c in columns)


@pytest.fixture
def request_of(tmp_path):
    """A request whose results are those of some cells."""

    def make(cells, profile="tiny", data="digits", **options):
        results = Results(tmp_path / "results")
        for cell in cells:
            results.write(made_up_result(cell, **options))
        return Request(results, Cache(tmp_path / "cache"), profile, data)

    return make


@pytest.fixture
def put_features():
    """Put features of a made-up network into the cache, as if a cell had been trained."""

    def put(cache, cell, n=60, seed=0):
        rng = np.random.default_rng(seed)
        truth = np.arange(n) % 10
        changed = rng.random(n) < 0.3
        labels = np.where(changed, (truth + rng.integers(1, 10, n)) % 10, truth)
        arrays = {
            "truth": truth,
            "changed": changed,
            "taps": np.array(["early", "last"]),
            "auto": np.array(["last"]),
            "n_classes": np.array(10),
        }
        for part in ("train", "validation", "test"):
            arrays |= {f"{part}/layer/{name}": rng.normal(size=(n, 4)) for name in arrays["taps"]}
            arrays[f"{part}/y"] = labels if part == "train" else truth
        cache.arrays(source_of(cell).what, lambda: arrays)
        return arrays

    return put


@pytest.fixture
def accuracy_of():
    return made_up_accuracy


@pytest.fixture
def canvas():
    """An empty picture."""
    return Canvas()
