"""`lapsus check` for breakdowns: turns and dialogues ranked by score, and counts by system.

Only the worst turns and dialogues are kept in memory.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.features.evidence import kinds
from lapsus.log_check.finding import CUT, Finding, find
from lapsus.log_check.grouping import FlaggedSample, Grouping, grouped
from lapsus.log_check.likely_types import unfitting, with_types
from lapsus.log_check.own_turns import Drawn, turns_page
from lapsus.log_check.report import Check
from lapsus.model import Document, Entry, Unit, units
from lapsus.schemes import load_scheme
from lapsus.trust.estimators import Estimate, around, difference

if TYPE_CHECKING:
    from lapsus.formats.frame import Frame

TOP = 20
"""How many findings are kept unless told otherwise."""
Item = TypeVar("Item")


class Worst(Generic[Item]):
    """The items with the highest scores of all that are offered; of equals those that came first."""

    def __init__(self, many: int) -> None:
        self._many, self._order = many, count(0, -1)
        self._kept: list[tuple[float, int, Item]] = []

    def offer(self, score: float, item: Item) -> None:
        """Take note of an item."""
        heapq.heappush(self._kept, (score, next(self._order), item))
        if len(self._kept) > self._many:
            heapq.heappop(self._kept)

    @property
    def ranked(self) -> list[Item]:
        """The items kept, the worst first."""
        return [item for *_, item in sorted(self._kept, key=lambda kept: kept[:2], reverse=True)]


class DialogueFinding(NamedTuple):
    """A dialogue as a whole."""

    document: str
    system: str | None
    turns: int
    likely: int
    """Turns called likely."""
    worst: str
    """The id of the turn with the highest score."""
    score: float
    """The highest score of a turn, raised a little by every further turn that is called likely."""


@dataclass
class SystemSummary:
    """The counts of one system."""

    dialogues: int = 0
    turns: int = 0
    """System turns that were judged."""
    likely: int = 0
    """Turns called likely."""
    kinds: Counter[str] = field(default_factory=Counter)
    """How many turns called likely are of each kind, by their heaviest evidence."""
    squares: tuple[int, int, int] = (0, 0, 0)
    """Over dialogues, the sums of likely², likely · turns and turns²: what the share's interval needs."""

    def add(self, findings: Iterable[Finding], cut: float) -> tuple[int, int]:
        """Count a dialogue; its turns, and those called likely."""
        turns = likely = 0
        for finding in findings:
            turns += 1
            if finding.is_likely(cut):
                likely += 1
                self.kinds.update(finding.kinds[:1])
        self.dialogues, self.turns, self.likely = self.dialogues + 1, self.turns + turns, self.likely + likely
        a, b, c = self.squares
        self.squares = (a + likely**2, b + likely * turns, c + turns**2)
        return turns, likely

    def merge(self, other: SystemSummary) -> None:
        """Add another's counts."""
        self.dialogues, self.turns = self.dialogues + other.dialogues, self.turns + other.turns
        self.likely += other.likely
        self.kinds.update(other.kinds)
        a, b, c = (one + another for one, another in zip(self.squares, other.squares, strict=True))
        self.squares = (a, b, c)

    @property
    def share(self) -> Estimate:
        """The share of turns called likely, with an interval that knows that turns of a dialogue are alike."""
        if not self.turns:
            return Estimate()
        share, many = self.likely / self.turns, self.dialogues
        a, b, c = self.squares
        spread = (a - 2 * share * b + share**2 * c) / self.turns**2
        return around(share, spread * many / max(many - 1, 1), many - 1, many, True)

    def as_data(self) -> dict[str, Any]:
        """Its part of what `lapsus check --json` prints."""
        return {
            "dialogues": self.dialogues,
            "turns": self.turns,
            "likely": self.likely,
            "share": estimate_data(self.share),
            "evidence": {kind: self.kinds[kind] for kind in kinds() if self.kinds[kind]},
        }


