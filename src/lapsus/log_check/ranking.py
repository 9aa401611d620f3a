"""`lapsus check` for breakdowns: the turns of highest risk in judged dialogues, and counts by system.

Only the worst turns are kept in memory.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.features.evidence import kinds
from lapsus.formats import EntryStream
from lapsus.log_check.finding import Finding, find
from lapsus.log_check.likely_types import with_types
from lapsus.log_check.own_turns import Drawn, turns_page
from lapsus.model import Document, Entry, Unit, units
from lapsus.schemes import load_scheme

TOP = 20
"""How many findings are kept unless told otherwise."""


@dataclass
class SystemSummary:
    """The counts of one system."""

    dialogues: int = 0
    turns: int = 0
    """System turns that were judged."""
    standing_out: int = 0
    """Turns that look like breakdowns."""
    kinds: Counter[str] = field(default_factory=Counter)
    """How many turns that stand out have evidence of each kind."""

    def as_data(self) -> dict[str, Any]:
        """Its part of what `lapsus check --json` prints."""
        return {
            "dialogues": self.dialogues,
            "turns": self.turns,
            "standing_out": self.standing_out,
            "evidence": {kind: self.kinds[kind] for kind in kinds() if self.kinds[kind]},
        }


@dataclass
class LogCheck:
    """The result of `lapsus check` for breakdowns."""

    findings: list[Finding]
    """The worst turns, the worst first."""
    systems: dict[str | None, SystemSummary]
    by: str = ""
    """Who judged."""
    reading: EntryStream | None = None
    """Where the dialogues came from."""
    unjudged: int = 0
    """System turns that whoever judged could not judge, or was stopped before."""
    drawn: list[Unit] = field(default_factory=list)
    """Some turns drawn by chance, for the log's owner to judge."""

    def to_text(self, language: str = "en") -> str:
        """The report for a terminal."""
        from lapsus.log_check.terminal_report import check_lines

        return "\n".join(check_lines(self, by=self.by, language=language)) + "\n"

    def to_html(self, language: str = "en") -> str:
        """The report as a page."""
        from lapsus.log_check.html_report import check_page

        return check_page(self, by=self.by, language=language)

    def to_judge(self, language: str = "en") -> str:
        """Some turns drawn by chance as a page on which one judges them; what it saves can be adapted to."""
        return turns_page(self.drawn, language)

    @property
    def dialogues(self) -> int:
        """Dialogues looked at."""
        return sum(summary.dialogues for summary in self.systems.values())

    @property
    def turns(self) -> int:
        """System turns judged."""
        return sum(summary.turns for summary in self.systems.values())

    @property
    def standing_out(self) -> int:
        """How many turns stand out, whether they are among the findings or not."""
        return sum(summary.standing_out for summary in self.systems.values())

    def as_data(self, language: str) -> dict[str, Any]:
        """Its part of what `lapsus check --json` prints."""
        return {
            "dialogues": self.dialogues,
            "turns": self.turns,
            "unjudged": self.unjudged,
            "standing_out": self.standing_out,
            "systems": [{"system": name, **summary.as_data()} for name, summary in self.systems.items()],
            "findings": [finding.as_data(language) for finding in self.findings],
        }


def check_entries(entries: Iterable[Entry], top: int = TOP) -> LogCheck:
    """Find the `top` turns of highest risk among those that stand out, and count all by system.

    Entries without a document, and turns without a judgment on breakdown, are passed over.
    """
    systems: dict[str | None, SystemSummary] = {}
    worst: list[tuple[float, int, Finding]] = []
    order, drawn = count(0, -1), Drawn()
    for entry in entries:
        if entry.document is None:
            continue
        summary = systems.setdefault(entry.document.system, SystemSummary())
        summary.dialogues += 1
        for finding in _findings(entry.document, entry):
            summary.turns += 1
            drawn.offer(finding.unit)
            if finding.stands_out:
                summary.standing_out += 1
                summary.kinds.update(finding.kinds)
                # Of equals the earlier one counts as worse, so that the order is the same on every run.
                heapq.heappush(worst, (finding.risk, next(order), finding))
                if len(worst) > top:
                    heapq.heappop(worst)
    ranked = sorted(worst, key=lambda item: item[:2], reverse=True)
    return LogCheck(with_types([finding for *_, finding in ranked]), systems, drawn=drawn.turns)


def _findings(document: Document, entry: Entry) -> Iterator[Finding]:
    judged = {judgment.segment: judgment for judgment in entry.judgments if judgment.scheme == SCHEME}
    for unit in units(document, load_scheme(SCHEME).unit):
        if unit.key.segment in judged:
            yield find(unit, judged[unit.key.segment], document.system)
