"""Rules on replies that rest on what a tool returned: numbers, dates and codes that stand otherwise in the result."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import regex

from lapsus.annotators.features.reply_signs.reply import Reply, Seen

_NUMBER = regex.compile(
    r"(?<![\p{Latin}\d.,_#/:-])(?P<money>[$€£¥]\s?)?(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?![\d_]|[.,:/-]\d|\p{Latin}*\d)"
)
_CODE = regex.compile(
    r"(?<![\p{L}\d_#@.-])#?(?=[A-Z\d-]*\d)(?=[A-Z\d-]*[A-Z])[A-Z\d]{5,}(?![\p{Latin}\d_@-])"
)
_CLOCK = regex.compile(
    r"(?<!\d)(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::\d{2})?\s*(?P<half>[ap]\.?m\.?)?"
    r"|時(?:(?P<after>\d{1,2})分)?|\s*(?P<half2>[ap]\.?m\.?)\b)",
    regex.I,
)
_MONTH_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTHS = {name: place for place, name in enumerate(_MONTH_NAMES.split("|"), 1)}
_DATE = regex.compile(
    rf"\b(?P<name>{_MONTH_NAMES})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s*\d{{4}})?"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<name2>{_MONTH_NAMES})[a-z]*"
    r"|(?P<month3>\d{1,2})月(?P<day3>\d{1,2})日|\b\d{4}[-/](?P<month4>\d{1,2})[-/](?P<day4>\d{1,2})",
    regex.I,
)
_UNIT = regex.compile(r"\s*[-‐ ]?(?P<unit>\p{Latin}{3,}|[\p{Han}\p{Katakana}]{1,6})")
_LABEL = regex.compile(
    r"(?P<label>[\p{Latin} ]{3,30}|[\p{Han}\p{Katakana}ー]{1,10})\s*(?:\*\*)?\s*"
    r"(?:is|are|was|of|:|：|は|が|の)\s*(?:\*\*)?\s*[$€£¥]?\s*$"
)
_ORDER = regex.compile(r"^\s*(?:[*_#>-]+\s*)*\d+[.)]\s", regex.M)
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SAME_NAMES = (
    {"人数", "名", "名様", "人", "大人"},
    {"泊数", "泊"},
    {"料金", "合計", "代金", "金額", "円"},
    {"個数", "数量", "個", "点"},
)
_LARGE = 100
"""From here on a number is no count: it stands in a source, or follows from what does."""
_TIMES = 10
_MOST = 12
"""Whole numbers of one name among which sums are looked for."""
_VALUES = 20
"""Values under one name up to which a number under that name must be one of them."""
_WORKED_OUT = regex.compile(
    r"(?<first>\d[\d,]*(?:\.\d+)?)\s*(?<sign>[+×*−–-])\s*[$€£¥]?\s*(?<second>\d[\d,]*(?:\.\d+)?)\s*[円]?\s*="
    r"\s*[$€£¥]?\s*(?<result>\d[\d,]*(?:\.\d+)?)"
)
_BEFORE = regex.compile(r"(?P<label>\p{Latin}{3,}|[\p{Han}\p{Katakana}ー]{2,10})\s?$")
_AMOUNT = regex.compile(r"^\s*(?P<value>\d+(?:\.\d+)?)\s*(?P<unit>\p{L}{2,10})?\s*$")


class Known(NamedTuple):
    """What sources hold: numbers, codes, days, times, and values under their names."""

    numbers: frozenset[float]
    sums: frozenset[float]
    text: str
    days: frozenset[tuple[int, int]]
    times: frozenset[tuple[int, int]]
    named: tuple[tuple[str, frozenset[float]], ...]
    talk: frozenset[float]
    """Numbers that were said in the talk."""


def against_source(reply: Reply) -> Seen | None:
    """A number, date, time or code that is nowhere in what a tool returned."""
    found = _against(reply)
    return found if found is not None and not found.source else None


def differs_from_source(reply: Reply) -> Seen | None:
    """A number under a name for which the tool returned another."""
    found = _against(reply)
    return found if found is not None and found.source else None


@lru_cache(maxsize=4)
def _against(reply: Reply) -> Seen | None:
    sources = reply.sources
    if not sources:
        return None
    texts = tuple(one.text for one in reply.unit.context)
    known = _known(tuple(one.text for one in sources), texts)
    text = unicodedata.normalize("NFKC", _ORDER.sub(" ", reply.prose))
    where = (sources[-1].id,)
    for match in _DATE.finditer(text):
        if (day := _day(match)) is not None and known.days and day not in known.days:
            return Seen(match.group(), where)
    rest = _DATE.sub(" ", text)
    for match in _CLOCK.finditer(rest):
        if (time := _time(match)) is not None and known.times and time not in known.times:
            return Seen(match.group(), where)
    rest = _CLOCK.sub(" ", rest)
    if (wrong := _wrong_sum(rest)) is not None:
        return wrong
    for match in _CODE.finditer(rest):
        if match.group().lstrip("#") not in known.text:
            return Seen(match.group(), where)
    return _number(rest, known, where)


def _wrong_sum(text: str) -> Seen | None:
    """A sum that is written out and does not come out."""
    for match in _WORKED_OUT.finditer(text):
        first, second, result = (_amount(match[name]) for name in ("first", "second", "result"))
        right = {"+": first + second, "×": first * second, "*": first * second}.get(
            match["sign"], first - second
        )
        # A third term may stand before the first.
        is_whole = not regex.search(r"[+×*−–=-]\s*[$€£¥]?\s*$", text[: match.start()])
        if is_whole and abs(right - result) > 0.01 * max(1.0, abs(right) / 100):
            return Seen(match.group(), (), f"{right:g}")
    return None


def _amount(text: str) -> float:
    return float(text.replace(",", ""))


def _number(text: str, known: Known, where: tuple[str, ...]) -> Seen | None:
    own = [_amount(match["value"]) for match in _NUMBER.finditer(text)]
    for match in _NUMBER.finditer(text):
        value = _amount(match["value"])
        if _follows(value, own):
            continue
        unit = _UNIT.match(text, match.end())
        label = _LABEL.search(text[max(0, match.start() - 40) : match.start()])
        before = _BEFORE.search(text[max(0, match.start() - 20) : match.start()])
        beside = [
            found.casefold().strip(" -:：*")
            for found in (unit and unit["unit"], label and label["label"], before and before["label"])
            if found
        ]
        amounts = {amount for name, values in known.named if _names(name, beside) for amount in values}
        shown = match.group().strip() + (
            f"{' ' if unit['unit'].isascii() else ''}{unit['unit']}" if unit else ""
        )
        # A count is not excused by a sum; of several values one may have been worked out from another.
        excused = value in known.sums and (value >= _LARGE or len(amounts) > 1)
        if amounts and value not in amounts and value not in known.talk and not excused:
            told = f"{next(iter(amounts)):g}" if len(amounts) == 1 else ""
            return Seen(shown, where, told)
        if value in known.numbers or value in known.sums or (value < 1 and not match["money"]):
            continue
        if match["money"] or value >= _LARGE:
            return Seen(shown, where)
    return None


def _follows(value: float, own: list[float]) -> bool:
    """Whether a number is the sum or difference of two or more other numbers of the reply, or a multiple of one."""
    others = [one for one in dict.fromkeys(own) if one != value][:_MOST]
    if any(abs(first + second - value) < 0.01 for first, second in combinations(others, 2)):
        return True
    if any(abs(abs(first - second) - value) < 0.01 for first, second in combinations(others, 2)):
        return value >= _TIMES
    several = any(
        abs(one * times - value) < 0.01 for one in others if one >= _TIMES for times in range(2, _TIMES)
    )
    return several or any(abs(sum(own[:size]) - value) < 0.01 for size in range(3, len(own)))


def _names(name: str, beside: list[str]) -> bool:
    """Whether a key of the data is called as what stands beside the number."""
    plain = name.casefold().replace("_", " ")
    for word in beside:
        if word.isascii():
            stem = word.rstrip("s")
            if len(stem) > 2 and stem in (part.rstrip("s") for part in plain.split()):
                return True
        elif word in plain or any(plain in same and word in same for same in _SAME_NAMES):
            return True
    return False


@lru_cache(maxsize=64)
def _known(sources: tuple[str, ...], texts: tuple[str, ...]) -> Known:
    everything = unicodedata.normalize("NFKC", "\n".join(texts))
    numbers: set[float] = set()
    for match in regex.finditer(r"\d+(?:,\d{3})*(?:\.\d+)?", everything):
        value = float(match.group().replace(",", ""))
        numbers |= {value, round(value), round(value, 1)}
    numbers |= {float(value) for value, word in enumerate(_COUNTED) if word in everything.casefold()}
    named: list[tuple[str, float]] = []
    sums: set[float] = set()
    for source in sources:
        told = list(_values(source))
        named += told
        for name in {name for name, _ in told}:
            sums |= _derived([value for other, value in told if other == name])
    days = frozenset(day for match in _DATE.finditer(everything) if (day := _day(match)))
    times = frozenset(time for match in _CLOCK.finditer(everything) if (time := _time(match)))
    seen: dict[str, set[float]] = {}
    for name, value in named:
        seen.setdefault(name, set()).add(value)
    # A name with many values says nothing for sure.
    few = tuple((name, frozenset(values)) for name, values in seen.items() if len(values) <= _VALUES)
    said = "\n".join(text for text in texts if text not in sources)
    talk = frozenset(_amount(found) for found in regex.findall(r"\d[\d,]*(?:\.\d+)?", said))
    return Known(frozenset(numbers), frozenset(sums), everything, days, times, few, talk)


def _derived(values: list[float]) -> set[float]:
    """Counts, sums, differences and products that a reply may have worked out."""
    # Sums of many whole numbers make up any number; those of prices with cents do not.
    many = _MOST if all(value == int(value) for value in values) else 10 * _MOST
    some = list(dict.fromkeys(values))[-many:]
    found = {float(len(values)), round(sum(values), 2)}
    for first, second in combinations(some, 2):
        found |= {round(first + second, 2), round(abs(first - second), 2)}
    found |= {round(value * times, 2) for value in some for times in range(2, _TIMES)}
    for size in range(3, min(len(values), 12) + 1):
        found |= {round(sum(values[place : place + size]), 2) for place in range(len(values) - size + 1)}
    return found


def _values(text: str) -> Iterator[tuple[str, float]]:
    """Numbers with the names that they stand under."""
    try:
        data = json.loads(text)
    except ValueError:
        for match in regex.finditer(
            r"(?P<name>[\p{L}_ ]{2,30})[\"']?\s*[:=：]\s*[\"']?(?P<value>-?\d+(?:\.\d+)?)\b", text
        ):
            yield match["name"].strip(), float(match["value"])
        return
    yield from _walk(data, "")


def _walk(data: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _walk(value, str(key))
    elif isinstance(data, list):
        for value in data:
            yield from _walk(value, name)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield name, float(data)
    elif isinstance(data, str) and (match := _AMOUNT.match(data)):
        yield name, float(match["value"])
        if match["unit"]:
            yield match["unit"], float(match["value"])


def _day(match: regex.Match[str]) -> tuple[int, int] | None:
    month = (
        match["month3"]
        or match["month4"]
        or _MONTHS.get((match["name"] or match["name2"] or "").casefold()[:3])
    )
    day = match["day"] or match["day2"] or match["day3"] or match["day4"]
    return (int(month), int(day)) if month and day else None


def _time(match: regex.Match[str]) -> tuple[int, int] | None:
    hour, minute = int(match["hour"]), int(match["minute"] or match["after"] or 0)
    half = (match["half"] or match["half2"] or "").casefold()[:1]
    if hour > 24 or minute > 59:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour % 24, minute
