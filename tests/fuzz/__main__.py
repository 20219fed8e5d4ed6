"""``make fuzz``: every area for its share of the time, the table, and the page of it."""

from __future__ import annotations

import argparse
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version

from . import page
from .outcome import KINDS
from .running import AREAS, Tally, is_good, run_area

PACKAGES = "rehead", "numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow", "torch"
SHOWN = 20
"""So many faults of an area are printed."""


def main() -> int:
    """Run, print and write; 0 if nothing was silent or NaN, and next to nothing obscure."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="for all areas together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--area", choices=AREAS, help="only this one; nothing is written")
    given = parser.parse_args()
    names = [given.area] if given.area else list(AREAS)
    tallies = {}
    for name in names:
        tallies[name] = run_area(name, given.seed, seconds=60 * given.minutes / len(names))
        _print_faults(name, tallies[name])
    found = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "minutes": given.minutes,
        "seed": given.seed,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        "areas": {name: tally.to_json() for name, tally in tallies.items()},
    }
    print(page.table(found))  # noqa: T201
    if not given.area:
        page.write(found)
    return 0 if is_good(tallies) else 1


def _print_faults(name: str, tally: Tally) -> None:
    counts = ", ".join(f"{tally.counts[kind]} {kind}" for kind in KINDS)
    lines = [f"{name}: {tally.cases} cases in {tally.seconds:.0f} s: {counts}"]
    lines += [f"  {f['kind']}: {f['case']}: {f['said']}" for f in tally.faults[:SHOWN]]
    print("\n".join(lines), flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
