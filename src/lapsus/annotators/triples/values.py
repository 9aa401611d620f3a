"""Dates, numbers and amounts with units, however written: 10,252 and 10252, 2400 m and 2.4 km, 32 °F and 0 °C."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final, Literal, NamedTuple

import regex
import yaml

_NUMERAL: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_SCALES: Final = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 10**12}
_MEASURES: Final[dict[str, dict[str, list[str]]]] = yaml.safe_load(
    Path(__file__).with_name("units.yaml").read_text(encoding="utf-8")
)
_SINGULAR: Final = 3
"""Letters of a unit's name up to which it is a sign, and has no plural."""
_SIGNS_BEFORE: Final = ("US$", "$", "€", "£", "¥", "₹")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_DATES: Final = (
    *(
        regex.compile(rf"(?<![\w-]){form}(?![\w-])", regex.IGNORECASE)
        for form in (
            rf"{_YEAR}[-/.](?P<number>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
            rf"(?:the\s+)?{_DAY}[\s-]+(?:day\s+)?(?:of\s+)?{_MONTH},?(?:(?:\s+(?:of\s+)?|-){_YEAR})?",
            rf"{_MONTH}\s+(?:the\s+)?{_DAY},?(?:\s+{_YEAR})?",
            rf"{_MONTH},?\s+(?:of\s+)?{_YEAR}",
            r"(?P<first>\d{1,2})[/.](?P<second>\d{1,2})[/.](?P<year>\d{4})",
        )
    ),
    regex.compile(r"(?P<year>\d{4})年(?:(?P<number>\d{1,2})月)?(?:(?P<day>\d{1,2})日)?"),
)
_SMALL: Final = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


class Date(NamedTuple):
    """A day, or as much of it as is said."""

    year: int | None
    month: int | None
    day: int | None


class Unit(NamedTuple):
    """What a number counts: a measure, and how much of it one is; Celsius and Fahrenheit by their letters."""

    measure: str
    size: str


class Mention(NamedTuple):
    """A date or a number where it stands in a text."""

    start: int
    end: int
    """With its unit, if it has one."""
    number_end: int
    dates: frozenset[Date] = frozenset()
    """All that it may be read as; empty for a number."""
    number: Decimal | None = None
    unit: Unit | None = None
    is_numeral: bool = True
    """Whether it is written in digits."""


def _units() -> Iterator[tuple[str, Unit]]:
    for measure, sizes in _MEASURES.items():
        for size, names in sizes.items():
            for name in names:
                plain = name.replace("-", " ")
                yield plain, Unit(measure, size)
                if len(name) > _SINGULAR and plain[-1:].isalpha() and not plain.endswith("s"):
                    yield f"{plain}s", Unit(measure, size)


_UNITS: Final = dict(_units())
_POUNDS: Final = {_UNITS["£"], _UNITS["pound"]}
"""A pound may be money or a weight; the sign tells which is meant."""
_LOWER: Final = {name.lower(): unit for name, unit in _UNITS.items() if len(name) > _SINGULAR}
_NAMES: Final = "|".join(regex.escape(name) for name in sorted(_UNITS, key=len, reverse=True))
_BEFORE: Final = "|".join(regex.escape(sign) for sign in _SIGNS_BEFORE)
_AMOUNT: Final = regex.compile(
    rf"(?P<before>{_BEFORE})?\s?(?<![\w.,/])(?P<number>{_NUMERAL})(?:[\s-](?P<scale>{'|'.join(_SCALES)})\b)?"
    rf"(?P<number_end>)(?:[\s-]?(?P<unit>(?i:{_NAMES})))?(?![\p{{L}}\d])"
)
_PLAIN: Final = regex.compile(
    rf"(?<![\p{{L}}\d.,/])(?P<number>{_NUMERAL})(?:[\s-](?P<scale>{'|'.join(_SCALES)})\b)?"
)
_WORDS: Final = regex.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[\s-](?P<ones>{'|'.join(_SMALL[1:10])}))?|(?P<small>{'|'.join(_SMALL)}))\b",
    regex.IGNORECASE,
)


