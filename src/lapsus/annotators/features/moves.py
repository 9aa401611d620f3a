"""What is asked for, offered, greeted and answered in the last turns, and whether words hang together: rows of numbers.

The cues of `cues.yaml` serve rules that people read; these are finer, and only a judge that learned what they are worth
makes anything of them. English and Japanese; other languages are looked at with the English ones.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import regex

from lapsus.language import plain_language
from lapsus.model import Unit
from lapsus.word_files import word_file

Patterns: TypeAlias = dict[str, "regex.Pattern[str]"]

_LANGUAGES: Final = ("en", "ja")
_GREETINGS: Final = ("meet", "part", "out", "home", "meal", "joy")
_LATEST: Final = 3
"""Earlier turns of the system that are looked at."""
_LONGEST: Final = 1_000
_SENTENCE = regex.compile(r"(?<=[。!?.])\s*")


class _Patterns(NamedTuple):
    moves: Patterns
    form: Patterns


def moves(units: Sequence[Unit]) -> list[list[float]]:
    """A row a unit: what the user does, does last, what the turn and those before it do; its form; what is shared."""
    return [_row(unit) for unit in units]


def _row(unit: Unit) -> list[float]:
    language = plain_language(unit.language)
    language = language if language in _LANGUAGES else _LANGUAGES[0]
    known = _patterns(language).moves
    said = _plain(unit.target.text) if unit.target else ""
    own, others = (
        [_plain(one.text) for one in unit.context if one.role == role] for role in ("system", "user")
    )
    user = others[-1] if others else ""
    last = next((part for part in reversed(_SENTENCE.split(user)) if part), "")
    scenes = [_hits(known, text) for text in (user, last, said, " ".join(own[-_LATEST:]))]
    greets, greeted = ([scene[name] for name in _GREETINGS] for scene in (scenes[2], scenes[0]))
    same = any(one and other for one, other in zip(greets, greeted, strict=True))
    forms = [number for one in _LANGUAGES for number in _form(one, said if one == language else "")]
    return [
        *(hit for scene in scenes for hit in scene.values()),
        *(float(one) for one in (any(greeted), any(greets), same)),
        *forms,
        *_shared(said, own, user, last),
        float(len(own)),
        float(len(others)),
        float(said.endswith("?")),
        float(any(one.endswith("?") for one in own[-2:])),
    ]


def _shared(said: str, own: Sequence[str], user: str, last: str) -> list[float]:
    """How much of its pairs of letters a turn shares with what was said before."""
    pairs, earlier = _pairs(said), [_pairs(one) for one in own]
    return [
        max((len(pairs & one) / max(len(pairs | one), 1) for one in earlier), default=0.0),
        max((_part(pairs, one) for one in earlier), default=0.0),
        _part(pairs, _pairs(user)),
        _part(_pairs(user), pairs),
        _part(_pairs(last), pairs),
    ]


def _hits(known: Patterns, text: str) -> dict[str, float]:
    return {name: float(bool(pattern.search(text))) for name, pattern in known.items()}


def _form(language: str, text: str) -> list[float]:
    """For each pattern how often it is found, and how densely; then how long the text is."""
    counts = [len(pattern.findall(text)) for pattern in _patterns(language).form.values()]
    found = [float(number) for count in counts for number in (np.log1p(count), count / max(len(text), 1))]
    return [*found, float(np.log1p(len(text)))]


def _pairs(text: str) -> set[str]:
    return {text[place : place + 2] for place in range(len(text) - 1)}


def _part(some: set[str], others: set[str]) -> float:
    return len(some & others) / max(len(some), 1)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text[:_LONGEST]).casefold().strip()


@cache
def _patterns(language: str) -> _Patterns:
    data: Any = word_file("lapsus.annotators.features", "moves.yaml")[language]
    return _Patterns(
        *({name: regex.compile(one) for name, one in data[part].items()} for part in ("moves", "form"))
    )
