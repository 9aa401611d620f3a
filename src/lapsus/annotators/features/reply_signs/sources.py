"""Rules on replies that rest on what a tool returned: numbers, dates, codes and names that stand otherwise there."""

import json
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

import regex

from lapsus.annotators.features.reply_signs.reply import Reply, Seen, is_source, same_names
from lapsus.annotators.features.reply_signs.source_values import (
    CLOCK,
    DATE,
    MOST,
    NUMBER,
    TIMES,
    SourceValues,
    amount,
    day,
    known_of,
    reached,
    time,
    written_out,
)

_CODE = regex.compile(
    r"(?<![\p{Latin}\d_#@.-])#?(?=[A-Z\d-]*\d)(?=[A-Z\d-]*[A-Z])[A-Z\d]{5,}(?![\p{Latin}\d_@-])"
)
_UNIT = regex.compile(
    r"\s*[-‐ ]?(?P<unit>\p{Latin}{1,3}/\p{Latin}{1,3}|\p{Latin}{3,}|(?:[kKMGT]B|km|kg|cm|mm|ml)(?!\p{Latin})"
    r"|[\p{Han}\p{Katakana}]{1,6})"
)
_LABEL = regex.compile(
    r"(?P<label>[\p{Latin} ]{3,30}|[\p{Han}\p{Katakana}ー]{1,10}|残り)\s*(?:\*\*)?\s*"
    r"(?:is|are|was|of|:|：|は|が|の)\s*(?:\*\*)?\s*[$€£¥]?\s*$"
)
_ORDER = regex.compile(r"^\s*(?:[*_#>-]+\s*)*\d+[.)]\s", regex.M)
_SMALL = frozenset(
    {"and", "per", "for", "with", "from", "each", "are", "was", "the", "you", "your", "but", "off"}
)
_SHORT = frozenset({"kb", "mb", "gb", "tb", "km", "kg", "cm", "mm", "ml"})
_ROUND = (0, 10, 50, 100)
"""Shares that are said of anything."""
_LARGE = 100
"""From here on a number is no count: it stands in a source, or follows from what does."""
_WORKED_OUT = regex.compile(
    r"(?<first>\d[\d,]*(?:\.\d+)?)\s*(?<sign>[+×*−–-])\s*[$€£¥]?\s*(?<second>\d[\d,]*(?:\.\d+)?)\s*[円]?\s*="
    r"\s*[$€£¥]?\s*(?<result>\d[\d,]*(?:\.\d+)?)"
)
_BEFORE = regex.compile(r"(?P<label>\p{Latin}{3,}|[\p{Han}\p{Katakana}ー]{2,10})\s?$")
_PER = regex.compile(r"\W*(?:per|each|for each|/)\W*(?P<name>\p{Latin}{3,})?|.{0,12}ずつ", regex.I)
_SHARED = regex.compile(r"\b(?:average|apiece|per|each)\b|平均|あたり|当たり|ずつ", regex.I)


def against_source(reply: Reply) -> Seen | None:
    """A number, date, time or code that is nowhere in what a tool returned."""
    found = reply.once("source", lambda: _against(reply))
    return found if found is not None and not found.source else None


def differs_from_source(reply: Reply) -> Seen | None:
    """A number under a name for which the tool returned another."""
    found = reply.once("source", lambda: _against(reply))
    return found if found is not None and found.source else None


def _against(reply: Reply) -> Seen | None:
    sources = reply.sources
    if not sources:
        return None
    talk = tuple(one.text for one in reply.unit.context if one.role != "prompt" and not is_source(one))
    known = known_of(tuple(one.text for one in sources), talk, tuple(one.text for one in reply.prompts))
    text = written_out(_ORDER.sub(" ", reply.prose))
    where = (sources[-1].id,)
    said = [(match, found) for match in DATE.finditer(text) if (found := day(match))]
    # The day after one that is right and named beside it: an arrival, a way back.
    days = known.days | reached([found for _, found in said if found in known.days], [1])
    for match, found in said:
        if known.days and found not in days:
            return Seen(match.group(), where)
    rest = DATE.sub(" ", text)
    for match in CLOCK.finditer(rest):
        if known.times and (at := time(match)) is not None and at not in known.times:
            return Seen(match.group(), where)
    rest = CLOCK.sub(" ", rest)
    if (wrong := _wrong_sum(rest)) is not None:
        return wrong
    for match in _CODE.finditer(rest):
        code = match.group().lstrip("#")
        if not any(code in one for one in known.texts):
            return Seen(match.group(), where)
    texts = tuple(one.text for one in sources)
    if (name := other_name(text, texts, known.texts)) is not None:
        return Seen(name[0], where, name[1])
    return _number(rest, known, where)


