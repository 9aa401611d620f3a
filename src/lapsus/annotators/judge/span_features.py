"""Places to mark, and what is known of each: is it said on the other side, was it said before, what does it mean.

A place is a word of a text, or an element of a triple: whatever is marked as a whole. The other side is what a text
was made from, or a triple was made into; for a turn it is what it answers.

Of pairs of data and text the shipped reader says how likely each place is left out, added or repeated. A judge of marks
on them goes on from there: it learns what the people of a campaign make of it, under whatever labels they have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import regex
from numpy.typing import NDArray

from lapsus.annotators.judge.features import Vectors
from lapsus.annotators.model_files import SHIPPED, fingerprint, read_model
from lapsus.annotators.triples.labeller import GRAPH, LONG_GRAPH, Labeller, Reading
from lapsus.annotators.triples.pair import DATA, TEXT, parts_of
from lapsus.errors import UsageError
from lapsus.language import tokens
from lapsus.model import Label, Segment, Unit
from lapsus.model.document import ELEMENTS

Matrix: TypeAlias = NDArray[np.float32]

LONGEST: Final = 600
"""Places of a segment that are looked at."""
MEANING: Final = 48
"""Main axes of the places' vectors that stand in a row."""
_OTHER_SIDE: Final = 5_000
"""Places of the other side that are looked at..."""
_MEANT: Final = 200
"""...and how many of them a place is compared with by meaning."""
_AROUND: Final = (-2, -1, 1, 2)
_WORD = regex.compile(
    r"\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+(?!\p{Ll})|[\p{Han}\p{Hiragana}\p{Katakana}]|\p{N}+(?:[.,]\p{N}+)*|\p{L}+"
)
_STEM: Final = 4


class Place(NamedTuple):
    """Something that can be marked."""

    segment: str
    start: int
    end: int
    text: str
    element: int
    """Which element of a triple, from 1; 0: a word."""


def places_for(unit: Unit, label: Label) -> list[list[Place]]:
    """What a label can be put on in a unit, segment by segment."""
    on = [segment for segment in unit.visible if segment.role == label.on]
    if unit.target is not None and unit.target.role == label.on:
        on = [unit.target]
    return [_places(segment, unit.language) for segment in on]


def _places(segment: Segment, language: str | None, most: int = LONGEST) -> list[Place]:
    if segment.parts is not None:
        found = [(e.start, e.end, 1 + ELEMENTS.index(e.name)) for e in segment.elements()]
    else:
        found = [(token.start, token.end, 0) for token in tokens(segment.text, language)]
    text = segment.text
    return [Place(segment.id, start, end, text[start:end], what) for start, end, what in found[:most]]


class Meaning(NamedTuple):
    """Vectors of places on their main axes."""

    mean: Matrix
    axes: Matrix

    @classmethod
    def of(cls, vectors: Matrix) -> Meaning:
        """The main axes of some vectors."""
        mean = vectors.mean(axis=0)
        axes = np.linalg.svd((vectors - mean).astype(np.float64), full_matrices=False)[2].T[:, :MEANING]
        missing = MEANING - axes.shape[1]
        return cls(mean, np.pad(axes, ((0, 0), (0, max(missing, 0)))).astype(np.float32))

    def rows(self, vectors: Matrix) -> Matrix:
        """Where vectors stand on the axes."""
        found: Matrix = ((vectors - self.mean) @ self.axes).astype(np.float32)
        return found


class PlaceFeatures(NamedTuple):
    """What is seen of the places of one unit: numbers, and the vector of each place."""

    places: list[Place]
    numbers: Matrix
    vectors: Matrix


def place_features(
    units: Sequence[tuple[Unit, list[list[Place]]]], vectors: Vectors, readings: PairReadings | None
) -> list[PlaceFeatures]:
    """What is seen of the places of some units, and where there is a reader what it says of them."""
    names: dict[str, None] = {}
    others = [_other_side(unit, groups) for unit, groups in units]
    for (_, groups), other in zip(units, others, strict=True):
        names.update((_plain(place.text), None) for group in groups for place in group)
        names.update((_plain(place.text), None) for place in other[:_MEANT])
    known = dict(zip(names, vectors.of(list(names)), strict=True))
    found = [
        _features_of(groups, other, known, vectors.width)
        for (_, groups), other in zip(units, others, strict=True)
    ]
    if readings is None:
        return found
    return [
        seen._replace(numbers=np.hstack([seen.numbers, rows]))
        for seen, rows in zip(found, readings.rows(units), strict=True)
    ]


