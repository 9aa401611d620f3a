"""Broken rules, and their words in every language."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from lapsus.model import Text, in_language
from lapsus.word_files import word_file

Words: TypeAlias = str | Text
"""Something to put into a message: the same everywhere, or said in each language."""


class BrokenRule(NamedTuple):
    """A rule that an answer breaks. `values` fill the message's places."""

    rule: str
    question: str
    values: Mapping[str, Words]

    def message(self, language: str = "en") -> str:
        """What to tell the annotator."""
        return say(self.rule, self.values, language)

    def in_language(self, language: str) -> str:
        """The message, as a notice asks its fields for it."""
        return self.message(language)

    def __str__(self) -> str:
        return self.message()


def catalogue() -> Any:
    """All messages and their parts, as they stand in the file."""
    return word_file("lapsus.kinds", "data/messages.yaml")


def word(group: str, name: str) -> Text:
    """A word that messages use: what kind of answer, which role of segment."""
    words: Text = catalogue()[group][name]
    return words


def say(rule: str, values: Mapping[str, Words], language: str) -> str:
    """A rule's message with its places filled."""
    filled = {
        key: value if isinstance(value, str) else in_language(value, language)
        for key, value in values.items()
    }
    template: str = in_language(catalogue()[rule], language)
    return template.format_map(filled)


def join(words: Sequence[Words], separator: str | None = None) -> Text:
    """A list of names, in each language."""
    between = {"en": separator or ", ", "ja": separator or "、"}
    return {
        language: sign.join(w if isinstance(w, str) else in_language(w, language) for w in words)
        for language, sign in between.items()
    }
