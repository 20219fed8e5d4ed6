"""Cost of the training loop and of two methods: ratios within one run.

    python benchmarks/training.py

Candidates take turns on one thread, the least processor time of all rounds counts. The bare loop is
what a user would write for the same network, batches and optimiser.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import torch
from features import best_times
from reporting import circumstances, write_json
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rehead.torch.models import MODELS
from rehead.torch.training import METHODS, Recipe, Run, train
from rehead.torch.training.inputs import as_task
from rehead.torch.training.methods.d2l import Measurement, mean_lid

RESULTS = Path(__file__).parent / "results" / "training.json"
TARGETS = {
    "loop": ">= 0.95",
    "co-teaching": "<= 2.1",
    "LID 50,000": "<= 2 %",
    "LID 10,000": "<= 4 %",
}


def bare_loop(make: partial[nn.Module], X: Tensor, y: Tensor, recipe: Recipe) -> None:
    """One epoch, as one would write it."""
    torch.manual_seed(0)
    net = make().to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, fused=True)
    for rows in torch.randperm(len(y)).split(recipe.batch_size):
        x = X[rows].contiguous(memory_format=torch.channels_last)
        loss = cross_entropy(net(x), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def measure(images: int, rounds: int) -> dict[str, float]:
    """Processor seconds of an epoch of each kind, and of one measurement of LID."""
    generator = torch.Generator().manual_seed(0)
    X = torch.randint(256, (images, 3, 32, 32), generator=generator, dtype=torch.uint8)
    y = torch.randint(10, (images,), generator=generator)
    make = partial(MODELS["resnet-small"], 10)
    recipe = Recipe(epochs=1, batch_size=128)
    task = as_task(make, X, y, recipe=recipe)
    net = task.network()
    fit = partial(train, make, X, y, recipe=recipe, run=Run(progress=False))
    return best_times(
        {
            "bare loop": lambda: bare_loop(make, X, y, recipe),
            "cross-entropy": fit,
            "co-teaching": lambda: fit(method=METHODS["co-teaching"](noise_rate=0.4)),
            "LID of 1,280 images": lambda: mean_lid(net, task, 0, Measurement()),
        },
        rounds,
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--images", type=int, default=1280)
    args = parser.parse_args()
    torch.set_num_threads(1)
    times = measure(args.images, args.rounds)
    loop, lid = times["cross-entropy"], times["LID of 1,280 images"]
    ratios = {
        "loop": times["bare loop"] / loop,
        "co-teaching": times["co-teaching"] / loop,
        "LID 50,000": lid / (loop * 50_000 / args.images),
        "LID 10,000": lid / (loop * 10_000 / args.images),
    }
    table = Table("", "measured", "target")
    names = {
        "loop": "images a second, of a bare loop's",
        "co-teaching": "time of co-teaching, of cross-entropy's",
        "LID 50,000": "what LID adds to an epoch of 50,000 images",
        "LID 10,000": "what LID adds to an epoch of 10,000 images",
    }
    for name, text in names.items():
        value = f"{ratios[name]:.2%}" if name.startswith("LID") else f"{ratios[name]:.3f}"
        table.add_row(text, value, TARGETS[name])
    Console().print(table)
    write_json(RESULTS, {**circumstances(vars(args)), "seconds": times, "ratios": ratios})


if __name__ == "__main__":
    main()