def _other_side(unit: Unit, groups: Sequence[Sequence[Place]]) -> list[Place]:
    """The places of what stands on the other side."""
    mine = {group[0].segment for group in groups if group}
    roles = {segment.role for segment in unit.visible if segment.id in mine}
    return [
        place
        for segment in unit.visible
        if segment.id not in mine and segment.role not in roles
        for place in _places(segment, unit.language, _OTHER_SIDE)
    ]


def _features_of(
    groups: Sequence[Sequence[Place]], other: Sequence[Place], known: Mapping[str, Matrix], width: int
) -> PlaceFeatures:
    places = [place for group in groups for place in group]
    if not places:
        return PlaceFeatures([], np.zeros((0, _WIDTH), np.float32), np.zeros((0, width), np.float32))
    mine = np.array([known[_plain(place.text)] for place in places], dtype=np.float32)
    theirs = np.array([known[_plain(place.text)] for place in other[:_MEANT]], dtype=np.float32)
    alike = mine @ theirs.T if len(theirs) else np.zeros((len(places), 1), np.float32)
    words = [_words(place.text) for place in places]
    heard = _Heard([word for place in other for word in _words(place.text)])
    before: Counter[object] = Counter()
    rows, start = [], 0
    for group in groups:
        covered = [heard.covers(words[start + n]) for n in range(len(group))]
        mean = float(np.mean([one[0] for one in covered])) if covered else 0.0
        for n, place in enumerate(group):
            said, previous = words[start + n], words[start + n - 1] if n else []
            pair = (tuple(previous), tuple(said))
            rows.append(
                [
                    *covered[n], mean, float(alike[start + n].max()), not other,
                    before[tuple(said)] > 0, before[pair] > 0, min(before[tuple(said)], 3),
                    any(word.isdigit() for word in said), place.text[:1].isupper(), np.log1p(len(place.text)),
                    not said, n / max(len(group), 1), n == 0, n == len(group) - 1,
                    *(place.element == which for which in (1, 2, 3)),
                ]
            )  # fmt: skip
            before[tuple(said)] += 1
            before[pair] += 1
        start += len(group)
    base = np.array(rows, dtype=np.float32)
    return PlaceFeatures(places, np.hstack([base, *_neighbours(base, groups)]), mine)


_BASE: Final = 22
_NEAR: Final = 10
"""Of how many of the first numbers those of the places around are given too."""
_WIDTH: Final = _BASE + len(_AROUND) * _NEAR


def _neighbours(base: Matrix, groups: Sequence[Sequence[Place]]) -> list[Matrix]:
    """The first numbers of the places around, within a segment."""
    group = np.repeat(np.arange(len(groups)), [len(one) for one in groups])
    found = []
    for step in _AROUND:
        places = np.arange(len(base)) + step
        inside = (places >= 0) & (places < len(base))
        places = np.clip(places, 0, len(base) - 1)
        inside &= group[places] == group
        found.append(np.where(inside[:, None], base[places, :_NEAR], 0))
    return found


class _Heard:
    """The words of the other side."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = set(words)
        self.stems = {word[:_STEM] for word in words if len(word) >= _STEM}
        self.whole = "".join(words)
        self.pieces = {word[n : n + 3] for word in self.words for n in range(max(len(word) - 2, 1))}
        self.numbers = {word for word in self.words if word[:1].isdigit()}

    def covers(self, words: Sequence[str]) -> list[float]:
        """How far words are said here: as they are, by their beginnings, in pieces; all of them, and their numbers."""
        if not words:
            return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        exact = [word in self.words for word in words]
        stems = [had or word[:_STEM] in self.stems for had, word in zip(exact, words, strict=True)]
        pieces = [
            float(np.mean([word[n : n + 3] in self.pieces for n in range(max(len(word) - 2, 1))]))
            for word in words
        ]
        numbers = [word for word in words if word[:1].isdigit()]
        wrong = bool(numbers) and bool(self.numbers) and not any(word in self.numbers for word in numbers)
        return [float(np.mean(exact)), float(np.mean(stems)), float(np.mean(pieces)), float(all(exact)),
                float("".join(words) in self.whole), float(wrong)]  # fmt: skip


def _words(text: str) -> list[str]:
    """The words in a place, also in `recordLabel` and `Ida_Vale`, in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def _plain(text: str) -> str:
    """A place as its meaning is looked up."""
    return " ".join(_words(text)) or text


