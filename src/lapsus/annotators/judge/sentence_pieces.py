"""Text to word pieces: the tokenizer of the multilingual sentence encoder, read from its SentencePiece file."""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterable

from lapsus.annotators.protobuf import fields

UNKNOWN, START, END = 0, 1, 2
"""The first three pieces: what is in no piece, and the two ends of a text."""
_PIECES, _BEGINS = 1, -1
"""The number of the field that holds the pieces; what stands for no piece."""
_SIGNS = 16
"""Characters read for each piece at most."""
_MARK = "▁"
_UNKNOWN_PENALTY = 10.0
_SPACES: dict[int, str | None] = {
    **dict.fromkeys(map(ord, "\t\n\f\r\u1680\u200b\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd"), " "),
    **dict.fromkeys([*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F]),
}
_TILDE = "\uff5e"
"""The encoder was trained with the wide tilde left as it is."""


class SentencePieces:
    """Cuts texts into the likeliest pieces (a unigram language model). What follows `longest` pieces is left out."""

    def __init__(self, model: bytes, *, longest: int) -> None:
        pieces = pieces_of(model)
        self._longest = longest
        self._scores = [score for _, score in pieces]
        self._unknown_score = min(self._scores) - _UNKNOWN_PENALTY
        self._ids: dict[str, int] = {}
        """Of each piece its number; of what only begins one, a number below 0."""
        for number, (piece, _) in enumerate(pieces):
            for end in range(len(piece) - 1, 0, -1):
                if piece[:end] in self._ids:
                    break  # and so is all that begins it
                self._ids[piece[:end]] = _BEGINS
            self._ids[piece] = number

    def ids(self, texts: Iterable[str]) -> list[list[int]]:
        """For each text the numbers of its pieces, between the marks of its ends."""
        # A text is cut before it is read: texts of strangers can be endless.
        found = (self._best(normal_form(text[: _SIGNS * self._longest])) for text in texts)
        return [[START, *(ids or [UNKNOWN])[: self._longest - 2], END] for ids in found]

    def rarities(self, texts: Iterable[str]) -> list[list[float]]:
        """For each text how rare its pieces are: the negative logarithm of how often each comes up."""
        return [[-self._scores[number] for number in ids[1:-1]] for ids in self.ids(texts)]

    def _best(self, text: str) -> list[int]:
        """The cut with the highest sum of scores (Viterbi); of equal ones, the one with the longer last piece."""
        size, known, scores = len(text), self._ids, self._scores
        best = [0.0] + [-1e38] * size
        last = [(0, UNKNOWN)] * (size + 1)
        for begin in range(size):
            so_far = best[begin]
            is_known = False
            for end in range(begin + 1, size + 1):
                number = known.get(text[begin:end])
                if number is None:
                    break
                if number != _BEGINS:
                    is_known = is_known or end == begin + 1
                    if (score := so_far + scores[number]) > best[end]:
                        best[end] = score
                        last[end] = (begin, number)
            if not is_known and (score := so_far + self._unknown_score) > best[begin + 1]:
                best[begin + 1] = score
                last[begin + 1] = (begin, UNKNOWN)
        return _backwards(last)


def normal_form(text: str) -> str:
    """The text as the pieces were learned from: compatible forms made one, control signs dropped, spaces marked."""
    parts = text.translate(_SPACES).split(_TILDE)
    words = _TILDE.join(unicodedata.normalize("NFKC", part) for part in parts).split(" ")
    return "".join(_MARK + word for word in words if word)


def _backwards(last: list[tuple[int, int]]) -> list[int]:
    ids: list[int] = []
    place = len(last) - 1
    while place > 0:
        place, number = last[place]
        ids.append(number)
    return ids[::-1]


def pieces_of(model: bytes) -> list[tuple[str, float]]:
    """The pieces of a SentencePiece file with their scores, in the order of their numbers."""
    return [_piece(field.content) for field in fields(model) if field.number == _PIECES]


def _piece(message: bytes) -> tuple[str, float]:
    parts = {field.number: field.content for field in fields(message) if field.value is None}
    return parts[1].decode(), struct.unpack("<f", parts[2])[0] if 2 in parts else 0.0
