"""A pair of data and text as the labeller reads it: pieces of words, in windows of what it can see at once.

A window is [CLS], then each triple's subject, predicate and object with [SEP] after it, then a stretch of the text and
[SEP]. Most pairs are one window. Where data and text are longer, the text is read in stretches that end with a sentence
if they can, and the triples beside each stretch in several windows; where they are too many for those, the ones that
share most with the stretch are read.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import regex

from lapsus.annotators.encoder.tokens import Subwords
from lapsus.language import tokens
from lapsus.model import Segment, Unit
from lapsus.model.document import ELEMENTS

DATA, TEXT = "triple", "text"
"""Roles of the segments of a pair."""
TOKENS: Final = 256
"""Pieces that a window has at most."""
PART: Final = 24
"""Pieces of an element that are read."""
STRETCH: Final = 112
"""Pieces of a text that are read at once, where data and text do not fit one window."""
STRETCHES: Final = 16
"""Stretches of a text that are read; what follows is left unmarked."""
WINDOWS: Final = 4
"""Windows of triples for each stretch."""
_REMEMBERED: Final = 1 << 14
_HUMP = regex.compile(r"(\p{Ll})(\p{Lu})")
_SPOKEN = regex.compile(r"[\p{L}\p{N}]")
_END = regex.compile(r"[.!?]['\")\]]*$")


class Word(NamedTuple):
    """A word of a text, which is marked as a whole, and which of the pair's pieces are its own."""

    segment: str
    start: int
    end: int
    text: str
    first: int
    last: int


class Pair(NamedTuple):
    """Data and text, taken apart."""

    triples: tuple[Segment, ...]
    texts: tuple[Segment, ...]
    elements: list[tuple[int, ...]]
    """The pieces of each element of each triple, in order."""
    words: list[Word]
    pieces: list[int]
    """Those of the text..."""
    spoken: list[bool]
    """...and which of them are more than signs."""

    @property
    def parts(self) -> list[str]:
        """The elements of all triples as they are written; three in a row are of one triple."""
        return [part for triple in self.triples for part in triple.parts or ()]


class Window(NamedTuple):
    """What is read at once."""

    ids: list[int]
    segment: list[int]
    elements: list[tuple[int, int, int]]
    """Which elements are in it, and where the pieces of each begin and end."""
    first: int
    """Which piece of the text is the first in it..."""
    at: int
    """...where that one stands..."""
    size: int
    """...and how many there are."""


class Pairs:
    """Takes pairs apart."""

    def __init__(self, subwords: Subwords) -> None:
        self._subwords = subwords
        # The same elements come up in many pairs.
        self._element = lru_cache(maxsize=_REMEMBERED)(lambda text: tuple(subwords.ids(text)[:PART]))
        self._begin, self._end = (subwords.id_of(token) for token in ("[CLS]", "[SEP]"))

    def pair(self, triples: Sequence[Segment], texts: Sequence[Segment], language: str | None) -> Pair:
        """Data and text in pieces."""
        elements = [
            self._element(spoken(part, name))
            for triple in triples
            for name, part in zip(ELEMENTS, triple.parts or (), strict=True)
        ]
        words: list[Word] = []
        pieces: list[int] = []
        said: list[bool] = []
        for segment in texts:
            found = self._subwords.pieces(segment.text)
            place = 0
            for token in tokens(segment.text, language):
                first = place
                while place < len(found) and found[place].start < token.end:
                    place += 1
                text = segment.text[token.start : token.end]
                words.append(Word(segment.id, *token, text, len(pieces) + first, len(pieces) + place))
            pieces += [piece.id for piece in found]
            said += [_SPOKEN.search(segment.text, one.start, one.end) is not None for one in found]
        return Pair(tuple(triples), tuple(texts), elements, words, pieces, said)

    def windows(self, pair: Pair) -> Iterator[Window]:
        """What is to be read of a pair."""
        count = len(pair.triples)
        sizes = [1 + sum(map(len, pair.elements[3 * n : 3 * n + 3])) for n in range(count)]
        if 2 + sum(sizes) + len(pair.pieces) <= TOKENS:
            yield self._window(pair, range(count), 0, len(pair.pieces))
            return
        parts = [frozenset(element) for element in pair.elements]
        for first, last in _stretches(pair):
            for group in _groups(parts, sizes, pair.pieces[first:last]):
                yield self._window(pair, group, first, last)

    def _window(self, pair: Pair, triples: Sequence[int], first: int, last: int) -> Window:
        ids = [self._begin]
        places: list[tuple[int, int, int]] = []
        for triple in triples:
            for element in range(3 * triple, 3 * triple + 3):
                start = len(ids)
                ids += pair.elements[element]
                places.append((element, start, len(ids)))
            ids.append(self._end)
        at = len(ids)
        ids += pair.pieces[first:last]
        ids.append(self._end)
        return Window(ids, [0] * at + [1] * (len(ids) - at), places, first, at, last - first)


