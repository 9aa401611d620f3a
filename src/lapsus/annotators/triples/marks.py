"""Marks out of what the labeller says: whole elements and whole words, and which addition stands for which omission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np
import regex

from lapsus.annotators.features.mark_edges import without_edges
from lapsus.annotators.triples.labeller import Reading, Shares
from lapsus.annotators.triples.pair import Word, spoken
from lapsus.model import Span

OMISSION, ADDITION, REPETITION = LABELS = ("omission", "addition", "repetition")
_WORD = regex.compile(r"[\p{L}\p{M}]+|\p{N}+")
_PLACES: Final = 4
"""Decimals of a score."""
_PREDICATE: Final = 0.5
"""What likeness to a predicate is worth: words rarely stand in the place of one."""


class Cuts(NamedTuple):
    """For each label the share from which a place is marked."""

    omission: float
    addition: float
    repetition: float


class Mark(NamedTuple):
    """A mark and how sure the labeller is of it."""

    span: Span
    score: float


def marks_of(reading: Reading, cuts: Cuts) -> list[Mark]:
    """The marks on a pair, in order."""
    omitted = list(_omissions(reading, cuts.omission))
    chosen = _labels(reading, cuts)
    added = list(_runs(reading.pair.words, reading.added, chosen, ADDITION))
    repeated = _runs(reading.pair.words, reading.repeated, chosen, REPETITION)
    return sorted([*_tied(reading, omitted, added), *repeated])


def _omissions(reading: Reading, cut: float) -> Iterator[Mark]:
    for n, triple in enumerate(reading.pair.triples):
        for element, share in zip(triple.elements(), reading.omitted[3 * n : 3 * n + 3], strict=True):
            # An element without a sign in it cannot be marked.
            if share >= cut and element.end > element.start:
                yield Mark(Span(triple.id, element.start, element.end, OMISSION), _score(share))


def _labels(reading: Reading, cuts: Cuts) -> list[str | None]:
    """What each word is marked as: of two labels the one that it is further above."""
    found: list[str | None] = []
    for added, repeated in zip(reading.added, reading.repeated, strict=True):
        above = {ADDITION: added - cuts.addition, REPETITION: repeated - cuts.repetition}
        label = max(above, key=lambda name: above[name])
        found.append(label if above[label] >= 0 else None)
    return found


def _runs(words: Sequence[Word], shares: Shares, chosen: Sequence[str | None], label: str) -> Iterator[Mark]:
    """Neighbouring words under one label as one mark."""
    for (_, is_marked), group in groupby(
        range(len(words)), key=lambda n: (words[n].segment, chosen[n] == label)
    ):
        if is_marked:
            which = list(group)
            first, last = words[which[0]], words[which[-1]]
            before, after = without_edges(first.text, last.text)
            span = Span(first.segment, first.start + before, last.end - after, label)
            yield Mark(span, _score(float(np.mean(shares[which]))))


def _tied(reading: Reading, omitted: Sequence[Mark], added: Sequence[Mark]) -> Iterator[Mark]:
    """Omissions and additions, tied where the words of one stand in the place of the other.

    That may be where the triple is not left out as a whole and both are, or are not, numbers or dates; of several the
    pair that has most in common, then the one that comes first. Elements with the same words are tied together.
    """
    texts = {segment.id: segment.text for segment in reading.pair.texts}
    said = {mark: texts[mark.span.segment][mark.span.start : mark.span.end] for mark in added}
    lost = _lost(reading, omitted)
    alike = [
        (likeness(name, said[mark]) * worth, -n, -m, name, mark)
        for n, (name, (worth, _)) in enumerate(lost.items())
        for m, mark in enumerate(added)
    ]
    ties: dict[str, Mark] = {}
    for share, _, _, name, mark in sorted(alike, key=lambda one: one[:3], reverse=True):
        if share > 0 and name not in ties and mark not in ties.values():
            ties[name] = mark
    names = (name for name in lost if name in ties)
    numbers = {
        mark: f"t{number}" for number, name in enumerate(names, 1) for mark in (ties[name], *lost[name][1])
    }
    for mark in (*omitted, *added):
        span = mark.span
        yield Mark(Span(span.segment, span.start, span.end, span.label, numbers.get(mark)), mark.score)


def _lost(reading: Reading, omitted: Sequence[Mark]) -> dict[str, tuple[float, list[Mark]]]:
    """The marked elements of triples of which something is said, by their words; names and values before predicates."""
    found: dict[str, tuple[float, list[Mark]]] = {}
    by_triple = {id: list(group) for id, group in groupby(omitted, key=lambda mark: mark.span.segment)}
    for triple in reading.pair.triples:
        marks = {mark.span.start: mark for mark in by_triple.get(triple.id, ())}
        elements = [one for one in triple.elements() if one.end > one.start]
        for element in elements if len(marks) < len(elements) else ():
            if mark := marks.get(element.start):
                words = spoken(triple.text[element.start : element.end], element.name)
                worth = _PREDICATE if element.name == "predicate" else 1.0
                found.setdefault(words.casefold(), (worth, []))[1].append(mark)
    return found


def likeness(element: str, words: str) -> float:
    """How far words look like ones that stand for an element: 0 where they do not, 1 where they are the same."""
    one, other = _WORD.findall(element.casefold()), _WORD.findall(words.casefold())
    if any(map(str.isdigit, one)) != any(map(str.isdigit, other)):
        return 0.0
    mine, theirs = _threes(one), _threes(other)
    return (1 + 2 * len(mine & theirs)) / (1 + len(mine) + len(theirs))


def _threes(words: Sequence[str]) -> set[str]:
    return {f" {word} "[n : n + 3] for word in words for n in range(len(word))}


def _score(share: float) -> float:
    return round(float(share), _PLACES)
