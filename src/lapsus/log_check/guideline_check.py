"""`lapsus check` under any guideline: counts of each answer, and the units with other answers than the usual.

A guideline does not tell a program which answers are bad. So the answer that most units get counts as usual, and units
with another answer are listed, those first of which the judge is surest.
"""

import heapq
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import msgspec

from lapsus.kinds import Kind, kinds_of
from lapsus.log_check.report import Check, check_page, one_line, spoken
from lapsus.log_check.report_words import word
from lapsus.model import Answer, Entry, Judgment, Scheme, Segment, Unit, in_language, units
from lapsus.reports import Table

_BEFORE = 2
"""Turns shown before the judged one."""
_QUOTES = 3
"""Quotes shown of one answer."""


class UnusualAnswer(NamedTuple):
    """A unit with an answer that most others do not get, and how sure whoever judged is of it."""

    unit: Unit
    system: str | None
    question: str
    answer: Answer
    sure: float
    """1 less the doubt in the judge's distribution; 1 where it gave none."""
    quotes: tuple[str, ...]
    """What the answer rests on, where the judge quoted that."""


@dataclass
class AnswerCounts:
    """How often each answer to one question was given. Answers are told apart by `kind.same`."""

    kind: Kind
    times: Counter[Hashable] = field(default_factory=Counter)
    """By what `kind.same` makes of an answer."""
    shown: dict[Hashable, Answer] = field(default_factory=dict)
    """For each key of `times` the first answer that was counted under it."""

    def add(self, answer: Answer) -> Hashable:
        """Count an answer; the key of `times` that it was counted under."""
        same = self.kind.same(answer)
        self.times[same] += 1
        self.shown.setdefault(same, answer)
        return same

    @property
    def usual(self) -> Hashable:
        """What was answered most often; of equals, what came first."""
        return self.times.most_common(1)[0][0]

    @property
    def unusual(self) -> int:
        """How many answers are not the usual one."""
        return self.times.total() - self.times[self.usual]

    def in_words(self, answer: Answer, language: str) -> str:
        """An answer in a few words; no label at all is a dash."""
        names = self.kind.choice_names(language)
        parts = answer if isinstance(answer, tuple) else (answer,)
        return ", ".join(names.get(str(part), str(part)) for part in parts) or "–"


@dataclass
class GuidelineCheck(Check):
    """The result of `lapsus check` under a guideline of any kind."""

    scheme: Scheme
    findings: list[UnusualAnswer]
    """The unusual answers, the surest first."""
    questions: dict[str, AnswerCounts]
    dialogues: int = 0
    turns: int = 0

    @property
    def standing_out(self) -> int:
        """How many answers are unusual, whether they are among the findings or not."""
        return sum(counts.unusual for counts in self.questions.values())

    def lines(self, language: str) -> Iterator[str]:
        """The report for a terminal, line by line."""
        yield _source(self, language)
        if self.unjudged:
            yield word("unjudged", language, turns=self.unjudged)
        yield ""
        columns = tuple(word(name, language) for name in ("any-question", "any-answer", "turns"))
        yield Table(columns, tuple(_counts(self, language))).to_text()
        for rank, finding in enumerate(self.findings, 1):
            yield ""
            yield from _finding(rank, self, finding, language)
        more = self.standing_out - len(self.findings)
        if not self.findings or more:
            yield ""
            yield word("any-more", language, count=more) if more else word("any-none", language)

    def to_html(self, language: str = "en") -> str:
        """The report as a page."""
        return check_page(
            self,
            "guideline.html",
            language,
            source=_source(self, language),
            counts=list(_counts(self, language)),
            before=_BEFORE,
            answered=lambda finding: _answered(self, finding, language),
        )

    def as_data(self, language: str = "en") -> dict[str, Any]:
        """What `lapsus check --json` prints."""
        return {
            "scheme": self.scheme.id,
            "version": self.scheme.version,
            "dialogues": self.dialogues,
            "turns": self.turns,
            "unjudged": self.unjudged,
            "standing_out": self.standing_out,
            "questions": [
                {
                    "question": id,
                    "usual": msgspec.to_builtins(counts.shown[counts.usual]),
                    "answers": [
                        {"answer": msgspec.to_builtins(counts.shown[same]), "count": times}
                        for same, times in counts.times.most_common()
                    ],
                }
                for id, counts in self.questions.items()
            ],
            "findings": [
                {
                    "document": finding.unit.document,
                    "system": finding.system,
                    "segment": finding.unit.key.segment,
                    "text": finding.unit.target.text if finding.unit.target else None,
                    "question": finding.question,
                    "answer": msgspec.to_builtins(finding.answer),
                    "sure": round(finding.sure, 4),
                    "quotes": list(finding.quotes),
                    "context": [_segment(segment) for segment in finding.unit.context],
                }
                for finding in self.findings
            ],
        }


