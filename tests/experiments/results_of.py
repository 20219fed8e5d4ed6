"""Results that were never measured, to test what reads them."""

from dataclasses import replace

from rehead.experiments.results import Measurement, Result


def result_of(cell, *, fitted=0.9, noise_rate=0.4, **accuracy):
    """A result with these accuracies in %; names of columns with _ for spaces."""
    measured = [
        Measurement(name.replace("_", " "), value / 100, 0.1, "0.0", "abc", "2026-01-01")
        for name, value in accuracy.items()
    ]
    network = {"fitted": fitted, "noise_rate": noise_rate}
    return Result(cell, network=network, measurements=tuple(measured))


def write_seeds(results, cell, columns):
    """One result for each seed; columns by name with one accuracy a seed."""
    for seed, values in enumerate(zip(*columns.values(), strict=True)):
        accuracy = dict(zip(columns, values, strict=True))
        results.write(result_of(replace(cell, seed=seed), **accuracy))
