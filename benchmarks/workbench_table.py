"""What was measured, as a table: for a terminal and for a page of the documentation."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from lapsus.version import __version__
from workbench_load import Outcome

HEADINGS = (
    "workbench", "judgments", "start", "memory", "save, median", "save, 99%", "10 clients, median",
    "10 clients, 99%", "saves/s", "against Potato", "processor", "load",
)  # fmt: skip

PAGE = """# How fast the workbench is

`benchmarks/workbench.py` starts Lapsus and [Potato](https://github.com/davidjurgens/potato) {potato} on the same
machine with the same {chats:,} chats ({units:,} turns to judge), each as its own manual says, and lets the same client
save judgments on one after the other: first one person alone, then ten at once without a pause. The client is a
process of its own with bare sockets. Every save of Lapsus is acknowledged only when it is on disk (SQLite with
`synchronous=FULL`, PostgreSQL with its defaults).

- *start*: the time until the first answer, on a database that holds the judgments;
- *memory*: what the server takes afterwards, with PostgreSQL's own processes where it is used;
- *processor*: what the server itself (without PostgreSQL) computes for one save, with ten clients;
- *load*: how much else was going on.

Every figure was measured in one run on {date}: {cores} cores{shared}, Python {python}, Lapsus {lapsus}.

"""


class Percentiles(NamedTuple):
    """Milliseconds."""

    median: float
    high: float

    @classmethod
    def of(cls, outcome: Outcome) -> Percentiles:
        ordered = sorted(outcome["latencies"])
        if not ordered:
            raise RuntimeError(f"nothing was saved: {outcome['refused'][:3]}")
        last = len(ordered) - 1
        return cls(ordered[last // 2] * 1000, ordered[min(last, round(last * 0.99))] * 1000)


@dataclass(frozen=True)
class Row:
    """One workbench with so many judgments in it."""

    name: str
    level: int
    start: float
    megabytes: float
    alone: Percentiles
    together: Percentiles
    rate: float
    """Saves a second of ten clients."""
    spent: float
    """Milliseconds of a processor that the server needs for one."""
    load: float

    def cells(self, peer: float | None) -> tuple[str, ...]:
        ratio = "" if peer is None else f"{self.rate / peer:.1f}×"
        times = (*self.alone, *self.together)
        return (
            self.name, f"{self.level:,}", f"{self.start:.1f} s", f"{self.megabytes:.0f} MB",
            *(f"{milliseconds:.1f} ms" for milliseconds in times),
            f"{self.rate:,.0f}", ratio, f"{self.spent:.2f} ms", f"{self.load:.1f}",
        )  # fmt: skip


class Goal(NamedTuple):
    """Something to reach, and whether it was."""

    what: str
    figure: str
    holds: bool

    def cells(self) -> tuple[str, str, str]:
        return self.what, self.figure, "holds" if self.holds else "MISSED"


def peer_rates(rows: Sequence[Row]) -> dict[int, float]:
    """Potato's saves a second at each level."""
    return {row.level: row.rate for row in rows if row.name.startswith("Potato")}


def show(rows: Sequence[Row], goals: Sequence[Goal], notes: Sequence[str]) -> None:
    """Print it all."""
    console = Console()
    console = console if console.is_terminal else Console(width=170)
    table = Table(title="Saving judgments")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "workbench" else "right")
    peers = peer_rates(rows)
    for row in rows:
        table.add_row(*row.cells(None if row.name.startswith("Potato") else peers.get(row.level)))
    console.print(table)
    for note in notes:
        console.print(note)
    reached = Table("goal", "measured", "")
    for goal in goals:
        reached.add_row(*goal.cells())
    console.print(reached)


def page(
    rows: Sequence[Row], goals: Sequence[Goal], notes: Sequence[str], *, potato: str, chats: int, units: int,
    is_shared: bool,
) -> str:  # fmt: skip
    """The page of the documentation."""
    head = PAGE.format(
        potato=potato,
        chats=chats,
        units=units,
        date=datetime.now(UTC).date(),
        cores=os.cpu_count(),
        shared=", which others were using too" if is_shared else "",
        python=platform.python_version(),
        lapsus=__version__,
    )
    peers = peer_rates(rows)
    lines = [row.cells(None if row.name.startswith("Potato") else peers.get(row.level)) for row in rows]
    measured = _table(HEADINGS, lines, left=1)
    reached = _table(("goal", "measured", ""), [goal.cells() for goal in goals], left=3)
    return head + measured + "\n" + "".join(f"{note}\n\n" for note in notes) + reached


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]], left: int) -> str:
    ruler = ["---" if place < left else "---:" for place in range(len(headings))]
    return "".join(f"| {' | '.join(line)} |\n" for line in (headings, ruler, *lines))
