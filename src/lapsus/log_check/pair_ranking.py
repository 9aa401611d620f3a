"""Ranks judged pairs of data and text, and sums them up by system. Only the worst pairs are kept in memory."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, NamedTuple

from lapsus.formats import EntryStream
from lapsus.log_check.ranking import TOP
from lapsus.model import Document, Entry, Judgment, Segment, Span

SCHEME: Final = "semantic-errors"
QUESTION: Final = "errors"


class Stretch(NamedTuple):
    """Part of a segment's text, and the mark that it is under."""

    text: str
    span: Span | None = None


class PairFinding(NamedTuple):
    """A pair with marks."""

    document: str
    system: str | None
    language: str | None
    segments: tuple[Segment, ...]
    marks: tuple[Span, ...]
    scores: tuple[float, ...]
    """How sure whoever judged is of each mark; empty where they do not say."""
    expected: Mapping[str, float]
    """How many marks of each label are to be expected; those that there are, where nobody says."""

    @property
    def risk(self) -> float:
        """How many marks are to be expected in all."""
        return sum(self.expected.values())

    @property
    def data(self) -> list[Segment]:
        """The triples, those with marks first."""
        triples = [segment for segment in self.segments if segment.role == "triple"]
        marked = {span.segment for span in self.marks}
        return sorted(triples, key=lambda segment: segment.id not in marked)

    @property
    def texts(self) -> list[Segment]:
        """What was made from them."""
        return [segment for segment in self.segments if segment.role == "text"]

    def stretches(self, segment: Segment) -> Iterator[Stretch]:
        """A segment's text in parts, so that marks can be shown in it; of marks that overlap, the first."""
        place = 0
        for span in sorted(span for span in self.marks if span.segment == segment.id):
            if place <= span.start < span.end <= len(segment.text):
                if place < span.start:
                    yield Stretch(segment.text[place : span.start])
                yield Stretch(segment.text[span.start : span.end], span)
                place = span.end
        if place < len(segment.text):
            yield Stretch(segment.text[place:])

    def as_data(self) -> dict[str, Any]:
        """For another program."""
        texts = {segment.id: segment.text for segment in self.segments}
        scores = self.scores or (None,) * len(self.marks)
        return {
            "document": self.document,
            "system": self.system,
            "expected": dict(self.expected),
            "marks": [
                {
                    "label": span.label,
                    "segment": span.segment,
                    "start": span.start,
                    "end": span.end,
                    "quote": texts.get(span.segment, "")[span.start : span.end],
                    "tie": span.tie,
                    "score": score,
                }
                for span, score in zip(self.marks, scores, strict=True)
            ],
            "data": [segment.text for segment in self.segments if segment.role == "triple"],
            "text": "\n".join(segment.text for segment in self.texts),
        }


@dataclass
class PairSummary:
    """One system in numbers."""

    pairs: int = 0
    marked: int = 0
    """Pairs with marks."""
    labels: Counter[str] = field(default_factory=Counter)
    """How many marks of each label there are."""

    def as_data(self) -> dict[str, Any]:
        """For another program."""
        return {"pairs": self.pairs, "marked": self.marked, "marks": dict(self.labels)}


@dataclass
class PairCheck:
    """What was found in some pairs of data and text."""

    findings: list[PairFinding]
    """The worst pairs, the worst first."""
    systems: dict[str | None, PairSummary]
    by: str = ""
    """Who judged."""
    reading: EntryStream | None = None
    """Where the pairs came from."""
    unjudged: int = 0
    """Pairs that whoever judged could not judge."""

    def to_text(self, language: str = "en") -> str:
        """The report for a terminal."""
        from lapsus.log_check.pair_report import pair_lines

        return "\n".join(pair_lines(self, language)) + "\n"

    def to_html(self, language: str = "en") -> str:
        """The report as a page."""
        from lapsus.log_check.pair_report import pair_page

        return pair_page(self, language)

    @property
    def pairs(self) -> int:
        """Pairs judged."""
        return sum(tally.pairs for tally in self.systems.values())

    @property
    def marked(self) -> int:
        """How many pairs have marks, whether they are among the findings or not."""
        return sum(tally.marked for tally in self.systems.values())

    def as_data(self, language: str) -> dict[str, Any]:
        """For another program."""
        return {
            "pairs": self.pairs,
            "unjudged": self.unjudged,
            "marked": self.marked,
            "systems": [{"system": name, **tally.as_data()} for name, tally in self.systems.items()],
            "findings": [finding.as_data() for finding in self.findings],
        }


def is_pair(document: Document) -> bool:
    """Whether a document is data with a text, not talk."""
    roles = {segment.role for segment in document.segments}
    return "text" in roles and "system" not in roles


def check_pairs(entries: Iterable[Entry], top: int = TOP) -> PairCheck:
    """Look over judged pairs."""
    systems: dict[str | None, PairSummary] = {}
    worst: list[tuple[float, int, PairFinding]] = []
    order = count(0, -1)
    for entry in entries:
        judged = next((one for one in entry.judgments if one.scheme == SCHEME), None)
        if entry.document is None or judged is None:
            continue
        tally = systems.setdefault(entry.document.system, PairSummary())
        finding = _finding(entry.document, judged)
        tally.pairs += 1
        tally.marked += bool(finding.marks)
        tally.labels.update(span.label for span in finding.marks)
        if finding.marks:
            # Of equals the earlier one counts as worse, so that the order is the same on every run.
            heapq.heappush(worst, (finding.risk, next(order), finding))
            if len(worst) > top:
                heapq.heappop(worst)
    ranked = sorted(worst, key=lambda item: item[:2], reverse=True)
    return PairCheck([finding for *_, finding in ranked], systems)


def _finding(document: Document, judgment: Judgment) -> PairFinding:
    answer = judgment.answers.get(QUESTION, ())
    marks = tuple(span for span in answer if isinstance(span, Span)) if isinstance(answer, tuple) else ()
    scores = (judgment.metadata.get("scores") or {}).get(QUESTION, ())
    expected = judgment.metadata.get("expected") or Counter(span.label for span in marks)
    known = tuple(scores) if len(scores) == len(marks) else ()
    return PairFinding(
        document.id, document.system, document.language, document.segments, marks, known, expected
    )
