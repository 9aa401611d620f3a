"""Gold of spans: what enough annotators marked, character by character."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

import msgspec
import numpy as np

from lapsus.errors import UsageError
from lapsus.measures.gold.result import NOBODY, Gold, raters
from lapsus.measures.score import signature
from lapsus.model import Span
from lapsus.model.votes import SpanVotes


def merged_spans(votes: SpanVotes, at_least: int = 0) -> Gold:
    """For each unit and label, the characters that at least so many annotators marked, joined to spans.

    0 stands for more than half of those who answered the unit. Neighbouring characters that enough annotators
    marked make one span, whoever marked them. Two of these spans are tied where as many annotators tied marks
    that overlap them. A unit that fewer annotators answered than are needed has no gold.
    """
    if at_least < 0:
        raise UsageError("annotators-cannot-mark-anything", hint="give-1-more-0", at_least=at_least)
    needed = [_needed(row, at_least) for row in votes.spans]
    answers = [
        _merged([spans for spans in row if spans is not None], k)
        for row, k in zip(votes.spans, needed, strict=True)
    ]
    answered = np.array([sum(spans is not None for spans in row) for row in votes.spans], dtype=np.intp)
    return Gold(
        votes.units,
        "spans",
        signature(method="spans", at_least=at_least or "most", raters=raters(answered)),
        tuple(answers),
        note=None if answered.any() else NOBODY,
    )


def _needed(row: tuple[tuple[Span, ...] | None, ...], at_least: int) -> int:
    return at_least or sum(spans is not None for spans in row) // 2 + 1


def _merged(answers: list[tuple[Span, ...]], needed: int) -> tuple[Span, ...] | None:
    if len(answers) < needed:
        return None
    changes: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for spans in answers:
        for place, start, end in _covered(spans):
            changes[place][start] += 1
            changes[place][end] -= 1
    merged = sorted(
        Span(segment, start, end, label)
        for (segment, label), steps in changes.items()
        for start, end in _stretches(steps, needed)
    )
    return _tied(merged, answers, needed)


def _covered(spans: Iterable[Span]) -> Iterator[tuple[tuple[str, str], int, int]]:
    """What one annotator marked, by segment and label, in stretches that do not overlap."""
    reached: dict[tuple[str, str], int] = {}
    for span in sorted(spans, key=lambda span: span.start):
        place = span.segment, span.label
        start = max(span.start, reached.get(place, 0))
        if start < span.end:
            yield place, start, span.end
            reached[place] = span.end


def _stretches(steps: Counter[int], needed: int) -> Iterator[tuple[int, int]]:
    """Where the running sum of the steps is high enough."""
    height, start = 0, None
    for position in sorted(steps):
        height += steps[position]
        if height >= needed and start is None:
            start = position
        elif height < needed and start is not None:
            yield start, position
            start = None


def _tied(merged: list[Span], answers: list[tuple[Span, ...]], needed: int) -> tuple[Span, ...]:
    """The spans with the ties that enough annotators made. Ties are numbered in the order of their spans."""
    ties = Counter(pair for spans in answers for pair in _ties_of(merged, spans))
    group = list(range(len(merged)))
    for (one, other), times in sorted(ties.items()):
        if times >= needed:
            group = [group[one] if number == group[other] else number for number in group]
    sizes = Counter(group)
    names: dict[int, str] = {}
    return tuple(
        msgspec.structs.replace(span, tie=names.setdefault(number, str(len(names) + 1)))
        if sizes[number] > 1
        else span
        for span, number in zip(merged, group, strict=True)
    )


def _ties_of(merged: list[Span], spans: tuple[Span, ...]) -> set[tuple[int, int]]:
    """Which of the merged spans one annotator tied, by what was marked on them."""
    touched: defaultdict[str, set[int]] = defaultdict(set)
    for span in spans:
        if span.tie is not None:
            touched[span.tie] |= {place for place, other in enumerate(merged) if _meet(span, other)}
    return {pair for places in touched.values() for pair in combinations(sorted(places), 2)}


def _meet(one: Span, other: Span) -> bool:
    same = (one.segment, one.label) == (other.segment, other.label)
    return same and one.start < other.end and other.start < one.end
