"""The report under any guideline, for a terminal and as a page."""

from __future__ import annotations

from collections.abc import Iterator

from lapsus.log_check.guideline_check import GuidelineCheck, UnusualAnswer
from lapsus.log_check.report_words import word
from lapsus.model import Segment, in_language
from lapsus.reports import Table
from lapsus.reports.html_page import page, plain

_BEFORE = 2
"""Turns shown before the judged one."""
_WIDE = 240


def guideline_lines(check: GuidelineCheck, language: str) -> Iterator[str]:
    """What was found, line by line."""
    yield _source(check, language)
    if check.unjudged:
        yield word("unjudged", language, turns=check.unjudged)
    yield ""
    columns = tuple(word(name, language) for name in ("any-question", "any-answer", "turns"))
    yield Table(columns, tuple(_counts(check, language))).to_text()
    for rank, finding in enumerate(check.findings, 1):
        yield ""
        yield from _finding(rank, check, finding, language)
    more = check.standing_out - len(check.findings)
    if not check.findings or more:
        yield ""
        yield word("any-more", language, count=more) if more else word("any-none", language)


def guideline_page(check: GuidelineCheck, language: str) -> str:
    """What was found, as one self-contained page."""
    return page(
        "lapsus.log_check",
        "guideline.html",
        language,
        check=check,
        source=_source(check, language),
        counts=list(_counts(check, language)),
        before=_BEFORE,
        answered=lambda finding: _answered(check, finding, language),
        word=lambda name, **values: word(name, language, **values),
    )


def _source(check: GuidelineCheck, language: str) -> str:
    title = in_language(check.scheme.title, language)
    return word(
        "any-source", language, documents=check.dialogues, turns=check.turns, by=check.by, scheme=title
    )


def _counts(check: GuidelineCheck, language: str) -> Iterator[tuple[str, str, int]]:
    for counts in check.questions.values():
        name = in_language(counts.kind.question.name, language)
        for same, times in counts.times.most_common():
            yield _line(name), _line(counts.in_words(counts.shown[same], language)), times


def _answered(check: GuidelineCheck, finding: UnusualAnswer, language: str) -> str:
    counts = check.questions[finding.question]
    answer, usual = (
        counts.in_words(given, language) for given in (finding.answer, counts.shown[counts.usual])
    )
    name = in_language(counts.kind.question.name, language)
    values = {"answer": answer, "usual": usual, "sure": f"{finding.sure:.0%}"}
    return _line(word("any-answered", language, question=name, **values))


def _finding(rank: int, check: GuidelineCheck, finding: UnusualAnswer, language: str) -> Iterator[str]:
    unit, colon = finding.unit, "：" if language == "ja" else ": "
    place = word("dialogue", language, id=unit.document)
    if unit.target is not None:
        place += f", {word('turn', language, id=unit.target.id)}"
    yield f"{rank}. {_line(place)}{colon}{_answered(check, finding, language)}"
    before = [segment for segment in unit.context if segment != unit.target]
    for segment in before[-_BEFORE:]:
        yield f"     {_speaker(segment, language)}{colon}{_line(segment.text)}"
    if unit.target is not None:
        yield f"   » {_speaker(unit.target, language)}{colon}{_line(unit.target.text)}"


def _speaker(segment: Segment, language: str) -> str:
    return word(segment.role, language)


def _line(text: str) -> str:
    """A text of strangers on one line."""
    return " ".join(plain(text, _WIDE).split())
