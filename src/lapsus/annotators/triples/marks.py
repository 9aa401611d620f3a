"""From the labeller's probabilities to marks on whole elements and words, and ties between additions and omissions.

Tied are an omission and an addition where a wrong value is said in the place of the right one. The probabilities from
which marks are made, and how many are expected, can be brought to what people marked.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np
import regex

from lapsus.annotators.marks import best_threshold, without_edges
from lapsus.annotators.triples.labeller import Reading, Shares
from lapsus.annotators.triples.pair import Word, spoken
from lapsus.model import Span

OMISSION, ADDITION, REPETITION = LABELS = ("omission", "addition", "repetition")
_WORD = regex.compile(r"[\p{L}\p{M}]+|\p{N}+")
_PLACES: Final = 4
"""Decimals of a score."""
_PREDICATE: Final = 0.5
"""The factor for the likeness to a predicate: words rarely stand in the place of one."""


class Cuts(NamedTuple):
    """For each label the probability from which a place is marked."""

    omission: float
    addition: float
    repetition: float


class Mark(NamedTuple):
    """A mark, and the mean probability of what it marks."""

    span: Span
    score: float


def marks_of(reading: Reading, cuts: Cuts) -> list[Mark]:
    """The marks on a pair, sorted by their spans. A text that was to choose from its data omits nothing."""
    omitted = [] if reading.is_selection else list(_omissions(reading, cuts.omission))
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
    left_out = _left_out(reading, omitted)
    alike = [
        (likeness(name, said[mark]) * worth, -n, -m, name, mark)
        for n, (name, (worth, _)) in enumerate(left_out.items())
        for m, mark in enumerate(added)
    ]
    ties: dict[str, Mark] = {}
    for share, _, _, name, mark in sorted(alike, key=lambda one: one[:3], reverse=True):
        if share > 0 and name not in ties and mark not in ties.values():
            ties[name] = mark
    names = (name for name in left_out if name in ties)
    numbers = {
        mark: f"t{number}"
        for number, name in enumerate(names, 1)
        for mark in (ties[name], *left_out[name][1])
    }
    for mark in (*omitted, *added):
        span = mark.span
        yield Mark(Span(span.segment, span.start, span.end, span.label, numbers.get(mark)), mark.score)


def _left_out(reading: Reading, omitted: Sequence[Mark]) -> dict[str, tuple[float, list[Mark]]]:
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
    """How alike an element and words are: Dice's coefficient of their character trigrams, smoothed by one.

    0 where only one of them has a number: a number does not stand for a name.
    """
    one, other = _WORD.findall(element.casefold()), _WORD.findall(words.casefold())
    if any(map(str.isdigit, one)) != any(map(str.isdigit, other)):
        return 0.0
    mine, theirs = _trigrams(one), _trigrams(other)
    return (1 + 2 * len(mine & theirs)) / (1 + len(mine) + len(theirs))


def _trigrams(words: Sequence[str]) -> set[str]:
    """The character trigrams of words, each with a space on both sides."""
    return {f" {word} "[n : n + 3] for word in words for n in range(len(word))}


def _score(share: float) -> float:
    return round(float(share), _PLACES)


_CUTS: Final = tuple(np.linspace(0.05, 0.95, 37))
Answers = Sequence[Sequence[Span]]
"""What each of some people marked in one pair."""


def fitted_cuts(readings: Sequence[Reading], answers: Sequence[Answers], before: Cuts) -> Cuts:
    """For each label the share from which marks agree best with people's; as before where they marked nothing."""
    cuts = {}
    for label in LABELS:
        shares, targets = [], []
        for reading, given in zip(readings, answers, strict=True):
            for segment, start, end, share in places(reading, label):
                shares.append(share)
                targets.append(_share(given, label, segment, start, end))
        said, wanted = np.array(shares), np.array(targets)
        cuts[label] = best_threshold(said, wanted, _CUTS) if wanted.any() else getattr(before, label)
    return Cuts(**cuts)


def places(reading: Reading, label: str) -> list[tuple[str, int, int, float]]:
    """What a label can be put on in a pair, as far as it was read: segment, start, end and the labeller's share."""
    if label == OMISSION:
        whole = [
            (triple.id, element.start, element.end, float(reading.omitted[3 * n + m]))
            for n, triple in enumerate(reading.pair.triples)
            for m, element in enumerate(triple.elements())
        ]
    else:
        shares = {ADDITION: reading.added, REPETITION: reading.repeated}[label]
        words = zip(reading.pair.words, shares.tolist(), strict=True)
        whole = [(word.segment, word.start, word.end, share) for word, share in words]
    return [place for place in whole if np.isfinite(place[3])]


def mark_ratios(expected: Shares, answers: Sequence[Answers]) -> Shares:
    """For each label how many marks people made for one that was expected, held at 1 by one mark of each."""
    made = np.array(
        [
            sum(sum(span.label == label for one in given for span in one) / len(given) for given in answers)
            for label in LABELS
        ]
    )
    found: Shares = (made + 1) / (expected.sum(axis=0) + 1)
    return found


def _share(given: Answers, label: str, segment: str, start: int, end: int) -> float:
    """The share of people who marked a place."""
    return float(
        np.mean(
            [
                any(
                    span.label == label and span.segment == segment and span.start < end and start < span.end
                    for span in one
                )
                for one in given
            ]
        )
    )
