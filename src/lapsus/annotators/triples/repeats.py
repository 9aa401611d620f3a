"""What a text says twice in the same words though the data give it once, told by rule.

The labeller learned from whole sentences that come again. A phrase that comes again within a sentence it hardly sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Final

from lapsus.annotators.triples.pair import Pair, ends_sentence, spoken
from lapsus.annotators.triples.rules import plain_word
from lapsus.annotators.triples.values import mentions, same_amount, value_of
from lapsus.model import ELEMENTS

Phrase = tuple[str, ...]
_SHORTEST: Final = 3
"""Letters of a value that is told from the little words of a text; digits are always."""


def said_again(pair: Pair) -> list[range]:
    """Where words say a value once more: all that is the same around it, too.

    A value is the object of one triple and stands nowhere else in the data: subjects are named as often as one likes.
    """
    words = [plain_word(word.text) for word in pair.words]
    given, values = _given(pair)
    taken: set[int] = set()
    found: list[range] = []
    # Longest first: a name within a longer name is not said by itself.
    for phrase in sorted(given, key=lambda one: -len(one)):
        places = [at for at in _places(words, phrase) if taken.isdisjoint(at)]
        taken.update(chain.from_iterable(places))
        if phrase in values and given[phrase] == 1 and len(places) > 1:
            found += [_wider(pair, words, places[0], place) for place in places[1:]]
    return found


def with_neighbours(pair: Pair, place: range) -> range:
    """A place with the word before it and the word after it, within the sentence."""
    words = pair.words
    before = place.start > 0 and not ends_sentence(words[place.start - 1].text)
    after = place.stop < len(words) and not ends_sentence(words[place.stop - 1].text)
    return range(place.start - before, place.stop + after)


def _given(pair: Pair) -> tuple[Counter[Phrase], set[Phrase]]:
    """How often the data give each phrase, within others too, and which of them are values."""
    parts = [
        tuple(filter(None, map(plain_word, spoken(part, name).split())))
        for triple in pair.triples
        for name, part in zip(ELEMENTS, triple.parts or (), strict=True)
    ]
    names, texts = {*parts[0::3], *parts[2::3]} - {()}, [" ".join(part) for part in parts]
    given = Counter({name: sum(" ".join(name) in text for text in texts) for name in names})
    return given, {value for value in parts[2::3] if _tells(value)}


def _tells(value: Phrase) -> bool:
    return any(len(word) >= _SHORTEST or word[:1].isdigit() for word in value)


def _places(words: Sequence[str], phrase: Phrase) -> list[range]:
    """Where a phrase is said, or an amount in another unit."""
    size, amount = len(phrase), value_of(" ".join(phrase))
    found = [range(n, n + size) for n in range(len(words) - size + 1) if tuple(words[n : n + size]) == phrase]
    if amount is not None and amount.unit is not None and not found:
        for n in range(len(words) - 1):
            match mentions(" ".join(words[n : n + 2])):
                case [one] if one.start == 0 and one.unit is not None and same_amount(one, amount):
                    found.append(range(n, n + 2))
    return found


def _wider(pair: Pair, words: Sequence[str], first: range, second: range) -> range:
    """The second place with the words before and after it that are those of the first, within a sentence."""
    start, stop, back = second.start, second.stop, second.start - first.start
    while _same(words, start - 1, back) and start - 1 - back >= 0 and start - 1 >= stop - back:
        if ends_sentence(pair.words[start - 1].text):
            break
        start -= 1
    while stop < len(words) and stop - back < start and _same(words, stop, back):
        if ends_sentence(pair.words[stop - 1].text):
            break
        stop += 1
    return range(start, stop)


def _same(words: Sequence[str], place: int, back: int) -> bool:
    return place >= back and words[place] != "" and words[place] == words[place - back]
