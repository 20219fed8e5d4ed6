"""How large the report is, and how soon it can be used, at 1,000, 10,000 and 100,000 samples.

    python benchmarks/pages.py

The largest page there is: up to 300 classes, long ids, and photos of noise, which compress worst.
Times are those of Chromium, opening the file from disk, the median of five: when something is seen
(first contentful paint), and when the map is drawn and all can be used.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from reporting import circumstances, write_json
from rich.console import Console
from rich.table import Table

from rehead import LabelReport, RobustGaussianClassifier, score_labels
from rehead.report.page import Beside, write_report
from rehead.report.shown import Looks

RESULTS = Path(__file__).parent / "results" / "pages.json"
SIZES = (1_000, 10_000, 100_000)
ROUNDS = 5
TIMES = """() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    ready: performance.getEntriesByName("ready")[0].startTime,
})"""


class Photos:
    """Photos of noise, each made when it is asked for."""

    def __init__(self, n: int, size: int = 256) -> None:
        self.shape = (n, size, size, 3)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice):
            return np.zeros((2, *self.shape[1:]), np.uint8)
        rng = np.random.default_rng(rows)
        return rng.integers(255, size=self.shape[1:], dtype=np.uint8)


def large_report(n: int, most_classes: int = 300, d: int = 8) -> tuple[LabelReport, Any, Photos]:
    """A report on n labels, a fifth of them wrong; its features, and photos."""
    rng = np.random.default_rng(0)
    n_classes = min(most_classes, n // 50)
    truth = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, d)) + 6 * rng.normal(size=(n_classes, d))[truth]
    y = np.where(rng.random(n) < 0.2, rng.integers(n_classes, size=n), truth)
    labels = np.array([f"class {c:03d} of some breed" for c in range(n_classes)])
    model = RobustGaussianClassifier("sample", shrinkage=0.1).fit(X, labels[y])
    ids = [f"photos/of-a-long-folder-name/{i:09d}.jpeg" for i in range(n)]
    return score_labels(model, X, labels[y], ids=ids), X, Photos(n)


def measure(n: int, browser: Any, folder: Path) -> dict[str, float]:
    """One page: its size, the time to write it, and the times of the browser."""
    report, X, photos = large_report(n)
    start = time.perf_counter()
    page = write_report(report, folder / f"{n}.html", Beside(X, Looks(images=photos)))
    seconds = time.perf_counter() - start
    times = []
    for _ in range(ROUNDS):
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(page.as_uri())
        tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        times.append(tab.evaluate(TIMES))
        tab.close()
    median = {name: float(np.median([t[name] for t in times])) / 1e3 for name in times[0]}
    return {"samples": len(report), "bytes": page.stat().st_size, "write": seconds, **median}


def main() -> None:
    """Measure, print, record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("There is no Chromium. Debian: apt install chromium")
    with TemporaryDirectory() as place, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        found = [measure(n, browser, Path(place)) for n in arguments.sizes]
        version = browser.version
        browser.close()
    table = Table("samples", "size, MB", "written in, s", "first paint, s", "usable, s")
    for row in found:
        size = f"{row['bytes'] / 1e6:.2f}"
        numbers = [f"{row[name]:.2f}" for name in ("write", "paint", "ready")]
        table.add_row(f"{row['samples']:,}", size, *numbers)
    Console().print(table)
    where = {**circumstances(vars(arguments)), "chromium": version}
    write_json(RESULTS, {**where, "pages": found})


if __name__ == "__main__":
    main()