def mentions(text: str) -> list[Mention]:
    """All dates and numbers of a text, in order; none within another."""
    found: list[Mention] = []
    for one in chain(_dates(text), _amounts(text), _in_words(text)):
        if not any(one.start < other.end and other.start < one.end for other in found):
            found.append(one)
    return sorted(found, key=lambda one: one.start)


@lru_cache(maxsize=1 << 14)
def value_of(text: str) -> Mention | None:
    """The one date or number, with its unit or without, that a value of the data is; None for anything else."""
    plain = regex.sub(r'["“”]|\^\^.*$|@\w+$', "", text.replace("_", " ")).strip()
    plain = regex.sub(r"\s*\((?:in )?([^()]*)\)$", r" \1", plain).strip()
    found = mentions(plain)
    if len(found) != 1 or found[0].start > 0 or not found[0].is_numeral:
        return None
    rest = plain[found[0].end :].strip(" .")
    if not rest:
        return found[0]
    # A unit that is not known here is a unit all the same.
    return (
        found[0]._replace(unit=Unit(rest.lower(), "1")) if rest.isalpha() and found[0].unit is None else None
    )


@lru_cache(maxsize=1 << 12)
def unit_in_name(predicate: str) -> Unit | None:
    """The unit that a predicate names: `elevation_(in_metres)`, `runtime (minutes)`, `weightKg`."""
    words = regex.sub(r"(\p{Ll})(\p{Lu})", r"\1 \2", predicate).replace("_", " ")
    for word in reversed(regex.findall(r"[\p{L}°²³/%$€£]+", words)):
        unit = _LOWER.get(word.lower()) or (_UNITS.get(word) if f"({word})" in words else None)
        if unit is not None and unit.measure != "time":
            return unit
        if unit is not None and f"{word})" in words:
            return unit
    return None


def same_amount(one: Mention, other: Mention) -> bool:
    """Whether two numbers with units are as much, allowing for rounding where they are not in the same unit."""
    if one.number is None or other.number is None:
        return False
    if one.unit == other.unit:
        return same_number(one.number, other.number)
    if {one.unit, other.unit} == _POUNDS:
        return same_number(one.number, other.number)
    if one.unit is None or other.unit is None or one.unit.measure != other.unit.measure:
        return False
    a, b = _base(one.number, one.unit), _base(other.number, other.unit)
    return abs(a - b) <= Decimal("0.005") * max(abs(a), abs(b)) or _is_rounded(a, b, one, other)


def same_number(one: Decimal, other: Decimal) -> bool:
    """Whether two numbers are the same, or one is the other rounded to two digits or more."""
    if one == other:
        return True
    rough, exact = sorted((one, other), key=lambda number: -int(number.normalize().as_tuple().exponent))
    places = int(rough.normalize().as_tuple().exponent)
    if (
        places > 0
        or len(rough.normalize().as_tuple().digits) < 2
        or places == exact.normalize().as_tuple().exponent
    ):
        return False
    return abs(one - other) <= Decimal(5).scaleb(places - 1)


def same_date(one: Mention, other: Mention) -> bool:
    """Whether two dates may be the same day; what one of them leaves out counts for nothing."""
    return any(
        all(a is None or b is None or a == b for a, b in zip(mine, theirs, strict=True))
        for mine in one.dates
        for theirs in other.dates
    )


def _is_rounded(a: Decimal, b: Decimal, one: Mention, other: Mention) -> bool:
    """Whether amounts differ by no more than half of the last digit of either."""
    for number, unit, off in ((one.number, one.unit, a - b), (other.number, other.unit, a - b)):
        if number is None or unit is None or unit.size in ("C", "F"):
            continue
        last = Decimal(5).scaleb(int(number.as_tuple().exponent) - 1) * Decimal(unit.size)
        if abs(off) <= last and len(number.as_tuple().digits) > 1:
            return True
    return False


def _base(number: Decimal, unit: Unit) -> Decimal:
    if unit.size == "C":
        return number + Decimal("273.15")
    if unit.size == "F":
        return (number - 32) * 5 / 9 + Decimal("273.15")
    return number * Decimal(unit.size)


