"""What can be told of a pair by rule, before the network is asked: dates, numbers, units, names, values as they stand.

Rules settle places: what a value of the data says, in whatever form, is neither left out nor added; what is surely
something else is both.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

import regex

from lapsus.annotators.triples.pair import Pair, spoken
from lapsus.annotators.triples.values import (
    Mention,
    mentions,
    same_amount,
    same_date,
    same_number,
    unit_in_name,
    value_of,
)
from lapsus.model import ELEMENTS

_EDGES = regex.compile(r"^[^\p{L}\p{N}]+|(?:['’]s)?[^\p{L}\p{N}]*$")
_DIGITS = regex.compile(r"\d+")
_BRACKETS = regex.compile(r"\s*\([^()]*\)")
_SHORTEST: Final = 3
"""Letters of a value that is told from the little words of a text."""
_STEM: Final = 5
"""Letters by which words are taken for forms of one word."""
_NAME: Final = 3
"""Words of a name that may be cut short by its first ones and still be known for it."""
_PRAISE: Final = frozenset(
    {
        "famous", "popular", "renowned", "well-known", "celebrated", "beautiful", "great", "notable", "prestigious",
        "acclaimed", "amazing", "stunning", "legendary", "iconic", "delicious", "talented", "impressive", "wonderful",
    }
)  # fmt: skip
"""Words that praise: content, of which the data must know."""
_LITTLE: Final = frozenset({"the", "a", "an", "of", "in", "at", "and", "de", "la", "le"})


class Settled(NamedTuple):
    """Places of a pair that rules tell: elements by number, words by number."""

    said: set[int]
    """Elements that the text says..."""
    left_out: set[int]
    """...and that it does not."""
    from_data: set[int]
    """Words that come from the data..."""
    added: set[int]
    """...and that do not."""
    values: set[int]
    """Those of the words that say a date, a number or an amount of the data, in whatever form..."""
    of_values: set[int]
    """...and the elements that they say."""
    named: set[int]
    """Words that name what the facts are about, which may be said for each of them..."""
    subjects: set[int]
    """...and the elements that they name."""


def settled(pair: Pair) -> Settled:
    """What rules tell of a pair."""
    found = Settled(*(set[int]() for _ in Settled._fields))
    _verbatim(pair, found)
    for segment in pair.texts:
        _values(pair, segment.id, mentions(segment.text), found)
    _shortened(pair, found)
    _bare_numbers(pair, found)
    given = " ".join(triple.text for triple in pair.triples).casefold()
    found.added.update(
        n
        for n, word in enumerate(pair.words)
        if (one := plain_word(word.text)) in _PRAISE and one not in given
    )
    return found._replace(from_data=found.from_data - found.added, said=found.said - found.left_out)


def plain_word(word: str) -> str:
    """A word without signs at its edges, in small letters."""
    return _EDGES.sub("", word).casefold()


def _verbatim(pair: Pair, found: Settled) -> None:
    """Names and values that stand in the text as they are."""
    words = [plain_word(word.text) for word in pair.words]
    phrases = [_phrase(part, place) for place, part in enumerate(pair.parts)]
    for place, phrase in enumerate(phrases):
        if place % 3 == 0:
            named = list(places_of(words, phrase))[: phrases[0::3].count(phrase)]
            found.named.update(chain.from_iterable(named))
            found.subjects.update({place} if named else ())
        if place % 3 == 1 or not any(len(word) >= _SHORTEST or word.isdigit() for word in phrase):
            continue
        for at in places_of(words, phrase):
            found.from_data.update(at)
            # What other facts say too may be said for them alone.
            if phrases.count(phrase) == 1:
                found.said.add(place)


def _phrase(part: str, place: int) -> tuple[str, ...]:
    apart = _BRACKETS.sub("", spoken(part, ELEMENTS[place % 3]))
    return tuple(filter(None, map(plain_word, apart.split())))


def places_of(words: Sequence[str], phrase: Sequence[str]) -> Iterator[range]:
    """Where a phrase is said."""
    size = len(phrase)
    for start in range(len(words) - size + 1 if size else 0):
        if all(words[start + n] == phrase[n] for n in range(size)):
            yield range(start, start + size)


def _values(pair: Pair, segment: str, text: Sequence[Mention], found: Settled) -> None:
    """Dates, numbers and amounts of one text against those of the data."""
    known = {
        place: value
        for place, part in enumerate(pair.parts)
        if place % 3 != 1 and (value := value_of(part)) is not None
    }
    digits = {one for triple in pair.triples for one in _DIGITS.findall(triple.text)}
    wrong: list[Mention] = []
    for mention in text:
        words = _words(pair, segment, mention.start, mention.end)
        same = [place for place, value in known.items() if _is_same(mention, value, pair, place)]
        if same:
            for elements in (found.said, found.of_values):
                elements.update(same)
            for places in (found.from_data, found.values):
                places.update(words)
        elif near := [place for place, value in known.items() if _same_but_unit(mention, value)]:
            _wrong_unit(pair, segment, mention, near[0], known[near[0]], found)
        elif mention.is_numeral and not _is_in_names(mention, digits, pair, words, found):
            found.added.update(words)
            wrong.append(mention)
    # A value of the same sort that is nowhere said was to be said there.
    for place, value in known.items():
        if place not in found.said and any(bool(one.dates) == bool(value.dates) for one in wrong):
            found.left_out.add(place)


def _is_same(mention: Mention, value: Mention, pair: Pair, place: int) -> bool:
    if value.dates or mention.dates:
        is_year = mention.number is not None and any(mention.number == date.year for date in value.dates)
        return same_date(mention, value) if value.dates and mention.dates else is_year
    if value.unit is None and mention.unit is not None:
        # The data may name the unit beside the number: `elevation_(in_metres)`.
        named = unit_in_name(pair.parts[place - place % 3 + 1])
        return named is not None and same_amount(mention, value._replace(unit=named))
    if value.unit is not None and mention.unit is None:
        return (
            mention.number is not None
            and value.number is not None
            and same_number(mention.number, value.number)
        )
    return same_amount(mention, value)


def _same_but_unit(mention: Mention, value: Mention) -> bool:
    return (
        mention.number is not None
        and value.number is not None
        and mention.unit is not None
        and same_number(mention.number, value.number)
    )


def _wrong_unit(
    pair: Pair, segment: str, mention: Mention, place: int, value: Mention, found: Settled
) -> None:
    """A number of the data with a unit that is not theirs: the unit is added; where they have another, all of it."""
    if value.unit is None:
        found.said.add(place)
        number = _words(pair, segment, mention.start, mention.number_end)
        found.from_data.update(number)
        words = _words(pair, segment, mention.number_end, mention.end)
        # Written in one with its number it can only be marked with it.
        found.added.update(words if not number.intersection(words) else words | number)
        return
    found.left_out.add(place)
    found.added.update(_words(pair, segment, mention.start, mention.end))


def _is_in_names(mention: Mention, digits: set[str], pair: Pair, words: set[int], found: Settled) -> bool:
    """Whether a number is part of something else that the data say: a name, the year of a date."""
    if words <= found.from_data:
        return True
    said = _DIGITS.findall(" ".join(pair.words[place].text for place in sorted(words)))
    return not mention.dates and all(one in digits or one.lstrip("0") in digits for one in said)


def _words(pair: Pair, segment: str, start: int, end: int) -> set[int]:
    return {
        place
        for place, word in enumerate(pair.words)
        if word.segment == segment and word.start < end and start < word.end
    }


def _shortened(pair: Pair, found: Settled) -> None:
    """Names of which the text has the end alone, without what tells them from others: left out, and the end added."""
    words = [plain_word(word.text) for word in pair.words]
    parts = pair.parts
    phrases = {_phrase(part, place) for place, part in enumerate(parts) if place % 3 != 1}
    inside = set(chain.from_iterable(phrases)) - _LITTLE
    for place, part in enumerate(parts):
        phrase = _phrase(part, place)
        if place % 3 == 1 or not _is_name(part, phrase) or place in found.said or phrase[0] in words:
            continue
        for size in range(len(phrase) - 1, 1, -1):
            end = phrase[-size:]
            at = [one for one in places_of(words, end) if found.added.isdisjoint(one)]
            if at and end not in phrases and end[0] not in _LITTLE:
                if not any(word in inside for word in words[max(at[0].start - 1, 0) : at[0].start]):
                    found.left_out.update(n for n, other in enumerate(parts) if other == part)
                    found.added.update(*at)
                break


def _bare_numbers(pair: Pair, found: Settled) -> None:
    """Predicates of numbers that stand between commas, where nothing says what they are the number of."""
    stems = {plain_word(word.text)[:_STEM] for word in pair.words}
    for n, triple in enumerate(pair.triples):
        value = value_of(triple.parts[2]) if triple.parts else None
        names = (
            {word[:_STEM] for word in _phrase(spoken(triple.parts[1], "predicate"), 0)}
            if triple.parts
            else set()
        )
        if value is None or value.number is None or 3 * n + 2 not in found.said or names & stems:
            continue
        for segment in pair.texts:
            for one in mentions(segment.text):
                before, after = segment.text[: one.start].rstrip(), segment.text[one.end :].lstrip()
                if one.number == value.number and before.endswith(",") and after.startswith(","):
                    found.left_out.add(3 * n + 1)


def _is_name(part: str, phrase: Sequence[str]) -> bool:
    """Whether it is a name of several words that says what it is only as a whole."""
    return len(phrase) >= _NAME and "," not in part and not any(map(str.isdigit, part)) and part[:1].isupper()
