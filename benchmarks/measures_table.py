"""The rows of the table, and the table itself: for a terminal and for a page."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from lapsus.version import __version__

HEADINGS = ("what", "data", "beside", "figure", "goal", "ours", "theirs", "results differ by", "")
RIGHT = ("figure", "goal", "ours", "theirs")

PAGE = """# How fast

`benchmarks/measures.py` runs Lapsus beside each library on the same data, each in a process of its own, in turns, and
takes the best of {rounds}. What is set up beforehand (arrays, data frames, votes) is not counted for anybody. Where
definitions are the same, results are compared. Read the ratios: the seconds are those of {machine} with {cores} cores
and {memory:.0f} GiB of memory (load before the run {load:.1f}) on {date}, with Python {python}, numpy {numpy} and
Lapsus {lapsus}. Each unit has {raters} votes for {labels} labels; where the library allows for it (α, Dawid–Skene) a
fifth of them is missing. Nobody makes intervals but in the last row. Peak memory is what is in use at most on top of
the input.

"""


class Goal(NamedTuple):
    """What a figure should be: at least, or below."""

    bound: float
    is_least: bool

    def holds(self, figure: float) -> bool:
        return figure >= self.bound if self.is_least else figure < self.bound


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    data: str
    beside: str
    figure: float | None
    """None where it could not be measured; the note says why."""
    unit: str
    goal: Goal | None = None
    ours: float | None = None
    theirs: float | None = None
    """Seconds."""
    differences: str = ""
    note: str = ""
    """What is wrong with the results, or why there are none."""

    @property
    def is_wrong(self) -> bool:
        """Whether there are results, but not the same on both sides."""
        return bool(self.note) and self.figure is not None

    @property
    def holds(self) -> bool:
        """Whether all is as it should be. A goal that could not be measured is not reached."""
        if self.note:
            return False
        return self.goal is None or (self.figure is not None and self.goal.holds(self.figure))

    def cells(self, is_judged: bool) -> tuple[str, ...]:
        verdict = self.note
        if not verdict and is_judged and self.goal is not None:
            verdict = "holds" if self.holds else "MISSED"
        sign = "≥" if self.goal and self.goal.is_least else "<"
        goal = f"{sign} {self.goal.bound:g}{self.unit}" if self.goal else ""
        figure = "not measured" if self.figure is None else f"{_short(self.figure)}{self.unit}"
        seconds = (f"{_short(value)} s" if value is not None else "" for value in (self.ours, self.theirs))
        return (self.what, self.data, self.beside, figure, goal, *seconds, self.differences, verdict)


class Setting(NamedTuple):
    """What goes along with the table."""

    rounds: int
    raters: int
    labels: int
    is_shared: bool
    load: float
    is_judged: bool


def show(rows: Sequence[Row], setting: Setting) -> None:
    """Print the table."""
    title = f"Lapsus beside others, best of {setting.rounds}, load {setting.load:.1f}"
    table = Table(title=title)
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in RIGHT else "left")
    for row in rows:
        table.add_row(*row.cells(setting.is_judged))
    # Into a file, a table is as wide as it is.
    Console(width=None if Console().is_terminal else 200).print(table)


def page(rows: Sequence[Row], setting: Setting) -> str:
    """The page of the documentation."""
    ruler = ["---:" if heading in RIGHT else "---" for heading in HEADINGS]
    lines = [HEADINGS, ruler, *(row.cells(setting.is_judged) for row in rows)]
    head = PAGE.format(
        **setting._asdict(),
        machine="a shared machine" if setting.is_shared else "a machine",
        cores=os.cpu_count(),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30),
        date=datetime.now(UTC).date(),
        python=platform.python_version(),
        numpy=np.__version__,
        lapsus=__version__,
    )
    return head + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _short(figure: float) -> str:
    """A number with three digits, more or less."""
    if figure >= 100:
        return f"{figure:,.0f}"
    return f"{figure:.1f}" if figure >= 10 else f"{figure:.2f}" if figure >= 0.1 else f"{figure:.4f}"
