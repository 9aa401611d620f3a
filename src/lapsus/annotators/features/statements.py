"""Statements that a speaker makes of itself, and whether two of them exclude each other.

No knowledge of the world is needed for what is found here: the same thing said and denied, opposite words about one
thing, two names, homes or ages. What is meant lies in `statements.yaml`.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import regex

from lapsus.annotators.features.cues import Cues, SurfaceCues, cues_of, look
from lapsus.annotators.features.word_forms import LONGEST
from lapsus.language import plain_language
from lapsus.word_files import word_file

_SHARED = 0.6
"""The share of the shorter statement's keywords that both must have."""
_LONG = 80
"""Characters of a clause beyond which too much may stand between what is said and what is denied."""
_CACHED = 1 << 12


@dataclass(frozen=True)
class Statement:
    """One clause."""

    look: SurfaceCues
    subject: frozenset[str]
    """Its keywords but for those that tell what is done."""
    denies: bool
    deeds: frozenset[str]
    facts: tuple[tuple[str, str], ...]
    """What it is about, such as a name or the number of cats, and the value."""


def statements(text: str, language: str | None) -> tuple[Statement, ...]:
    """What an utterance says of its speaker. Questions, and what is said of others, are left out."""
    return _statements(text[:LONGEST], plain_language(language))


def contradict(first: str, second: str, language: str | None) -> bool:
    """Whether two utterances of one speaker cannot both be true."""
    return any(
        _exclude(one, other, language)
        for one in statements(first, language)
        for other in statements(second, language)
    )


def _exclude(one: Statement, other: Statement, language: str | None) -> bool:
    known = dict(other.facts)
    if any(known.get(about, value) != value for about, value in one.facts):
        return True
    cues = cues_of(language)
    if not _same_subject(one.subject, other.subject, whole=not cues.spaceless):
        return False
    opposed = any(_opposed(cues, one.look, other.look, pair) for pair in cues.opposites)
    if one.denies == other.denies:
        return opposed
    # Not to be good at something and to be bad at it go together.
    same_deed = bool(one.deeds & other.deeds) or (
        not one.deeds | other.deeds and one.subject == other.subject
    )
    return same_deed and not opposed


def _opposed(cues: Cues, one: SurfaceCues, other: SurfaceCues, pair: tuple[str, str]) -> bool:
    """Whether each holds one of two opposite words, and not the same."""
    now, then = ([cues.holds(seen, word) for word in pair] for seen in (one, other))
    return sum(now) == sum(then) == 1 and now != then


def _same_subject(first: frozenset[str], second: frozenset[str], *, whole: bool) -> bool:
    """Whether most keywords of the shorter are in the longer; without spaces, within longer runs of signs too."""
    fewer, more = sorted((first, second), key=len)
    shared = sum(
        word in more or (not whole and any(word in long or long in word for long in more)) for word in fewer
    )
    return shared > 0 and shared >= _SHARED * len(fewer)


@lru_cache(maxsize=_CACHED)
def _statements(text: str, language: str) -> tuple[Statement, ...]:
    patterns = _patterns(language if language in _data() else "en")
    return tuple(_parts(text, language, patterns))


def _parts(text: str, language: str, patterns: dict[str, Any]) -> Iterator[Statement]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    for sentence in regex.findall(r"[^。!?.\n]+[。!?.\n]*", plain):
        if patterns["asks"].search(sentence):
            continue
        for clause in patterns["split"].split(sentence):
            if len(clause) > _LONG or any(patterns[kind].search(clause) for kind in ("other", "hedged")):
                continue
            seen = look(clause, language)
            denies = bool(patterns["not"].search(clause))
            done = {
                name: match.group()
                for name, deed in patterns["deeds"].items()
                if (match := deed.search(clause))
            }
            subject = frozenset(
                word for word in seen.keywords if not any(word in deed for deed in done.values())
            )
            facts = () if denies else tuple(_facts(clause, patterns["facts"]))
            yield Statement(seen, subject, denies, frozenset(done), facts)


def _facts(clause: str, patterns: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, pattern in patterns.items():
        if match := pattern.search(clause):
            found = match.groupdict()
            yield f"{name} {found.get('about') or ''}".strip(), found["value"]


def _data() -> Any:
    return word_file("lapsus.annotators.features", "statements.yaml")


@cache
def _patterns(language: str) -> dict[str, Any]:
    return {
        name: regex.compile(found)
        if isinstance(found, str)
        else {key: regex.compile(pattern) for key, pattern in found.items()}
        for name, found in _data()[language].items()
    }
