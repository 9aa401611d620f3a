"""From quoted words to offsets: models copy well and count badly."""

from __future__ import annotations

import unicodedata

import regex

_CLUSTER = regex.compile(r"\X")


def places(text: str, quote: str) -> list[tuple[int, int]]:
    """Everywhere that a quote stands in a text, from the left; stretches may overlap.

    Letters that are the same but coded otherwise (é as one sign or as two) are found too, visible character by
    visible character, where the quote as it is coded stands nowhere.
    """
    if not quote:
        return []
    return _exactly(text, quote) or _alike(text, quote)


def _exactly(text: str, quote: str) -> list[tuple[int, int]]:
    found, start = [], text.find(quote)
    while start >= 0:
        found.append((start, start + len(quote)))
        start = text.find(quote, start + 1)
    return found


def _alike(text: str, quote: str) -> list[tuple[int, int]]:
    where = [match.span() for match in _CLUSTER.finditer(text)]
    signs = [_one_way(text[start:end]) for start, end in where]
    wanted = [_one_way(sign) for sign in _CLUSTER.findall(quote)]
    return [
        (where[first][0], where[first + len(wanted) - 1][1])
        for first in range(len(signs) - len(wanted) + 1)
        if signs[first : first + len(wanted)] == wanted
    ]


def _one_way(sign: str) -> str:
    return unicodedata.normalize("NFC", sign)