def _wrong_sum(text: str) -> Seen | None:
    """A sum that is written out and does not come out."""
    for match in _WORKED_OUT.finditer(text):
        first, second, result = (amount(match[name]) for name in ("first", "second", "result"))
        right = {"+": first + second, "×": first * second, "*": first * second}.get(
            match["sign"], first - second
        )
        # A third term may stand before the first.
        is_whole = not regex.search(r"[+×*−–=-]\s*[$€£¥]?\s*$", text[: match.start()])
        if is_whole and abs(right - result) > 0.01 * max(1.0, abs(right) / 100):
            return Seen(match.group(), (), f"{right:g}")
    return None


def _number(text: str, known: SourceValues, where: tuple[str, ...]) -> Seen | None:
    own = [amount(match["value"]) for match in NUMBER.finditer(text)]
    for match in NUMBER.finditer(text):
        value = amount(match["value"])
        if _follows(value, own) or _is_share(value, text, match, known):
            continue
        unit = _UNIT.match(text, match.end())
        label = _LABEL.search(text[max(0, match.start() - 40) : match.start()])
        before = _BEFORE.search(text[max(0, match.start() - 20) : match.start()])
        beside = [
            found.casefold().strip(" -:：*")
            for found in (unit and unit["unit"], label and label["label"], before and before["label"])
            if found
        ]
        by_word = (
            {amount for name, values in known.named if _names(name, [word]) for amount in values}
            for word in beside
        )
        # The word that says most exactly what is counted: `6 lamps`, not `6 pieces`.
        amounts = min(filter(None, by_word), key=len, default=set[float]())
        is_named = unit is not None and unit["unit"].casefold() not in _SMALL
        shown = match.group().strip() + (
            f"{' ' if unit['unit'].isascii() else ''}{unit['unit']}" if unit and is_named else ""
        )
        # A count is not excused by a sum; of several values one may have been worked out from another.
        excused = value in known.sums and (value >= _LARGE or len(amounts) > 1)
        if amounts and value not in known.values and value not in known.talk and not excused:
            told = f"{next(iter(amounts)):g}" if len(amounts) == 1 else ""
            return Seen(shown, where, told)
        if value in known.numbers or value in known.sums or (value < 1 and not match["money"]):
            continue
        is_rate = text[match.end() : match.end() + 1] == "%" and known.has_rates and value not in _ROUND
        # Where the data have fractions, one in the reply is theirs or was worked out.
        is_exact = value % 1 > 0 and known.is_exact
        if match["money"] or value >= _LARGE or is_rate or is_exact:
            return Seen(shown, where)
    return None


def _is_share(value: float, text: str, match: regex.Match[str], known: SourceValues) -> bool:
    """Whether it is what falls to each: a known value by the length of the list that is named, or by any count."""
    per = _PER.match(text, match.end())
    beside = text[max(0, match.start() - 40) : match.end() + 20]
    if per is None and not _SHARED.search(beside):
        return False
    name = [per["name"].casefold()] if per and per["name"] else []
    for record in known.records:
        counts = {many for of, many in record.lengths if _names(of, name)} or range(2, TIMES)
        whole = record.values | record.worked_out
        if any(abs(one / count - value) < 0.01 for one in whole for count in counts):
            return True
    return False


def _follows(value: float, own: list[float]) -> bool:
    """Whether a number is the sum or difference of two or more other numbers of the reply, or a multiple of one."""
    others = [one for one in dict.fromkeys(own) if one != value][:MOST]
    if any(abs(first + second - value) < 0.01 for first, second in combinations(others, 2)):
        return True
    if any(abs(abs(first - second) - value) < 0.01 for first, second in combinations(others, 2)):
        return value >= TIMES
    several = any(
        abs(one * times - value) < 0.01 for one in others if one >= TIMES for times in range(2, TIMES)
    )
    return several or any(abs(sum(own[:size]) - value) < 0.01 for size in range(3, len(own)))


def _names(name: str, beside: list[str]) -> bool:
    """Whether a key of the data is called as what stands beside the number."""
    plain = name.casefold().replace("_", " ")
    for word in beside:
        if word.isascii():
            stem = word.rstrip("s")
            if (len(stem) > 2 or stem in _SHORT) and stem in (part.rstrip("s") for part in plain.split()):
                return True
        elif word in plain:
            return True
        if any(word in same and not same.isdisjoint((plain, *plain.split())) for same in same_names()):
            return True
    return False


