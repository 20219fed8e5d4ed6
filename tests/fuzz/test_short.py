"""A short run of every area; `make fuzz` is the long one."""

import pytest

from .outcome import NAN, OBSCURE, SENSIBLE, SILENT
from .running import AREAS, MOST_OBSCURE, run_area

CASES = {"model files": 300, "feature stores": 200, "tables": 300, "functions": 150, "networks": 80}
SECONDS = 8.0
"""For an area at most; on a busy machine fewer cases are tried."""
FEWEST, LEAST_SENSIBLE = 20, 0.05


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("area", AREAS)
def test_nothing_is_silent_and_next_to_nothing_obscure(area):
    found = run_area(area, 0, seconds=SECONDS, most=CASES[area])
    assert found.cases >= FEWEST
    assert found.counts[SENSIBLE] >= LEAST_SENSIBLE * found.cases  # to refuse all is no answer
    assert [f for f in found.faults if f["kind"] in (SILENT, NAN)] == []
    obscure = [f for f in found.faults if f["kind"] == OBSCURE]
    assert len(obscure) <= MOST_OBSCURE * found.cases, obscure
