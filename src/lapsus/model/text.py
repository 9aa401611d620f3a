"""Words in several languages, as schemes hold them."""

from collections.abc import Mapping
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Text: TypeAlias = Mapping[str, str]
"""The same thing said in each language: `{"en": …, "ja": …}`."""

Notes: TypeAlias = Mapping[str, tuple[str, ...]]
"""Remarks in each language. Languages may differ in what there is to remark."""

FALLBACK = "en"


def in_language(words: Mapping[str, T], language: str) -> T:
    """The entry for a language; English, then whatever there is, where that language is missing."""
    for wanted in (language, language.partition("-")[0], FALLBACK):
        if wanted in words:
            return words[wanted]
    return next(iter(words.values()))