def check_answers(entries: Iterable[Entry], scheme: Scheme, top: int) -> GuidelineCheck:
    """Count the answers in judged documents, and find the `top` unusual ones.

    Questions without choices (text, spans) are passed over. Of each answer only the `top` surest units are in memory.
    """
    kinds = {id: kind for id, kind in kinds_of(scheme).items() if kind.choices}
    questions: dict[str, AnswerCounts] = {}
    surest: dict[tuple[str, Hashable], list[tuple[float, int, UnusualAnswer]]] = {}
    order = count(0, -1)
    check = GuidelineCheck(scheme, [], questions)
    for entry in entries:
        check.dialogues += entry.document is not None
        for unit, judgment in _judged(entry, scheme):
            check.turns += 1
            system = entry.document.system if entry.document else None
            for id in (id for id in kinds if id in judgment.answers):
                answer = judgment.answers[id]
                same = questions.setdefault(id, AnswerCounts(kinds[id])).add(answer)
                shares = judgment.distributions.get(id)
                sure = 1 - kinds[id].doubt(shares) if shares else 1.0
                kept = surest.setdefault((id, same), [])
                # Of equals the earlier one counts as surer, so that the order is the same on every run.
                found = UnusualAnswer(unit, system, id, answer, sure, _quotes(judgment, id))
                heapq.heappush(kept, (sure, next(order), found))
                if len(kept) > top:
                    heapq.heappop(kept)
    others = (one for (id, same), kept in surest.items() if same != questions[id].usual for one in kept)
    check.findings = [one for *_, one in heapq.nlargest(top, others, key=lambda item: item[:2])]
    return check


def _judged(entry: Entry, scheme: Scheme) -> Iterator[tuple[Unit, Judgment]]:
    """The units of an entry that have a judgment under the scheme, with the last one."""
    if entry.document is None:
        return
    said = {judgment.segment: judgment for judgment in entry.judgments if judgment.scheme == scheme.id}
    for unit in units(entry.document, scheme.unit):
        if unit.key.segment in said:
            yield unit, said[unit.key.segment]


def _quotes(judgment: Judgment, question: str) -> tuple[str, ...]:
    """The words on which an answer rests, where the judge says so."""
    told = judgment.metadata.get("evidence") or ()
    return tuple(quote for one in told if one.get("question") == question for quote in one["quotes"])


def _segment(segment: Segment) -> dict[str, str]:
    return {"segment": segment.id, "role": segment.role, "text": segment.text}


def _source(check: GuidelineCheck, language: str) -> str:
    title = in_language(check.scheme.title, language)
    return word(
        "any-source", language, documents=check.dialogues, turns=check.turns, by=check.by, scheme=title
    )


def _counts(check: GuidelineCheck, language: str) -> Iterator[tuple[str, str, int]]:
    for counts in check.questions.values():
        name = in_language(counts.kind.question.name, language)
        for same, times in counts.times.most_common():
            yield one_line(name), one_line(counts.in_words(counts.shown[same], language)), times


def _answered(check: GuidelineCheck, finding: UnusualAnswer, language: str) -> str:
    counts = check.questions[finding.question]
    answer, usual = (
        counts.in_words(given, language) for given in (finding.answer, counts.shown[counts.usual])
    )
    name = in_language(counts.kind.question.name, language)
    values = {"answer": answer, "usual": usual, "sure": f"{finding.sure:.0%}"}
    told = word("any-answered", language, question=name, **values)
    if finding.quotes:
        quotes = [word("any-quoted", language, quote=quote) for quote in finding.quotes[:_QUOTES]]
        told += word("any-because", language, quotes=" ".join(quotes))
    return one_line(told)


def _finding(rank: int, check: GuidelineCheck, finding: UnusualAnswer, language: str) -> Iterator[str]:
    unit, colon = finding.unit, "：" if language == "ja" else ": "
    place = word("dialogue", language, id=unit.document)
    if unit.target is not None:
        place += f", {word('turn', language, id=unit.target.id)}"
    yield f"{rank}. {one_line(place)}{colon}{_answered(check, finding, language)}"
    before = [segment for segment in unit.context if segment != unit.target]
    for segment in before[-_BEFORE:]:
        yield f"     {spoken(segment, language)}"
    if unit.target is not None:
        yield f"   » {spoken(unit.target, language)}"
