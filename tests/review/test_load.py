"""Many at once, and kill -9: no decision is lost, none is written twice."""

import importlib.util
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "review.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("benchmark_of_review", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def in_a_thread(work, **options):
    """The browser of other tests has an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, **options).result()


def test_many_at_once_lose_nothing(benchmark):
    """How long they wait is measured by the benchmark, on a machine that does nothing else."""
    found = in_a_thread(benchmark.load, clients=20, seconds=3, n=1000, fewest=3)
    assert found["decisions"] > 50
    assert (found["lost"], found["twice"]) == (0, 0)


def test_what_was_acknowledged_is_there_after_kill_9(benchmark):
    found = in_a_thread(benchmark.kill, kills=2, decisions=40)
    assert found == {"kills": 2, "decisions": 40, "lost": 0, "twice": 0, "unknown": 0}


@pytest.mark.slow
def test_fifty_kills_and_a_thousand_decisions(benchmark):
    found = in_a_thread(benchmark.kill, kills=50, decisions=1000)
    assert found == {"kills": 50, "decisions": 1000, "lost": 0, "twice": 0, "unknown": 0}