def estimate_data(estimate: Estimate) -> dict[str, float | None]:
    """An estimate with its interval, for another program."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


@dataclass
class LogCheck(Check):
    """The result of `lapsus check` for breakdowns."""

    findings: list[Finding]
    """The worst turns, the worst first, whether they are called likely or not."""
    systems: dict[str | None, SystemSummary]
    worst_dialogues: list[DialogueFinding] = field(default_factory=list)
    cut: float = CUT
    """The score from which a turn is called likely."""
    drawn: list[Unit] = field(default_factory=list)
    """Some turns drawn by chance, for the log's owner to judge."""
    grouping: Grouping = field(default_factory=Grouping)
    """The turns called likely, in groups that hang together."""

    def lines(self, language: str) -> Iterator[str]:
        """The report for a terminal, line by line."""
        from lapsus.log_check.breakdown_report import check_lines

        return check_lines(self, language)

    def to_html(self, language: str = "en") -> str:
        """The report as a page."""
        from lapsus.log_check.breakdown_report import breakdown_page

        return breakdown_page(self, language)

    def to_frame(self) -> Frame:
        """The findings as a table for pandas, polars and DuckDB."""
        from lapsus.log_check.ranked_file import frame_of, ranked_row

        dialogues = {one.document: one.score for one in self.worst_dialogues}
        return frame_of(
            ranked_row(rank, one, dialogues.get(one.document, one.score), self.cut, "en")
            for rank, one in enumerate(self.findings, 1)
        )

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
    def likely(self) -> int:
        """How many turns are called likely, whether they are among the findings or not."""
        return sum(summary.likely for summary in self.systems.values())

    @property
    def whole(self) -> SystemSummary:
        """All systems together."""
        all_of = SystemSummary()
        for one in self.systems.values():
            all_of.merge(one)
        return all_of

    @property
    def share(self) -> float:
        """The share of turns called likely; 0 where there are none."""
        return self.likely / self.turns if self.turns else 0.0

    @property
    def kinds(self) -> Counter[str]:
        """How many turns called likely are of each kind, by their heaviest evidence."""
        return self.whole.kinds

    def differences(self) -> dict[str | None, Estimate]:
        """How much larger each system's share is than that of the best, with an interval."""
        ranked = sorted(self.systems.items(), key=lambda item: item[1].share.value or 0.0)
        if len(ranked) < 2:
            return {}
        best = ranked[0][1].share
        return {name: difference(summary.share, best) for name, summary in ranked[1:]}

    def as_data(self, language: str = "en") -> dict[str, Any]:
        """What `lapsus check --json` prints."""
        apart = self.differences()
        return {
            "dialogues": self.dialogues,
            "turns": self.turns,
            "unjudged": self.unjudged,
            "likely": self.likely,
            "share": self.share,
            "cut": self.cut,
            "systems": [
                {
                    "system": name,
                    **summary.as_data(),
                    "above_best": estimate_data(apart[name]) if name in apart else None,
                }
                for name, summary in self.systems.items()
            ],
            "findings": [
                {"rank": rank, "likely": finding.is_likely(self.cut), **finding.as_data(language)}
                for rank, finding in enumerate(self.findings, 1)
            ],
            "groups": self.grouping.as_data(language),
            "worst_dialogues": [one._asdict() for one in self.worst_dialogues],
        }


def check_entries(
    entries: Iterable[Entry],
    top: int = TOP,
    cut: float = CUT,
    seen: Callable[[Finding, DialogueFinding], None] = lambda finding, dialogue: None,
) -> LogCheck:
    """Find the `top` turns and dialogues with the highest scores, and count all by system.

    Entries without a document, and turns without a judgment on breakdown, are passed over. `seen` is told of every
    turn, with its dialogue.
    """
    systems: dict[str | None, SystemSummary] = {}
    worst, dialogues, drawn = Worst[Finding](top), Worst[DialogueFinding](top), Drawn()
    flagged = FlaggedSample()
    for entry in entries:
        if entry.document is None:
            continue
        summary = systems.setdefault(entry.document.system, SystemSummary())
        findings = list(findings_of(entry.document, entry))
        turns, likely = summary.add(findings, cut)
        if not findings:
            continue
        highest = max(findings, key=lambda one: one.score)
        dialogue = DialogueFinding(
            entry.document.id,
            entry.document.system,
            turns,
            likely,
            highest.turn.id,
            highest.score + 0.1 * max(likely - 1, 0),
        )
        dialogues.offer(dialogue.score, dialogue)
        for finding in findings:
            drawn.offer(finding.unit)
            worst.offer(finding.score, finding)
            if finding.is_likely(cut):
                flagged.offer(finding)
            seen(finding, dialogue)
    return LogCheck(
        with_types(worst.ranked),
        systems,
        dialogues.ranked,
        cut,
        drawn=drawn.turns,
        grouping=grouped(flagged.turns, flagged.offered),
    )


def findings_of(document: Document, entry: Entry) -> Iterator[Finding]:
    """The judged turns of a dialogue with their evidence."""
    said = {judgment.segment: judgment for judgment in entry.judgments if judgment.scheme == SCHEME}
    judged = [unit for unit in units(document, load_scheme(SCHEME).unit) if unit.key.segment in said]
    apart = unfitting(judged)
    for place, unit in enumerate(judged):
        yield find(unit, said[unit.key.segment], document.system, apart.get(place))
