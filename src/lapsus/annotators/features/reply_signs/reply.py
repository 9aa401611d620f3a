"""A reply and what it answers, prepared once for all rules."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

import regex

from lapsus.model import Segment, Unit
from lapsus.word_files import word_file

T = TypeVar("T")
LONGEST = 6_000
"""Characters of a text that are looked at: its beginning and its end, where it is longer."""
_FAR = 60
"""Segments that are looked back on."""
_BLOCK = regex.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", regex.S)
_FORMULA = regex.compile(
    r"\$\$.*?\$\$|\\\[.*?\\\]|\\\(.*?\\\)|\\begin\{.*?\\end\{\w+\*?\}|\$(?=\S)[^$\n]{1,200}(?<=\S)\$(?!\d)",
    regex.S,
)
_INLINE = regex.compile(r"`[^`\n]+`|https?://\S+|!?\[[^\]\n]*\]\([^)\n]*\)")
_ROW = regex.compile(r"^\s*\|.*$|^\s*[-=*_]{3,}\s*$", regex.M)
_GAP = regex.compile(r"\s{40,}")
_INVISIBLE = regex.compile(r"[\p{Cf}\s]+")
_WORD = regex.compile(
    r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{N}]+(?:['’][\p{L}]+)?|\p{Hangul}+|[\p{Han}々]+|[\p{Katakana}ー]{2,}|\p{Hiragana}+"
)


class Seen(NamedTuple):
    """What a rule saw: the words, the earlier segments that they stand against, and what a source says instead."""

    quote: str
    segments: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Reply:
    """A reply of a system with the talk before it."""

    unit: Unit
    turn: Segment

    @classmethod
    def of(cls, unit: Unit) -> Reply:
        """The reply that a unit is about."""
        if unit.target is None:
            raise ValueError("a whole document is no turn")
        return cls(unit, unit.target)

    @cached_property
    def text(self) -> str:
        """What was said; the middle of very long texts is left out."""
        return shortened(self.turn.text)

    @cached_property
    def prose(self) -> str:
        """The text without code, formulas, tables and addresses."""
        return prose(self.text)

    @cached_property
    def letters(self) -> int:
        """Letters and digits of the prose."""
        return sum(map(str.isalnum, self.prose))

    @cached_property
    def before(self) -> tuple[Segment, ...]:
        """The segments before it, as far as they are looked at."""
        return self.unit.context[-_FAR:]

    @cached_property
    def users(self) -> tuple[Segment, ...]:
        """What the user said before, the latest first."""
        return tuple(one for one in reversed(self.before) if one.role == "user")

    @cached_property
    def own(self) -> tuple[Segment, ...]:
        """What the system said before, the latest first."""
        return tuple(one for one in reversed(self.before) if one.role == "system" and one.text.strip())

    @cached_property
    def asked(self) -> str:
        """What the user said last, all messages since the system's last reply."""
        said: list[str] = []
        for one in reversed(self.before):
            if one.role == "user":
                said.append(one.text)
            elif one.role == "system" and said:
                break
        return shortened("\n".join(reversed(said)))

    @cached_property
    def talk(self) -> str:
        """All that the user said."""
        return shortened("\n".join(one.text for one in reversed(self.users)))

    @cached_property
    def sources(self) -> tuple[Segment, ...]:
        """What tools returned and passages that were looked up."""
        return tuple(one for one in self.unit.context if is_source(one))

    @cached_property
    def prompts(self) -> tuple[Segment, ...]:
        """Instructions to the system."""
        return tuple(one for one in self.unit.context if one.role == "prompt")

    def wants(self, sort: str) -> bool:
        """Whether the user spoke of text of that sort: `wants` in `patterns.yaml`. Asked last, since talk is long."""
        return bool(self.once(sort, lambda: pattern(f"wants.{sort}").search(self.talk)))

    def once(self, name: str, look: Callable[[], T]) -> T:
        """What several rules ask for, looked for by the first."""
        if name not in self._found:
            self._found[name] = look()
        found: T = self._found[name]
        return found

    @cached_property
    def _found(self) -> dict[str, Any]:
        return {}

    def says(self, name: str) -> Seen | None:
        """Where a pattern of `patterns.yaml` stands in the prose."""
        match = pattern(name).search(self.prose)
        return Seen(match.group().strip()) if match else None


def is_source(segment: Segment) -> bool:
    """Whether a segment is evidence: a tool's result or a passage."""
    return segment.role == "passage" or (segment.role == "tool" and segment.metadata.get("kind") != "call")


def shortened(text: str) -> str:
    """The beginning and the end of a long text, without wide gaps."""
    half = LONGEST // 2
    return closed_up(text if len(text) <= LONGEST else f"{text[:half]}\n{text[-half:]}")


def closed_up(text: str) -> str:
    """A text without wide gaps: patterns that begin with blanks try each place of a gap with each other one."""
    return _GAP.sub(lambda gap: gap.group()[:2], text)


@lru_cache(maxsize=1 << 10)
def prose(text: str) -> str:
    """A text without code, formulas, tables, addresses and quotation marks of Markdown."""
    for part in (_BLOCK, _FORMULA, _INLINE, _ROW):
        text = part.sub(" ", text)
    return closed_up(text)


@lru_cache(maxsize=1 << 10)
def letters_only(text: str) -> str:
    """Small letters and digits, one form for full and half width: what is left when layout is taken away."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def words(text: str) -> list[str]:
    """Words in small letters; runs of one script where there are no spaces."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def visible(text: str) -> str:
    """A text without spaces and marks that are not seen."""
    return _INVISIBLE.sub("", text)


_FILE = "patterns.yaml"


@cache
def pattern(name: str) -> regex.Pattern[str]:
    """A pattern by its name, such as `refuses` or `wants.code`."""
    found: Any = word_file("lapsus.annotators.features.reply_signs", _FILE)
    for part in name.split("."):
        found = found[part]
    # A pattern is written over several lines, each of which goes on with `|`.
    flags = regex.M if name.endswith("-exact") else regex.M | regex.I
    return regex.compile("".join(found.splitlines()), flags)


@cache
def same_names() -> list[frozenset[str]]:
    """Names that data and replies have for the same thing, such as `party` and `guests`."""
    found = word_file("lapsus.annotators.features.reply_signs", _FILE)["same-names"]
    return [frozenset(names.split(", ")) for names in found]


@cache
def function_words() -> dict[str, frozenset[str]]:
    """For each language that is written in Latin letters its most frequent small words."""
    found = word_file("lapsus.annotators.features.reply_signs", _FILE)["function-words"]
    return {name: frozenset(words.split()) for name, words in found.items()}
