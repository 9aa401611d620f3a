"""What users are told, in their own language. Code says it in English; a catalogue has it in Japanese.

The catalogue (`messages_ja.yaml`) is keyed by the English words, so that an error is written once, where it is raised,
and what is not translated yet is shown in English.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from lapsus.errors import LapsusError
from lapsus.word_files import LANGUAGES, word_file

_JOINTS = {", ": "、", " · ": " · "}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
"""What somebody wrote or named. It stays as it is, even if it reads like a message."""


class _Message(NamedTuple):
    """A message: what it looks like in English, how it is said, and how many signs of its own it has."""

    english: re.Pattern[str]
    translated: str
    weight: int


class _Reading(NamedTuple):
    """What a text says, and how many of its signs belong to known messages."""

    said: str
    weight: int


def translated(text: str, language: str) -> str:
    """A message in a language; as it is where that language does not have it."""
    return text if language == "en" else _read(text, language).said


def _read(text: str, language: str) -> _Reading:
    """A text as a message, as two, or as one behind the place or name that it is about: whatever is known best."""
    if not text.strip() or _QUOTED.fullmatch(text):
        return _Reading(text, 0)
    return max(
        _whole(text, language),
        _joined(text, language),
        _placed(text, language),
        key=lambda reading: reading.weight,
    )


def _whole(text: str, language: str) -> _Reading:
    known, choices = _plain(language), text.split(" or ")
    if text in known:
        return _Reading(known[text], len(text))
    if all(choice in known for choice in choices):
        return _Reading("・".join(known[choice] for choice in choices), len(text))
    for message in _messages(language):
        if found := message.english.fullmatch(text):
            said = [translated(part, language) for part in found.groups()]
            return _Reading(_filled(message.translated, said), message.weight)
    return _Reading(text, 0)


def _joined(text: str, language: str) -> _Reading:
    first, joint, second = text.rpartition("; ")
    if not joint:
        return _Reading(text, 0)
    readings = _whole(first, language), _whole(second, language)
    weights = [reading.weight for reading in readings]
    return _Reading("。".join(reading.said for reading in readings), sum(weights) if all(weights) else 0)


def _placed(text: str, language: str) -> _Reading:
    where, joint, what = text.partition(": ")
    if not joint:
        return _Reading(text, 0)
    said, weight = _read(what, language)
    return _Reading(f"{_place(where, language)}：{said}" if weight else text, weight)


def translated_error(error: LapsusError, language: str) -> LapsusError:
    """The same error in a reader's language: what, where and what to do."""
    hint = None if error.hint is None else translated(error.hint, language)
    what = error.said_in(language) or translated(error.what, language)
    return LapsusError(what, where=_place(error.where, language), hint=hint)


def _place(where: str | None, language: str) -> str | None:
    """A place, part by part: the file, the document, the line."""
    if where is None or language == "en":
        return where
    for joint, other in _JOINTS.items():
        if joint in where:
            return other.join(translated(part, language) for part in where.split(joint))
    return translated(where, language)


def _filled(template: str, values: list[str]) -> str:
    # Not str.format: a value may hold braces of its own.
    return re.sub(r"\{(\d)\}", lambda place: values[int(place[1])], template)


@cache
def _plain(language: str) -> dict[str, str]:
    """Messages that are always the same words."""
    return {english: said for english, said in catalogue(language).items() if "{}" not in english}


@cache
def _messages(language: str) -> list[_Message]:
    """Messages with places to fill, those with the most words of their own first."""
    found = [english for english in catalogue(language) if "{}" in english]
    ordered = sorted(found, key=lambda english: -len(english.replace("{}", "")))
    return [
        _Message(_pattern(english), catalogue(language)[english], len(english.replace("{}", "")))
        for english in ordered
    ]


def _pattern(english: str) -> re.Pattern[str]:
    text = re.escape(english)
    # What follows a bracket holds none itself: the last bracket of a text is the message's own.
    text = text.replace(re.escape("({}"), re.escape("(") + "([^(]*?)")
    return re.compile(text.replace(re.escape("{}"), "(.*?)"), re.DOTALL)


def catalogue(language: str) -> dict[str, str]:
    """Every message that a language has, by its English words."""
    found: dict[str, str] = (
        word_file("lapsus", f"messages_{language}.yaml") if language in LANGUAGES[1:] else {}
    )
    return found
