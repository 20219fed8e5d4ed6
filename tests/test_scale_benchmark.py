"""The benchmark of scale: its simulation keeps bounds, and its page is that of its results."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
import cluster_plan  # noqa: E402
import scale_cells  # noqa: E402
import scale_page  # noqa: E402
from cluster_plan import Cluster, Pass, formula, simulate  # noqa: E402


def some(n=300, read=0.0, sent=0.0, seed=0):
    seconds = np.random.default_rng(seed).exponential(size=n)
    return Pass("x", seconds, np.full(n, read), np.full(n, sent))


def free(machines, cores=1):
    return Cluster(machines, cores, read=1.0, overhead=0.0, link=1.0)


def test_one_worker_takes_the_sum():
    tasks = some()
    assert simulate(tasks, free(1)) == pytest.approx(tasks.seconds.sum())
    slow = some(read=2.0, sent=3.0)
    cluster = Cluster(1, 1, read=4.0, overhead=0.25, link=6.0)
    assert simulate(slow, cluster) == pytest.approx(slow.seconds.sum() + 300 * (0.5 + 0.25 + 0.5))


@pytest.mark.parametrize("workers", [2, 7, 64, 1000])
def test_many_workers_keep_the_bounds_of_list_scheduling(workers):
    tasks = some()
    total, longest = tasks.seconds.sum(), tasks.seconds.max()
    found = simulate(tasks, free(1, workers))
    assert max(total / workers, longest) - 1e-9 <= found
    assert found <= total / workers + (1 - 1 / workers) * longest + 1e-9
    assert formula(tasks, free(1, workers)) <= found + 1e-9


@pytest.mark.parametrize("cluster", [Cluster(3, 4, 5.0, 0.01, 1e3), Cluster(20, 8, 0.5, 0.3, 2.0)])
def test_disks_and_the_sender_are_waited_for(cluster):
    tasks = some(read=1.0, sent=0.5)
    found = simulate(tasks, cluster)
    assert formula(tasks, cluster) <= found
    assert found >= 300 * (cluster.overhead + 0.5 / cluster.link)
    assert found >= 300 / cluster.read / cluster.machines


def test_laws_are_those_that_tasks_were_made_by():
    cells = {}
    for n, c in ((1000, 5), (1000, 50), (4000, 20)):
        cell = scale_cells.Cell("trace-mcd", scale_cells.Shape(n, c, 8), "pool-2")
        rows = n // 10
        seen = [[rows, 0.1 + rows * (0.01 + 0.002 * c), 100 + 3 * c**2, 7 * rows]] * 20
        of = {"tasks": 20, "rows": 2 * n, "seen": seen}
        shape = vars(cell.shape)
        content = {"task": cell.task, "shape": shape, "workers": cell.workers, "cold": False}
        between = 2.0 + 0.001 * n
        cells[cell.name] = {"cell": content, "functions": {"f": of}, "between": between}
    fit = cluster_plan.fit_of({"cells": cells}, "mcd")
    law = fit.functions["f"]
    np.testing.assert_allclose(law.takes, [0.1, 0.01, 0.002], rtol=1e-6)
    np.testing.assert_allclose(law.sent, [100, 7, 0, 3], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(fit.between, [2.0, 0.001, 0.0], rtol=1e-6, atol=1e-9)
    assert (law.passes, law.at_once) == (2.0, 10)


def test_groups_have_every_cell_once_and_a_time():
    cells = scale_cells.in_order(list(scale_cells.GROUPS), scale_cells.FULL)
    names = [cell.name for _, cell in cells]
    assert len(names) == len(set(names))
    assert all(scale_cells.estimate(cell) > 0 for _, cell in cells)


def test_page_and_picture_are_those_of_the_results():
    file = ROOT / "benchmarks" / "results" / "scale.json"
    found = json.loads(file.read_text()) if file.exists() else {"runs": [], "cells": {}}
    said = "run: python benchmarks/scale.py --page"
    assert scale_page.PAGE.read_text(encoding="utf-8") == scale_page.page(found), said
    shown = scale_page.numbers(found)
    if shown:
        from PIL import Image
        from scale_plot import CONTENT, digest

        assert Image.open(scale_page.PICTURE).text[CONTENT] == digest(shown), said
        assert scale_page.PICTURE.stat().st_size < 200_000


def test_what_cleanlab_needs_is_in_the_guide():
    guide = (ROOT / "docs" / "how-to" / "scale.md").read_text(encoding="utf-8")
    assert scale_page.needs() in guide
