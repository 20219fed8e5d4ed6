"""The page that shows the paper's tables, figures and theorem beside ours, from results alone."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from rehead.experiments.asked import Scope
from rehead.experiments.comparison import Comparison, Row, compare
from rehead.experiments.figures.drawing import read_content
from rehead.experiments.figures.registry import FIGURES
from rehead.experiments.profiles import IMAGES
from rehead.experiments.published import published
from rehead.experiments.results import NOT_RUN, RAN, Results
from rehead.experiments.tables import TABLES
from rehead.experiments.theory import theorem_page
from rehead.experiments.theory.kept import read_theorem
from rehead.files.atomic import write_atomically
from rehead.report.compared import counted, signed, table_sheet
from rehead.report.figures import draw_all, kept_in, theorem_sheet
from rehead.report.findings import (
    images_varied,
    last_layer,
    many_classes,
    table_findings,
    text_rows,
)
from rehead.report.methods import (
    d2l_text,
    d2l_tried,
    gain_spread,
    memorised_text,
    repeated_text,
)
from rehead.report.reproduced import summary_sheet
from rehead.report.semantic import labellers_text, semantic_text
from rehead.report.sheets import render
from rehead.report.varied import text_tables, unfinished_changes, varied_sheets
from rehead.report.when import when_text

TEMPLATE = "reproduction.md.j2"
IN_SHORT = "theorem.md.j2"
"""Prose of the pages; numbers come from results."""


def reproduction_page(results: Results, profile: str = "quick") -> str:
    """The page as Markdown. Its prose is in a template; every number comes from the results."""
    page = Page(results, profile)
    text = _environment().get_template(TEMPLATE).render(page=page, number=_number, signed=signed)
    return text.rstrip() + "\n"


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("rehead.report"),
        autoescape=False,  # Markdown, from our own templates and results
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _number(value: float, digits: int = 1) -> str:
    return "not measured" if math.isnan(value) else f"{value:.{digits}f}"


class Page:
    """What the template may ask for.

    Parameters
    ----------
    results : Results
    profile : str
    """

    def __init__(self, results: Results, profile: str) -> None:
        self.results, self.profile = results, profile
        self._compared = lru_cache(maxsize=None)(partial(compare, results=results, profile=profile))

    def compared(self, table: str) -> Comparison:
        """A table."""
        return self._compared(table)

    @property
    def summary(self) -> str:
        """One row for each table."""
        return render(summary_sheet(Scope(self.profile), self.results), "markdown")

    def table(self, table: str) -> str:
        """A table of the paper beside ours."""
        return render(table_sheet(self.compared(table)), "markdown")

    def notes(self, table: str) -> list[str]:
        """What is odd about printed numbers of a table."""
        return [f"{note.where}: {note.text}" for note in published().notes if note.table == table]

    def variations(self, table: str) -> list[tuple[str, str]]:
        """A table taken apart: titles and tables."""
        sheets = varied_sheets(self.results, self.profile, table)
        return [(sheet.title, render(sheet, "markdown")) for sheet in sheets]

    def mean(self, table: str, column: str, **where: Any) -> float:
        """Mean accuracy of a way to predict over the rows that ran, or some of them."""
        found = [row.mean(column) for row in self.rows(table, **where)]
        kept = [value for value in found if not math.isnan(value)]
        return float(np.mean(kept)) if kept else float("nan")

    def rows(self, table: str, **where: Any) -> list[Row]:
        """The rows that ran whose cells have these values."""
        return [
            row
            for row in self.compared(table).ran
            if all(getattr(row.cell, name) == value for name, value in where.items())
        ]

    def below(self, column: str, other: str) -> list[str]:
        """Cells of all tables where one way to predict is below another one, and by how much."""
        found = []
        for table in TABLES:
            for row in self.compared(table).ran:
                gap = row.above(column, other)
                if gap < 0:
                    found.append(f"{row.cell.group.name.removesuffix('-0')} ({signed(gap)})")
        return found

    @property
    def unfinished(self) -> list[str]:
        """What nobody tried to run; where data was missing, that is said instead."""
        left = {t: sum(r.status == NOT_RUN for r in self.compared(t).rows) for t in TABLES}
        said = [f"{counted(n)} of table {table}" for table, n in left.items() if n]
        return said + unfinished_changes(self.results, self.profile)

    @property
    def findings(self) -> list[str]:
        """What came out, in sentences."""
        return table_findings(self.results, self.profile)

    @property
    def many_classes(self) -> str:
        """What happens with few samples of many classes."""
        return many_classes(self.rows("2", data="tinyimagenet32"))

    @property
    def text_rows(self) -> str:
        """Why the text rows differ, as far as it was tested."""
        return text_rows(text_tables(self.results, self.profile))

    @property
    def when(self) -> str:
        """What the text rows tell about when RoG gains."""
        return when_text(text_tables(self.results, self.profile))

    @property
    def last_layer(self) -> str:
        """What the last layer and the ensemble gain."""
        return last_layer(self.compared("1"))

    @property
    def images_varied(self) -> str:
        """What changes of the training do to these gains."""
        return images_varied(self.results, self.profile)

    @property
    def gain_spread(self) -> str:
        """How much a gain varies over seeds."""
        return gain_spread(self.compared("1"))

    def repeated(self, table: str) -> str:
        """Rows of a table that are plain training over again."""
        return repeated_text(self.compared(table))

    def d2l(self, table: str) -> str:
        """Where D2L turned in a table, and what that did."""
        return d2l_text(self.compared(table))

    @property
    def d2l_tried(self) -> str:
        """What changes of the training do to D2L in table 3."""
        return d2l_tried(self.results, self.profile)

    @property
    def memorised(self) -> str:
        """Whether the gain goes with what was memorised, in table 4."""
        return memorised_text(self.compared("4"))

    @property
    def semantic(self) -> str:
        """What table 6 tells about where RoG loses."""
        clean = self.rows("1", network="densenet100", noise="none")
        return semantic_text(self.compared("6"), clean)

    @property
    def labellers(self) -> str:
        """What changes of the training do to the gains of table 6."""
        return labellers_text(self.compared("6"), self.results, self.profile)

    @property
    def images(self) -> int:
        """Training images of the profile ``quick``."""
        return IMAGES

    @property
    def text_seeds(self) -> int:
        """How many seeds the rows of table 5 have at most."""
        return max((len(row.results) for row in self.compared("5").ran), default=0)

    @property
    def networks(self) -> dict[str, float]:
        """How many networks were trained for these tables, and their median time."""
        ran = [r for r in self.results if r.status == RAN and r.cell.profile == self.profile]
        unique = {
            (r.network["cpu_seconds"], r.network["seconds"], r.network["fitted"]): r
            for r in ran
            if "cpu_seconds" in r.network
        }
        seconds = [r.network["cpu_seconds"] for r in unique.values()]
        images = [r.network["cpu_seconds"] for r in unique.values() if r.cell.network != "fcn"]
        return {
            "cells": len(ran),
            "networks": len(unique),
            "hours": float(np.sum(seconds)) / 3600,
            "median_images": float(np.median(images)) if images else float("nan"),
        }

    @property
    def figures(self) -> list[tuple[str, str, str]]:
        """Number, title and caption of each figure that was collected."""
        folder = kept_in(self.results.folder, self.profile)
        return [
            (name, figure.title, read_content(name, folder)["caption"])
            for name, figure in FIGURES.items()
            if (folder / f"{name}.json").exists()
        ]

    @property
    def theorem(self) -> str:
        """What the paper states, and whether it holds."""
        return render(theorem_sheet(read_theorem(self.results.folder / self.profile)), "markdown")

    @property
    def versions(self) -> str:
        """Versions of rehead that the default was measured with."""
        ours = [r.columns for r in self.results if r.cell.profile == self.profile]
        found = {columns["auto"].rehead for columns in ours if "auto" in columns}
        return ", ".join(sorted(found))


class Written(NamedTuple):
    """Files of the pages, and why figures are missing on them, by number."""

    files: list[Path]
    missing: dict[str, str]


def write_pages(results: Path, target: Path, profile: str = "quick") -> Written:
    """Write the page, that of the theorem beside it, and their pictures in ``figures/``."""
    folder = target.parent / "figures"
    missing = draw_all(results, profile, folder)
    theorem = target.parent / "theorem.md"
    write_atomically(theorem, theorem_text(read_theorem(results / profile)).encode())
    write_atomically(target, reproduction_page(Results(results), profile).encode())
    return Written([target, theorem, folder], missing)


def theorem_text(result: dict[str, Any]) -> str:
    """The page about the theorem."""
    section = theorem_page(result).replace("\n### ", "\n## ").replace("## Theorem", "# Theorem", 1)
    head, _, rest = section.partition("\n\n")
    how = "`rehead reproduce theorem` runs it; `rehead reproduce page` writes this page."
    picture = "![Theorem 1 by simulation](figures/theorem.png)"
    back = f"{how} Back to [the tables](reproduction.md)."
    return "\n\n".join([head, back, _environment().get_template(IN_SHORT).render(), picture, rest])
