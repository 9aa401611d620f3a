"""What the sources of a reply hold: numbers with their names, days, times, and what follows from them."""

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple, TypeGuard

import regex

NUMBER = regex.compile(
    r"(?<![\p{Latin}\d.,_#/:-])(?P<money>[$€£¥]\s?)?(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?![\d_]|[.,:/-]\d|\p{Latin}*\d)"
)
CLOCK = regex.compile(
    r"(?<!\d)(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::\d{2})?\s*(?P<half>[ap]\.?m\.?)?"
    r"|時(?:(?P<after>\d{1,2})分)?|\s*(?P<half2>[ap]\.?m\.?)\b)",
    regex.I,
)
_MONTHS = {
    name: place
    for place, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
DATE = regex.compile(
    rf"\b(?P<name>{_MONTH_NAMES})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s*\d{{4}})?"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<name2>{_MONTH_NAMES})\b"
    r"|(?P<month3>\d{1,2})月(?P<day3>\d{1,2})日|\b\d{4}[-/](?P<month4>\d{1,2})[-/](?P<day4>\d{1,2})",
    regex.I,
)
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
TIMES = 10
"""How many times a value may be taken, or among how many it may be shared."""
MOST = 12
"""Whole numbers of one name among which sums are looked for."""
_TEN_THOUSANDS = regex.compile(r"(\d+(?:\.\d+)?)万(\d[\d,]*)?")
_RATE = regex.compile(r"\d\s?[%％]|rate\b|percent")
_CALLED = ("name", "item", "product", "title", "品名", "商品", "商品名")
_COUNTS = ("qty", "quantity", "count", "個数", "数量")
_VALUES = 20
"""Values under one name up to which a number under that name must be one of them."""
_AMOUNT = regex.compile(r"^\s*(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>\p{L}{2,10}|\p{L}{1,3}/\p{L}{1,3})?\s*$")
_NEXT_DAY = regex.compile(
    r"\d\+1\b|\b(?:(?:next|following|previous|same|one|a|another) day|day (?:after|before|later|earlier)|tomorrow"
    r"|yesterday|overnight)\b|翌日|明日|前日|昨日|次の日|[1一]日(?:後|前|早|遅|延)",
    regex.I,
)
_DAYS = regex.compile(
    rf"\b(?P<many>\d{{1,2}}|{'|'.join(_COUNTED)})[- ](?:days?|nights?)\b|(?P<many2>\d{{1,2}})(?:泊|日(?:間|後|前))",
    regex.I,
)
_DAY_KEYS = ("night", "nights", "days", "泊数", "日数")


class Record(NamedTuple):
    """One source: its numbers by name, what can be worked out of them, and how long its lists are, by name."""

    named: dict[str, list[float]]
    values: frozenset[float]
    """The numbers that stand alone in it."""
    worked_out: frozenset[float]
    lengths: tuple[tuple[str, int], ...]
    has_rates: bool
    """Whether it says anything in percent."""
    is_exact: bool
    """Whether a number in it has a fraction."""


class SourceValues(NamedTuple):
    """What all sources hold, and the talk with them."""

    numbers: frozenset[float]
    """All that is written anywhere, also within dates and codes, and rounded."""
    values: frozenset[float]
    """Those that stand alone in a source."""
    sums: frozenset[float]
    texts: tuple[str, ...]
    days: frozenset[tuple[int, int]]
    times: frozenset[tuple[int, int]]
    named: tuple[tuple[str, frozenset[float]], ...]
    talk: frozenset[float]
    """Numbers that were said in the talk."""
    records: tuple[Record, ...]
    has_rates: bool
    """Whether a source says anything in percent."""
    is_exact: bool
    """Whether a number in a source has a fraction."""


@lru_cache(maxsize=64)
def known_of(sources: tuple[str, ...], talk: tuple[str, ...], prompts: tuple[str, ...]) -> SourceValues:
    """What the texts of sources, of the talk and of the instructions hold."""
    texts = [_text_of(text) for text in (*sources, *talk, *prompts)]
    records = tuple(_record(source) for source in sources)
    named: dict[str, set[float]] = {}
    for record in records:
        for name, values in record.named.items():
            named.setdefault(name, set()).update(values)
    steps = {value for key, values in named.items() if key.casefold() in _DAY_KEYS for value in values}
    steps = steps.union(*(text.steps for text in texts[: len(sources) + len(talk)]))
    days = frozenset[tuple[int, int]]().union(*(text.days for text in texts))
    return SourceValues(
        numbers=frozenset[float]().union(*(text.numbers for text in texts)),
        values=frozenset[float]().union(*(record.values for record in records)),
        sums=frozenset[float]().union(*(record.worked_out for record in records)),
        texts=tuple(text.text for text in texts),
        days=days | reached(days, steps),
        times=frozenset[tuple[int, int]]().union(*(text.times for text in texts)),
        # A name with many values says nothing for sure.
        named=tuple((name, frozenset(values)) for name, values in named.items() if len(values) <= _VALUES),
        talk=frozenset[float]().union(*(text.alone for text in texts[len(sources) :])),
        records=records,
        has_rates=any(record.has_rates for record in records),
        is_exact=any(record.is_exact for record in records),
    )


class _Text(NamedTuple):
    """A text: its numbers, days and times, and by how many days it speaks of moving."""

    text: str
    alone: frozenset[float]
    """Those that are no part of a date or a code."""
    numbers: frozenset[float]
    """Those that are written anywhere, rounded, and in words."""
    days: frozenset[tuple[int, int]]
    times: frozenset[tuple[int, int]]
    steps: frozenset[float]