def parts_of(unit: Unit) -> tuple[list[Segment], list[Segment], str | None]:
    """The triples and the texts of a unit, and its language."""
    triples, texts = ([one for one in unit.visible if one.role == role] for role in (DATA, TEXT))
    return triples, texts, unit.language


def spoken(part: str, name: str) -> str:
    """An element as one would say it: `Ida_Vale` and `recordLabel` without what only data has."""
    apart = part.replace("_", " ")
    return _HUMP.sub(r"\1 \2", apart) if name == "predicate" else apart.strip().strip('"')


def ends_sentence(word: str) -> bool:
    """Whether a sentence ends with a word, as it is written."""
    return _END.search(word) is not None


def _stretches(pair: Pair) -> Iterator[tuple[int, int]]:
    """Where the stretches of a text begin and end. No word is cut, unless it is longer than a stretch."""
    first, ended, last, given = 0, 0, 0, 0
    for word in pair.words:
        while word.last - first > STRETCH:
            # Back to the end of a sentence, if that leaves more than half.
            cut = ended if ended - first > STRETCH // 2 else last if last > first else first + STRETCH
            yield first, cut
            first, given = cut, given + 1
            if given == STRETCHES:
                return
        last = word.last
        if ends_sentence(word.text):
            ended = last
    if first < len(pair.pieces) or not pair.pieces:
        yield first, len(pair.pieces)


def _groups(
    parts: Sequence[frozenset[int]], sizes: Sequence[int], stretch: Sequence[int]
) -> Iterator[list[int]]:
    """The triples beside a stretch, as many together as there is room for."""
    room = TOKENS - 2 - len(stretch)
    order: Sequence[int] = range(len(sizes))
    if sum(sizes) > room * WINDOWS:
        order = _nearest(parts, sizes, stretch, room * WINDOWS)
    group: list[int] = []
    used = given = 0
    for triple in order:
        if used + sizes[triple] > room:
            yield group
            group, used, given = [], 0, given + 1
            if given == WINDOWS:
                return
        group.append(triple)
        used += sizes[triple]
    if group or not given:
        yield group


def _nearest(
    parts: Sequence[frozenset[int]], sizes: Sequence[int], stretch: Sequence[int], room: int
) -> list[int]:
    """The triples of which most is found in a stretch, in their own order, until the room is full."""
    said = frozenset(stretch)
    found = [len(part & said) / len(part) if part else 0.0 for part in parts]
    # The object tells most: a record has one subject and few predicates.
    shares = [found[n] + found[n + 1] + 2 * found[n + 2] for n in range(0, len(found), 3)]
    kept, used = [], 0
    for triple in sorted(range(len(sizes)), key=lambda n: -shares[n]):
        if used + sizes[triple] > room:
            break
        used += sizes[triple]
        kept.append(triple)
    return sorted(kept)
