"""Words of a text, as spans of code points.

Languages with spaces: runs of non-space characters. Languages without: words by SudachiPy where it is installed
(Japanese, `pip install 'lapsus-eval[ja]'`), else grapheme clusters, so that no visible character is ever cut.
"""

import importlib.util
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import regex

_SUDACHI_LOCK = threading.Lock()
"""The Japanese tokenizer serves one thread at a time."""
SPACELESS = frozenset({"ja", "zh", "th", "lo", "km", "my"})

_PIECE = 10_000
"""How many characters the Japanese dictionary gets at a time; it takes 49,149 bytes at most."""
_RUN = regex.compile(r"\S+")
_CLUSTER = regex.compile(r"\X")
_LETTER = regex.compile(r"[\p{L}\p{N}]")
_RUN_WITH_LETTER = regex.compile(r"[^\s\p{L}\p{N}]*+([\p{L}\p{N}])\S*+|\S++")
"""A run of non-space characters, and its first letter or digit if it has one. Takes as long as the text is."""
_PART_OF_WORD = regex.compile(r"[\p{L}\p{M}\p{N}\p{S}_\u200d]")


class Token(NamedTuple):
    """Where a token stands; the end is exclusive."""

    start: int
    end: int


def is_spaceless(language: str | None) -> bool:
    """Whether a language is written without spaces between words."""
    return language is not None and language.partition("-")[0] in SPACELESS


def knows_words(language: str) -> bool:
    """Whether words of this language can be told, not only its visible characters."""
    return not is_spaceless(language) or (language.startswith("ja") and _sudachi() is not None)


def tokens(text: str, language: str | None) -> list[Token]:
    """The words that an annotator selects as wholes."""
    return list(_tokens(text, language))


def _tokens(text: str, language: str | None) -> Iterator[Token]:
    if not is_spaceless(language):
        return (Token(*match.span()) for match in _RUN.finditer(text))
    if language is not None and language.startswith("ja") and (sudachi := _sudachi()) is not None:
        return (token for token in _morphemes(text, sudachi) if not text[token.start : token.end].isspace())
    return _clusters(text)


def word_count(text: str, language: str | None) -> int:
    """How many words a text has; signs that stand alone are no words."""
    if not is_spaceless(language):
        letters = _RUN_WITH_LETTER.findall(text)
        return len(letters) - letters.count("")
    return sum(bool(_LETTER.search(text, *token)) for token in _tokens(text, language))


def snap(text: str, start: int, end: int, language: str | None) -> tuple[int, int]:
    """The smallest stretch of whole tokens that covers a selection; the selection itself where it covers none."""
    touched = [token for token in tokens(text, language) if token.start < end and start < token.end]
    return (touched[0].start, touched[-1].end) if touched else (start, end)


def cuts_token(text: str, start: int, end: int, language: str | None) -> bool:
    """Whether a span ends inside a token.

    Punctuation at a word's edge may be left out ("states" of "states."). Without spaces only visible characters
    count, whatever is installed: the same judgment must be right on every machine.
    """
    if is_spaceless(language):
        edges = {0, *(cluster.end for cluster in _clusters(text, spaces=True))}
        return start not in edges or end not in edges
    for token in tokens(text, language):
        if token.start < start < token.end and _PART_OF_WORD.search(text, token.start, start):
            return True
        if token.start < end < token.end and _PART_OF_WORD.search(text, end, token.end):
            return True
    return False


def _morphemes(text: str, sudachi: Any) -> Iterator[Token]:
    """The dictionary's words. It refuses long texts, so they are handed over in pieces."""
    for start in range(0, len(text), _PIECE):
        with _SUDACHI_LOCK:
            found = [(one.begin(), one.end()) for one in sudachi.tokenize(text[start : start + _PIECE])]
        yield from (Token(start + begin, start + end) for begin, end in found)


def _clusters(text: str, *, spaces: bool = False) -> Iterator[Token]:
    matches = _CLUSTER.finditer(text)
    return (Token(*match.span()) for match in matches if spaces or not match.group().isspace())


@cache
def _sudachi() -> Any:
    """The Japanese tokenizer, or None where it is not installed."""
    if importlib.util.find_spec("sudachipy") is None:
        return None
    from sudachipy import Dictionary, SplitMode

    dictionary = Dictionary()
    # Older releases call it `create`.
    make = getattr(dictionary, "tokenizer", None) or dictionary.create
    return make(mode=SplitMode.C)
