"""The words of broken rules, in every language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from lapsus.model import Text, in_language
from lapsus.schemes.marked_yaml import parse_yaml

Words: TypeAlias = str | Text
"""Something to put into a message: the same everywhere, or said in each language."""


@cache
def _catalogue() -> Any:
    source = files("lapsus.schemes") / "data" / "messages.yaml"
    return parse_yaml(source.read_text(encoding="utf-8"), "messages.yaml").data


def message_rules() -> list[str]:
    """Every rule that has a message."""
    return [name for name, words in _catalogue().items() if "en" in words]


def word(kind: str, name: str) -> Text:
    """A word that messages use: what kind of answer, which role of segment."""
    words: Text = _catalogue()[kind][name]
    return words


def say(rule: str, values: Mapping[str, Words], language: str) -> str:
    """A rule's message with its places filled."""
    filled = {
        key: value if isinstance(value, str) else in_language(value, language)
        for key, value in values.items()
    }
    template: str = in_language(_catalogue()[rule], language)
    return template.format_map(filled)


def join(words: Sequence[Words], separator: str | None = None) -> Text:
    """A list of names, in each language."""
    between = {"en": separator or ", ", "ja": separator or "、"}
    return {
        language: sign.join(w if isinstance(w, str) else in_language(w, language) for w in words)
        for language, sign in between.items()
    }
