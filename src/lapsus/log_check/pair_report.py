"""The report on pairs of data and text, for a terminal and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from lapsus.log_check.pair_ranking import SCHEME, PairCheck, PairFinding
from lapsus.log_check.report_words import word
from lapsus.model import Segment, in_language
from lapsus.reports import Table
from lapsus.reports.html_page import page, plain
from lapsus.schemes import load_scheme

BRACKETS: Final = {"omission": ("[-", "-]"), "addition": ("{+", "+}"), "repetition": ("{=", "=}")}
"""What marks stand between in a terminal."""
_TRIPLES: Final = 12
"""Triples that are shown of a pair, those with marks first."""
_WIDE: Final = 2_000


def label_names(language: str) -> dict[str, str]:
    """What the guideline calls its labels."""
    return {label.id: in_language(label.name, language) for label in load_scheme(SCHEME).questions[0].labels}


def pair_lines(check: PairCheck, language: str) -> Iterator[str]:
    """What was found, line by line."""
    names = label_names(language)
    yield word("pairs-source", language, pairs=check.pairs, by=check.by)
    if check.unjudged:
        yield word("pairs-unjudged", language, pairs=check.unjudged)
    yield ""
    yield _systems(check, names, language).to_text()
    if check.findings:
        yield ""
        between = "　" if language == "ja" else "  "
        yield between.join(f"{left}{names[label]}{right}" for label, (left, right) in BRACKETS.items())
    for rank, finding in enumerate(check.findings, 1):
        yield ""
        yield from _finding(rank, finding, names, language)
    more = check.marked - len(check.findings)
    if not check.findings or more:
        yield ""
        yield word("pairs-more", language, count=more) if more else word("pairs-none", language)


def pair_page(check: PairCheck, language: str) -> str:
    """What was found, as one self-contained page."""
    return page(
        "lapsus.log_check",
        "pairs.html",
        language,
        check=check,
        labels=label_names(language),
        shown=_TRIPLES,
        word=lambda name, **values: word(name, language, **values),
        numbers=lambda finding: marks_in_words(finding, label_names(language), language),
    )


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
        rows.append((_line(unnamed if name is None else name), *counts))
    return Table(columns, tuple(rows))


def _finding(rank: int, finding: PairFinding, names: dict[str, str], language: str) -> Iterator[str]:
    brackets = "（{}）" if language == "ja" else " ({})"
    told = brackets.format(marks_in_words(finding, names, language))
    yield f"{rank}. {_line(word('pair', language, id=finding.document))}{told}"
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
    return _line("".join(parts))


def _line(text: str) -> str:
    """A text of strangers on one line."""
    return " ".join(plain(text, _WIDE).split())
