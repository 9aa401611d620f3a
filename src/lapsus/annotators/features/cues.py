"""What an utterance looks like it is doing, told by cues: it greets, asks, denies, thanks, breaks off.

The cues are data (`cues.yaml`), in English and Japanese; other languages are looked at with the English ones.
Keywords need no dictionary: in Japanese they are runs of kanji, katakana or Latin letters.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import regex

from lapsus.annotators.features.word_forms import LONGEST
from lapsus.language import plain_language
from lapsus.language.tokenizer import is_spaceless
from lapsus.model import Segment, Unit
from lapsus.word_files import word_file

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*")
_RUN = regex.compile(r"\p{Han}+|[\p{Katakana}ー]{2,}|[a-z][a-z0-9]+|\p{N}+")
_LETTER = regex.compile(r"[\p{L}\p{M}\p{N}ー]")
_ENDINGS = (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
_CACHED = 1 << 14


@dataclass(frozen=True)
class SurfaceCues:
    """An utterance and what it looks like it is doing."""

    text: str
    plain: str
    """In small letters, one form for full and half width."""
    words: tuple[str, ...]
    """Words; where they are not told apart by spaces, pairs of characters."""
    keywords: frozenset[str]
    does: frozenset[str]
    """Names of cues."""
    asks: str | None
    """What kind of question it asks, if it asks one."""


@dataclass(frozen=True)
class Cues:
    """The cues of one language."""

    cues: dict[str, Any]
    asks: dict[str, Any]
    answers: dict[str, Any]
    stop: frozenset[str]
    opposites: tuple[tuple[str, str], ...]
    spaceless: bool

    def look(self, text: str) -> SurfaceCues:
        """What an utterance looks like it is doing."""
        plain = unicodedata.normalize("NFKC", text[:LONGEST]).casefold().replace("’", "'").strip()
        does = frozenset(name for name, cue in self.cues.items() if cue.search(plain))
        asks = None
        if "question" in does:
            asks = next((kind for kind, cue in self.asks.items() if cue.search(plain)), "other")
        words = _pairs(plain) if self.spaceless else tuple(_WORD.findall(plain))
        return SurfaceCues(text, plain, words, self._keywords(plain, words), does, asks)

    def answered(self, question: SurfaceCues, answer: SurfaceCues) -> bool:
        """Whether an utterance holds what an answer to the question is likely to hold."""
        return question.asks is None or bool(self.answers[question.asks].search(answer.plain))

    def holds(self, seen: SurfaceCues, word: str) -> bool:
        """Whether a word stands in an utterance."""
        return word in (seen.plain if self.spaceless else seen.words)

    def _keywords(self, plain: str, words: tuple[str, ...]) -> frozenset[str]:
        if self.spaceless:
            return frozenset(_RUN.findall(plain)) - self.stop
        told = (word for word in words if len(word) > 2 and word not in self.stop)
        return frozenset(_stem(word) for word in told)


def look(text: str, language: str | None) -> SurfaceCues:
    """What an utterance looks like it is doing, in its language."""
    return _look(text[:LONGEST], _known(language))


def cues_of(language: str | None) -> Cues:
    """The cues of a language; the English ones where there are none."""
    return _cues(_known(language))


def share_topic(first: frozenset[str], second: frozenset[str]) -> str | None:
    """A keyword that both have, or one that holds the other: 北海道 and 北海道旅行."""
    if common := first & second:
        return max(common, key=lambda word: (len(word), word))
    for one in sorted(first):
        for other in sorted(second):
            if min(len(one), len(other)) > 1 and (one in other or other in one):
                return min(one, other, key=len)
    return None


def _known(language: str | None) -> str:
    plain = plain_language(language)
    return plain if plain in _data() else "en"


@lru_cache(maxsize=_CACHED)
def _look(text: str, language: str) -> SurfaceCues:
    return _cues(language).look(text)


def _data() -> Any:
    return word_file("lapsus.annotators.features", "cues.yaml")


@cache
def _cues(language: str) -> Cues:
    data = _data()[language]
    compiled = {
        kind: {name: regex.compile(cue) for name, cue in data[kind].items()}
        for kind in ("cues", "asks", "answers")
    }
    return Cues(
        **compiled,
        stop=frozenset(data["stop"].split()),
        opposites=tuple((one, other) for one, other in data["opposites"]),
        spaceless=is_spaceless(language),
    )


def _pairs(plain: str) -> tuple[str, ...]:
    letters = "".join(_LETTER.findall(plain))
    return tuple(letters[place : place + 2] for place in range(max(len(letters) - 1, min(len(letters), 1))))


def _stem(word: str) -> str:
    """A word without the endings that change with grammar; crude, but the same for both sides."""
    word = word.removesuffix("'s")
    for ending, instead in _ENDINGS:
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word


@dataclass(frozen=True)
class TurnContext:
    """A turn and what came before it, looked at closely."""

    turn: SurfaceCues
    own: tuple[SurfaceCues, ...]
    """What the system said before, the latest first."""
    others: tuple[SurfaceCues, ...]
    """What the user said before, the latest first."""
    cues: Cues

    @classmethod
    def of(cls, unit: Unit) -> TurnContext:
        """The turn that a unit is about, with the turns before it."""
        return cls(
            look(target(unit).text, unit.language),
            tuple(look(text, unit.language) for text in said_before(unit, "system")),
            tuple(look(text, unit.language) for text in said_before(unit, "user")),
            cues_of(unit.language),
        )

    @property
    def user(self) -> SurfaceCues | None:
        """The user's utterance before the turn, if there is one."""
        return self.others[0] if self.others else None


def alikeness(first: SurfaceCues, second: SurfaceCues) -> float:
    """The share of words that two utterances have in common, from 0 to 1."""
    one, other = set(first.words), set(second.words)
    return len(one & other) / len(one | other) if one and other else float(first.plain == second.plain)


def said_before(unit: Unit, role: str) -> list[str]:
    """What that side said before the target, the latest first."""
    return [turn.text for turn in reversed(unit.context) if turn.role == role]


def last_said(unit: Unit, role: str) -> str:
    """What that side said last before the target; nothing where it has not spoken."""
    return next((turn.text for turn in reversed(unit.context) if turn.role == role), "")


def target(unit: Unit) -> Segment:
    """The turn to judge. Breakdown is judged by the turn, so there always is one."""
    if unit.target is None:
        raise ValueError("a whole document is no turn")
    return unit.target