def _dates(text: str) -> Iterator[Mention]:
    for form in _DATES:
        for one in form.finditer(text):
            parts = one.groupdict()
            year, day = parts.get("year"), parts.get("day")
            months = [parts[name] for name in ("number",) if parts.get(name)]
            read: list[tuple[str | int | None, str | None]] = [(months[0] if months else None, day)]
            if name := parts.get("month"):
                read = [(1 + _MONTHS.index(name[:3].lower()), day)]
            elif parts.get("first"):
                read = [(parts["second"], parts["first"]), (parts["first"], parts["second"])]
            dates = frozenset(
                Date(int(year) if year else None, int(month) if month else None, int(on) if on else None)
                for month, on in read
                if (month is None or 1 <= int(month) <= 12) and (on is None or 1 <= int(on) <= 31)
            )
            if dates:
                yield Mention(one.start(), one.end(), one.end(), dates)


def _amounts(text: str) -> Iterator[Mention]:
    place = 0
    while place < len(text):
        one = _AMOUNT.search(text, place) or None
        plain = _PLAIN.search(text, place)
        if plain is not None and (one is None or plain.start() < one.start("number")):
            one = None if one is None or plain.start() < one.start() else one
        if one is None and plain is None:
            return
        match = one or plain
        assert match is not None  # noqa: S101
        named = match.groupdict()
        sign = named.get("before")
        unit = named.get("unit")
        known = _UNITS.get(unit or "") or _LOWER.get((unit or "").lower()) or _UNITS.get(sign or "")
        end = (
            match.end()
            if known is not None and unit
            else (match.end("scale") if named["scale"] else match.end("number"))
        )
        number_end = match.end("scale") if named["scale"] else match.end("number")
        start = match.start("before") if sign else match.start("number")
        number = Decimal(match["number"].replace(",", "")) * _SCALES.get(named["scale"] or "", 1)
        # "1990s" is a decade and "21st" no number; a name such as "A330-200" has none of its own either.
        is_decade = unit == "s" and text[number_end : number_end + 1] == "s"
        if not is_decade and (
            not regex.match(r"\p{L}", text, pos=number_end) or (known is not None and unit)
        ):
            yield Mention(start, end, number_end, number=number, unit=known)
        place = max(end, place + 1)


def _in_words(text: str) -> Iterator[Mention]:
    for one in _WORDS.finditer(text):
        if one["small"]:
            value = _SMALL.index(one["small"].lower())
        else:
            value = 20 + 10 * _TENS.index(one["tens"].lower())
            value += _SMALL.index(one["ones"].lower()) if one["ones"] else 0
        yield Mention(one.start(), one.end(), one.end(), number=Decimal(value), is_numeral=False)


class Ungrounded(NamedTuple):
    """A date, a number or an amount of a reply that no evidence has."""

    start: int
    end: int
    kind: Literal["date", "number", "unit"]
    """`unit`: the number is there, with another unit."""
    instead: str | None = None
    """What the evidence has that comes nearest: the same number with its own unit, or another date."""


def grounding(reply: str, evidence: Iterable[str]) -> list[Ungrounded]:
    """The values of a reply that stand in no text of the evidence, in whatever form they are written.

    Numbers in words and values within other words or names are passed over. Without a value in the evidence nothing
    can be told, and nothing is.
    """
    texts = list(evidence)
    known = [(text, one) for text in texts for one in mentions(text)]
    if not known:
        return []
    found = []
    for mention in mentions(reply):
        said = reply[mention.start : mention.end]
        if not mention.is_numeral or any(said in text or _is_same(mention, one) for text, one in known):
            continue
        found.append(_ungrounded(mention, known))
    return found


def _is_same(one: Mention, other: Mention) -> bool:
    if one.dates and other.dates:
        return same_date(one, other)
    if one.number is None or other.number is None:
        years = {date.year for date in (*one.dates, *other.dates)}
        return (one.number or other.number) in years
    if one.unit is None or other.unit is None:
        return same_number(one.number, other.number)
    return same_amount(one, other)


def _ungrounded(mention: Mention, known: Iterable[tuple[str, Mention]]) -> Ungrounded:
    for text, one in known:
        there = text[one.start : one.end]
        if mention.dates and one.dates:
            return Ungrounded(mention.start, mention.end, "date", there)
        if mention.number is not None and one.number is not None and same_number(mention.number, one.number):
            return Ungrounded(mention.start, mention.end, "unit", there)
    return Ungrounded(mention.start, mention.end, "date" if mention.dates else "number")
