"""Words of utterances as methods see them: small letters, one form for full and half width, signs apart.

How words are found is remembered in the model: a model fitted on Sudachi's words cannot judge without them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

import regex

from lapsus.errors import UsageError
from lapsus.language import plain_language, tokens
from lapsus.language.tokenizer import is_spaceless, knows_words

SPACES, SUDACHI, CHARACTERS = "spaces", "sudachi", "characters"
LONGEST = 2000
"""Characters of an utterance that are looked at. Sudachi refuses texts of more than 49,149 bytes."""

_PIECE = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’_-][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}]")
_CLUSTER = regex.compile(r"\X")
_CACHED = 1 << 15
"""Utterances whose words are kept: each is context of many turns."""


def way_to_find_words(language: str) -> str:
    """How words of a language are found here and now."""
    if not is_spaceless(language):
        return SPACES
    return SUDACHI if knows_words(language) else CHARACTERS


class Words:
    """Finds words the way a model was fitted with."""

    def __init__(self, ways: Mapping[str, str]) -> None:
        self.ways = dict(ways)
        if SUDACHI in self.ways.values() and not knows_words("ja"):
            raise UsageError("model-knows-japanese-words", hint="pip install 'lapsus-eval[ja]'")

    @classmethod
    def here(cls, languages: Iterable[str]) -> Words:
        """As well as it can be done on this machine."""
        return cls({language: way_to_find_words(language) for language in languages})

    def way(self, language: str | None) -> str:
        """How words of a language are found."""
        known = plain_language(language)
        if known in self.ways:
            return self.ways[known]
        # Texts without a letter have no language: the model's own will do.
        return next(iter(self.ways.values()), SPACES)

    def __call__(self, text: str, language: str | None) -> tuple[str, ...]:
        """The words of an utterance, in order."""
        return _words(text[:LONGEST], self.way(language))

    def terms(self, text: str, language: str | None) -> tuple[str, ...]:
        """What to count: words, or where there are only characters, runs of one to three of them."""
        found = self(text, language)
        if self.way(language) != CHARACTERS:
            return found
        pairs = ("".join(found[i : i + n]) for n in (2, 3) for i in range(len(found) - n + 1))
        return (*found, *pairs)


@lru_cache(maxsize=_CACHED)
def _words(text: str, way: str) -> tuple[str, ...]:
    text = unicodedata.normalize("NFKC", text).casefold()
    if way == SPACES:
        return tuple(_PIECE.findall(text))
    if way == SUDACHI:
        return tuple(text[token.start : token.end] for token in tokens(text, "ja"))
    return tuple(cluster for cluster in _CLUSTER.findall(text) if not cluster.isspace())