@lru_cache(maxsize=512)
def _text_of(text: str) -> _Text:
    text = written_out(text)
    written = {amount(found) for found in regex.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)}
    numbers = written | {round(value, places) for value in written for places in range(3)}
    alone = {amount(match["value"]) for match in NUMBER.finditer(text)}
    words = text.casefold()
    numbers |= {float(value) for value, word in enumerate(_COUNTED) if word in words}
    steps = {1.0} if _NEXT_DAY.search(text) else set()
    for match in _DAYS.finditer(text):
        many = (match["many"] or match["many2"]).casefold()
        steps.add(float(_COUNTED.index(many) if many in _COUNTED else many))
    days = frozenset(found for match in DATE.finditer(text) if (found := day(match)))
    times = frozenset(found for match in CLOCK.finditer(text) if (found := time(match)))
    return _Text(text, frozenset(alone), frozenset(numbers), days, times, frozenset(steps))


@lru_cache(maxsize=256)
def _record(source: str) -> Record:
    lengths: list[tuple[str, int]] = []
    named: dict[str, list[float]] = {}
    for name, value in _values(source, lengths):
        if _is_number(value):
            named.setdefault(name, []).append(value)
    alone = {amount(match["value"]) for match in NUMBER.finditer(source)}
    values = frozenset(alone.union(*named.values()))
    worked_out = frozenset[float]().union(*(_derived(several) for several in named.values()))
    is_exact = any(value % 1 > 0 for value in values)
    return Record(named, values, worked_out, tuple(lengths), bool(_RATE.search(source)), is_exact)


def reached(days: Iterable[tuple[int, int]], steps: Iterable[float]) -> frozenset[tuple[int, int]]:
    """The days that lie so many days before and after the given ones, in years with and without a leap day."""
    steps = [step for step in steps if step < 100]
    return frozenset(
        (moved.month, moved.day)
        for year in (2023, 2024)
        for one in _dated(days, year)
        for step in steps
        for moved in (one + timedelta(step), one - timedelta(step))
    )


def _dated(days: Iterable[tuple[int, int]], year: int) -> Iterator[date]:
    for month, of_month in days:
        try:
            yield date(year, month, of_month)
        except ValueError:
            continue


def _derived(values: list[float]) -> set[float]:
    """Counts, sums, differences and products that a reply may have worked out."""
    # Sums of many whole numbers make up any number; those of prices with cents do not.
    many = MOST if all(value.is_integer() for value in values) else 10 * MOST
    some = list(dict.fromkeys(values))[-many:]
    found = {float(len(values)), round(sum(values), 2)}
    for first, second in combinations(some, 2):
        found |= {round(first + second, 2), round(abs(first - second), 2)}
    found |= {round(value * times, 2) for value in some for times in range(2, TIMES)}
    for size in range(3, min(len(values), 12) + 1):
        found |= {round(sum(values[place : place + size]), 2) for place in range(len(values) - size + 1)}
    return found


def _values(text: str, lengths: list[tuple[str, int]]) -> Iterator[tuple[str, float]]:
    """Numbers with the names that they stand under; the lengths of named lists are added to `lengths`."""
    try:
        yield from list(_walk(json.loads(text), "", lengths))
    except (ValueError, RecursionError):
        for match in regex.finditer(
            r"(?P<name>[\p{L}_ ]{2,30})[\"']?\s*[:=：]\s*[\"']?(?P<value>-?\d+(?:\.\d+)?)\b", text
        ):
            yield match["name"].strip(), float(match["value"])


def _walk(data: Any, name: str, lengths: list[tuple[str, int]]) -> Iterator[tuple[str, float]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _walk(value, str(key), lengths)
        yield from _of_thing(data)
    elif isinstance(data, list):
        lengths.append((name, len(data)))
        for value in data:
            yield from _walk(value, name, lengths)
    elif _is_number(data):
        yield name, float(data)
    elif isinstance(data, str) and (match := _AMOUNT.match(data)):
        yield name, float(match["value"])
        if match["unit"]:
            yield match["unit"], float(match["value"])


def _of_thing(data: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """A count under the name of the thing that is counted, and a number that is all that is said of a thing."""
    texts = [value for value in data.values() if isinstance(value, str)]
    numbers = [value for value in data.values() if _is_number(value)]
    called = next((data[key] for key in _CALLED if isinstance(data.get(key), str)), None)
    if called is not None:
        yield from (
            (called, float(data[key]))
            for key in _COUNTS
            if type(count := data.get(key)) is int and _is_number(count)
        )
    elif len(texts) == len(numbers) == 1 and len(data) == 2 and texts[0].replace(" ", "").isalpha():
        yield texts[0], float(numbers[0])


def _is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a number that can be compared: none without end, and none too long for a float."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) <= sys.float_info.max


def written_out(text: str) -> str:
    """A text in one form for full and half width, its tens of thousands in digits: 3万5,000 is 35000."""
    return _TEN_THOUSANDS.sub(
        lambda match: f"{float(match[1]) * 10_000 + amount(match[2] or '0'):.0f}",
        unicodedata.normalize("NFKC", text),
    )


def amount(text: str) -> float:
    """The number that is written so."""
    return float(text.replace(",", ""))


def day(match: regex.Match[str]) -> tuple[int, int] | None:
    """The month and day that a date names."""
    month = (
        match["month3"]
        or match["month4"]
        or _MONTHS.get((match["name"] or match["name2"] or "").casefold()[:3])
    )
    of_month = match["day"] or match["day2"] or match["day3"] or match["day4"]
    return (int(month), int(of_month)) if month and of_month else None


def time(match: regex.Match[str]) -> tuple[int, int] | None:
    """The hour and minute that a time of day names."""
    hour, minute = int(match["hour"]), int(match["minute"] or match["after"] or 0)
    half = (match["half"] or match["half2"] or "").casefold()[:1]
    if hour > 24 or minute > 59:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour % 24, minute