_TITLED = regex.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|Professor|Doctor)\.?\s+(?P<name>\p{Lu}[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]+)?)"
    r"|(?<![おご\p{Han}])(?P<named>\p{Han}{2,6})(?:先生|(?<![模仕同多有異])様(?!性)|さん|氏(?!名))(?!々)"
)
_NOBODY = regex.compile(
    r"^(?:担当|利用|会員|参加|保護|関係|責任|代表|家族|旦那|奥|皆|各|一人|二人|三人|医師|患者|看護|店員|役員"
    r"|株主|取引|企業|法人|団体|宿泊)|(?:者|師|員|[転選歌]手|学生)$"
)
"""What is no name before 様 or さん."""
_WORDS = regex.compile(r"\p{Lu}[\p{Ll}]+(?:\s\p{Lu}[\p{Ll}]+){1,3}")
_GATE = regex.compile(
    r"(?<![\p{Latin}\d_#@.-])\p{Lu}{1,2}-?\d{1,3}(?![\p{Latin}\d_@-])"
    r"(?!\s?(?:用紙|サイズ|判|版|キー|(?:paper|sheet|size|format|key)s?\b))"
)
"""A gate, a room, a seat: looked for where the data have one; no paper's size and no key of a keyboard."""
_KANA = regex.compile(r"\p{Katakana}[\p{Katakana}ー]{4,}")
_ALIKE = 4
"""Signs of a word in katakana that two names of one kind begin with."""
_MOST = 400


def other_name(text: str, sources: Iterable[str], known: Iterable[str]) -> tuple[str, str] | None:
    """A name in a reply that stands nowhere, and what the data have in its place where that is plain.

    `known` is all that sources, talk and instructions say.
    """
    whole = "".join(map(_plain, known))
    names = list(dict.fromkeys(chain.from_iterable(map(_names_of, sources))))[-_MOST:]
    for match in _TITLED.finditer(text):
        name = match["name"] or match["named"]
        if _plain(name) not in whole and not _NOBODY.search(name) and not _is_written(name, whole):
            return match.group(), ""
    for pattern in (_WORDS, _KANA, _GATE):
        for match in pattern.finditer(text):
            is_heading = pattern is _WORDS and _is_heading(text, match)
            if is_heading or _plain(match.group()) in whole:
                continue
            if (
                meant := next((one for one in names if _is_like(match.group(), one, whole)), None)
            ) is not None:
                return match.group(), meant
    return None


def _is_heading(text: str, match: regex.Match[str]) -> bool:
    """Whether it is called so what follows: before a colon, or on a line of its own that is not the last."""
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    after = text[match.end() :].lstrip("*_ \t")[:1]
    is_alone = not before.replace("**", "").strip("#_ \t")
    return after in (":", "：") or (is_alone and after == "\n")


def _is_written(name: str, whole: str) -> bool:
    """Whether each part of a name is written somewhere: a first name here, a last name there."""
    return all(_plain(part) in whole for part in name.split())


def _is_like(said: str, name: str, whole: str) -> bool:
    """Whether two names are of one kind and differ: in one word, in the end of a word in katakana, as codes."""
    own, others = said.split(), name.split()
    if _GATE.fullmatch(said):
        return bool(_GATE.fullmatch(name))
    if len(own) > 1:
        differing = [(one, other) for one, other in zip(own, others, strict=False) if one != other]
        # Names of one kind begin alike; those that end alike are two things of a kind: an old and a new camera.
        is_kind = own[0] == others[0] and len(own) == len(others)
        if not is_kind or len(differing) != 1:
            return False
        (one, other), *_ = differing
        # One thing and several: a room, two rooms.
        is_form = one.startswith(other) or other.startswith(one)
        return not is_form and _plain(one) not in whole
    shorter = min(len(said), len(name))
    is_short_form = said.startswith(name) or name.startswith(said)
    return shorter > _ALIKE and said[:_ALIKE] == name[:_ALIKE] and not is_short_form


@lru_cache(maxsize=256)
def _names_of(source: str) -> list[str]:
    """Values of the data that are names: a few words with capitals, or one word in katakana."""
    try:
        values = list(_texts(json.loads(source)))
    except (ValueError, RecursionError):
        return []
    return [value for value in values if any(one.fullmatch(value) for one in (_WORDS, _KANA, _GATE))]


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield unicodedata.normalize("NFKC", data).strip()
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _texts(value)


@lru_cache(maxsize=512)
def _plain(text: str) -> str:
    """Small letters and digits alone, so that blanks and marks do not part what is the same."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
