"""Names in a reply beside those that a tool returned: people with a title, and values of the data said otherwise."""

import json
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import regex

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
_CODE = regex.compile(
    r"(?<![\p{Latin}\d_#@.-])\p{Lu}{1,2}-?\d{1,3}(?![\p{Latin}\d_@-])"
    r"(?!\s?(?:用紙|サイズ|判|版|キー|(?:paper|sheet|size|format|key)s?\b))"
)
"""A gate, a room, a seat: looked for where the data have one; no paper's size and no key of a keyboard."""
_KANA = regex.compile(r"\p{Katakana}[\p{Katakana}ー]{4,}")
_SHARED = 4
"""Signs of a word in katakana that two names of one kind begin with."""
_MOST = 400


def other_name(text: str, sources: tuple[str, ...], known: str) -> tuple[str, str] | None:
    """A name in a reply that stands nowhere, and what the data have in its place where that is plain.

    `known` is all that sources, talk and instructions say.
    """
    whole = _plain(known)
    names = _names_of(sources)
    for match in _TITLED.finditer(text):
        name = match["name"] or match["named"]
        if _plain(name) not in whole and not _NOBODY.search(name) and not _is_written(name, whole):
            return match.group(), ""
    for pattern in (_WORDS, _KANA, _CODE):
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
    if _CODE.fullmatch(said):
        return bool(_CODE.fullmatch(name))
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
    return shorter > _SHARED and said[:_SHARED] == name[:_SHARED] and not is_short_form


@lru_cache(maxsize=64)
def _names_of(sources: tuple[str, ...]) -> tuple[str, ...]:
    """Values of the data that are names: a few words with capitals, or one word in katakana."""
    found: dict[str, None] = {}
    for source in sources:
        try:
            values = list(_texts(json.loads(source)))
        except (ValueError, RecursionError):
            continue
        for value in values:
            if any(pattern.fullmatch(value) for pattern in (_WORDS, _KANA, _CODE)):
                found[value] = None
    return tuple(found)[-_MOST:]


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield unicodedata.normalize("NFKC", data).strip()
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _texts(value)


@lru_cache(maxsize=64)
def _plain(text: str) -> str:
    """Small letters and digits alone, so that blanks and marks do not part what is the same."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
