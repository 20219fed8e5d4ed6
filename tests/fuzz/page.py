"""The table of a run: benchmarks/results/fuzz.json, and docs/robustness.md, which is made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .outcome import KINDS

ROOT = Path(__file__).parents[2]
RESULTS, PAGE = ROOT / "benchmarks/results/fuzz.json", ROOT / "docs/robustness.md"
BEGIN, END = "<!-- made by `make fuzz` -->\n", "<!-- end -->"


def table(found: Mapping[str, Any]) -> str:
    """Outcomes by area, and how the run was made."""
    areas = dict(found["areas"])
    columns = ("cases", *KINDS)
    areas["all"] = {name: sum(area[name] for area in areas.values()) for name in columns}
    lines = [f"| area | {' | '.join(columns)} |", "| --- |" + " ---: |" * len(columns)]
    lines += [
        f"| {name} | {' | '.join(f'{area[column]:,}' for column in columns)} |"
        for name, area in areas.items()
    ]
    used = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    run = f"{found['minutes']:g} minutes, seed {found['seed']}, {found['date'][:10]}; {used}."
    return "\n".join([*lines, "", run])


def filled(text: str, found: Mapping[str, Any]) -> str:
    """A page with the table in its place."""
    place = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    assert place.search(text), f"{PAGE.name} has no place for the table"
    return place.sub(lambda _: f"{BEGIN}{table(found)}\n\n{END}", text)


def write(found: Mapping[str, Any]) -> None:
    """Write the results, and the page."""
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