# The shipped reader of data and text.

LANGUAGE: Final = "en"
_MODELS: Final = ("semantic-errors-en", "breakdown-en")
"""The model with the reader, and the one whose lower layers it goes on from."""
_Said: TypeAlias = dict[tuple[str, int, int], tuple[float, float, float]]
"""For places by segment, start and end the logits of left out, added and repeated."""
_NUMBERS: Final = 3
WIDTH: Final = 3 * _NUMBERS
"""Of a place itself, of the one before it and of the one after it."""
_LEAST: Final = 1e-3
"""The share below which, and above one less which, differences say nothing."""


def can_read(units: Sequence[Unit]) -> bool:
    """Whether all units are pairs of data and text that the reader can read."""
    return all(
        unit.language in (None, LANGUAGE) and {DATA, TEXT} <= {one.role for one in unit.visible}
        for unit in units
    )


class PairReadings:
    """Asks the shipped reader, which learned judges know by its fingerprint. UsageError where it has another."""

    def __init__(self, fingerprint: str | None = None) -> None:
        self._labeller, self.fingerprint = _shipped()
        """Of the reader: what was learned from one fits no other."""
        if fingerprint not in (None, self.fingerprint):
            raise UsageError("learned-another-reader-pairs")
        self._latest: tuple[list[Unit], list[_Said]] = [], []

    def rows(self, units: Sequence[tuple[Unit, Sequence[Sequence[Place]]]]) -> list[Matrix]:
        """For each unit a row a place; zeros where it was not read."""
        said = self._said([unit for unit, _ in units])
        return [_rows(groups, one) for (_, groups), one in zip(units, said, strict=True)]

    def _said(self, units: list[Unit]) -> list[_Said]:
        """What is said of some units: those of the latest call are not read again, for they come once for each side."""
        known, found = self._latest
        if len(known) != len(units) or any(a is not b for a, b in zip(known, units, strict=True)):
            which = [unit for unit in units if can_read([unit])]
            read = iter(self._labeller.read([parts_of(unit) for unit in which]))
            found = [_logits(next(read)) if can_read([unit]) else {} for unit in units]
            self._latest = units, found
        return found


def _logits(reading: Reading) -> _Said:
    """What was read of elements and words."""
    found: _Said = {}
    for n, triple in enumerate(reading.pair.triples):
        for element, share in zip(triple.elements(), reading.omitted[3 * n : 3 * n + 3], strict=True):
            found[triple.id, element.start, element.end] = (_logit(share), 0.0, 0.0)
    for word, added, repeated in zip(reading.pair.words, reading.added, reading.repeated, strict=True):
        found[word.segment, word.start, word.end] = (0.0, _logit(added), _logit(repeated))
    return found


def _logit(share: float) -> float:
    """0 for what was not read."""
    kept = min(max(share, _LEAST), 1 - _LEAST)
    return float(np.log(kept / (1 - kept))) if np.isfinite(share) else 0.0


def _rows(groups: Sequence[Sequence[Place]], said: _Said) -> Matrix:
    nothing = (0.0,) * _NUMBERS
    blocks: list[NDArray[np.float32]] = [np.zeros((0, WIDTH), np.float32)]
    for group in groups:
        own = np.array(
            [nothing, *(said.get((p.segment, p.start, p.end), nothing) for p in group), nothing], np.float32
        )
        blocks.append(np.hstack([own[1:-1], own[:-2], own[2:]]))
    return np.vstack(blocks)


@cache
def _shipped() -> tuple[Labeller, str]:
    reader, lower = (read_model(SHIPPED / f"{name}.lapsus")[1] for name in _MODELS)
    below = str(reader.data["reader_data"]["lower"])
    return Labeller(reader.files[GRAPH], below, reader.files[LONG_GRAPH]), fingerprint(reader, lower)
