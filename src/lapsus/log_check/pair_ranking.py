"""Ranks judged pairs of data and text, and sums them up by system. Only the worst pairs are kept in memory."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from lapsus.log_check.ranking import TOP, Worst
from lapsus.log_check.report import Check, check_page, one_line
from lapsus.log_check.report_words import word
from lapsus.model import Document, Entry, Judgment, Segment, Span, in_language
from lapsus.reports import Table
from lapsus.schemes import load_scheme

SCHEME: Final = "semantic-errors"
QUESTION: Final = "errors"
BRACKETS: Final = {"omission": ("[-", "-]"), "addition": ("{+", "+}"), "repetition": ("{=", "=}")}
"""What marks stand between in a terminal."""
_TRIPLES: Final = 12
"""Triples that are shown of a pair, those with marks first."""
_WIDE: Final = 2_000


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
class PairCheck(Check):
    """What was found in some pairs of data and text."""

    findings: list[PairFinding]
    """The worst pairs, the worst first."""
    systems: dict[str | None, PairSummary]

    def lines(self, language: str) -> Iterator[str]:
        """The report for a terminal, line by line."""
        names = label_names(language)
        yield word("pairs-source", language, pairs=self.pairs, by=self.by)
        if self.unjudged:
            yield word("pairs-unjudged", language, pairs=self.unjudged)
        yield ""
        yield _systems(self, names, language).to_text()
        if self.findings:
            yield ""
            between = "　" if language == "ja" else "  "
            yield between.join(f"{left}{names[label]}{right}" for label, (left, right) in BRACKETS.items())
        for rank, finding in enumerate(self.findings, 1):
            yield ""
            yield from _shown(rank, finding, names, language)
        more = self.marked - len(self.findings)
        if not self.findings or more:
            yield ""
            yield word("pairs-more", language, count=more) if more else word("pairs-none", language)

    def to_html(self, language: str = "en") -> str:
        """The report as a page."""
        return check_page(
            self,
            "pairs.html",
            language,
            labels=label_names(language),
            shown=_TRIPLES,
            numbers=lambda finding: marks_in_words(finding, label_names(language), language),
        )

    @property
    def pairs(self) -> int:
        """Pairs judged."""
        return sum(tally.pairs for tally in self.systems.values())

    @property
    def marked(self) -> int:
        """How many pairs have marks, whether they are among the findings or not."""
        return sum(tally.marked for tally in self.systems.values())

    def as_data(self, language: str = "en") -> dict[str, Any]:
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
    worst = Worst[PairFinding](top)
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
            worst.offer(finding.risk, finding)
    return PairCheck(worst.ranked, systems)


def _finding(document: Document, judgment: Judgment) -> PairFinding:
    answer = judgment.answers.get(QUESTION, ())
    marks = tuple(span for span in answer if isinstance(span, Span)) if isinstance(answer, tuple) else ()
    scores = (judgment.metadata.get("scores") or {}).get(QUESTION, ())
    expected = judgment.metadata.get("expected") or Counter(span.label for span in marks)
    known = tuple(scores) if len(scores) == len(marks) else ()
    return PairFinding(
        document.id, document.system, document.language, document.segments, marks, known, expected
    )


def label_names(language: str) -> dict[str, str]:
    """What the guideline calls its labels."""
    return {label.id: in_language(label.name, language) for label in load_scheme(SCHEME).questions[0].labels}


def marks_in_words(finding: PairFinding, names: dict[str, str], language: str) -> str:
    """How many marks there are of each label, and how many are to be expected in all: by that the pairs are ordered."""
    made = Counter(span.label for span in finding.marks)
    told = {label: f"{name} {made[label]}" for label, name in names.items()}
    # Each element of a fact is marked by itself: a fact that is left out whole has three marks.
    triples = {segment.id for segment in finding.data}
    for label in told:
        if facts := {span.segment for span in finding.marks if span.label == label} & triples:
            told[label] += word("pairs-facts", language, count=len(facts))
    shown = " · ".join(told.values())
    return word("pairs-expected", language, numbers=shown, expected=f"{finding.risk:.1f}")


def _systems(check: PairCheck, names: dict[str, str], language: str) -> Table:
    columns = (*(word(name, language) for name in ("system", "pairs", "pairs-marked")), *names.values())
    unnamed = word("unnamed", language)
    rows: list[tuple[str | int, ...]] = []
    for name, tally in check.systems.items():
        counts = [tally.pairs, tally.marked, *(tally.labels[label] for label in names)]
        rows.append((one_line(unnamed if name is None else name, _WIDE), *counts))
    return Table(columns, tuple(rows))


def _shown(rank: int, finding: PairFinding, names: dict[str, str], language: str) -> Iterator[str]:
    brackets = "（{}）" if language == "ja" else " ({})"
    told = brackets.format(marks_in_words(finding, names, language))
    yield f"{rank}. {one_line(word('pair', language, id=finding.document), _WIDE)}{told}"
    yield from (f"   – {_marked(finding, triple)}" for triple in finding.data[:_TRIPLES])
    if (others := len(finding.data) - _TRIPLES) > 0:
        yield f"     {word('pairs-left-out', language, count=others)}"
    yield from (f"   » {_marked(finding, text)}" for text in finding.texts)


def _marked(finding: PairFinding, segment: Segment) -> str:
    """A segment on one line, with its marks in brackets; tied ones are numbered."""
    parts = []
    for text, span in finding.stretches(segment):
        left, right = BRACKETS.get(span.label, ("[", "]")) if span else ("", "")
        tie = span.tie.removeprefix("t") if span and span.tie else ""
        parts.append(f"{left}{text}{right}{tie and f'({tie})'}")
    return one_line("".join(parts), _WIDE)
